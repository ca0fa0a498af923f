// MediaPlan.swift: selects the faults of the medium to try: every sector with every kind once, then
// further variants, then pairs, until the budget is used up; if there are too many, as many as
// possible of each part of the file, so that two root slots are not lost among a thousand leaves.
// Invariants: states are in the order of their moments; each changes its file, and no two of one
// moment give the same file.

import CrashStates
import LabCore
import Recording

/// The states of an exploration of the medium's faults.
package struct MediaPlan: Codable {
  /// The name used in reports in place of a model.
  package static let name = "media"

  /// The states, by ordinal.
  package private(set) var states: [MediaState] = []
  /// The order in which they are judged, if different from their ordinals.
  private var visitOrder: [Int]?
  /// Number of single faults, including those without effect and those left out.
  package private(set) var faultCount = 0
  /// Events after which the files were at rest.
  package private(set) var moments: [Int] = []

  /// Reads the parts of a file from its bytes; throws when the file is invalid.
  package typealias Structure = (_ bytes: [UInt8]) throws -> StructureMap

  /// Selects the states of a run.
  /// - Parameters:
  ///   - trace: The run.
  ///   - declaration: The possible faults.
  ///   - paths: The files from which the declaration's glob selects.
  ///   - seed: Determines variants and samples.
  ///   - structure: Reads the parts of a file from its bytes; nil if its format is unknown.
  /// - Throws: `LabError` with code `.usage` when no file fits or no fault is possible in it; with
  ///   code `.lab` when a file is invalid without any fault.
  package init(
    _ trace: Trace, _ declaration: MediaDeclaration, paths: [String], seed: Seed,
    structure: Structure? = nil
  ) throws(LabError) {
    let glob = Glob(declaration.fileGlob)
    let paths = paths.filter { glob.matches(Array($0.utf8)) }
    let moments = Self.moments(of: trace, declaration.moment)
    var history = MediumHistory(trace, sectorBytes: declaration.sectorBytes)
    var left = declaration.budgetStates
    for (place, moment) in moments.enumerated() {
      history.advance(to: moment)
      let files = paths.filter { history.bytes(at: $0)?.isEmpty == false }
      for (number, path) in files.enumerated() {
        let shares = (moments.count - place - 1) * max(1, files.count) + files.count - number
        let sites = try Self.sites(
          history, path, declaration, seed.derived(UInt64(moment)).derived(path), structure)
        faultCount += sites.sites.reduce(0) { $0 + sites.variantCount(of: $1) }
        var choice = FaultChoice(
          sites, history, budget: (left + shares - 1) / shares, each: declaration.each,
          seed: seed.derived("choice \(moment) \(path)"))
        choice.make()
        left -= choice.faults.count
        states += choice.faults.map { MediaState(eventCount: moment, faults: $0) }
        if self.moments.last != moment { self.moments.append(moment) }
      }
    }
    guard !states.isEmpty else {
      throw .usage(
        "the medium's faults hit nothing: of \(paths.isEmpty ? "no file" : paths[0]) "
          + "'\(declaration.fileGlob)' chooses bytes that can change; correct 'files', 'at' or "
          + "'faults'")
    }
  }

  // MARK: Visits

  /// States of the first wave.
  private static let firstWave = 32

  /// Has the states judged in waves, each as large as all before it and spread over all states.
  ///
  /// A run that is cut short has then covered some of every moment and file (decision 0865). Within
  /// a wave states are in the order of their moments, because a history only moves forward.
  package mutating func visitInWaves(seed: Seed) {
    let spread = VisitOrder.spread(states.count, seed: seed.derived("visits"))
    var order: [Int] = []
    while order.count < spread.count {
      let end = min(spread.count, order.count + max(Self.firstWave, order.count))
      order += spread[order.count..<end].sorted()
    }
    visitOrder = order
  }

  /// The ordinals of a shard, in the order in which they are judged.
  /// - Parameters:
  ///   - shard: The shard.
  ///   - last: The last one that has been judged; nil for none.
  /// - Returns: Those that have not been judged yet.
  package func visits(of shard: Shard, after last: Int? = nil) -> [Int] {
    let all = visitOrder ?? Array(states.indices)
    let mine = all.filter { $0 % shard.count == shard.index }
    guard let last else { return mine }
    return Array(mine.drop { $0 != last }.dropFirst())
  }

  /// Events after which the files are at rest.
  private static func moments(of trace: Trace, _ moment: MediaMoment) -> [Int] {
    var moments: [Int] = []
    if moment == .everyCommit {
      for (number, event) in trace.events.enumerated() {
        if case .mark(let mark) = event.body, mark.text.hasPrefix("commit ") {
          moments.append(number + 1)
        }
      }
    }
    if moments.last != trace.events.count { moments.append(trace.events.count) }
    return moments
  }

  private static func sites(
    _ history: MediumHistory, _ path: String, _ declaration: MediaDeclaration,
    _ seed: Seed, _ structure: Structure?
  ) throws(LabError) -> FaultSites {
    let bytes = history.bytes(at: path) ?? []
    do {
      let map = try structure?(bytes) ?? StructureMap(unknown: bytes)
      return FaultSites(history, path: path, bytes: bytes, map: map, declaration, seed: seed)
    } catch {
      throw .lab(
        "'\(path)' is unsound before event #\(history.eventCount) without any fault of the medium: "
          + "\(error)")
    }
  }
}

