// ImageBuilder+Steps.swift: goes from one crash state of a crash point to the next.
// Invariants: ordered steps are stacked in the order of units; a free step lies on no ordered step
// of its file that is younger, and on no younger free step of the same bytes. So steps are removed
// youngest first and applied oldest first.

import LabCore
import Recording

/// The content that free units covered, by unit.
struct FreeSteps {
  private static let off = Int32(-2)
  private static let zeros = Int32(-1)

  /// For a page: the position of its old bytes in `buffer`, or `zeros`; for a size: `zeros`.
  private var places: [Int32]
  /// For a page: its hash, if `isHashKnown`; for a size: the previous size.
  private var before: [UInt64]
  private var isHashKnown: [Bool]
  private let buffer = FlatBuffer()
  private var unusedPlaces: [Int32] = []
  private var placeCount: Int32 = 0

  init(unitCount: Int) {
    places = [Int32](repeating: Self.off, count: unitCount)
    before = [UInt64](repeating: 0, count: unitCount)
    isHashKnown = [Bool](repeating: false, count: unitCount)
  }

  func isOn(_ unit: Int) -> Bool { places[unit] != Self.off }

  /// Saves what a unit is about to cover.
  mutating func cover(_ range: Range<Int>, of file: ImageContent, by unit: Int) throws(LabError) {
    let record = file[range.lowerBound / ImageContent.pageBytes]
    isHashKnown[unit] = !record.isDirty
    before[unit] = record.hash
    if !record.isTouched || (!record.isDirty && record.hash == 0) {
      places[unit] = Self.zeros
      return
    }
    if unusedPlaces.isEmpty {
      try buffer.reserve((Int(placeCount) + 1) * ImageContent.pageBytes)
      unusedPlaces.append(placeCount)
      placeCount += 1
    }
    let place = unusedPlaces.removeLast()
    file.buffer.copy(range, to: buffer, at: Int(place) * ImageContent.pageBytes)
    places[unit] = place
  }

  /// Restores what a unit covered.
  mutating func uncover(_ range: Range<Int>, of file: ImageContent, from unit: Int) {
    let place = places[unit]
    if place == Self.zeros {
      file.buffer.zero(range)
    } else {
      let start = Int(place) * ImageContent.pageBytes
      buffer.copy(start..<start + range.count, to: file.buffer, at: range.lowerBound)
      unusedPlaces.append(place)
    }
    places[unit] = Self.off
    let page = range.lowerBound / ImageContent.pageBytes
    if isHashKnown[unit] {
      file.setHash(before[unit], ofPage: page)
    } else {
      file.markDirty(page)
    }
  }

  /// Saves the size that a unit is about to change.
  mutating func cover(sizeBytes: UInt64, by unit: Int) {
    places[unit] = Self.zeros
    before[unit] = sizeBytes
  }

  /// The size before a unit that has been removed.
  mutating func uncoverSize(from unit: Int) -> UInt64 {
    places[unit] = Self.off
    return before[unit]
  }
}

extension ImageBuilder {
  /// An ordered unit that was applied, completely or in part.
  struct Step {
    var unit: Int
    var isTorn: Bool
    /// Length of the undo log before it.
    var undoCount: Int
  }

  /// Goes from the current state to another.
  /// - Parameters:
  ///   - wanted: Units, ascending.
  ///   - torn: One more, which arrived in part.
  /// - Throws: `LabError` when the image exceeds its limits.
  /// - Complexity: O(units) to compare, O(bytes of the units removed, added, or lying on those).
  func goOver(to wanted: [Int], torn: TornWrite?) throws(LabError) {
    markGeneration &+= 1
    let (off, on) = difference(to: wanted)
    if off.isEmpty, on.isEmpty, torn == nil, !ordered.contains(where: \.isTorn) { return }
    let cut = firstToGo(off: off, on: on, torn: torn)
    let redo = lyingOn(off: off, on: on, torn: torn, cut: cut)
    var again: [Int] = []
    for step in ordered[cut...] where !step.isTorn && marks[step.unit] != markGeneration {
      again.append(step.unit)
    }
    takeOff(
      free: (off + redo).filter { table.overlaps.freedom(of: $0) != .ordered }.sorted(by: >),
      cut: cut)
    var coming = on + redo + again
    if let torn { coming.append(torn.unit) }
    coming.sort()
    for unit in coming {
      if unit == torn?.unit {
        ordered.append(Step(unit: unit, isTorn: true, undoCount: undo.count))
        if let torn { try apply(torn) }
      } else if table.overlaps.freedom(of: unit) == .ordered {
        ordered.append(Step(unit: unit, isTorn: false, undoCount: undo.count))
        try apply(unit)
      } else {
        try putOn(unit)
      }
    }
    shown = wanted
  }

  /// Removes all steps.
  func takeAllOff() {
    takeOff(free: shown.reversed().filter { free.isOn($0) }, cut: 0)
    shown.removeAll(keepingCapacity: true)
  }

  /// The units to remove and those to add, ascending; both are marked.
  private func difference(to wanted: [Int]) -> (off: [Int], on: [Int]) {
    var off: [Int] = []
    var on: [Int] = []
    var old = 0
    var new = 0
    while old < shown.count || new < wanted.count {
      if old < shown.count, new < wanted.count, shown[old] == wanted[new] {
        old += 1
        new += 1
      } else if new == wanted.count || (old < shown.count && shown[old] < wanted[new]) {
        off.append(shown[old])
        marks[shown[old]] = markGeneration
        old += 1
      } else {
        on.append(wanted[new])
        marks[wanted[new]] = markGeneration
        new += 1
      }
    }
    return (off, on)
  }

