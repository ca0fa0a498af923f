// DurabilityReference+Syncs.swift: what each sync makes certain, and the trees that a crash may
// leave.

import Recording

extension DurabilityReference {
  /// Reads a sync or a close.
  /// - Returns: False for every other operation.
  mutating func readSync(_ operation: Operation, _ flags: OperationFlags) -> Bool {
    // R6: an ignored sync does nothing.
    let isDone = !flags.contains(.ignored) && !flags.contains(.failed)
    switch operation {
    case .sync(let inode, let dataOnly) where inodes[inode]?.type != .directory:
      if flags.contains(.failed) { drop(inode) }
      if isDone { sync(file: inode, dataOnly: dataOnly) }
    case .sync(let inode, _), .syncDirectory(let inode): if isDone { sync(directory: inode) }
    case .syncAll(let late): if isDone { syncAll(late: late) }
    case .close(let inode): close(inode)
    default: return false
    }
    return true
  }

  private mutating func drop(_ inode: InodeNumber) {
    guard model.allows("failedSyncDropsData") else { return }
    for index in pieces.indices
    where pieces[index].kind == .data && pieces[index].inodes.contains(inode) {
      if !isCertain(index), droppedFrom[index] == nil { droppedFrom[index] = event }
    }
  }

  private func isCertain(_ piece: Int) -> Bool { certainFrom[piece] != nil }

  private mutating func close(_ inode: InodeNumber) {
    guard inodes[inode]?.isEmptied == true else { return }
    inodes[inode]?.isEmptied = false
    if model.allows("safeCloseAfterTruncate") {
      closeBarriers.append((pieces.count, inodes[inode]?.delayed ?? []))
    }
  }

  /// Section 2, syncCoverage; sections 4 to 7.
  private mutating func sync(file inode: InodeNumber, dataOnly: Bool) {
    let coverage = model.word("syncCoverage")
    if coverage == "everything" { return makeCertain(Set(pieces.indices)) }
    var covered: Set<Int> = []
    for (index, piece) in pieces.enumerated() where piece.inodes.contains(inode) {
      switch piece.kind {
      case .data, .zeros: if droppedFrom[index] == nil { covered.insert(index) }
      case .growth, .size: covered.insert(index)
      case .attributes: if !dataOnly, coverage != "journalOfInode" { covered.insert(index) }
      case .names, .whole: break
      }
    }
    if coverage == "objectAndNames" {
      covered.formUnion(
        namesLeading(to: dataOnly ? [inodes[inode]?.creation].compactMap { $0 } : names(of: inode)))
    }
    if coverage == "journalOfInode" {
      // X8, X9: the journal's order brings all before it.
      let last = pieces.indices.last { touches(pieces[$0], inode, dataOnly: dataOnly, at: $0) }
      if let last { covered.insert(last) }
      let hasGrown = covered.contains { pieces[$0].kind == .growth && !isCertain($0) }
      if hasGrown, let count = inodes[inode]?.piecesBeforeGrowth,
        let journal = pieces[..<count].lastIndex(where: \.isJournaled)
      {
        covered.insert(journal)
      }
    }
    makeCertain(covered)
    forgetDelayed(inode)
  }

  private mutating func forgetDelayed(_ inode: InodeNumber) {
    inodes[inode]?.delayed = []
    inodes[inode]?.newPages = []
  }

  private mutating func sync(directory inode: InodeNumber) {
    let coverage = model.word("syncCoverage")
    switch coverage {
    case "everything": makeCertain(Set(pieces.indices))
    case "journalOfInode":
      let last = pieces.indices.last { touches(pieces[$0], inode, dataOnly: false, at: $0) }
      if let last { makeCertain([last]) }
    default:
      // Its entries are changes of the directory, as its attributes are.
      var covered = Set(pieces.indices.filter { pieces[$0].inodes.contains(inode) })
      if coverage == "objectAndNames" { covered.formUnion(namesLeading(to: names(of: inode))) }
      makeCertain(covered)
    }
  }

  /// R7: what fsync of every file and directory makes durable.
  private mutating func syncAll(late: Int) {
    let covered = pieces.indices.filter {
      (pieces[$0].event < event - late || writtenBack.contains($0)) && droppedFrom[$0] == nil
    }
    makeCertain(Set(covered))
    for inode in inodes.keys {
      let delayed = (inodes[inode]?.delayed ?? []).filter { !isCertain($0) }
      inodes[inode]?.delayed = delayed
      let pages = delayed.flatMap { piece in
        pieces[piece].changes.compactMap(\.range).flatMap { Array(Self.pages($0)) }
      }
      inodes[inode]?.newPages.formIntersection(pages)
    }
  }