/// Selects among the faults of one file at one moment.
private struct FaultChoice {
  private let sites: FaultSites
  private let history: MediumHistory
  private let budget: Int
  private let each: Int
  private var generator: PRNG
  /// The selected faults, a list for each state.
  private(set) var faults: [[MediumFault]] = []
  private var seen: Set<ContentHash> = []

  init(_ sites: FaultSites, _ history: MediumHistory, budget: Int, each: Int, seed: Seed) {
    self.sites = sites
    self.history = history
    self.budget = budget
    self.each = each
    generator = PRNG(seed)
  }

  mutating func make() {
    let singles = each == 1 ? budget : (budget + 1) / 2
    chooseSingles(upTo: singles)
    if each == 2 { choosePairs() }
    // Use what pairs have left of the budget.
    if faults.count < budget { chooseSingles(upTo: budget) }
  }

  /// Adds a state, if its file is new.
  private mutating func add(_ list: [MediumFault]) {
    guard let bytes = history.bytes(at: sites.path, with: list) else { return }
    var hash = ContentHash(low: UInt64(bytes.count))
    var isChanged = bytes.count != sites.bytes.count
    // Equal files have equal damaged sectors; all other sectors are unchanged.
    for sector in Set(list.map { Int(clamping: $0.offsetBytes) / sites.sectorBytes }).sorted() {
      let range = (sector * sites.sectorBytes..<(sector + 1) * sites.sectorBytes)
        .clamped(to: bytes.indices)
      guard !range.isEmpty, bytes[range] != sites.bytes[range] else { continue }
      isChanged = true
      hash = hash.mixed(with: UInt64(sector)).mixed(with: ContentHash.of(Array(bytes[range])))
    }
    if isChanged, seen.insert(hash).inserted { faults.append(list) }
  }

  private mutating func chooseSingles(upTo count: Int) {
    let order = sites.sites.count > count - faults.count ? mixedOrder() : sites.sites
    let last = order.reduce(0) { max($0, sites.variantCount(of: $1)) }
    var idleRounds = 0
    for round in 0..<last {
      let before = faults.count
      for site in order where round < sites.variantCount(of: site) {
        guard faults.count < count else { return }
        if let fault = sites.variant(round, of: site) { add([fault]) }
      }
      // Only bits are left, and their effects were selected before.
      idleRounds = faults.count == before ? idleRounds + 1 : 0
      if idleRounds > 64 { return }
    }
  }

  /// The sites, drawn in turn from the parts of the file.
  private mutating func mixedOrder() -> [FaultSites.Site] {
    var queues = FileStructure.allCases.map { part in sites.sites.filter { $0.part == part } }
    for place in queues.indices { queues[place].shuffle(using: &generator) }
    var order: [FaultSites.Site] = []
    while queues.contains(where: { !$0.isEmpty }) {
      for place in queues.indices {
        if let site = queues[place].popLast() { order.append(site) }
      }
    }
    return order
  }

  /// Pairs of faults: all of the first variants if they fit, otherwise drawn, part by part.
  private mutating func choosePairs() {
    let firsts = sites.sites.compactMap { sites.variant(0, of: $0) }
    let (product, isOver) = firsts.count.multipliedReportingOverflow(by: firsts.count)
    if !isOver, product / 2 <= budget - faults.count {
      for (place, first) in firsts.enumerated() {
        for second in firsts[(place + 1)...] where faults.count < budget { add([first, second]) }
      }
    }
    let parts = FileStructure.allCases.map { part in sites.sites.filter { $0.part == part } }
      .filter { !$0.isEmpty }
    guard !parts.isEmpty else { return }
    var attempts = budget * 4
    while faults.count < budget, attempts > 0 {
      attempts -= 1
      if let first = drawn(parts), let second = drawn(parts) { add([first, second]) }
    }
  }

  private mutating func drawn(_ parts: [[FaultSites.Site]]) -> MediumFault? {
    let part = parts[generator.below(parts.count)]
    let site = part[generator.below(part.count)]
    let count = sites.variantCount(of: site)
    return count > 0 ? sites.variant(generator.below(count), of: site) : nil
  }
}