  /// Index of the oldest ordered step that must be removed.
  private func firstToGo(off: [Int], on: [Int], torn: TornWrite?) -> Int {
    var cut = ordered.count
    func lower(to unit: Int) { cut = min(cut, ordered.firstPlace { $0.unit >= unit }) }
    if let unit = off.first(where: { table.overlaps.freedom(of: $0) == .ordered }) {
      lower(to: unit)
    }
    if let unit = on.first(where: { table.overlaps.freedom(of: $0) == .ordered }) {
      lower(to: unit)
    }
    if let torn { lower(to: torn.unit) }
    if let index = ordered.firstIndex(where: \.isTorn) { cut = min(cut, index) }
    guard cut > 0, let lowest = [off.first, on.first].compactMap({ $0 }).min(),
      lowest < ordered[cut - 1].unit
    else { return cut }
    // A unit under an ordered step of its file can change only after that step is removed.
    var firsts: [InodeNumber: Int] = [:]
    for unit in off + on where table.overlaps.freedom(of: unit) != .ordered {
      guard let inode = table.units[unit].effects.first?.contentInode else { continue }
      firsts[inode] = min(firsts[inode] ?? .max, unit)
    }
    let under = ordered[..<cut].firstIndex { step in
      table.overlaps.contentInodes(of: step.unit).contains { firsts[$0] ?? .max < step.unit }
    }
    return under ?? cut
  }

  /// Free units that stay but lie on changed ones, each once, and marked.
  private func lyingOn(off: [Int], on: [Int], torn: TornWrite?, cut: Int) -> [Int] {
    var found: [Int] = []
    func add(_ unit: Int) {
      guard marks[unit] != markGeneration else { return }
      marks[unit] = markGeneration
      found.append(unit)
    }
    guard let last = shown.last else { return [] }
    for unit in [off, on].joined() where table.overlaps.freedom(of: unit) != .ordered {
      var next = table.overlaps.next(after: unit)
      // The chain of a marked unit is followed when that unit is handled.
      while let over = next, over <= last, marks[over] != markGeneration {
        if free.isOn(over) { add(over) }
        next = table.overlaps.next(after: over)
      }
    }
    var floors: [InodeNumber: Int] = [:]
    func floor(_ unit: Int, _ inodes: [InodeNumber]) {
      for inode in inodes { floors[inode] = min(floors[inode] ?? .max, unit) }
    }
    for step in ordered[cut...] { floor(step.unit, contentInodes(of: step)) }
    for unit in on { floor(unit, table.overlaps.contentInodes(of: unit)) }
    if let torn { floor(torn.unit, table.units[torn.unit].effects.compactMap(\.contentInode)) }
    guard let lowest = floors.values.min() else { return found }
    for unit in shown[shown.firstPlace { $0 > lowest }...] where free.isOn(unit) {
      guard let inode = table.units[unit].effects.first?.contentInode, let floor = floors[inode],
        floor < unit
      else { continue }
      add(unit)
    }
    return found
  }

  private func contentInodes(of step: Step) -> [InodeNumber] {
    step.isTorn
      ? table.units[step.unit].effects.compactMap(\.contentInode)
      : table.overlaps.contentInodes(of: step.unit)
  }

  /// Removes free units, youngest first, and the ordered steps from an index on.
  private func takeOff(free units: [Int], cut: Int) {
    for unit in units {
      while ordered.count > cut, let last = ordered.last, last.unit > unit { revertStep() }
      takeOff(unit)
    }
    while ordered.count > cut { revertStep() }
  }

  private func revertStep() {
    let step = ordered.removeLast()
    while undo.count > step.undoCount { revertLast() }
  }

  private func putOn(_ unit: Int) throws(LabError) {
    switch table.units[unit].effects[0] {
    case .data(let inode, let offset, let payload, let slice):
      let node = try node(inode)
      let file = node.file
      try file.reserve((offset + UInt64(slice.count) + 4095) / 4096 * 4096)
      let range = Int(offset)..<Int(offset) + slice.count
      try free.cover(range, of: file, by: unit)
      try put(payload.bytes, slice, at: range, into: node, unit: unit)
    case .size(let inode, let newSize):
      let node = try node(inode)
      free.cover(sizeBytes: node.sizeBytes, by: unit)
      setSize(newSize, of: node)
    default: preconditionFailure("a free unit is bytes or a size")
    }
  }

  private func takeOff(_ unit: Int) {
    switch table.units[unit].effects[0] {
    case .data(let inode, let offset, _, let slice):
      guard let node = nodes[inode] else { return }
      free.uncover(Int(offset)..<Int(offset) + slice.count, of: node.file, from: unit)
      markStale(node)
    case .size(let inode, _):
      guard let node = nodes[inode] else { return }
      setSize(free.uncoverSize(from: unit), of: node)
    default: preconditionFailure("a free unit is bytes or a size")
    }
  }
}

extension Array {
  /// The first place from which on all elements fulfil a condition that is monotonic: if an element
  /// fulfils it, all later ones do.
  fileprivate func firstPlace(where holds: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
