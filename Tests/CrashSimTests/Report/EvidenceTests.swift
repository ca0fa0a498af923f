// EvidenceTests.swift: what a report draws of a failing state is what the state is.

import Testing

@testable import CrashStates
@testable import Findings
@testable import LabCore

@Suite("Evidence of a finding")
struct EvidenceTests {
  private func evidence(
    _ table: UnitTable, _ state: CrashState
  ) throws -> FindingEvidence {
    let missing = Explainer(table: table).explain(state).missing
    return try EvidenceMaker(table: table).evidence(of: state, missing: missing)
  }

  @Test("lost, kept, and the bytes that differ")
  func overwrite() throws {
    var recording = Recording(files: ["log": "----", "page": "1"])
    recording.write("log", "rec1")
    recording.write("page", "2")
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let found = try evidence(table, table.state(at: 2, keeping: [1]))
    #expect(found.lost == [0] && found.keptAfter == [1] && found.partlyLost.isEmpty)
    #expect(found.missingAfter == 0 && found.missingBefore == 1 && found.missingPath == "log")
    #expect(found.files.map(\.path) == ["log", "page"], "those that lost something first")
    #expect(found.files[0].ranges == [FileChange.Range(offset: 0, count: 4, fate: .lost)])
    #expect(
      found.files[0].differences == [
        FileChange.Difference(
          differingAt: 0, bytesIssued: "72656331", bytesSurvived: "2d2d2d2d")
      ])
    #expect(found.files[1].ranges.map(\.fate) == [.kept] && found.files[1].differences.isEmpty)
    // The control: where all survives there is nothing to show.
    let whole = try evidence(table, table.state(at: 2, keeping: [0, 1]))
    #expect(whole.lost.isEmpty && whole.keptAfter.isEmpty)
    #expect(whole.files.allSatisfy { $0.differences.isEmpty })
  }

  @Test("a name that is lost")
  func rename() throws {
    var recording = Recording(files: ["new": "2", "old": "1"])
    recording.rename("new", to: "old")
    let table = try UnitTable(trace: recording.trace, model: .strict)
    let found = try evidence(table, table.state(at: 1, keeping: []))
    #expect(found.files.first?.path == "old" && found.files.first?.pathAfter == "new")
  }

  @Test("a file that is not there, and one that is there again")
  func names() throws {
    var recording = Recording(files: ["dead": "1"])
    recording.create("born")
    recording.remove("dead")
    let table = try UnitTable(trace: recording.trace, model: .strict)
    let found = try evidence(table, table.state(at: 2, keeping: []))
    #expect(found.files.map(\.path) == ["born", nil])
    #expect(found.files.map(\.pathAfter) == [nil, "dead"])
  }

  @Test("a torn write is torn, and its bytes begin at a multiple of 16")
  func torn() throws {
    var recording = Recording(files: ["f": String(repeating: "a", count: 1024)])
    recording.write("f", String(repeating: "b", count: 1024))
    let table = try UnitTable(trace: recording.trace, model: .strict)
    let state = CrashState(
      crashPoint: 1, acknowledgedMarks: 0, kept: [], lost: [],
      torn: TornWrite(unit: 0, keptSectors: 0..<1, rest: .old))
    try #require(table.units.count == 1)
    let found = try evidence(table, state)
    #expect(found.lost == [0] && found.partlyLost == [0])
    #expect(found.files[0].ranges.map(\.fate) == [.torn])
    #expect(found.files[0].differences.first?.differingAt == 512)
    #expect(found.files[0].differences.first?.bytesSurvived.hasPrefix("6161") == true)
  }

  @Test("lists are bounded and say what they leave out")
  func bounds() throws {
    var recording = Recording()
    for number in 0..<40 { recording.create("f\(number)") }
    for number in 0..<200 { recording.write("f0", "x", at: UInt64(number) * 10_000) }
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let state = try table.state(at: 240, keeping: [])
    let found = try evidence(table, state)
    #expect(found.lost.count == FindingEvidence.eventsMax && found.lostCount == 240)
    #expect(found.files.count == FindingEvidence.filesMax && found.omittedFileCount == 32)
    #expect(found.files[0].ranges.count + found.files[0].omittedRangeCount == 200)
    #expect(found.files[0].ranges.count < 100)
  }

  @Test("crash points are counted: states, those explored, those that failed")
  func counts() throws {
    var recording = Recording(files: ["a": "1"])
    recording.write("a", "2")
    recording.write("a", "3")
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: .strict, seed: Seed(rawValue: 1))
    let plan = try enumerator.plan()
    let counts = plan.counts(
      in: .whole, of: recording.trace, checked: { _ in true }, failures: [plan.distinct - 1])
    #expect(counts.reduce(0) { $0 + $1.distinct } == plan.distinct)
    #expect(counts.allSatisfy { $0.checked == $0.distinct })
    #expect(counts.map(\.failing).reduce(0, +) == 1 && counts.last?.failing == 1)
    let unknown = plan.counts(in: .whole, of: recording.trace, checked: nil, failures: [])
    #expect(unknown.allSatisfy { $0.checked == nil && $0.failing == 0 })
    let parts = (0..<3).map {
      plan.counts(
        in: Shard(index: $0, of: 3), of: recording.trace, checked: { _ in true }, failures: [])
    }
    let sums = counts.indices.map { place in parts.reduce(0) { $0 + ($1[place].checked ?? 0) } }
    #expect(sums == counts.map(\.distinct), "shards share out the states of each crash point")
  }
}
