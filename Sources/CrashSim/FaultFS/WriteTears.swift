// WriteTears.swift: writes of which a part reaches the medium before the file system dies. They are
// LazyFS's torn-op (parts of one write) and torn-seq (writes of a group without a sync in it).
// Invariant: what a tear keeps is on the medium and nothing else of the file since its last sync.

import LabCore
import Recording

/// One such fault.
package struct WriteTear: Codable, Hashable, Sendable {
  /// Glob over the path, as in `FaultRule.Match`.
  package var path: String
  /// The write, or the group of writes between two syncs of the file, counted from 1 for each file.
  package var occurrence: Int
  /// The parts of the write, or writes of the group, that reach the medium; numbers from 1.
  package var persist: [Int]
  /// How the write is cut; nil for a group of writes.
  package var cut: FaultRule.Tearing.Cut?

  package init(
    path: String, occurrence: Int, persist: [Int], cut: FaultRule.Tearing.Cut? = nil
  ) {
    self.path = path
    self.occurrence = occurrence
    self.persist = persist
    self.cut = cut
  }

  /// - Throws: `LabError` with code `.usage` for numbers that mean nothing.
  func validate() throws(LabError) {
    guard occurrence > 0, !persist.isEmpty, persist.allSatisfy({ $0 > 0 }) else {
      throw .usage("torn writes: give an occurrence and parts to persist, each from 1")
    }
    switch cut {
    case nil: break
    case .equalParts(let count) where count > 0: break
    case .sizes(let sizes) where !sizes.isEmpty && !sizes.contains(0): break
    default: throw .usage("torn writes: give parts, or their sizes in bytes, each from 1")
    }
  }
}

/// The tears of a file system with what they have counted.
struct WriteTears {
  private struct Count {
    var writes = 0
    var groups = 0
    var isGroupOpen = false
  }

  private struct Armed {
    let tear: WriteTear
    let glob: Glob
    var counts: [InodeNumber: Count] = [:]
  }

  private var armed: [Armed] = []

  var isEmpty: Bool { armed.isEmpty }

  mutating func add(_ tears: [WriteTear]) {
    armed += tears.map { Armed(tear: $0, glob: Glob($0.path)) }
  }

  /// A group of writes to the file ends.
  mutating func noteSync(of inode: InodeNumber) {
    for index in armed.indices { armed[index].counts[inode]?.isGroupOpen = false }
  }

  /// Counts a write.
  /// - Returns: The ranges of the file that reach the medium now, and whether the power goes.
  mutating func noteWrite(
    of inode: InodeNumber, at paths: [[UInt8]], range: Range<UInt64>
  ) -> (kept: [Range<UInt64>], isLast: Bool) {
    var kept: [Range<UInt64>] = []
    var isLast = false
    for index in armed.indices where paths.contains(where: { armed[index].glob.matches($0) }) {
      let tear = armed[index].tear
      var count = armed[index].counts[inode] ?? Count()
      if !count.isGroupOpen, tear.cut == nil {
        count.groups += 1
        count.writes = 0
      }
      count.isGroupOpen = true
      count.writes += 1
      armed[index].counts[inode] = count
      if let cut = tear.cut {
        guard count.writes == tear.occurrence else { continue }
        let tearing = FaultRule.Tearing(cut, keep: .these(tear.persist))
        kept += tearing.kept(
          offset: range.lowerBound, count: range.count, seed: Seed(rawValue: 1)
        ).map {
          range.lowerBound + UInt64($0.lowerBound)..<range.lowerBound + UInt64($0.upperBound)
        }
        isLast = true
      } else if count.groups == tear.occurrence {
        if tear.persist.contains(count.writes) { kept.append(range) }
        if count.writes >= tear.persist.max() ?? 0 { isLast = true }
      }
    }
    return (kept, isLast)
  }
}

extension FaultFileSystem {
  /// Has parts of a write reach the medium, and ends the service, when a tear says so.
  func tear(_ inode: Inode, _ range: Range<UInt64>) {
    let paths = FaultSubject(kind: .write, inode: inode, caller: Caller()).paths()
    let (kept, isLast) = tears.noteWrite(of: inode.number, at: paths, range: range)
    if let content = inode.content {
      for part in kept { inode.shadow?.store(part, of: content) }
    }
    if isLast { sideEffects.die() }
  }
}
