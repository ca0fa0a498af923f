// ProgressJournalTests.swift: what a run has decided is there when it goes on, as far as it is
// whole, and nothing else is.

import Foundation
import TestSupport
import Testing

@testable import Exploration
@testable import Findings
@testable import LabCore
@testable import Recording

@Suite struct ProgressJournalTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var path: String { directory.file(ProgressJournal.fileName) }

  private func open(_ seed: Int = 1, resumes: Bool = true) throws -> ProgressJournal {
    try ProgressJournal.open(
      in: directory.path, ["command=test", "seed=\(seed)"], resumes: resumes)
  }

  /// States 10 to 14, of which 12 fails.
  private func fill() throws {
    let journal = try open(resumes: false)
    for ordinal in 10...14 {
      let status: Int32 = ordinal == 12 ? 1 : 0
      journal.note(
        CheckResult(ending: .exited(status), output: "said"), ordinal: ordinal, of: "posix")
    }
  }

  private func lines() throws -> [String] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  private func write(_ lines: [String]) throws {
    let text = lines.map { $0 + "\n" }.joined()
    try text.write(toFile: path, atomically: false, encoding: .utf8)
  }

  @Test("verdicts are taken over, each with its target")
  func verdicts() throws {
    try fill()
    let journal = try open()
    #expect(journal.resumedCount == 5)
    let known = journal.verdicts(of: "posix")
    #expect(known.keys.sorted() == [10, 11, 12, 13, 14])
    #expect(known.compactMapValues { $0 }.keys.sorted() == [12])
    #expect(known[12]??.output == "said")
    #expect(journal.verdicts(of: "xfs").isEmpty)
  }

  @Test("what was noticed about a state that held is there, and is no failure")
  func remarks() throws {
    let journal = try open(resumes: false)
    journal.note(
      CheckResult(ending: .exited(0), output: "note: said", rule: "mixed"), ordinal: 7, of: "posix")
    let known = try open().verdicts(of: "posix")
    #expect(known[7]??.output == "note: said" && known[7]??.rule == "mixed")
    let pool = CheckerPool([NoChecker()], known: known)
    #expect(try pool.finish().isEmpty && pool.failureCount == 0 && pool.finishedCount == 1)
  }

  private final class NoChecker: StateChecker {
    func check(
      _ tree: TreeImage, acknowledged: [UInt8], variables: [String: String], isSample: Bool
    ) throws(LabError) -> CheckResult { throw .lab("nobody asks") }
  }

  @Test("a line that still reads well but is not what was written does not count, nor what follows")
  func changedNumber() throws {
    try fill()
    var all = try lines()
    try #require(all.count == 6 && all[2].contains("11"))
    all[2] = String(all[2].prefix(17)) + all[2].dropFirst(17).replacing("11", with: "19")
    try write(all)
    #expect(try open().verdicts(of: "posix").keys.sorted() == [10])
    // What did not count is gone, so that new lines are not behind it.
    #expect(try lines().count == 2)
  }

  @Test("a torn last line does not count, and the next run appends behind the whole ones")
  func torn() throws {
    try fill()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    try bytes.dropLast(4).write(to: URL(fileURLWithPath: path))
    let journal = try open()
    #expect(journal.verdicts(of: "posix").keys.sorted() == [10, 11, 12, 13])
    journal.note(CheckResult(ending: .exited(0), output: ""), ordinal: 20, of: "posix")
    #expect(try open().verdicts(of: "posix").keys.sorted() == [10, 11, 12, 13, 20])
  }

  @Test("without the first line nothing counts", arguments: ["", "no journal\n", "\u{0}\u{0}"])
  func strange(text: String) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    #expect(try open().resumedCount == 0)
    #expect(try lines().count == 1)
  }

  @Test("the progress of another run is refused, and stays")
  func otherRun() throws {
    try fill()
    let error = #expect(throws: LabError.self) { try open(2) }
    #expect(error?.code == .usage)
    #expect(error?.message.contains("'seed=1' there, 'seed=2' now") == true)
    #expect(try open().resumedCount == 5)
    #expect(try open(2, resumes: false).resumedCount == 0)
  }

  @Test("a recording comes back whole, or is an error")
  func recordings() throws {
    let trace = Trace(
      initial: TreeImage(), events: [TraceEvent(.mark(Mark(bytes: Array("1".utf8))))])
    try open(resumes: false).keep(trace, as: "files")
    #expect(try open().recording("files")?.trace.shape == trace.shape)
    #expect(try open().recording("on ext4") == nil)
    try Data("no trace".utf8).write(to: URL(fileURLWithPath: directory.file("progress-0.trace")))
    let error = #expect(throws: LabError.self) { try open().recording("files") }
    #expect(error?.code == .usage)
  }

  @Test("at the end of a run nothing stays")
  func removed() throws {
    try fill()
    try open().remove()
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
  }
}
