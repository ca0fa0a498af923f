// RevisionTree+Changes.swift: trees grow, and are cut.

extension RevisionTree {
  /// Adds a revision, and sorts the tree.
  /// - Parameters:
  ///   - id: Its ID, whose generation is one above its parent's.
  ///   - parent: The parent's index.
  ///   - flags: `.deleted`, `.hasAttachments`, `.conflict`, `.closed`.
  ///   - body: Its body.
  mutating func insert(
    _ id: RevisionID, parent: Int?, flags: RevisionFlags, body: [UInt8]?
  ) {
    var revision = Revision(
      id: id, parent: parent, flags: flags.union(.leaf), sequence: nil, body: body)
    if let parent {
      revisions[parent].flags.remove(.leaf)
      // The descendants of a revision in a conflicting branch are in conflict.
      if revisions[parent].flags.contains(.conflict) { revision.flags.insert(.conflict) }
    }
    revisions.append(revision)
    sort()
  }

  /// Adds a revision from another database, with its ancestors.
  /// - Parameters:
  ///   - history: IDs, the new revision's first, each one's parent next.
  ///   - flags: The new revision's.
  ///   - body: The new revision's.
  /// - Returns: Whether anything was added.
  /// - Throws: `DocumentStoreError` with code `.badRevisionID` when generations do not follow each
  ///   other.
  package mutating func insert(
    history: [RevisionID], flags: RevisionFlags, body: [UInt8]
  ) throws(DocumentStoreError) -> Bool {
    guard let newest = history.first else {
      throw DocumentStoreError(.badRevisionID, "a history without a revision")
    }
    for (child, parent) in zip(history, history.dropFirst()) {
      guard parent.generation < child.generation, parent.generation + 1 == child.generation else {
        throw DocumentStoreError(
          .badRevisionID, "\(child) cannot have the parent \(parent); give them in order")
      }
    }
    guard index(of: newest) == nil else { return false }
    let known = history.firstIndex { index(of: $0) != nil } ?? history.count
    let ancestor = known < history.count ? index(of: history[known]) : nil
    let isConflict = !revisions.isEmpty && ancestor != 0
    var parent = ancestor.map { revisions[$0].id }
    for place in stride(from: known - 1, through: 0, by: -1) {
      let id = history[place]
      let own: RevisionFlags = place == 0 ? flags : []
      insert(
        id, parent: parent.flatMap { index(of: $0) },
        flags: isConflict ? own.union(.conflict) : own, body: place == 0 ? body : nil)
      parent = id
    }
    return true
  }

  /// Sets the revision that a remote database has; its body is kept from now on, and those of its
  /// ancestors no longer.
  mutating func setRemote(_ remote: UInt16, to index: Int) {
    remotes[remote] = index
    revisions[index].flags.insert(.keepsBody)
    let isConflict = revisions[index].flags.contains(.conflict)
    for ancestor in branch(from: index).dropFirst() {
      if isConflict, !revisions[ancestor].flags.contains(.conflict) { break }
      revisions[ancestor].flags.remove(.keepsBody)
    }
  }

  /// Ends a conflict: the winner's branch is not a conflict any more, the loser's is closed by a
  /// tombstone, or removed.
  /// - Parameters:
  ///   - winner: The end of the branch that stays.
  ///   - loser: The end of the other one.
  ///   - prunes: Whether the loser's branch is removed.
  /// - Throws: `DocumentStoreError` with code `.conflict` when one of them is not a leaf.
  mutating func resolve(
    winner: RevisionID, loser: RevisionID, prunes: Bool
  ) throws(DocumentStoreError) {
    for id in [winner, loser] {
      guard let revision = revision(id), revision.flags.contains(.leaf) else {
        throw DocumentStoreError(
          .conflict, "\(id) is not the end of a branch any more; read the document again")
      }
    }
    guard winner != loser, let won = index(of: winner), let lost = index(of: loser) else {
      throw DocumentStoreError(.invalidParameter, "\(winner) cannot win over itself")
    }
    for index in branch(from: won) { revisions[index].flags.remove(.conflict) }
    guard prunes else {
      let id = try RevisionID(body: RevisionTree.emptyBody, isDeleted: true, parent: loser)
      insert(id, parent: lost, flags: [.deleted, .closed], body: nil)
      return
    }
    let shared = Set(branch(from: won))
    let goes = Set(branch(from: lost).prefix { !shared.contains($0) && isAlone($0, below: lost) })
    keep(revisions.indices.filter { !goes.contains($0) })
    sort()
  }

  /// Whether no branch but the one that ends at a leaf leads through a revision.
  private func isAlone(_ index: Int, below leaf: Int) -> Bool {
    index == leaf || revisions.count { $0.parent == index } == 1
  }

  /// Drops bodies of revisions that are not leaves and need not keep theirs.
  package mutating func dropBodies() {
    for index in revisions.indices
    where revisions[index].flags.isDisjoint(with: [.leaf, .keepsBody]) {
      revisions[index].body = nil
    }
  }

  /// Drops revisions that are further from each leaf than a depth, except those that remotes have.
  package mutating func prune(depthMax: Int) {
    guard revisions.count > depthMax else { return }
    var stays = [Bool](repeating: false, count: revisions.count)
    for index in revisions.indices where revisions[index].flags.contains(.leaf) {
      for ancestor in branch(from: index).prefix(depthMax) { stays[ancestor] = true }
    }
    for index in remotes.values { stays[index] = true }
    keep(revisions.indices.filter { stays[$0] })
  }

  /// The body of a tombstone: a dict without pairs.
  static let emptyBody: [UInt8] = [0x70, 0]
}