  /// Pieces that gave an inode a name.
  private func names(of inode: InodeNumber) -> [Int] {
    pieces.indices.filter { index in
      pieces[index].changes.contains { if case .name(_, _, inode) = $0 { true } else { false } }
    }
  }

  /// These pieces, and the creations of the directories that their names are in.
  private func namesLeading(to roots: [Int]) -> Set<Int> {
    var found: Set<Int> = []
    var open = roots
    while let piece = open.popLast() {
      guard !isCertain(piece), found.insert(piece).inserted else { continue }
      for case .name(let parent, _, .some) in pieces[piece].changes {
        if let creation = inodes[parent]?.creation { open.append(creation) }
      }
    }
    return found
  }

  /// X8 to X10: changes of an inode that its fsync waits for, or for fdatasync those of its size or
  /// blocks, and its creation.
  private func touches(_ piece: Piece, _ inode: InodeNumber, dataOnly: Bool, at index: Int) -> Bool
  {
    guard piece.isJournaled else { return false }
    let isCreation = inodes[inode]?.creation == index
    guard !dataOnly || isCreation || (piece.kind != .names && piece.kind != .attributes) else {
      return false
    }
    return piece.inodes.contains(inode) || piece.named.contains(inode)
  }

  /// Makes pieces certain, and what they wait for.
  mutating func makeCertain(_ roots: Set<Int>) {
    let leavesJournal = model.word("syncCoverage") == "objectAndNames"
    var open = roots.sorted()
    var sizes: [Int] = []
    while let piece = open.popLast() {
      guard !isCertain(piece) else { continue }
      certainFrom[piece] = event
      if pieces[piece].kind == .size { sizes.append(piece) }
      for earlier in 0..<piece where !isCertain(earlier) {
        guard let tie = tie(piece, to: earlier), isInForce(piece, earlier, at: event) else {
          continue
        }
        if tie == .object || !leavesJournal { open.append(earlier) }
      }
    }
    // Only what the sync does not cover anyway is superseded.
    for size in sizes { supersede(by: size) }
  }

  /// R2: a durable size set outright replaces earlier growth, and hides data behind it.
  private mutating func supersede(by size: Int) {
    guard let newSize = pieces[size].newSize,
      !["journal", "perFile"].contains(model.word("dataOrder"))
    else { return }
    for index in 0..<size where !isCertain(index) && pieces[index].inodes == pieces[size].inodes {
      let isHidden = pieces[index].startBytes.map { $0 >= newSize } == true
      let isReplaced = pieces[index].kind == .growth && !pieces[index].isJournaled
      if isHidden || isReplaced { certainFrom[index] = event }
    }
  }

  // MARK: Answers

  /// Pieces that survive every crash after so many events.
  func certain(at crashPoint: Int) -> [Int] {
    issued(at: crashPoint).filter { certainFrom[$0].map { $0 < crashPoint } == true }
  }

  private func issued(at crashPoint: Int) -> Range<Int> {
    0..<(pieces.firstIndex { $0.event >= crashPoint } ?? pieces.count)
  }

  /// Every tree that a crash after so many events may leave; nil when there are too many sets.
  func possible(at crashPoint: Int, pendingMax: Int) -> Set<VisibleTree>? {
    let durable = certain(at: crashPoint)
    let durableSet = Set(durable)
    let pending = issued(at: crashPoint).filter { !durableSet.contains($0) }
    guard pending.count <= pendingMax else { return nil }
    let needs = pending.map { later in
      pending.filter {
        $0 < later && tie(later, to: $0) != nil && isInForce(later, $0, at: crashPoint)
      }
    }
    var sets: [Set<Int>] = [[]]
    for (index, piece) in pending.enumerated() {
      sets += sets.filter { kept in needs[index].allSatisfy { kept.contains($0) } }
        .map { $0.union([piece]) }
    }
    var found: Set<VisibleTree> = []
    for kept in sets {
      var tree = PieceTree(initial: initial, created: created)
      for piece in (durable + kept).sorted() { tree.apply(pieces[piece]) }
      found.insert(tree.visible)
    }
    return found
  }
}
