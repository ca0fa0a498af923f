// FindingCauseTests.swift: which loss counts as the cause of a half-written file, and which other
// syncs would have kept it whole.

import Testing

@testable import CrashStates
@testable import Findings
@testable import LabCore
@testable import Recording

@Suite("The cause of a half-written file")
struct FindingCauseTests {
  /// A file is rewritten in place behind a journal whose name is not synced.
  private static func recording() -> Recording {
    var recording = Recording(files: ["a": "old content"])
    recording.create("journal.tmp")
    recording.write("journal.tmp", "longer new content")
    recording.sync("journal.tmp")
    recording.rename("journal.tmp", to: "journal")
    recording.truncate("a", to: 0)
    recording.write("a", "longer new content")
    return recording
  }

  /// The finding of the last state that keeps what `keeps` wants of the pending units.
  private static func finding(
    _ recording: Recording, keeping keeps: (PendingUnit) -> Bool
  ) throws -> Finding {
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: .posix, seed: Seed(rawValue: 1))
    let table = enumerator.table
    let point = table.crashPointCount - 1
    let kept = table.pendingUnits(at: point).filter { keeps(table.units[$0]) }
    let maker = try FindingMaker(enumerator: enumerator, model: .posix)
    return try maker.finding(
      number: 1, state: try table.state(at: point, keeping: kept),
      result: CheckResult(ending: .exited(1), output: "half", rule: "half-written"),
      stateCount: 1, token: "t"
    ) { (state) throws(LabError) in
      try enumerator.withImage(of: state) { (image) throws(LabError) in
        image.content(at: "journal") != nil
          || image.content(at: "a") == Array("longer new content".utf8)
      }
    }
  }

  @Test("is a lost name that makes up for it, when no sync of its content would help")
  func middle() throws {
    let recording = Self.recording()
    let last = recording.trace.events.count - 1
    let rename = last - 2
    // The crash is in the middle of the last write; the emptying before it survived.
    let torn = try Self.finding(recording) { $0.event != last && $0.event != rename }
    #expect(torn.rootCause?.hasPrefix("names in '/': ") == true)
    #expect(torn.missingSync.contains { $0.hasPrefix("Missing: fsync of the directory '/'") })
    // What overtook the emptying is the cause here; the name would have helped as well.
    let overtaken = try Self.finding(recording) { $0.event == last && $0.kind == .data }
    #expect(overtaken.rootCause?.hasPrefix("content: ") == true)
    #expect(overtaken.sharedCauses?.contains(try #require(torn.rootCause)) == true)
    let joined = RootCause.joined([overtaken, torn], firstNumber: 1)
    #expect(joined.count == 1)
    #expect(joined[0].rootCause == torn.rootCause)
  }

  @Test("is its content, when a name that is lost does not make up for it")
  func content() throws {
    var recording = Recording(files: ["a": "old content"])
    recording.create("other")
    recording.truncate("a", to: 0)
    recording.write("a", "longer new content")
    let last = recording.trace.events.count - 1
    let torn = try Self.finding(recording) { $0.event == last - 1 }
    #expect(torn.rootCause?.hasPrefix("in steps: ") == true)
    #expect(torn.sharedCauses == nil)
  }
}
