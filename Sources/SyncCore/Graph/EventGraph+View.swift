// EventGraph+View.swift: the merged state, read from the history and not from a state: I3 compares
// the two.

extension EventGraph {
  /// An object in the merged state; nil when it is not alive.
  /// - Complexity: O(its content).
  func shown(_ object: SyncObject) -> SyncNode? {
    guard let number = lifeNumbers[object] else { return origin.objects[object] }
    let life = lives[Int(number)]
    guard life.isAlive else { return nil }
    var node = shownNode(life.node)
    node.countSums()
    return node
  }

  /// The same without the sums of the object and of embedded ones that were touched.
  func shownWithoutSums(_ object: SyncObject) -> SyncNode? {
    guard let number = lifeNumbers[object] else { return origin.objects[object] }
    let life = lives[Int(number)]
    return life.isAlive ? shownNode(life.node) : nil
  }

  private func shownNode(_ number: Int32) -> SyncNode {
    guard number >= 0 else { return SyncNode() }
    var node = nodes[Int(number)].base ?? SyncNode()
    for (name, field) in nodes[Int(number)].fields {
      let content = shown(fields[Int(field)], field: Int(field))
      node.fields[name] = content.isEmpty ? nil : content
    }
    return node
  }

  private func shown(_ field: GraphField, field number: Int) -> SyncContent {
    var content = SyncContent()
    if field.slot >= 0 { content.value = shownSlot(field.slot) }
    for value in field.members.keys where isMember(value, of: number) {
      content.set.insert(value)
    }
    for (key, slot) in field.entries { content.dictionary[key] = shownSlot(slot) }
    if field.list >= 0 { content.list = SyncList(shown(lists[Int(field.list)])) }
    return content
  }

  private func shownSlot(_ number: Int32) -> SyncSlot? {
    shown(number).map { value in
      var slot = SyncSlot(value)
      if value == .embedded { slot.embedded = shownNode(slots[Int(number)].node) }
      return slot
    }
  }

  private func shown(_ list: ListGraph) -> [SyncSlot] {
    list.elements(0).map { element in
      guard let settings = list.settings[element] else {
        return Int(element) < list.base.count
          ? list.base[Int(element)] : SyncSlot(list.firstValue(of: element))
      }
      var slot = SyncSlot(settings.value)
      if settings.value == .embedded { slot.embedded = shownNode(settings.node) }
      return slot
    }
  }
}

extension SyncNode {
  /// Recomputes its sum and those of embedded objects; the nesting depth is bounded.
  mutating func countSums() {
    for name in fields.keys {
      fields[name]?.value?.embedded?.countSums()
      fields[name]?.list.updateEmbedded { $0.countSums() }
      for key in self[name].dictionary.keys {
        fields[name]?.dictionary[key]?.embedded?.countSums()
      }
    }
    sum = SyncDigest.node(self)
  }
}

extension SyncDigest {
  /// The sum of a node, recomputed.
  static func node(_ node: SyncNode) -> UInt128 {
    var sum: UInt128 = 0
    for (name, content) in node.fields {
      if let value = content.value { sum &+= part(1, name, slot(value)) }
      if !content.list.isEmpty { sum &+= pairs(name, content.list, around: content.list.indices) }
      for member in content.set { sum &+= part(3, name, value(member)) }
      for (key, value) in content.dictionary { sum &+= entry(name, key: key, slot(value)) }
    }
    return sum
  }
}
