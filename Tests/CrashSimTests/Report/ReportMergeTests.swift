// ReportMergeTests.swift: the verdict over all shards, and reports that are not parts of one run.

import Foundation
import Testing

@testable import CrashStates
@testable import Exploration
@testable import FaultFS
@testable import Findings
@testable import LabCore
@testable import Reports

@Suite("Joining the reports of shards")
struct ReportMergeTests {
  private func finding(
    _ headline: String, key: String, ordinal: Int, states: Int
  ) -> Finding {
    var finding = Finding(
      number: 1, promised: "p", headline: headline, got: [], ending: "exit status 1", crash: "c",
      acknowledgedCount: 0, lastAcknowledged: nil, lost: [], missingSync: [], models: ["posix"],
      stateCount: states, token: "fl1-\(ordinal)")
    finding.classKey = key
    finding.firstOrdinal = ordinal
    return finding
  }

  private func part(
    _ index: Int, of count: Int, findings: [Finding] = [], shape: String? = "s",
    _ change: (inout RunReport) -> Void = { _ in }
  ) -> ShardReport {
    var exploration = ExplorationReport(
      title: "t", model: "posix", seed: 1, operationCount: 3, markCount: 2, crashPointCount: 4,
      candidateCount: 9, distinctCount: 50, exploredCount: 10, bound: "90", seconds: 0.5,
      findings: findings)
    exploration.shape = shape
    var item = CaseReport(name: "explore", title: "t", outcome: findings.isEmpty ? .held : .broken)
    item.explorations = [exploration]
    var report = RunReport(seed: 1, cases: [item])
    report.shard = ShardLabel(Shard(index: index - 1, of: count))
    change(&report)
    return ShardReport(file: "\(index).json", report: report)
  }

  private func message(_ parts: [ShardReport], code: LabError.Code = .usage) -> String {
    do throws(LabError) {
      _ = try ReportMerge(parts).merged()
      return ""
    } catch {
      #expect(error.code == code, "\(error.message)")
      return error.message
    }
  }

  @Test("counts add up, and findings of one class are one, told by its first state")
  func joined() throws {
    let merged = try ReportMerge([
      part(2, of: 2, findings: [finding("torn: 7", key: "torn: N", ordinal: 3, states: 2)]),
      part(
        1, of: 2,
        findings: [
          finding("lost: 4", key: "lost: N", ordinal: 2, states: 5),
          finding("torn: 9", key: "torn: N", ordinal: 8, states: 1),
        ]),
    ]).merged()
    #expect(merged.shard == nil)
    #expect(merged.outcome == .broken && merged.exitCode == .broken)
    let exploration = merged.cases[0].explorations[0]
    #expect(exploration.exploredCount == 20 && exploration.distinctCount == 50)
    #expect(exploration.findings.map(\.headline) == ["lost: 4", "torn: 7"])
    #expect(exploration.findings.map(\.stateCount) == [5, 3])
    #expect(exploration.findings.map(\.number) == [1, 2])
    #expect(exploration.findings.map(\.token) == ["fl1-2", "fl1-3"])
  }

