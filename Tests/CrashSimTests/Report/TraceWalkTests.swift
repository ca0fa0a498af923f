// TraceWalkTests.swift: a walk says what is durable and what is pending after each operation.

import Foundation
import Glibc
import Testing

@testable import CrashStates
@testable import EngineExploration
@testable import Exploration
@testable import FaultFS
@testable import Findings
@testable import LabCore
@testable import Oracles
@testable import Recording
@testable import Reports
@testable import Scenarios
@testable import Workers
@testable import Workload

@Suite struct TraceWalkTests {
  private func recording() -> Recording {
    var recording = Recording(files: ["log": "0123456789"])
    recording.create("new")
    recording.write("new", "hello")
    recording.write("log", "ab", at: 4)
    recording.mark("saved\n")
    recording.sync("log")
    recording.syncDirectory()
    return recording
  }

  private func walk(
    _ recording: Recording, crashPoint: Int = 4, losing state: CrashState? = nil
  ) throws -> TraceWalk {
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let losses = state.map { Explainer(table: table).losses(of: $0) }
    return try TraceWalk(
      table, marks: nil,
      failure: TraceWalk.Failure(crashPoint: crashPoint, losses: losses ?? [], text: "power fails"))
  }

  private func text(_ walk: TraceWalk) throws -> String {
    try walk.lines().joined(separator: "\n")
  }

  @Test("each event with its actor, its file's durable and pending state, and its crash point")
  func forward() throws {
    let walk = try walk(recording())
    #expect(try text(walk).hasPrefix("before the first event\n    crash point 0 of 6: 0 units"))
    #expect(try walk.advance())
    let creation = try text(walk)
    #expect(creation.contains("#0  process 1  creation of the file 'new'"), "\(creation)")
    #expect(creation.contains("'new': 0 bytes, 0 of size durable; pending: name 'new'"))
    #expect(creation.contains("the failure is 3 events ahead"))
    #expect(try walk.advance())
    let write = try text(walk)
    #expect(write.contains("'new': 5 bytes, 0 of size durable"), "\(write)")
    #expect(write.contains("bytes 0..4") && write.contains("size 5"), "\(write)")
    try walk.go(to: 5)
    let sync = try text(walk)
    #expect(sync.contains("#4  process 1  fsync of 'log'"), "\(sync)")
    #expect(sync.contains("'log': 10 bytes, 10 of size durable; nothing pending"), "\(sync)")
    try walk.go(to: 6)
    #expect(try text(walk).contains("fsync of the directory '/'"))
    #expect(try !walk.advance())
  }

  @Test("the failure is said at its crash point, with what is lost there")
  func failure() throws {
    let recording = recording()
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let state = try table.state(at: 4, keeping: [])
    #expect(state.lost.count >= 3)
    let walk = try walk(recording, losing: state)
    try walk.go(to: 4)
    let here = try text(walk)
    #expect(here.contains("#3  output  saved  (acknowledged)"), "\(here)")
    #expect(here.contains("HERE: power fails"))
    #expect(here.components(separatedBy: "lost     #1").count == 2, "one line an event: \(here)")
    #expect(here.contains("lost     #1 write of 5 bytes at 0 to 'new'"), "\(here)")
    #expect(here.contains("lost     #2 write of 2 bytes at 4 to 'log'"))
  }

  @Test("a write of which a part survives is lost as well, and it is said that it is torn")
  func torn() throws {
    let recording = recording()
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let unit = try #require(
      table.pendingUnits(at: 4).first { table.units[$0].event == 2 }, "the write to 'log'")
    let torn = TornWrite(unit: unit, keptSectors: 0..<0, rest: .zeros)
    let others = table.pendingUnits(at: 4).filter { $0 != unit }
    let state = try table.state(at: 4, keeping: others, torn: torn)
    let walk = try walk(recording, losing: state)
    try walk.go(to: 4)
    let here = try text(walk)
    #expect(here.contains("lost     #2 write of 2 bytes at 4 to 'log' (torn at 4: 0 of"), "\(here)")
  }

  @Test("going back and forth says the same")
  func back() throws {
    let walk = try walk(recording())
    try walk.go(to: 3)
    let first = try text(walk)
    let files = try walk.files()
    #expect(files.contains { $0.hasPrefix("'log': 10 bytes, 10 of size durable; pending: bytes") })
    try walk.go(to: 6)
    try walk.go(to: 1)
    try walk.go(to: 3)
    #expect(try text(walk) == first)
    #expect(try walk.files() == files)
    try walk.go(to: -7)
    #expect(walk.position == 0)
    try walk.go(to: Int.max)
    #expect(walk.position == 6)
  }

  @Test("a rule for an operation counts those of its kind on its file, refused ones too")
  func rule() throws {
    var recording = recording()
    recording.write("new", "again")
    recording.write("log", "c", at: 1)
    recording.write("new", "more")
    let walk = try walk(recording)
    let last = try walk.operation(8, isExact: true)
    #expect(last.rule.when.nth == 3 && last.rule.when.path == "new")
    #expect(last.rule.when.kinds == [.write])
    #expect(last.text == "#8 write of 4 bytes at 0 to 'new'")
    // A mark is not an operation: the one before it is taken, unless exactly this was asked for.
    #expect(try walk.operation(3, isExact: false).text.hasPrefix("#2 write"))
    #expect(throws: LabError.self) { try walk.operation(3, isExact: true) }
    #expect(throws: LabError.self) { try walk.operation(-1, isExact: true) }
    #expect(throws: LabError.self) { try walk.operation(-1, isExact: false) }
  }

  @Test("lines come one by one, the last without a line feed, and long ones are refused")
  func input() throws {
    func lines(_ text: String) throws -> [String] {
      let (readEnd, writeEnd) = try Descriptors.makePipe()
      #expect(StandardStream.send(Array(text.utf8), to: writeEnd) == 0)
      close(writeEnd)
      defer { close(readEnd) }
      var input = StandardInput(descriptor: readEnd)
      var lines: [String] = []
      while let line = try input.next() { lines.append(line) }
      return lines
    }
    #expect(try lines("") == [])
    #expect(try lines("n\n\nto 3\nq") == ["n", "", "to 3", "q"])
    #expect(try lines("\u{0}\u{1B}[31m\n") == ["\u{0}\u{1B}[31m"])
    #expect(throws: LabError.self) { try lines(String(repeating: "x", count: 10_000)) }
  }
}
