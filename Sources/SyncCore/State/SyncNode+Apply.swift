// SyncNode+Apply.swift: applies one change of one field, and updates the affected sums.

extension SyncNode {
  /// Applies a change at the end of some steps.
  /// - Returns: Whether it fits; nothing is changed otherwise.
  mutating func apply(
    _ change: SyncChange, steps: ArraySlice<SyncStep>, to property: SyncText,
    links: inout LinkChanges
  ) -> Bool {
    guard let step = steps.first else { return apply(change, to: property, links: &links) }
    let name = step.property
    let rest = steps.dropFirst()
    switch step.place {
    case .value:
      guard let before = fields[name]?.value.map(SyncDigest.slot),
        fields[name]?.value?.embedded?.apply(change, steps: rest, to: property, links: &links)
          ?? false, let after = fields[name]?.value.map(SyncDigest.slot)
      else { return false }
      sum &+= SyncDigest.part(1, name, after) &- SyncDigest.part(1, name, before)
    case .element(let index):
      guard let list = fields[name]?.list, list.indices.contains(index) else { return false }
      let before = SyncDigest.pairs(name, list, around: index)
      guard
        fields[name]?.list[index].embedded?.apply(
          change, steps: rest, to: property, links: &links) ?? false
      else { return false }
      sum &+= SyncDigest.pairs(name, self[name].list, around: index) &- before
    case .entry(let key):
      guard let before = fields[name]?.dictionary[key].map(SyncDigest.slot),
        fields[name]?.dictionary[key]?.embedded?.apply(
          change, steps: rest, to: property, links: &links) ?? false,
        let after = fields[name]?.dictionary[key].map(SyncDigest.slot)
      else { return false }
      sum &+= SyncDigest.entry(name, key: key, after) &- SyncDigest.entry(name, key: key, before)
    }
    return true
  }

  private mutating func apply(
    _ change: SyncChange, to name: SyncText, links: inout LinkChanges
  ) -> Bool {
    var fits = true
    switch change {
    case .set(let value), .setDefault(let value): put(value, in: name, links: &links)
    case .increment(let amount):
      guard case .int(let number) = fields[name]?.value?.value else { return false }
      put(.int(number &+ amount), in: name, links: &links)
    case .setInsert(let value):
      fits = fields[name, default: SyncContent()].set.insert(value).inserted
      if fits { sum &+= SyncDigest.part(3, name, SyncDigest.value(value)) }
      if fits { links.note(value, 1) }
    case .setErase(let value):
      fits = fields[name]?.set.remove(value) != nil
      if fits { sum &-= SyncDigest.part(3, name, SyncDigest.value(value)) }
      if fits { links.note(value, -1) }
    case .dictionarySet(let key, let value):
      let slot = SyncSlot(value)
      removeEntry(key, of: name, links: &links)
      fields[name, default: SyncContent()].dictionary[key] = slot
      sum &+= SyncDigest.entry(name, key: key, SyncDigest.slot(slot))
      links.note(value, 1)
    case .dictionaryRemove(let key):
      fits = fields[name]?.dictionary[key] != nil
      removeEntry(key, of: name, links: &links)
    default:
      fits = applyToList(change, name, links: &links)
    }
    if fields[name]?.isEmpty ?? false { fields[name] = nil }
    return fits
  }

  private mutating func put(_ value: SyncValue, in name: SyncText, links: inout LinkChanges) {
    let slot = SyncSlot(value)
    if let old = fields[name]?.value {
      sum &-= SyncDigest.part(1, name, SyncDigest.slot(old))
      old.collectLinks(-1, into: &links)
    }
    fields[name, default: SyncContent()].value = slot
    sum &+= SyncDigest.part(1, name, SyncDigest.slot(slot))
    links.note(value, 1)
  }

  private mutating func removeEntry(
    _ key: SyncText, of name: SyncText, links: inout LinkChanges
  ) {
    guard let old = fields[name]?.dictionary.removeValue(forKey: key) else { return }
    sum &-= SyncDigest.entry(name, key: key, SyncDigest.slot(old))
    old.collectLinks(-1, into: &links)
  }

  private mutating func applyToList(
    _ change: SyncChange, _ name: SyncText, links: inout LinkChanges
  ) -> Bool {
    let count = fields[name]?.list.count ?? 0
    switch change {
    case .listInsert(let index, let values):
      guard (0...count).contains(index) else { return false }
      replace(index..<index, of: name, with: values.map { SyncSlot($0) }, links: &links)
    case .listErase(let index, let erased):
      guard index >= 0, erased >= 0, index <= count, erased <= count - index else { return false }
      replace(index..<index + erased, of: name, with: [], links: &links)
    case .listSet(let index, let value):
      guard (0..<count).contains(index) else { return false }
      replace(index..<index + 1, of: name, with: [SyncSlot(value)], links: &links)
    case .listMove(let from, let to):
      guard (0..<count).contains(from), (0..<count).contains(to) else { return false }
      let element = self[name].list[from]
      replace(from..<from + 1, of: name, with: [], links: &links)
      replace(to..<to, of: name, with: [element], links: &links)
    case .listClear: replace(0..<count, of: name, with: [], links: &links)
    case .listAssign(let values), .listFill(let values):
      replace(0..<count, of: name, with: values.map { SyncSlot($0) }, links: &links)
    default: return false
    }
    return true
  }

  /// Exchanges elements, and the pairs that they are part of.
  private mutating func replace(
    _ range: Range<Int>, of name: SyncText, with slots: [SyncSlot], links: inout LinkChanges
  ) {
    guard !range.isEmpty || !slots.isEmpty else { return }
    let before = SyncDigest.pairs(name, self[name].list, around: range)
    self[name].list.forEach(in: range) { $0.collectLinks(-1, into: &links) }
    fields[name, default: SyncContent()].list.replaceSubrange(range, with: slots)
    for slot in slots { slot.collectLinks(1, into: &links) }
    let after = range.lowerBound..<range.lowerBound + slots.count
    sum &+= SyncDigest.pairs(name, self[name].list, around: after) &- before
  }
}

extension SyncDigest {
  static func pairs(_ name: SyncText, _ list: SyncList, around index: Int) -> UInt128 {
    pairs(name, list, around: index..<index + 1)
  }

  /// The pairs of which a range's elements are part, or the pair around an empty range.
  static func pairs(_ name: SyncText, _ list: SyncList, around range: Range<Int>) -> UInt128 {
    guard !list.isEmpty else { return 0 }
    var sum: UInt128 = 0
    var left = range.lowerBound > 0 ? slot(list[range.lowerBound - 1]) : listEnd
    list.forEach(in: range.lowerBound..<min(range.upperBound + 1, list.count)) { element in
      let right = slot(element)
      sum &+= part(2, name, left, right)
      left = right
    }
    return range.upperBound < list.count ? sum : sum &+ part(2, name, left, listEnd)
  }
}
