// ReferenceMerge+State.swift: the merged state.

import SyncCore

extension ReferenceMerge {
  /// All live objects, with their content.
  public var objects: [SyncObject: ReferenceNode] {
    var found: [SyncObject: ReferenceNode] = [:]
    for object in creates.keys where isAlive(object, for: nil) {
      found[object] = node(ReferenceAddress(object: object))
    }
    return found
  }

  /// The node at an address without its property.
  private func node(_ address: ReferenceAddress) -> ReferenceNode {
    var names: Set<SyncText> = []
    for other in Array(values.keys) + Array(members.keys) + Array(entries.keys) + Array(lists.keys)
    where other.object == address.object && other.way == address.way {
      names.insert(other.property)
    }
    var node = ReferenceNode()
    for name in names {
      var here = address
      here.property = name
      let content = content(here)
      if content != ReferenceNode.Content() { node.fields[name] = content }
    }
    return node
  }

  private func content(_ address: ReferenceAddress) -> ReferenceNode.Content {
    var content = ReferenceNode.Content()
    if let write = latest(values[address], for: nil), let value = write.value {
      content.value = slot(
        counted(value, write, at: address), address,
        ReferenceIdentity(operation: write.operation, number: 0))
    }
    for (value, writes) in members[address] ?? [:] {
      guard let write = latest(writes, for: nil), write.value != nil else { continue }
      if case .link(let target) = value,
        isDead(target, ReferenceIdentity(operation: write.operation, number: 0), for: nil)
      {
        continue
      }
      content.set.insert(value)
    }
    for (key, writes) in entries[address] ?? [:] {
      guard let write = latest(writes, for: nil), let value = write.value else { continue }
      content.dictionary[key] = slot(
        value, address, ReferenceIdentity(operation: write.operation, number: 0))
    }
    content.list = elements(of: address, for: nil).map { slot($0.value, address, $0.writer) }
    return content
  }

  /// Section 3: an integer with its increments.
  private func counted(
    _ value: SyncValue, _ write: Write, at address: ReferenceAddress
  ) -> SyncValue {
    guard case .int(var number) = value else { return value }
    for (operation, amount) in increments[address] ?? [] where counts(operation, for: nil) {
      let (set, increment) = (operations[write.operation], operations[operation])
      if !write.isSet || (increment.isLater(than: set) && !set.knows(increment)) {
        number &+= amount
      }
    }
    return .int(number)
  }

  private func slot(
    _ value: SyncValue, _ address: ReferenceAddress, _ identity: ReferenceIdentity
  ) -> ReferenceNode.Slot {
    if value == .embedded {
      var inner = address
      inner.way.append(.init(property: address.property, identity: identity))
      return .node(node(inner))
    }
    if case .link(let target) = value, isDead(target, identity, for: nil) { return .value(.null) }
    return .value(value)
  }
}
