// FailureWalkTests.swift: a walk goes from each power cut into the recovery behind it, and names an
// event in one way wherever it stands.

import Foundation
import Testing

@testable import CrashStates
@testable import Findings
@testable import LabCore
@testable import Recording

@Suite struct FailureWalkTests {
  /// A log that is written, applied by the first recovery and dropped by the second.
  private func recordings() throws -> [CutRecording] {
    var workload = Recording(files: ["f": "old", "log": ""])
    workload.write("log", "new")
    workload.sync("log")
    workload.mark("saved\n")
    workload.write("f", "x", at: 9)
    var first = Recording(files: ["f": "old", "log": "new"])
    first.write("f", "new")
    first.write("log", "---")
    var second = Recording(files: ["f": "old", "log": "new"])
    second.write("f", "NEW")
    return [try cut(workload, 3), try cut(first, 1), try cut(second, 1)]
  }

  private func cut(_ recording: Recording, _ crashPoint: Int) throws -> CutRecording {
    let table = try UnitTable(trace: recording.trace, model: .posix)
    return CutRecording(table: table, state: try table.state(at: crashPoint, keeping: []))
  }

  private func text(_ walk: FailureWalk) throws -> String {
    (walk.heading + (try walk.recording.lines())).joined(separator: "\n")
  }

  @Test("steps lead from a power cut into the recovery, and pass over what lies behind it")
  func steps() throws {
    let walk = try FailureWalk(try recordings())
    var places: [String] = []
    repeat { places.append("\(walk.place)") } while try walk.advance()
    #expect(places == ["0", "1", "2", "3", "1:0", "1:1", "2:0", "2:1"])
  }

  @Test("continue leads from power cut to power cut, then to the end")
  func goOn() throws {
    var all = try recordings()
    all[2] = try cut(
      {
        var last = Recording(files: ["f": "old"])
        last.write("f", "a")
        last.write("f", "b")
        return last
      }(), 1)
    let walk = try FailureWalk(all)
    var places: [String] = []
    while try walk.goOn() { places.append("\(walk.place)") }
    #expect(places == ["3", "1:1", "2:1", "2:2"])
    #expect(walk.end == "the recording of recovery 2 ends after 2 events")
  }

  @Test("a heading says which power cut a recovery begins with, and events have its number")
  func headings() throws {
    let walk = try FailureWalk(try recordings())
    #expect(
      walk.heading.contains("the workload, and then 2 recoveries: event N of recovery R is #R:N"))
    try walk.go(to: EventPlace(number: 3))
    #expect(try text(walk).contains("HERE: power fails after 3 events, and recovery 1 begins"))
    #expect(try walk.advance())
    let beginning = try text(walk)
    #expect(
      beginning.hasPrefix(
        "recovery 1 of 2, from the power cut after 3 events of the workload, crash state posix@"),
      "\(beginning)")
    #expect(
      beginning.contains("before the first event\n    crash point 0 of 2 of recovery 1: 0 units"))
    #expect(try walk.advance())
    let write = try text(walk)
    #expect(write.contains("#1:0  process 1  write of 3 bytes at 0 to 'f'"), "\(write)")
    #expect(write.contains("'f': 3 bytes, 3 of size durable; pending: bytes 0..2"), "\(write)")
    #expect(write.contains("HERE: power fails after 1 event, and recovery 2 begins"), "\(write)")
    #expect(write.contains("lost     #1:0 write of 3 bytes at 0 to 'f'"), "\(write)")
    try walk.go(to: EventPlace(recovery: 2, number: 1))
    let last = try text(walk)
    #expect(last.hasPrefix("recovery 2 of 2, from the power cut after 1 event of recovery 1, "))
    #expect(last.contains("#2:0  process 1  write of 3 bytes"), "\(last)")
    #expect(last.hasSuffix("lost     #2:0 write of 3 bytes at 0 to 'f'"), "\(last)")
    // Back, and behind a power cut, where one only comes on purpose.
    try walk.go(to: EventPlace(number: 4))
    #expect(try text(walk).contains("#3  process 1  write of 1 byte"))
    #expect(try walk.advance())
    #expect("\(walk.place)" == "1:0")
  }

  @Test("a recovery that fails by itself is the last recording, and the failure is its end")
  func refusal() throws {
    let all = try recordings()
    let walk = try FailureWalk(
      [all[0]], refusal: (all[1].table, "the recovery ends with exit status 1"))
    #expect(try walk.goOn())
    #expect(try walk.goOn())
    #expect("\(walk.place)" == "1:2")
    #expect(try text(walk).contains("HERE: the recovery ends with exit status 1"))
    #expect(try !walk.goOn())
  }

  @Test("a failure without recoveries is walked through as ever")
  func alone() throws {
    let walk = try FailureWalk([try recordings()[0]])
    #expect(walk.heading.count == 1 && walk.recoveryCount == 0)
    #expect(try walk.goOn())
    #expect(try text(walk).contains("crash point 3 of 4: "))
    #expect(try text(walk).hasSuffix("HERE: power fails after 3 events"))
    #expect(try walk.goOn())
    #expect(try !walk.goOn())
    #expect(walk.end == "the recording ends after 4 events")
  }

  @Test("a place is a number, or a recovery and a number, and nothing else")
  func places() {
    #expect(EventPlace(parsing: "17") == EventPlace(number: 17))
    #expect(EventPlace(parsing: "0:17") == EventPlace(number: 17))
    #expect(EventPlace(parsing: "2:0") == EventPlace(recovery: 2, number: 0))
    #expect(EventPlace(parsing: "2:0")?.description == "2:0")
    for wrong in [
      "", ":", "1:", ":1", "-1", "1:-1", "1:2:3", "x", "1:x", "+1", "99999999999999999999",
    ] {
      #expect(EventPlace(parsing: wrong) == nil, "\(wrong)")
    }
  }
}
