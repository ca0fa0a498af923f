// Evacuation.swift: when most of a file is free, each commit moves a few nodes from beyond a target
// to free places before it, so that the tail becomes empty and can be truncated. The walk over the
// trees continues where the previous commit stopped; its state is not stored in the file.
// Invariants: a moved node is released like any other that a commit replaces, so snapshots and
// recovery are not affected; a commit moves about `sectorsMax` sectors and visits `visitsMax`
// nodes; damage found on the walk suspends it for a while and does not fail the commit.

/// The progress of moving nodes out of the tail.
struct Evacuation: Sendable {
  /// The most that one commit moves, and a node with its ancestors.
  private static let sectorsMax = 64
  private static let visitsMax = 512
  /// Segments of the free list that one commit moves at most.
  private static let segmentsMax = 8
  /// Commits without a walk after one that found nothing to move.
  private static let restCommits = 64
  /// Less free space than this is not worth the writes.
  private static let freeSectorsMin = UInt64(1 << 20 / Layout.sectorSizeBytes)

  private var resume: [Int] = []
  private var movedInPass = 0
  private var rest = 0

  /// Whether more than half of the file is free, and there may be something to move.
  ///
  /// While it is, new nodes go to the lowest place with room, including those that every commit
  /// writes.
  mutating func isWorthwhile(_ space: inout SpaceMap) -> Bool {
    let free = space.freeSectorCount
    space.prefersLowest = free > space.endSector / 2
    guard free > Self.freeSectorsMin, space.prefersLowest else { return false }
    rest = max(0, rest - 1)
    return rest == 0
  }

  /// Moves nodes that are beyond the target.
  mutating func moveNodes(
    of tables: [MutableTable], _ writer: TreeWriter, into sink: inout NodeSink
  ) {
    let space = sink.space
    let room = space.endSector - Layout.firstNodeSector
    // A damaged file, where two nodes are in one place, can have more free sectors than that.
    let used = room - min(room, space.freeSectorCount)
    let target = Layout.firstNodeSector + used + used / 8 + UInt64(Self.sectorsMax)
    guard target < space.endSector else { return }
    moveSegments(behind: target, in: &sink.space)
    var mover = NodeMover(
      writer, target: target, sectorsLeft: Self.sectorsMax, visitsLeft: Self.visitsMax,
      resume: resume)
    mover.forEachIndex(below: tables.count) { mover, index in
      let table = tables[index]
      mover.forEachIndex(below: table.indexes.count + 1) { mover, part in
        if part == 0 {
          table.tree.moveNodes(&mover, into: &sink)
        } else {
          table.indexes[part - 1]?.moveNodes(&mover, into: &sink)
        }
      }
    }
    movedInPass += mover.movedSectors
    resume = mover.stopped ?? []
    // Reading a damaged node reports the error; the walk restarts some time later.
    if mover.failure != nil {
      resume = []
      rest = Self.restCommits
    } else if mover.stopped == nil {
      if movedInPass == 0 { rest = Self.restCommits }
      movedInPass = 0
    }
  }

  private mutating func moveSegments(behind target: UInt64, in space: inout SpaceMap) {
    let behind = space.segments.indices.filter { space.segments[$0].link.ref.sector >= target }
    for index in behind.suffix(Self.segmentsMax).reversed() { space.dissolve(at: index) }
    movedInPass += min(behind.count, Self.segmentsMax)
  }
}
