// ImageBuilder.swift: the tree on the medium at a crash point, with one crash state on top.
// Invariants: the base holds every unit that is durable at the crash point (except deferred ones,
// which belong to every state); `shown` are the units applied on top, the ordered ones each with
// its part of the undo log, the free ones each with what it covers; removing all of them restores
// the base byte for byte. From one state to the next only the difference is removed and applied,
// with what lies on it (ImageBuilder+Steps.swift).

import LabCore
import Recording

/// Limits of a crash image.
public struct ImageLimits: Sendable, Hashable {
  /// Bytes of touched pages, summed over all files.
  public var touchedBytes: Int
  /// Makes limits; 4 GiB by default.
  public init(touchedBytes: Int = 4 << 30) { self.touchedBytes = touchedBytes }
}

/// Builds crash images, moving forward through a trace.
public final class ImageBuilder {
  let table: UnitTable
  let limits: ImageLimits
  let comparesTimes: Bool
  /// The crash point of the base.
  public private(set) var crashPoint = 0
  let root: ImageNode
  package let nodes: [InodeNumber: ImageNode]
  /// Units on top of the base, ascending, without a torn one.
  var shown: [Int] = []
  /// The ordered ones of `shown` and the torn one, ascending.
  var ordered: [Step] = []
  var undo = UndoLog()
  let steps: UnitSteps
  var staleNodes: [ImageNode] = []
  /// Inodes with more than one name, reachable or not.
  var multiplyLinked: [ImageNode] = []
  var touchedPages = 0
  /// Durable units whose effect must wait for pending ones, ascending.
  private var deferred: [Int] = []
  /// Increases with every change of what is shown, so that use of a stale `CrashImage` is detected.
  private(set) var generation = 0

  /// Starts at crash point 0 with the trace's initial tree.
  /// - Throws: `LabError` when the initial tree is invalid or too large.
  public convenience init(
    table: UnitTable, limits: ImageLimits = ImageLimits()
  ) throws(LabError) {
    try self.init(table: table, limits: limits, comparesTimes: false)
  }

  /// The same; `comparesTimes`: trees that differ only in chosen times have different hashes.
  init(table: UnitTable, limits: ImageLimits, comparesTimes: Bool) throws(LabError) {
    self.comparesTimes = comparesTimes
    self.table = table
    self.limits = limits
    let initial = table.trace.initial
    guard let rootImage = initial.inodes[.root], rootImage.type == .directory else {
      throw .internalError("the initial tree of a trace has no root directory")
    }
    root = ImageNode(number: .root, image: rootImage, comparesTimes: comparesTimes)
    var nodes = [InodeNumber.root: root]
    // Sums do not depend on the order of these loops.
    for (number, image) in initial.inodes where number != .root {
      nodes[number] = ImageNode(number: number, image: image, comparesTimes: comparesTimes)
    }
    for (number, image) in table.creations {
      nodes[number] = ImageNode(number: number, image: image, comparesTimes: comparesTimes)
    }
    steps = try UnitSteps(table, nodes: nodes)
    self.nodes = nodes
    for (number, image) in initial.inodes {
      guard let node = nodes[number] else { continue }
      try load(image, into: node)
    }
    for node in nodes.values { markStale(node) }
    undo.removeAll()
  }

  private func load(_ image: InodeImage, into node: ImageNode) throws(LabError) {
    let pageBytes = UInt64(ImageContent.pageBytes)
    let end = image.extents.last?.endBytes ?? 0
    try node.file.reserve((end + pageBytes - 1) / pageBytes * pageBytes)
    for extent in image.extents {
      let start = Int(extent.offsetBytes)
      try put(
        extent.bytes, 0..<extent.countBytes, at: start..<start + extent.countBytes, into: node,
        unit: nil)
    }
    node.file.share(image.extents)
    setSize(image.sizeBytes, of: node)
    for (name, child) in image.entries {
      guard let childNode = nodes[child] else {
        throw .lab("broken trace: entry '\(name)' of the initial tree names inode \(child)")
      }
      setEntry(name, of: node, to: childNode)
    }
    undo.removeAll()
  }

  /// Moves the base to a later crash point and undoes the state shown.
  /// - Complexity: O(bytes that became durable in between).
  public func advance(to target: Int) throws(LabError) {
    precondition(target >= crashPoint, "an image moves forward only")
    precondition(target < table.crashPointCount, "no such crash point")
    while crashPoint < target {
      let event = crashPoint
      if let durable = table.becomesDurable[event] {
        takeAllOff()
        try addToBase(durable, at: event)
      }
      crashPoint += 1
    }
  }

  private func addToBase(_ durable: [Int], at event: Int) throws(LabError) {
    let due = deferred.filter { (table.deferredUntil[$0] ?? 0) <= event }
    let now = durable.filter { (table.deferredUntil[$0] ?? 0) <= event }
    let later = durable.filter { (table.deferredUntil[$0] ?? 0) > event }
    deferred = (deferred.filter { (table.deferredUntil[$0] ?? 0) > event } + later).sorted()
    for unit in due.isEmpty ? now : (now + due).sorted() {
      try apply(unit)
      undo.removeAll()
    }
  }

  /// Shows the state that keeps some pending units.
  /// - Parameters:
  ///   - kept: Ids, ascending, closed under dependencies; durable units are included implicitly.
  ///   - torn: One more unit, which arrived in part.
  /// - Returns: The hash of the reachable tree.
  /// - Throws: `LabError` when the image exceeds its limits.
  /// - Complexity: O(units), and the bytes of those that differ from the state shown last.
  @discardableResult
  public func show(kept: [Int], torn: TornWrite? = nil) throws(LabError) -> ContentHash {
    generation += 1
    if deferred.isEmpty {
      try goOver(to: kept, torn: torn)
    } else {
      try goOver(to: (kept + deferred).sorted(), torn: torn)
    }
    return contentHash()
  }

  /// The state shown last.
  public var image: CrashImage { CrashImage(builder: self, generation: generation) }
}
