// JournalFinder.swift: finds the changes in place of a recording that a journal protects.
// Invariant: what it keeps is bounded, whatever the recording holds; beyond the bounds it finds
// nothing, and then nothing is judged.

import CrashStates
import Recording

/// Reads a trace once.
struct JournalFinder {
  /// Fewer bytes are found anywhere by chance, and so is a run of few values.
  private static let countMin = 8
  private static let valuesMin = 3
  private static let fileBytesMax: UInt64 = 1 << 20
  /// Most changes, most writes in place that are looked at, and most files that may be journals.
  private static let changesMax = 64
  private static let writesMax = 2_000
  private static let journalsMax = 8

  /// A change that goes on.
  private struct Open {
    let inode: InodeNumber
    let journal: InodeNumber
    var change: JournaledChange
  }

  private var live: TreeImage
  private let names: PathIndex
  /// Files that the run has written, which may be journals, the last one first.
  private var written: [InodeNumber] = []
  private var open: [Open] = []
  private var found: [JournaledChange] = []
  private var writeCount = 0

  /// The changes of a trace, in the order of their ends.
  /// - Complexity: O(writes in place × bytes of what the run has written), both bounded.
  static func changes(in trace: Trace) -> [JournaledChange] {
    var finder = JournalFinder(trace)
    for (index, event) in trace.events.enumerated() {
      guard case .operation(let operation) = event.body else { continue }
      if operation.isSync { continue }
      finder.read(operation, at: index)
      finder.live.apply(operation)
    }
    return finder.found
  }

  private init(_ trace: Trace) {
    live = trace.initial
    names = PathIndex(trace)
  }

  private mutating func read(_ operation: Operation, at index: Int) {
    switch operation {
    case .write(let inode, let offset, let payload):
      // Who writes over the beginning of a journal begins it anew.
      if offset == 0, (live.inodes[inode]?.sizeBytes ?? 0) > 0 { end(inode) }
      look(inode, Int(clamping: offset), payload.bytes, at: index)
      if written.first != inode {
        written.removeAll { $0 == inode }
        written.insert(inode, at: 0)
        if written.count > Self.journalsMax { written.removeLast() }
      }
    case .truncate(let inode, _, let size):
      if size == 0 { end(inode) }
      // The range of a change is gone with it.
      open.removeAll { $0.inode == inode }
    case .remove(let inode, _, _, _): end(inode, removedSince: index + 1)
    case .rename(let inode, _, _, _, _, let replaced):
      end(inode)
      if let replaced { end(replaced) }
    default: break
    }
  }

  /// A journal is given up.
  private mutating func end(_ journal: InodeNumber, removedSince: Int? = nil) {
    for item in open where item.journal == journal && found.count < Self.changesMax {
      found.append(item.change)
      found[found.count - 1].removedSince = removedSince
    }
    open.removeAll { $0.journal == journal }
  }

  private mutating func look(
    _ inode: InodeNumber, _ offset: Int, _ payload: [UInt8], at index: Int
  ) {
    guard let image = live.inodes[inode], image.type == .regular, offset < Int(image.sizeBytes),
      image.sizeBytes <= Self.fileBytesMax, writeCount < Self.writesMax,
      written.contains(where: { $0 != inode }), let bytes = image.visibleBytes
    else { return }
    writeCount += 1
    let range = offset..<Swift.min(offset + payload.count, bytes.count)
    let after = Array(payload.prefix(range.count))
    let before = Array(bytes[range])
    guard before != after, let path = names.paths(of: inode, at: index).first else { return }
    if let place = open.firstIndex(where: { $0.inode == inode }) {
      let journal = live.inodes[open[place].journal]?.visibleBytes ?? []
      let isUndo = open[place].change.isUndo
      if isKept(isUndo ? before : after, in: journal) || covers(open[place].change, range) {
        open[place].change.add(range, after)
      } else {
        // What no journal protects is judged by nobody.
        open.remove(at: place)
      }
      return
    }
    for journal in written where journal != inode {
      guard let image = live.inodes[journal], image.sizeBytes <= Self.fileBytesMax,
        let name = names.paths(of: journal, at: index).first, let kept = image.visibleBytes
      else { continue }
      if isKept(bytes, in: kept) {
        var change = JournaledChange(path: path, journal: name, isUndo: true, start: bytes)
        change.isOfWhole = true
        change.add(range, after)
        open.append(Open(inode: inode, journal: journal, change: change))
        return
      }
      for isUndo in [true, false] where isKept(isUndo ? before : after, in: kept) {
        var change = JournaledChange(path: path, journal: name, isUndo: isUndo, start: bytes)
        change.add(range, after)
        open.append(Open(inode: inode, journal: journal, change: change))
        return
      }
    }
  }

  /// Whether a change wrote a range already, so that its journal has the bytes from before.
  private func covers(_ change: JournaledChange, _ range: Range<Int>) -> Bool {
    if change.isOfWhole { return true }
    return change.isUndo
      && change.pieces.contains { piece in
        piece.range.lowerBound <= range.lowerBound && range.upperBound <= piece.range.upperBound
      }
  }

  /// Whether a journal holds some bytes; too few say nothing.
  private func isKept(_ bytes: [UInt8], in journal: [UInt8]) -> Bool {
    guard bytes.count >= Self.countMin, Set(bytes.prefix(4096)).count >= Self.valuesMin else {
      return false
    }
    return journal.contains(bytes: bytes)
  }
}
