// ImageBuilder+Steps.swift: goes from one crash state of a crash point to the next.
// Invariants: ordered steps are stacked in the order of units; a free step lies on no ordered step
// of its file that is younger, and on no younger free step of the same bytes. So steps are removed
// youngest first and applied oldest first.

import LabCore
import Recording

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
    steps.beginChange()
    let (off, on) = difference(to: wanted)
    if off.isEmpty, on.isEmpty, torn == nil, !ordered.contains(where: \.isTorn) { return }
    let cut = firstToGo(off: off, on: on, torn: torn)
    let redo = lyingOn(off: off, on: on, torn: torn, cut: cut)
    var again: [Int] = []
    for step in ordered[cut...] where !step.isTorn && !steps.isMarked(step.unit) {
      again.append(step.unit)
    }
    takeOff(
      free: (off + redo).filter { steps.isFree($0) }.sorted(by: >),
      cut: cut)
    var coming = on + redo + again
    if let torn { coming.append(torn.unit) }
    coming.sort()
    for unit in coming {
      if unit == torn?.unit {
        ordered.append(Step(unit: unit, isTorn: true, undoCount: undo.count))
        if let torn { try apply(torn) }
      } else if steps.isFree(unit) {
        try putOn(unit)
      } else {
        ordered.append(Step(unit: unit, isTorn: false, undoCount: undo.count))
        try apply(unit)
      }
    }
    shown = wanted
  }

  /// Removes all steps.
  func takeAllOff() {
    takeOff(free: shown.reversed().filter { steps.isOn($0) }, cut: 0)
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
        steps.mark(shown[old])
        old += 1
      } else {
        on.append(wanted[new])
        steps.mark(wanted[new])
        new += 1
      }
    }
    return (off, on)
  }

  /// Index of the oldest ordered step that must be removed.
  private func firstToGo(off: [Int], on: [Int], torn: TornWrite?) -> Int {
    var cut = ordered.count
    func lower(to unit: Int) { cut = min(cut, ordered.firstPlace { $0.unit >= unit }) }
    if let unit = off.first(where: { !steps.isFree($0) }) {
      lower(to: unit)
    }
    if let unit = on.first(where: { !steps.isFree($0) }) {
      lower(to: unit)
    }
    if let torn { lower(to: torn.unit) }
    if let index = ordered.firstIndex(where: \.isTorn) { cut = min(cut, index) }
    guard cut > 0, let lowest = [off.first, on.first].compactMap({ $0 }).min(),
      lowest < ordered[cut - 1].unit
    else { return cut }
    // A unit under an ordered step of its file can change only after that step is removed.
    var firsts: [InodeNumber: Int] = [:]
    for unit in off + on {
      guard let inode = steps.node(of: unit)?.number else { continue }
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
      guard !steps.isMarked(unit) else { return }
      steps.mark(unit)
      found.append(unit)
    }
    guard let last = shown.last else { return [] }
    for unit in [off, on].joined() where steps.isFree(unit) {
      var next = steps.next(after: unit)
      // The chain of a marked unit is followed when that unit is handled.
      while let over = next, over <= last, !steps.isMarked(over) {
        if steps.isOn(over) { add(over) }
        next = steps.next(after: over)
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
    for unit in shown[shown.firstPlace { $0 > lowest }...] where steps.isOn(unit) {
      guard let inode = steps.node(of: unit)?.number, let floor = floors[inode], floor < unit
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
    guard let node = steps.node(of: unit) else { return }
    guard let range = steps.range(of: unit) else {
      steps.cover(sizeBytes: node.sizeBytes, by: unit)
      setSize(steps.newSize(of: unit), of: node)
      return
    }
    let file = node.file
    try file.reserve((UInt64(range.upperBound) + 4095) / 4096 * 4096)
    if try steps.putOn(unit, range, of: file) { try countTouchedPage() }
    markStale(node)
  }

  private func takeOff(_ unit: Int) {
    guard let node = steps.node(of: unit) else { return }
    guard let range = steps.range(of: unit) else {
      setSize(steps.uncoverSize(from: unit), of: node)
      return
    }
    steps.takeOff(unit, range, of: node.file)
    markStale(node)
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
