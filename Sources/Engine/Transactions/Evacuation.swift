// Evacuation.swift: when most of a file is free, each commit moves a few nodes from behind a target
// to free places before it, so that the tail becomes empty and is given back. The walk over the
// trees goes on where the commit before it stopped; nothing of it is written down.
// Invariants: a moved node is released like any other that a commit replaces, so snapshots and a
// crash see nothing of it; a commit moves about `sectorsMax` sectors and looks at `visitsMax`
// nodes; damage met on the walk ends it for a while and is not the commit's error.

/// Where moving nodes out of the tail stands.
struct Evacuation: Sendable {
  /// What one commit moves at most, and a node with the way to it.
  private static let sectorsMax = 64
  private static let visitsMax = 512
  /// Segments of the free list that one commit moves at most.
  private static let segmentsMax = 8
  /// Commits without a walk after one that had nothing to move.
  private static let restCommits = 64
  /// Less free space than this is not worth the writes.
  private static let freeSectorsMin = UInt64(1 << 20 / Layout.sectorSizeBytes)

  private var resume: [Int] = []
  private var movedInPass = 0
  private var rest = 0

  /// Whether more than half of the file is free, and there may be something to move.
  ///
  /// While it is, new nodes go to the lowest place with room, those that every commit writes, too.
  mutating func isWorthwhile(_ space: inout SpaceMap) -> Bool {
    let free = space.freeSectorCount
    space.prefersLowest = free > space.endSector / 2
    guard free > Self.freeSectorsMin, space.prefersLowest else { return false }
    rest = max(0, rest - 1)
    return rest == 0
  }

  /// Gives nodes behind the target new places.
  mutating func moveNodes(
    of tables: [MutableTable], _ writer: TreeWriter, into sink: inout NodeSink
  ) {
    let space = sink.space
    let room = space.endSector - Layout.firstNodeSector
    // A file that says that two nodes stand in one place can have more free sectors than that.
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
    // Whoever reads a damaged node hears of it; the walk begins anew some time later.
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
