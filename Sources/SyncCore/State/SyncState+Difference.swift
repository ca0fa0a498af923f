// SyncState+Difference.swift: the operations that turn one state into another.

extension SyncState {
  /// Operations that turn another state into this one.
  ///
  /// Objects that are in both stay, and so do the elements at both ends of a list that are equal. A
  /// removed value becomes null, as there is no operation that removes it.
  /// - Parameters:
  ///   - old: The other state.
  ///   - keepsEmbedded: Whether embedded objects between the ends of a list stay, too, each with
  ///     its new content: for code that applies the operations without merging them.
  /// - Returns: The operations.
  /// - Complexity: O(objects * log(objects)), and O(elements) of lists that differ.
  package func operations(
    from old: SyncState, keepsEmbedded: Bool = false
  ) -> [SyncOperation] {
    var difference = StateDifference(keepsEmbedded: keepsEmbedded)
    for object in objects.keys.sorted() where old.objects[object] == nil {
      difference.operations.append(.create(object))
    }
    for object in objects.keys.sorted() {
      guard let node = objects[object], node != old.objects[object] else { continue }
      difference.object = object
      difference.append(node, from: old.objects[object] ?? SyncNode(), steps: [])
    }
    for object in old.objects.keys.sorted() where objects[object] == nil {
      difference.operations.append(.delete(object))
    }
    return difference.operations
  }
}

/// Operations that are collected object by object.
private struct StateDifference {
  let keepsEmbedded: Bool
  var operations: [SyncOperation] = []
  var object = SyncObject("", .null)

  init(keepsEmbedded: Bool) { self.keepsEmbedded = keepsEmbedded }

  /// Embedded objects are as deep as `SyncLimits.stepsMax` at most.
  mutating func append(_ node: SyncNode, from old: SyncNode, steps: [SyncStep]) {
    let names = Set(node.fields.keys).union(old.fields.keys)
    for name in names.sorted() where node[name] != old[name] {
      let (new, before) = (node[name], old[name])
      let field = SyncField(object, steps, name)
      if new.value != before.value { set(new.value, from: before.value, field) }
      if new.list != before.list { list(Array(new.list), from: Array(before.list), field) }
      for value in before.set.subtracting(new.set).sorted(by: Self.precedes) {
        operations.append(.change(field, .setErase(value)))
      }
      for value in new.set.subtracting(before.set).sorted(by: Self.precedes) {
        operations.append(.change(field, .setInsert(value)))
      }
      dictionary(new.dictionary, from: before.dictionary, field)
    }
  }

  private static func precedes(_ left: SyncValue, _ right: SyncValue) -> Bool {
    SyncDigest.value(left) < SyncDigest.value(right)
  }

  private mutating func set(_ slot: SyncSlot?, from old: SyncSlot?, _ field: SyncField) {
    if slot?.embedded == nil || old?.embedded == nil {
      operations.append(.change(field, .set(slot?.value ?? .null)))
    }
    inner(slot, from: old, field, .value)
  }

  private mutating func inner(
    _ slot: SyncSlot?, from old: SyncSlot?, _ field: SyncField, _ place: SyncStep.Place
  ) {
    guard let node = slot?.embedded else { return }
    append(
      node, from: old?.embedded ?? SyncNode(),
      steps: field.steps + [SyncStep(field.property, place)])
  }

  private mutating func list(_ slots: [SyncSlot], from old: [SyncSlot], _ field: SyncField) {
    var left = 0
    while left < slots.count, left < old.count, slots[left] == old[left] { left += 1 }
    var paired = left
    while keepsEmbedded, paired < min(slots.count, old.count),
      slots[paired].embedded != nil, old[paired].embedded != nil
    {
      inner(slots[paired], from: old[paired], field, .element(paired))
      paired += 1
    }
    left = paired
    var right = 0
    while right < min(slots.count, old.count) - left,
      slots[slots.count - 1 - right] == old[old.count - 1 - right]
    {
      right += 1
    }
    if old.count > left + right {
      operations.append(.change(field, .listErase(at: left, count: old.count - left - right)))
    }
    let inserted = slots[left..<slots.count - right]
    if !inserted.isEmpty {
      operations.append(.change(field, .listInsert(at: left, inserted.map(\.value))))
    }
    for (index, slot) in inserted.enumerated() {
      inner(slot, from: nil, field, .element(left + index))
    }
  }

  private mutating func dictionary(
    _ slots: [SyncText: SyncSlot], from old: [SyncText: SyncSlot], _ field: SyncField
  ) {
    for key in Set(slots.keys).union(old.keys).sorted() where slots[key] != old[key] {
      guard let slot = slots[key] else {
        operations.append(.change(field, .dictionaryRemove(key)))
        continue
      }
      if slot.embedded == nil || old[key]?.embedded == nil {
        operations.append(.change(field, .dictionarySet(key, slot.value)))
      }
      inner(slot, from: old[key], field, .entry(key))
    }
  }
}
