// PowerCutTests.swift: the engine's own quick crash test, and the bugs it must catch.

import Testing

@testable import Engine

@Suite("Power cuts")
struct PowerCutTests {
  @Test("after a crash at any operation the version is the acked one or the one in flight")
  func crashAnywhere() throws {
    var run = PowerCutRun()
    try run.record(rounds: 9)
    let (states, findings) = run.explore()
    #expect(findings == [])
    #expect(states > 1000)
    print("power cuts: \(states) crash states over \(run.log.count) operations")
  }

  @Test("a second crash, after recovery and one more commit, loses nothing either")
  func crashTwice() throws {
    var run = PowerCutRun()
    try run.record(rounds: 4)
    let (states, findings) = try run.exploreTwice(every: 25)
    #expect(findings == [])
    #expect(states > 200)
  }

  @Test("what a killed writer left in the cache is made durable before it is built upon")
  func killed() throws {
    var run = PowerCutRun()
    try run.record(rounds: 4)
    let (states, findings) = try run.exploreKills()
    #expect(findings == [])
    #expect(states > 500)
  }

  @Test(
    "the crash test catches a missing sync and a slot written too early",
    arguments: [PlantedBug.firstSyncMissing, .secondSyncMissing, .slotBeforeNodes])
  func plantedBugs(_ bug: PlantedBug) throws {
    var run = PowerCutRun()
    try run.record(bug, rounds: 5)
    #expect(!run.explore().findings.isEmpty)
  }
}
