// Evacuation.swift: when most of a file is free, each commit moves a few nodes from behind a target
// to free places before it, so that the tail becomes empty and is given back. The walk over the
// trees goes on where the commit before it stopped; nothing of it is written down.
// Invariants: a moved node is released like any other that a commit replaces, so snapshots and a
// crash see nothing of it; a commit moves at most `sectorsMax` sectors and looks at `visitsMax`
// nodes; damage met on the walk ends it for a while and is not the commit's error.

/// Where moving nodes out of the tail stands.
struct Evacuation: Sendable {
  /// What one commit moves at most, and a node.
  private static let sectorsMax = 64
  private static let visitsMax = 128
  /// Segments of the free list that one commit moves at most.
  private static let segmentsMax = 8
  /// Commits without a walk after one that had nothing to move.
  private static let restCommits = 64
  /// Less free space than this is not worth the writes.
  private static let freeSectorsMin = UInt64(1 << 20 / Layout.sectorSizeBytes)

  private var table = 0
  private var key = Int64.min
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

  /// Treats nodes behind the target as changed, so that the commit gives them new places.
  mutating func moveNodes(of tables: [MutableTable], in space: inout SpaceMap) {
    let used = space.endSector - Layout.firstNodeSector - space.freeSectorCount
    let target = Layout.firstNodeSector + used + used / 8 + UInt64(Self.sectorsMax)
    guard target < space.endSector else { return }
    var work = Relocation(
      target: target, sectorsLeft: Self.sectorsMax, visitsLeft: Self.visitsMax)
    moveSegments(behind: target, in: &space)
    do throws(EngineError) {
      while !work.isSpent {
        guard table < tables.count else {
          endPass()
          break
        }
        if let next = try tables[table].tree.relocate(&work, from: key) {
          key = next
        } else {
          table += 1
          key = .min
        }
      }
      movedInPass += work.movedSectors
    } catch {
      // Whoever reads that node hears of it.
      rest = Self.restCommits
    }
  }

  private mutating func endPass() {
    if movedInPass == 0 { rest = Self.restCommits }
    movedInPass = 0
    table = 0
    key = .min
  }

  private mutating func moveSegments(behind target: UInt64, in space: inout SpaceMap) {
    let behind = space.segments.indices.filter { space.segments[$0].link.ref.sector >= target }
    for index in behind.suffix(Self.segmentsMax).reversed() { space.dissolve(at: index) }
    movedInPass += min(behind.count, Self.segmentsMax)
  }
}

/// What one commit may still move.
struct Relocation {
  /// Nodes from this sector on are to be moved.
  let target: UInt64
  private(set) var sectorsLeft: Int
  private(set) var visitsLeft: Int
  private(set) var movedSectors = 0

  init(target: UInt64, sectorsLeft: Int, visitsLeft: Int) {
    self.target = target
    self.sectorsLeft = sectorsLeft
    self.visitsLeft = visitsLeft
  }

  var isSpent: Bool { sectorsLeft <= 0 || visitsLeft <= 0 }

  func concerns(_ link: NodeLink) -> Bool { link.ref.sector >= target }

  mutating func visit() { visitsLeft -= 1 }

  mutating func moved(sectors: UInt64) {
    sectorsLeft -= Int(sectors)
    movedSectors += Int(sectors)
  }
}
