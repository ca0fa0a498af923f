// StressLifeOptions.swift: all options of one life of a stress run, from the setup to its end or
// its first finding: drawn from the seed, so that each life has some features and lacks others
// (Groce et al., "Swarm Testing", ISSTA 2012).
// Never drawn together: an encrypted database and several processes (the engine rejects it), an
// encrypted one and commits with one sync (the X-ray reads the newest of two versions without the
// key).

import CrashStates
import FaultFS
import Foundation
import LabCore
import Workload

/// All options of a life.
package struct StressLifeOptions: Codable, Sendable, Hashable {
  /// The content of its drawn histories, one history in each round; nil is the load.
  package var history: HistoryContent?
  /// The options of the built-in workload, for a life with a load.
  package var load = EngineLoadOptions()
  /// Persistence model, as accepted by `PersistenceModel.chosen`.
  package var model = PersistenceModel.ext4Ordered.name
  /// Most kills without a power cut in each round.
  package var kills = 0
  /// Number of events within which the power fails.
  package var within = 400
  /// One in this many rounds continues until every process has completed its work.
  package var wholeRoundEvery = 0
  /// Names of the faults, in the order of their rules.
  package var faultNames: [String] = []
  /// Faults of the safety phase.
  package var faults: [FaultRule] = []
  /// How mapped pages are written back, if at all.
  package var writeBack: PageWriteBack?
  /// Rounds after which the next life begins.
  package var rounds = 8

  /// A possible fault of a life; N is the number of matches between two hits.
  private static let faultKinds: [(name: String, rule: String, least: Int, isError: Bool)] = [
    ("write-error", "on: write, error: EIO", 60, true),
    ("sync-error", "on: sync, error: EIO", 30, true),
    ("full-disk", "on: allocate, error: ENOSPC", 3, true),
    ("short-write", "on: write, short: 700", 4, false),
    ("slow-sync", "on: sync, delay: 3", 10, false),
    ("kill-before", "on: [write, sync, allocate], killCaller: before", 120, false),
    ("kill-after", "on: [write, sync, allocate], killCaller: after", 120, false),
  ]

  private static let models = [
    "ext4-ordered", "ext4-ordered", "ext4-writeback", "xfs", "btrfs", "posix", "strict",
  ]

  /// Draws a life.
  /// - Parameters:
  ///   - seed: Seed of the choices.
  ///   - isLoad: Whether the life has the engine's load; otherwise a scenario, which is run from
  ///     the start in every round.
  ///   - drawsHistories: Whether drawn histories may replace the load.
  ///   - faults: The faults it may have.
  /// - Returns: The options.
  /// - Throws: `LabError` when a predefined rule cannot be parsed.
  package static func drawn(
    _ seed: Seed, ofLoad isLoad: Bool = true, drawsHistories: Bool = false,
    faults: DrawnFaults = .all
  ) throws(LabError) -> StressLifeOptions {
    var options = StressLifeOptions()
    var kinds = PRNG(seed.derived("kind"))
    let content = [nil, nil, HistoryContent.tables, .objects][kinds.below(4)]
    if isLoad, drawsHistories, let content {
      options = try drawn(seed, ofLoad: false, faults: .silent)
      options.history = content
      return options
    }
    options.load = load(seed.derived("load"))
    var random = PRNG(seed.derived("lab"))
    options.model = models[random.below(models.count)]
    options.kills = random.below(3)
    options.within = [40, 120, 400, 1000][random.below(4)]
    options.wholeRoundEvery = [0, 2, 4][random.below(3)]
    options.rounds = [3, 6, 12][random.below(3)]
    let writesBack = random.chance(Ratio(1, in: 4))
    if writesBack { options.writeBack = PageWriteBack(seed: random.next()) }
    if !isLoad { options.wholeRoundEvery = 0 }
    if !isLoad { options.rounds = 1 }
    try options.drawFaults(&random, ofLoad: isLoad, faults)
    return options
  }

  private mutating func drawFaults(
    _ random: inout PRNG, ofLoad isLoad: Bool, _ allowed: DrawnFaults
  ) throws(LabError) {
    let phase = isLoad ? ", after: storm, until: calm" : ""
    for kind in Self.faultKinds {
      let isOn = random.chance(Ratio(1, in: 6))
      // A scenario is short; half of its lives would never encounter their faults.
      let least = isLoad ? kind.least : 1 + kind.least / 8
      let every = least + random.below(4 * least)
      let seed = 1 + random.below(1_000_000)
      guard isOn, allowed == .all || (allowed == .silent && !kind.isError) else { continue }
      // Unsynced commits are only in the cache, and a failing sync of any process drops them.
      if isLoad, !load.isDurable, kind.name == "sync-error" { continue }
      faultNames.append(kind.name)
      faults += try FaultFile.parse(
        commandLine: kind.rule + ", file: \"*.realm\", chance: 1 in \(every), seed: \(seed)"
          + phase, file: "the fault \(kind.name)", allowsAnyErrno: false)
      if kind.isError { load.mayFail = true }
    }
  }

  private static func load(_ seed: Seed) -> EngineLoadOptions {
    var random = PRNG(seed)
    func one<T>(of choices: [T]) -> T { choices[random.below(choices.count)] }
    var load = EngineLoadOptions()
    load.isEncrypted = random.chance(Ratio(1, in: 6))
    let isOneSync = random.chance(Ratio(1, in: 3))
    if isOneSync, !load.isEncrypted { load.commit = .checksummed }
    let processes = one(of: [1, 2, 2, 3, 4])
    load.processes = load.isEncrypted ? 1 : processes
    load.writers = one(of: [1, 1, 2, 3])
    load.readers = one(of: [0, 1, 1, 2, 3])
    load.transactions = one(of: [5, 10, 20, 40])
    load.keys = one(of: [8, 60, 200, 1500])
    load.valueBytesMax = one(of: [0, 40, 300, 3000])
    load.statementsMax = one(of: [1, 4, 12])
    load.deletePercent = one(of: [0, 25, 60])
    load.cancelPercent = one(of: [0, 0, 10, 40])
    load.lists = one(of: [1, 2, 4, 8])
    load.listsPerTransaction = one(of: [1, 2, 3])
    load.groupsCommits = random.chance(Ratio(1, in: 4))
    load.isDurable = random.chance(Ratio(7, in: 8))
    load.compactPercent = one(of: [0, 0, 0, 5, 20])
    load.looksPerPin = one(of: [1, 5, 50])
    load.killStepsMax = one(of: [0, 0, 0, 20, 100, 400])
    load.lookPauseMicroseconds = one(of: [0, 2000, 2000])
    return load
  }

  /// The settings of a run with these options.
  /// - Throws: `LabError` with code `.usage` for an unknown model.
  func applied(to base: StressSettings) throws(LabError) -> StressSettings {
    var settings = base
    settings.drawn = history
    settings.load = base.isScenario || history != nil ? nil : load
    settings.model = try PersistenceModel.chosen(model)[0]
    settings.killsPerRound = kills
    settings.eventsPerRound = within
    settings.wholeRoundEvery = wholeRoundEvery
    settings.faults = base.ownFaults + faults
    settings.writeBack = writeBack
    return settings
  }

  /// All options in words, for the banner; those of the engine's load only if it runs.
  func text(ofScenario isScenario: Bool) -> String {
    let isLoad = !isScenario && history == nil
    let work = isLoad ? loadWords : [history.map { "history of \($0.rawValue)" }]
    let words =
      work + [
        "kills=\(kills)", "within=\(within)", isLoad ? "whole=\(wholeRoundEvery)" : nil,
        "model=\(model)", writeBack.map { "write-back=\($0)" }, isLoad ? "rounds=\(rounds)" : nil,
        "faults=" + (faultNames.isEmpty ? "none" : faultNames.joined(separator: ",")),
      ]
    return words.compactMap { $0 }.joined(separator: " ")
  }

  private var loadWords: [String?] {
    [
      "processes=\(load.processes)", "writers=\(load.writers)", "readers=\(load.readers)",
      "transactions=\(load.transactions)", "keys=\(load.keys)", "bytes=\(load.valueBytesMax)",
      "statements=\(load.statementsMax)", "delete=\(load.deletePercent)%",
      "cancel=\(load.cancelPercent)%", "lists=\(load.lists)x\(load.listsPerTransaction)",
      "commit=\(load.commit.rawValue)", load.isEncrypted ? "encrypted" : nil,
      load.groupsCommits ? "grouped" : nil, load.isDurable ? nil : "unsafe",
      "compact=\(load.compactPercent)%", "pin=\(load.looksPerPin)",
      "pause=\(load.lookPauseMicroseconds)",
      "self-kill=\(load.killStepsMax)",
    ]
  }

  /// Reads options saved by a run.
  /// - Throws: `LabError` with code `.usage` when the file contains none.
  package static func load(_ path: String) throws(LabError) -> StressLifeOptions {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw .usage("\(path): cannot be read; give an options.json that a run has kept")
    }
    do {
      return try JSONDecoder().decode(StressLifeOptions.self, from: data).checked(path)
    } catch let error as LabError {
      throw error
    } catch {
      throw .usage("\(path): these are no options of a stress run: \(error)")
    }
  }

  /// A file may contain anything; a load of a million threads is rejected.
  private func checked(_ path: String) throws(LabError) -> StressLifeOptions {
    guard history != .sync else {
      throw .usage(
        "\(path): history is sync, whose nodes are no programs; give tables or objects, or run "
          + "faultline stress \(BuiltInScenario.name(of: .sync))")
    }
    let bounds: [(name: String, value: Int, range: ClosedRange<Int>)] = [
      ("processes", load.processes, 1...8), ("writers", load.writers, 1...8),
      ("readers", load.readers, 0...7), ("transactions", load.transactions, 1...20_000),
      ("keys", load.keys, 1...100_000), ("valueBytesMax", load.valueBytesMax, 0...100_000),
      ("statementsMax", load.statementsMax, 1...1000), ("lists", load.lists, 0...1000),
      ("listsPerTransaction", load.listsPerTransaction, 0...3),
      ("deletePercent", load.deletePercent, 0...100),
      ("cancelPercent", load.cancelPercent, 0...100),
      ("compactPercent", load.compactPercent, 0...100),
      ("looksPerPin", load.looksPerPin, 1...1_000_000),
      ("lookPauseMicroseconds", load.lookPauseMicroseconds, 0...1_000_000),
      ("killStepsMax", load.killStepsMax, 0...1_000_000), ("kills", kills, 0...16),
      ("within", within, 2...1_000_000), ("wholeRoundEvery", wholeRoundEvery, 0...1000),
      ("rounds", rounds, 1...1000),
    ]
    for bound in bounds where !bound.range.contains(bound.value) {
      throw .usage(
        "\(path): \(bound.name) is \(bound.value); give \(bound.range.lowerBound) to "
          + "\(bound.range.upperBound)")
    }
    return self
  }

  /// The options as a file.
  func json() throws(LabError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    } catch {
      throw .internalError("drawn options cannot be encoded: \(error)")
    }
  }
}