  @Test("a missing or doubled shard is named, and so are reports of other runs")
  func refused() {
    #expect(message([part(1, of: 3), part(3, of: 3)]).contains("shard 2/3 missing"))
    let many = message([part(1, of: 3)])
    #expect(many.contains("shards 2/3, 3/3 missing"), "\(many)")
    let twice = message([part(1, of: 2), part(2, of: 2), part(2, of: 2)])
    #expect(twice.contains("shard 2/2 is given twice: 2.json and 2.json"), "\(twice)")
    #expect(message([part(1, of: 2), part(2, of: 3)]).contains("different runs"))
    #expect(message([part(1, of: 1)]).contains("not of a shard"))
    #expect(message([]).contains("no report"))
    #expect(message([part(1, of: 2), part(2, of: 2) { $0.seed = 2 }]).contains("seed 2"))
    #expect(
      message([part(1, of: 2), part(2, of: 2) { $0.formatVersion = 9 }]).contains("format 9"))
    let seventh = message([part(1, of: 2) { $0.shard?.index = 7 }])
    #expect(seventh.contains("there is no shard 7/2"))
    let negative = message([part(1, of: 2) { $0.shard?.count = -1 }])
    #expect(negative.contains("there is no shard 1/-1"))
  }

  @Test("shards that were given other options are refused, with both values")
  func otherOptions() throws {
    func parts(_ change: (inout ExplorationSettings) -> Void) -> [ShardReport] {
      let settings = ExplorationSettings()
      var changed = settings
      change(&changed)
      return [
        part(1, of: 2) { $0.options = ["command=run"] + settings.partition },
        part(2, of: 2) { $0.options = ["command=run"] + changed.partition },
      ]
    }
    // What may differ from machine to machine.
    let alike = try ReportMerge(
      parts {
        $0.shard = Shard(index: 1, of: 2)
        $0.timeoutSeconds = 99
        $0.timeBudgetSeconds = 5
        $0.jobs = 1
      }
    ).merged()
    #expect(alike.options == ["command=run"] + ExplorationSettings().partition)
    let stacks = message(parts { $0.recordsCallStacks = true })
    #expect(stacks.contains("2.json was run with 'stacks=true', 1.json with 'stacks=false'"))
    let changes: [(inout ExplorationSettings) -> Void] = [
      { $0.models = [.posix] }, { $0.budget = 7 }, { $0.runsFsck = true },
      { $0.writeBack = PageWriteBack(seed: 3) },
    ]
    for change in changes { #expect(message(parts(change)).contains("run all of them with")) }
    let none = message([part(1, of: 2), part(2, of: 2) { $0.options = ["command=run"] }])
    #expect(none.contains("2.json was run with 'command=run', 1.json with no such option"))
  }

  @Test("shards that saw different runs are nondeterminism, never a verdict")
  func different() {
    func differs(_ other: ShardReport) -> String {
      message([part(1, of: 2), other], code: .nondeterminism)
    }
    #expect(differs(part(2, of: 2, shape: "other")).contains("recorded trace under posix"))
    let states = differs(part(2, of: 2) { $0.cases[0].explorations[0].distinctCount = 51 })
    #expect(states.contains("the states under posix"))
    #expect(differs(part(2, of: 2) { $0.cases = [] }).contains("number of cases"))
    #expect(differs(part(2, of: 2) { $0.cases[0].explorations = [] }).contains("explorations of"))
    #expect(differs(part(2, of: 2) { $0.cases[0].name = "x" }).contains("the case 'explore'"))
    let model = differs(part(2, of: 2) { $0.cases[0].explorations[0].model = "xfs" })
    #expect(model.contains("the model or title"))
  }

  @Test("the verdict is the worst of all shards", arguments: CaseReport.Outcome.all)
  func verdict(worst: CaseReport.Outcome) throws {
    let merged = try ReportMerge([
      part(1, of: 2), part(2, of: 2) { $0.cases[0].outcome = worst },
    ]).merged()
    #expect(merged.outcome == worst)
  }

  @Test("an interrupted shard makes the whole interrupted, with what it had")
  func interrupted() throws {
    let merged = try ReportMerge([
      part(1, of: 2),
      part(2, of: 2) {
        $0.isInterrupted = true
        $0.cases = []
      },
    ]).merged()
    #expect(merged.exitCode == .interrupted)
    #expect(merged.cases.count == 1)
  }

  @Test("a planted bug has to be found by one shard, and fails when none found it")
  func negative() throws {
    func shard(_ index: Int, found: Bool) -> ShardReport {
      part(index, of: 2) {
        $0.cases[0].isNegative = true
        $0.cases[0].pendingComplaint = found ? nil : "the planted bug was not found: x"
      }
    }
    let found = try ReportMerge([shard(1, found: false), shard(2, found: true)]).merged()
    #expect(found.outcome == .held && found.cases[0].complaints.isEmpty)
    let missed = try ReportMerge([shard(1, found: false), shard(2, found: false)]).merged()
    #expect(missed.outcome == .broken)
    #expect(missed.cases[0].complaints == ["the planted bug was not found: x"])
  }

  @Test("files that are no reports are refused by name")
  func files() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "faultline-merge-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func refused(_ name: String) -> String {
      do throws(LabError) {
        _ = try ShardReport.load([folder.appendingPathComponent(name).path])
        return ""
      } catch {
        #expect(error.code == .usage)
        return error.message
      }
    }
    for (name, text) in [
      ("a.json", ""), ("b.json", "[]"), ("c.json", "{\"seed\": 1}"), ("d.json", "{\"seed\": -1}"),
      ("e.json", String(repeating: "[", count: 10_000)),
    ] {
      try Data(text.utf8).write(to: folder.appendingPathComponent(name))
      #expect(refused(name).contains(name), "\(name)")
    }
    #expect(refused("none.json").contains("no such file"))
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("empty"), withIntermediateDirectories: true)
    #expect(refused("empty").contains("no .json files"))
    let report = part(1, of: 2).report
    let good = folder.appendingPathComponent("good")
    try FileManager.default.createDirectory(at: good, withIntermediateDirectories: true)
    try Data(try report.json().utf8).write(to: good.appendingPathComponent("1.json"))
    #expect(try ShardReport.load([good.path]).map(\.report.shard?.index) == [1])
  }
}

extension CaseReport.Outcome {
  fileprivate static let all: [CaseReport.Outcome] = [.held, .broken, .labFailed, .interrupted]
}
