// StressLifeOptionsTests.swift: what a life of a swarm is made of: all from the seed, nothing
// together that must not be, smaller step by step, and no file makes it unbounded.

import Foundation
import TestSupport
import Testing

@testable import LabCore
@testable import Scenarios
@testable import Workload

@Suite("options of a stress run's life")
struct StressLifeOptionsTests {
  private func drawn(_ seed: UInt64) throws -> StressLifeOptions {
    try StressLifeOptions.drawn(Seed(rawValue: seed))
  }

  @Test("a seed gives the same life each time; 300 seeds give every feature and its absence")
  func draws() throws {
    var seen: [String: Set<Bool>] = [:]
    for seed in 0..<UInt64(300) {
      let options = try drawn(seed)
      #expect(try drawn(seed) == options)
      let load = options.load
      #expect(!load.isEncrypted || load.processes == 1 && load.commit == .twoPhase, "\(seed)")
      #expect(options.faults.count == options.faultNames.count)
      #expect(load.isDurable || !options.faultNames.contains("sync-error"), "\(seed)")
      let features = [
        "encrypted": load.isEncrypted, "one sync": load.commit == .checksummed,
        "grouped": load.groupsCommits, "durable": load.isDurable,
        "compaction": load.compactPercent > 0, "pins": load.looksPerPin > 1,
        "cancels": load.cancelPercent > 0, "self-kills": load.killStepsMax > 0,
        "kills": options.kills > 0, "faults": !options.faults.isEmpty, "errors": load.mayFail,
        "write-back": options.writeBack != nil, "many": load.processes > 1,
        "write-back of many": options.writeBack != nil && load.processes > 1,
        "one sync that fails": load.commit == .checksummed
          && options.faultNames.contains("sync-error"),
        "readers": load.readers > 0, "whole rounds": options.wholeRoundEvery > 0,
      ]
      for (name, isOn) in features { seen[name, default: []].insert(isOn) }
      for name in options.faultNames { seen["fault \(name)", default: [false]].insert(true) }
      seen["model \(options.model)", default: [false]].insert(true)
    }
    #expect(seen.count == 17 + 7 + 6, "\(seen.keys.sorted())")
    for (name, values) in seen { #expect(values.count == 2, "\(name)") }
  }

  @Test("lives of the engine are its load, or histories of tables or objects")
  func histories() throws {
    var kinds: [HistoryContent?: Int] = [:]
    for seed in 0..<UInt64(300) {
      let options = try StressLifeOptions.drawn(Seed(rawValue: seed), drawsHistories: true)
      kinds[options.history, default: 0] += 1
      let settings = try options.applied(to: StressSettings())
      #expect(settings.drawn == options.history)
      #expect((settings.load == nil) == (options.history != nil))
      // The next round begins the next history.
      #expect(options.history == nil || options.rounds == 1)
      #expect(options.history == nil || !options.faultNames.contains("full-disk"))
      #expect(try StressLifeOptions.drawn(Seed(rawValue: seed)).history == nil)
    }
    #expect(kinds.count == 3 && kinds.values.allSatisfy { $0 > 40 }, "\(kinds)")
  }

  @Test("kept options are read again as they were, and say themselves in one line")
  func file() throws {
    let directory = try TemporaryDirectory()
    for seed in 0..<UInt64(40) {
      let options = try drawn(seed)
      let path = directory.file("options-\(seed).json")
      try options.json().write(toFile: path, atomically: true, encoding: .utf8)
      #expect(try StressLifeOptions.load(path) == options)
      #expect(!options.text(ofScenario: false).contains("\n"))
      let settings = try options.applied(to: StressSettings())
      #expect(settings.model.name == options.model && settings.load == options.load)
    }
  }

  @Test("options that would go beyond all bounds, and files that hold none, are refused")
  func hostile() throws {
    let directory = try TemporaryDirectory()
    var huge = try drawn(1)
    huge.load.writers = 1_000_000
    var nodes = try drawn(2)
    nodes.history = .sync
    let texts = ["", "{}", "[1]", try huge.json(), try nodes.json()]
    for (index, text) in texts.enumerated() {
      let path = directory.file("bad-\(index).json")
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      let error = #expect(throws: LabError.self) { try StressLifeOptions.load(path) }
      #expect(error?.code == .usage && error?.message.hasPrefix(path) == true, "\(text)")
    }
  }

  @Test("each step leaves something out, and there is an end")
  func smaller() throws {
    for seed in 0..<UInt64(40) {
      var options = try drawn(seed)
      var steps = 0
      while let next = options.smaller.last {
        #expect(next.options != options)
        options = next.options
        steps += 1
        try #require(steps < 100)
      }
      #expect(options.faults.isEmpty && options.load.processes == 1 && options.load.writers == 1)
    }
  }
}
