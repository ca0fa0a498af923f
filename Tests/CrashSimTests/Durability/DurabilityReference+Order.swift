// DurabilityReference+Order.swift: which piece waits for which, two by two.

import Recording

extension DurabilityReference {
  enum Tie {
    /// The later piece waits for the earlier one, and a sync of the later covers the earlier.
    case object
    /// The same, but a sync that leaves the journal's order (`objectAndNames`) does not cover it.
    case journal
  }

  /// Why a later piece waits for an earlier one, or nil.
  func tie(_ later: Int, to earlier: Int) -> Tie? {
    let a = pieces[earlier]
    let b = pieces[later]
    if model.isTotal { return .object }
    if keepsOrderOfObject(a, b) || b.waitsFor.contains(earlier) { return .object }
    if keepsOrderOfSizes(earlier, later) || isDataBeforeGrowth(a, b) { return .object }
    if isCutOff(a, b) || keepsOrderOfInode(a, b) || isTimeBeforeSize(a, b) { return .object }
    guard model.hasJournal else { return nil }
    if b.kind == .growth, let inode = b.inodes.first, inodes[inode]?.creation == earlier {
      return .object  // X4
    }
    if b.isJournaled {
      if isOnOrderedList(a) { return .object }
      if closeBarriers.contains(where: { later >= $0.from && $0.pieces.contains(earlier) }) {
        return .object  // X7
      }
      if a.isJournaled { return .journal }  // X1
    }
    let isData = b.kind == .data || b.kind == .growth || b.kind == .zeros
    if isData, a.isJournaled, model.word("dataOrder") == "afterMetadata" { return .journal }
    return nil
  }

  /// True when a tie still holds: sizes and names do not wait for what a failed sync dropped, but
  /// content of the same file brings it along (R6).
  func isInForce(_ later: Int, _ earlier: Int, at crashPoint: Int) -> Bool {
    guard let dropped = droppedFrom[earlier], dropped < crashPoint else { return true }
    return pieces[earlier].inodes.contains { pieces[later].changesContent(of: $0) }
  }

  /// R1 and R4: one block, one name, one attribute, one directory's names.
  private func keepsOrderOfObject(_ a: Piece, _ b: Piece) -> Bool {
    if !a.movedDirectories.isDisjoint(with: b.movedDirectories) { return true }
    for first in a.changes {
      for second in b.changes where second.inode == first.inode {
        switch (first, second) {
        case (.owner, .owner), (.time, .time): return true
        case (.attribute(_, let name, _), .attribute(_, let other, _)):
          if name == other { return true }
        case (.name(_, let name, _), .name(_, let other, _)): if name == other { return true }
        default:
          if let range = first.range, let other = second.range,
            blocks(range).overlaps(blocks(other))
          {
            return true
          }
        }
      }
    }
    return false
  }

  /// R10: a new size waits for the times that the file was given before.
  private func isTimeBeforeSize(_ a: Piece, _ b: Piece) -> Bool {
    guard b.kind == .growth || b.kind == .size, b.newSize != nil else { return false }
    return a.changes.contains { change in
      if case .time(let inode, _) = change { b.inodes.contains(inode) } else { false }
    }
  }

  private func blocks(_ range: Range<UInt64>) -> Range<UInt64> {
    let size = model.blockBytes
    return range.lowerBound / size..<(range.upperBound + size - 1) / size
  }

  /// R1, R2: a size set outright waits for those set outright before; growth for all from the last
  /// of these on.
  private func keepsOrderOfSizes(_ earlier: Int, _ later: Int) -> Bool {
    let a = pieces[earlier]
    let b = pieces[later]
    guard a.newSize != nil, b.newSize != nil, let inode = sized(a), inode == sized(b) else {
      return false
    }
    if b.kind == .size { return a.kind == .size }
    return !pieces[earlier + 1..<later].contains { $0.kind == .size && sized($0) == inode }
  }

  private func sized(_ piece: Piece) -> InodeNumber? {
    for case .size(let inode, _) in piece.changes { return inode }
    return nil
  }

  /// dataBeforeGrowth: data of the same write below the size.
  private func isDataBeforeGrowth(_ data: Piece, _ growth: Piece) -> Bool {
    guard growth.kind == .growth, data.kind == .data, data.event == growth.event else {
      return false
    }
    switch model.word("dataBeforeGrowth") {
    case "wholeWrite": return true
    case "newPages": return data.isInNewPage
    default: return false
    }
  }

  /// X5: data in pages that a truncate cut off.
  private func isCutOff(_ truncate: Piece, _ data: Piece) -> Bool {
    guard model.hasJournal, truncate.isShrinking, let size = truncate.newSize,
      truncate.inodes == data.inodes
    else { return false }
    let firstPage = Self.pages(0..<size).upperBound
    return data.changes.contains { $0.range.map { Self.pages($0).upperBound > firstPage } == true }
  }

  /// perInode, perFile: one order of all changes of an inode; a name is a change of its directory.
  private func keepsOrderOfInode(_ a: Piece, _ b: Piece) -> Bool {
    guard model.word("metadataOrder") == "perInode" else { return false }
    func isOrdered(_ piece: Piece) -> Bool {
      model.word("dataOrder") == "perFile" || (piece.kind != .data && piece.kind != .growth)
    }
    return isOrdered(a) && isOrdered(b) && !a.inodes.isDisjoint(with: b.inodes)
  }

  /// ext3: a commit waits for the data of growing writes and of new pages.
  private func isOnOrderedList(_ data: Piece) -> Bool {
    data.kind == .data && !model.allows("delayedAllocation")
      && model.word("dataOrder") == "unordered" && (data.isInNewPage || data.isOfGrowingWrite)
  }
}
