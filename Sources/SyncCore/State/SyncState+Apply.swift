// SyncState+Apply.swift: applies resolved operations exactly as written. Operations have no
// implicit effects (I13); one that does not fit is an error and changes nothing.

extension SyncState {
  /// Applies operations one after another.
  /// - Throws: `misfit` for one that does not fit; those before it are applied.
  public mutating func apply(_ operations: [SourcedOperation]) throws(SyncError) {
    for operation in operations { try apply(operation.operation) }
  }

  /// Applies operations that an equal state has taken before, so that they fit.
  mutating func reapply(_ operations: [SourcedOperation]) {
    do { try apply(operations) } catch {
      preconditionFailure("an entry's effect does not fit a second time: \(error)")
    }
  }

  /// Applies an operation.
  /// - Throws: `misfit`; nothing is changed then.
  /// - Complexity: O(1) hashes; an edit of a list moves the elements after it.
  public mutating func apply(_ operation: SyncOperation) throws(SyncError) {
    switch operation {
    case .create(let object):
      guard objects[object] == nil else { throw misfit("already exists", object) }
      objects[object] = SyncNode()
      digest &+= SyncDigest.object(object, sum: 0)
    case .delete(let object):
      guard let node = objects.removeValue(forKey: object) else {
        throw misfit("is not there", object)
      }
      digest &-= SyncDigest.object(object, sum: node.sum)
      var links = LinkChanges()
      node.collectLinks(-1, into: &links)
      count(links, from: object)
    case .change(let field, let change):
      guard let before = objects[field.object]?.sum else {
        throw misfit("is not there", field.object)
      }
      var links = LinkChanges()
      let fits =
        objects[field.object]?.apply(
          change, steps: field.steps[...], to: field.property, links: &links) ?? false
      guard fits, let after = objects[field.object]?.sum else {
        throw misfit("takes no \(change) at \(field.property)", field.object)
      }
      digest &-= SyncDigest.object(field.object, sum: before)
      digest &+= SyncDigest.object(field.object, sum: after)
      count(links, from: field.object)
    }
  }

  private func misfit(_ what: String, _ object: SyncObject) -> SyncError {
    SyncError(.misfit, "\(object.type) \(object.key) \(what)")
  }

  private mutating func count(_ links: LinkChanges, from object: SyncObject) {
    for (target, change) in links.changes {
      let count = (linkers[target]?[object] ?? 0) + change
      linkers[target, default: [:]][object] = count == 0 ? nil : count
      if linkers[target]?.isEmpty ?? false { linkers[target] = nil }
    }
  }

  /// Links that lead to objects that are not there; there never are any.
  public var danglingLinks: [SyncObject] {
    linkers.keys.filter { objects[$0] == nil }.sorted()
  }
}

/// Links that are added and removed.
struct LinkChanges {
  private(set) var changes: [(target: SyncObject, change: Int)] = []

  mutating func note(_ value: SyncValue, _ change: Int) {
    if case .link(let target) = value { changes.append((target, change)) }
  }
}

extension SyncSlot {
  func collectLinks(_ change: Int, into links: inout LinkChanges) {
    links.note(value, change)
    embedded?.collectLinks(change, into: &links)
  }
}

extension SyncNode {
  /// All links in it; embedded objects are as deep as `SyncLimits.stepsMax` at most.
  func collectLinks(_ change: Int, into links: inout LinkChanges) {
    for content in fields.values {
      content.value?.collectLinks(change, into: &links)
      for slot in content.list { slot.collectLinks(change, into: &links) }
      for value in content.set { links.note(value, change) }
      for slot in content.dictionary.values { slot.collectLinks(change, into: &links) }
    }
  }
}

extension SyncState {
  /// Adds an object that the digest contains already.
  mutating func include(_ object: SyncObject, _ node: SyncNode) {
    let digest = digest
    replace(object, by: node)
    self.digest = digest
  }

  /// The objects that satisfy a condition, with the digest of all.
  func part(_ isKept: (SyncObject) -> Bool) -> SyncState {
    var part = SyncState()
    for (object, node) in objects where isKept(object) { part.replace(object, by: node) }
    part.digest = digest
    return part
  }

  /// Replaces an object; nil removes it.
  package mutating func replace(_ object: SyncObject, by node: SyncNode?) {
    var links = LinkChanges()
    if let old = objects.removeValue(forKey: object) {
      digest &-= SyncDigest.object(object, sum: old.sum)
      old.collectLinks(-1, into: &links)
    }
    if let node {
      objects[object] = node
      digest &+= SyncDigest.object(object, sum: node.sum)
      node.collectLinks(1, into: &links)
    }
    count(links, from: object)
  }
}
