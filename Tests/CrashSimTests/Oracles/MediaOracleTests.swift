// MediaOracleTests.swift: the engine keeps its fault budget under every kind of fault, and each
// broken promise about a damaged medium is found.

import Testing

@testable import CrashStates
@testable import Findings
@testable import Oracles
@testable import Workload

@Suite struct MediaOracleTests {
  @Test("every kind of fault is survived within the budget and noticed beyond it")
  func kinds() throws {
    for kind in MediumFault.Kind.allCases {
      try withTemporaryDirectory { directory in
        let fixture = try MediaFixture(
          MediaFixture.yaml(
            "",
            "{faults: \(kind), survives: {slots: 1, free: 1}, mayGoBack: {slots: 1}, "
              + "budget: {states: 150}}"), in: directory)
        let (outcome, violations, count) = try fixture.judged()
        #expect(violations == [], "\(kind)")
        #expect(count >= 10, "\(kind)")
        #expect(outcome.detectedCount > 0, "\(kind)")
        #expect(outcome.unharmedCount > 0, "\(kind)")
        // One bit never costs a version: a root slot stands twice in its sector.
        let goesBack = kind != .bitFlip && kind != .truncatedTail
        #expect((outcome.wentBackCount > 0) == goesBack, "\(kind)")
      }
    }
  }

  @Test("with one sync, and with a key, the same budget is kept")
  func databases() throws {
    for (database, newest) in [
      ("database: {commitProtocol: checksummed}", true), ("database: {key: first}", false),
    ] {
      try withTemporaryDirectory { directory in
        let budget = newest ? "slots: 1, newest: 1" : "slots: 1"
        let fixture = try MediaFixture(
          MediaFixture.yaml(
            database, "{survives: {\(budget)}, mayGoBack: {\(budget)}, budget: {states: 200}}"),
          in: directory)
        let (outcome, violations, _) = try fixture.judged()
        #expect(violations == [])
        #expect(outcome.detectedCount > 0)
        #expect(outcome.wentBackCount > 0)
      }
    }
  }

  @Test("budgets that no database of two slots and single nodes can keep are found broken")
  func impossibleBudgets() throws {
    for (media, expected) in [
      ("{faults: zeroSector, at: {structure: slots}, survives: {slots: 1}}", "without an error"),
      ("{faults: staleSector, at: {structure: slots}}", "without an error"),
      (
        "{faults: bitFlip, at: {structure: newest}, survives: {newest: 1}, budget: {states: 60}}",
        "checksum"
      ),
    ] {
      try withTemporaryDirectory { directory in
        let fixture = try MediaFixture(MediaFixture.yaml("", media), in: directory)
        let (_, violations, _) = try fixture.judged()
        #expect(
          violations.contains { $0.oracle == .media && $0.got.contains(expected) }, "\(media)")
      }
    }
  }

  private let newest = CommittedState(transaction: 3, version: 5, sentinels: 0, hashes: [50, 51])
  private let older = CommittedState(transaction: 2, version: 4, sentinels: 0, hashes: [40, 41])

  /// The verdict of the oracle on what was seen.
  private func got(isUsable: Bool = false, _ change: (inout MediaSight) -> Void) -> String? {
    var sight = MediaSight()
    sight.version = 5
    sight.contentHash = 50
    change(&sight)
    let promise = MediaPromise(
      newest: newest, allowed: [newest, older], isUsable: isUsable, damage: "damage")
    return MediaOracle.judge(sight, promise)?.got
  }

  @Test("what is right, and what an error tells of, passes")
  func passes() {
    #expect(got { _ in } == nil)
    #expect(
      got {
        $0.version = 4
        $0.contentHash = 40
      } == nil)
    #expect(
      got {
        $0.version = nil
        $0.contentHash = nil
        $0.openError = "corrupted"
      } == nil)
    #expect(
      got {
        $0.verifyError = "corrupted"
        $0.useError = "corrupted"
      } == nil)
    #expect(
      got {
        $0.contentHash = nil
        $0.readError = "corrupted"
        $0.verifyError = "corrupted"
      } == nil)
  }

  @Test("each broken promise is found, whatever else was said")
  func broken() throws {
    #expect(try #require(got { $0.contentHash = 7 }).contains("reads as something else"))
    #expect(try #require(got { $0.contentHash = 40 }).contains("reads as something else"))
    #expect(
      try #require(
        got {
          $0.contentHash = 7
          $0.verifyError = "corrupted"
        }
      )
      .contains("reads as something else"))
    #expect(try #require(got { $0.version = 3 }).contains("came back without an error"))
    #expect(
      try #require(
        got {
          $0.version = 3
          $0.readError = "corrupted"
        }
      ).contains("came back"))
    #expect(
      try #require(
        got {
          $0.version = 1
          $0.wasCreated = true
        }
      ).contains("made a new database"))
    #expect(
      try #require(
        got {
          $0.contentHash = nil
          $0.readError = "corrupted"
        }
      )
      .contains("only reading found it"))
    #expect(try #require(got { $0.useFault = "other rows" }).contains("after one more commit"))
    #expect(try #require(got { $0.useError = "io" }).hasPrefix("a commit fails: damage"))
    let usable = try #require(
      got(isUsable: true) {
        $0.openError = "corrupted"
        $0.version = nil
      })
    #expect(usable.contains("budget: damage\ncorrupted"))
    #expect(got(isUsable: true) { $0.verifyError = "corrupted" } != nil)
    #expect(got(isUsable: true) { $0.useError = "corrupted" } != nil)
  }

  @Test("an older copy of the whole file is not a fault of a sector, and is not allowed as one")
  func rolledBackFile() throws {
    let run = try RecordedRun.ordinary()
    let check = try run.check()
    let backend = ImageBackend()
    let seen = run.marks.count
    func verdict(_ marks: Int, versionsBack: Int) throws -> MediaVerdict {
      backend.load(run.images[marks])
      let file = EngineCheck.DamagedFile(
        path: DatabaseFile.name, version: 12, marksSeen: seen, versionsBack: versionsBack,
        isUsable: false, damage: "the file of an earlier commit")
      return try check.judge(backend, file, ordinal: 0).verdict
    }
    let before = try run.marksSeen(afterCommit: 8)
    #expect(try verdict(seen, versionsBack: 0) == .unharmed)
    #expect(try verdict(before, versionsBack: 1) == .broken)
    #expect(try verdict(before, versionsBack: 9) == .wentBack)
  }
}
