// ShippedScenarioTests.swift: the shipped scenarios over an in-memory faulty disk.

import Engine
import Foundation
import TestSupport
import Testing

@testable import Findings
@testable import Oracles
@testable import Scenarios
@testable import Workload

@Suite struct ShippedScenarioTests {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("scenarios")

  /// Paths of all shipped scenarios below `scenarios/`, sorted.
  static let allPaths: [String] = {
    let all = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
    return all.filter { $0.hasSuffix(".yaml") }.sorted()
  }()

  /// Those of them that one thread over one file in the clear can run; steps side by side have
  /// schedules, and realms belong to their threads, so both are run elsewhere.
  static let paths: [String] = allPaths.filter { path in
    guard let scenario = try? scenario(path) else { return true }
    let isOfFolders = scenario.faults.contains { $0.on == .syncDirectory }
    // A file of the tests loses all of a failed sync's pages.
    let isOfPages = scenario.faults.contains { fault in
      if case .other(.failSync) = fault.effect { true } else { false }
    }
    return scenario.needsMount == nil && scenario.sync == nil && scenario.database.key == .none
      && !isOfFolders
      && !isOfPages && scenario.blocks.isEmpty && scenario.database.objects == nil
      && scenario.history == nil
  }

  static func scenario(_ path: String) throws -> Scenario {
    let data = try Data(contentsOf: root.appendingPathComponent(path))
    return try ScenarioParser.parse(bytes: Array(data), file: "scenarios/\(path)")
  }

  @Test("every shipped scenario keeps its expectations on a faulty file", arguments: paths)
  func live(path: String) throws {
    let run = try FaultyRun(try Self.scenario(path), seed: 8412)
    #expect(run.violations == [])
  }

  @Test(
    "no crash state of a shipped scenario breaks a promise, but those of a planted bug do",
    arguments: paths)
  func crashes(path: String) throws {
    let scenario = try Self.scenario(path)
    // What a file system of the kernel loses, a faulty file in memory does not.
    guard let crash = scenario.crash, !crash.models.isEmpty else { return }
    let run = try FaultyRun(scenario, seed: 8412)
    let check = try EngineCheck(run.plan, marks: run.marks)
    let backend = ImageBackend()
    var found: [OracleName: Int] = [:]
    var examples: [Violation] = []
    var judged: Set<Int> = []
    let isWhole = FullSize.isOn || scenario.negative != nil
    run.crashStates(strict: crash.models == ["strict"], step: isWhole ? 1 : 6) { state in
      // One write alone and none at all are the same states until the next sync.
      var hasher = Hasher()
      hasher.combine(state.bytes)
      hasher.combine(state.marksSeen)
      guard judged.insert(hasher.finalize()).inserted else { return }
      backend.load(state.bytes)
      for violation in check.judge(backend, marksSeen: state.marksSeen) {
        found[violation.oracle, default: 0] += 1
        if examples.count < 3 { examples.append(violation) }
      }
    }
    if let negative = scenario.negative {
      #expect(negative.oracles.contains { found[$0] != nil }, "\(found)")
    } else {
      #expect(found.isEmpty, "\(examples)")
    }
  }

  @Test("there are scenarios in every shipped folder")
  func folders() {
    let folders = Set(
      Self.allPaths.compactMap { $0.split(separator: "/").first.map { String($0) } })
    let expected: Set = [
      "durability", "atomicity", "growth", "isolation", "processes", "disk-faults", "negative",
    ]
    #expect(folders.isSuperset(of: expected))
    #expect(Self.paths.count >= 20)
  }
}
