// EvidenceMaker.swift: compares the tree of a crash state with the tree that the program saw.
// Invariants: reads only bytes that were pending, and a bounded number of them, regardless of the
// files' length.

import CrashStates
import LabCore
import Recording

/// Makes the evidence of findings of one exploration.
package struct EvidenceMaker {
  /// Most ranges listed per file.
  private static let rangesMax = 48
  /// Most bytes of a range that are compared.
  private static let comparedBytesMax = 64 << 10
  /// Most differences shown per file, and bytes shown of each.
  private static let differencesMax = 3
  private static let differenceBytes = 32

  let table: UnitTable

  /// A file with its pending units, and the ranges that are compared in both trees.
  private struct Subject {
    let inode: InodeNumber
    var ranges: [FileChange.Range] = []
    var losesSomething = false

    /// Where the trees may differ.
    var compared: [Range<UInt64>] {
      ranges.filter { $0.fate != .kept }.prefix(rangesMax).map {
        // Rows of bytes start at multiples of 16, as in hexdump.
        $0.offset / 16 * 16..<$0.offset + min($0.count, UInt64(comparedBytesMax))
      }
    }
  }

  /// A file's content in one tree.
  private struct Look {
    var path: String?
    var size: UInt64?
    var bytes: [[UInt8]] = []
  }

  /// The evidence of a state.
  /// - Parameters:
  ///   - state: The state.
  ///   - missing: The missing sync, if any.
  /// - Returns: What was lost, and the effect on the files.
  /// - Throws: `LabError` when a tree exceeds its limits.
  func evidence(
    of state: CrashState, missing: MissingSync?
  ) throws(LabError) -> FindingEvidence {
    var lostUnits = state.lost
    if let torn = state.torn { lostUnits = (lostUnits + [torn.unit]).sorted() }
    let isLost = Set(lostUnits)
    let lost = events(of: lostUnits)
    let partly = lost.filter { event in
      table.units(ofEvent: event).contains { !isLost.contains($0) } || isTorn(event, state)
    }
    let first = lost.first ?? Int.max
    let keptAfter = events(of: state.kept).filter { $0 > first && !lost.contains($0) }
    let subjects = self.subjects(of: state)
    let shown = subjects.prefix(FindingEvidence.filesMax)
    return FindingEvidence(
      crashPoint: state.crashPoint, lost: Array(lost.prefix(FindingEvidence.eventsMax)),
      lostCount: lost.count, partlyLost: Array(partly.prefix(FindingEvidence.eventsMax)),
      keptAfter: Array(keptAfter.prefix(FindingEvidence.eventsMax)),
      keptAfterCount: keptAfter.count, missingAfter: missing?.after,
      missingBefore: missing?.before, missingPath: missing?.path,
      files: try changes(of: Array(shown), in: state),
      omittedFileCount: subjects.count - shown.count)
  }

  /// Events of units, each once; both ascend.
  private func events(of units: [Int]) -> [Int] {
    var result: [Int] = []
    for unit in units where result.last != table.units[unit].event {
      result.append(table.units[unit].event)
    }
    return result
  }

  private func isTorn(_ event: Int, _ state: CrashState) -> Bool {
    state.torn.map { table.units[$0.unit].event == event } ?? false
  }

  // MARK: Files

  /// The files with pending changes: first those that lose something, then in trace order.
  private func subjects(of state: CrashState) -> [Subject] {
    var fates: [(unit: Int, fate: FileChange.Fate)] =
      state.lost.map { ($0, .lost) } + state.kept.map { ($0, .kept) }
    if let torn = state.torn { fates.append((torn.unit, .torn)) }
    fates.sort { $0.unit < $1.unit }
    var subjects: [Subject] = []
    var places: [InodeNumber: Int] = [:]
    for (unit, fate) in fates {
      for (inode, range) in touched(by: table.units[unit]) {
        let place = places[inode] ?? subjects.count
        if place == subjects.count {
          subjects.append(Subject(inode: inode))
          places[inode] = place
        }
        if fate != .kept { subjects[place].losesSomething = true }
        if let range, !range.isEmpty {
          subjects[place].ranges.append(
            FileChange.Range(
              offset: range.lowerBound, count: UInt64(range.count), fate: fate))
        }
      }
    }
    return subjects.filter(\.losesSomething) + subjects.filter { !$0.losesSomething }
  }

  /// Files that a unit changes, each with the range if it changes bytes.
  private func touched(by unit: PendingUnit) -> [(InodeNumber, Range<UInt64>?)] {
    unit.effects.compactMap { effect in
      switch effect {
      case .data(let inode, let offset, _, let slice):
        (inode, Self.range(offset, UInt64(slice.count)))
      case .zero(let inode, let offset, let count): (inode, Self.range(offset, count))
      case .size(let inode, _), .ownership(let inode, _), .extendedAttribute(let inode, _, _),
        .modificationTime(let inode, _), .setEntry(_, _, let inode):
        (inode, nil)
      case .removeEntry: removed(by: unit.event).map { ($0, nil) }
      }
    }
  }

  private static func range(_ offset: UInt64, _ count: UInt64) -> Range<UInt64> {
    offset..<offset + min(count, UInt64.max - offset)
  }

  private func removed(by event: Int) -> InodeNumber? {
    guard case .operation(.remove(let inode, _, _, _)) = table.trace.events[event].body else {
      return nil
    }
    return inode
  }

  private func changes(
    of subjects: [Subject], in state: CrashState
  ) throws(LabError) -> [FileChange] {
    let images = try CrashPointImages(table: table, at: state.crashPoint)
    let issued = CrashState(
      crashPoint: state.crashPoint, acknowledgedMarks: state.acknowledgedMarks,
      kept: table.pendingUnits(at: state.crashPoint), lost: [], torn: nil)
    let before = try images.withImage(of: issued) { (image) throws(LabError) in
      try Self.look(at: subjects, in: image)
    }
    let after = try images.withImage(of: state) { (image) throws(LabError) in
      try Self.look(at: subjects, in: image)
    }
    return subjects.indices.map { change(of: subjects[$0], before[$0], after[$0]) }
  }

  private static func look(
    at subjects: [Subject], in image: CrashImage
  ) throws(LabError) -> [Look] {
    var places: [InodeNumber: Int] = [:]
    for (place, subject) in subjects.enumerated() { places[subject.inode] = place }
    var looks = [Look](repeating: Look(), count: subjects.count)
    try image.forEachEntry { (entry) throws(LabError) in
      guard let place = places[entry.inode], looks[place].path == nil else { return }
      looks[place].path =
        entry.path.isEmpty ? "/" : String(decoding: entry.path, as: UTF8.self).cut(to: 400)
      guard entry.type == .regular else { return }
      looks[place].size = entry.sizeBytes
      for range in subjects[place].compared {
        looks[place].bytes.append(entry.bytes(range))
      }
    }
    return looks
  }

  private func change(of subject: Subject, _ before: Look, _ after: Look) -> FileChange {
    let ranges = Self.joined(subject.ranges)
    var differences: [FileChange.Difference] = []
    for (range, pair) in zip(subject.compared, zip(before.bytes, after.bytes))
    where differences.count < Self.differencesMax {
      guard let difference = Self.difference(at: range.lowerBound, pair.0, pair.1),
        !differences.contains(difference)
      else { continue }
      differences.append(difference)
    }
    return FileChange(
      path: before.path, pathAfter: after.path, size: before.size, sizeAfter: after.size,
      ranges: Array(ranges.prefix(Self.rangesMax)),
      omittedRangeCount: max(0, ranges.count - Self.rangesMax), differences: differences)
  }

  /// Ranges in file order; adjacent ones with the same fate are joined.
  private static func joined(_ ranges: [FileChange.Range]) -> [FileChange.Range] {
    var result: [FileChange.Range] = []
    for range in ranges.sorted(by: { ($0.offset, $0.count) < ($1.offset, $1.count) }) {
      if let last = result.last, last.fate == range.fate, range.offset <= last.offset + last.count {
        let end = max(last.offset + last.count, range.offset + range.count)
        result[result.count - 1].count = end - last.offset
      } else {
        result.append(range)
      }
    }
    return result
  }

  /// The first bytes that differ, starting at a multiple of 16.
  package static func difference(
    at offset: UInt64, _ issued: [UInt8], _ survived: [UInt8]
  ) -> FileChange.Difference? {
    let common = zip(issued, survived).prefix { $0 == $1 }.count
    guard common < max(issued.count, survived.count) else { return nil }
    let start = common / 16 * 16
    func digits(_ bytes: [UInt8]) -> String {
      bytes.dropFirst(start).prefix(differenceBytes).map {
        ($0 < 16 ? "0" : "") + String($0, radix: 16)
      }.joined()
    }
    return FileChange.Difference(
      differingAt: offset + UInt64(start), bytesIssued: digits(issued),
      bytesSurvived: digits(survived))
  }
}
