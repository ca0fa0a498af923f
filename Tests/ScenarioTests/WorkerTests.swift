// WorkerTests.swift: [U] a worker answers each line once, whatever the line holds.

import Foundation
import Synchronization
import Testing

@testable import Findings
@testable import LabCore
@testable import Oracles
@testable import Recording
@testable import Workers
@testable import Workload

/// A worker in a thread of this process, over two pipes.
final class PipedWorker {
  private let down = Pipe()
  private let up = Pipe()
  private let ended = DispatchSemaphore(value: 0)
  private let status = Mutex<Int32>(-1)
  private var buffer = LineBuffer()
  let directory: String

  init() throws {
    directory = NSTemporaryDirectory() + "faultline-worker-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let input = down.fileHandleForReading.fileDescriptor
    let output = up.fileHandleForWriting.fileDescriptor
    let thread = Thread { [directory, ended, self] in
      let code = EngineWorker.run(input: input, output: output, directory: directory)
      status.withLock { $0 = code }
      ended.signal()
    }
    thread.start()
  }

  func send(_ line: [UInt8]) throws -> WorkerAnswer {
    try down.fileHandleForWriting.write(contentsOf: Data(line))
    while true {
      if let line = buffer.next() { return try WorkerWire.answer(line) }
      buffer.append(up.fileHandleForReading.availableData)
    }
  }

  func run(_ plan: WorkloadPlan) throws -> (marks: [Mark], violations: [Violation]) {
    var client = WorkerClient(plan)
    var marks: [Mark] = []
    var violations: [Violation] = []
    for command in plan.commands {
      marks += client.entriesBefore(command).map(\.mark)
      let answer = try send(JSONLine.encode(command))
      marks += client.entriesAfter(command, answer).map(\.mark)
      violations += try client.judge(command, answer)
    }
    return (marks, violations)
  }

  func end() throws -> Int32 {
    try down.fileHandleForWriting.close()
    ended.wait()
    try FileManager.default.removeItem(atPath: directory)
    return status.withLock { $0 }
  }
}

extension PipedWorker: @unchecked Sendable {}

@Suite struct WorkerTests {
  func plan(_ steps: String) throws -> WorkloadPlan {
    try WorkloadPlan(parsed(preamble + steps), seed: Seed(rawValue: 8412))
  }

  @Test("a worker over pipes runs a plan on real threads and keeps its promises")
  func wholePlan() throws {
    let worker = try PipedWorker()
    let plan = try plan(
      """
      steps:
        - all: open
        - ui: {repeat: 3, write: [{insert: Dog, _id: sequence, name: random, age: random}]}
        - ui: pin
        - background: {repeat: 10, write: [{upsert: Dog, _id: 1..3, age: random}]}
        - expect: {count: {Dog: 3}, version: 15, pinned: {ui: unchanged}, verify: true}
        - expect: {version: {atLeast: 3}, file: {sizeBytes: {atMost: 10 MiB}}}
        - expect: {file: {sizeBytes: {atMost: 100000 x content}}}
        - ui: {write: [{delete: Dog, _id: 1}], cancel: true}
        - ui: {write: [{insert: Dog, _id: 1}], fails: keyExists}
        - ui: verify
        - ui: release
        - background: close
        - ui: reopen
        - ui: verify
        - ui: close
      """)
    let (marks, violations) = try worker.run(plan)
    #expect(violations == [])
    let log = AckLog(marks)
    #expect(log.acked == Array(0...13))
    #expect(log.cancelled == [14])
    #expect(log.entries.last == .recovered(version: 15))
    let check = try EngineCheck(plan, marks: marks)
    #expect(check.judge(directory: worker.directory, marksSeen: marks.count) == [])
    #expect(try worker.end() == 0)
  }

  @Test("false expectations are violations, and so are errors that nobody asked for")
  func expectations() throws {
    let worker = try PipedWorker()
    let (_, violations) = try worker.run(
      try plan(
        """
        steps:
          - ui: open
          - ui: {write: [{insert: Dog, _id: 1}]}
          - expect: {count: {Dog: 2}}
          - expect: {version: 9}
          - expect: {version: {atLeast: 9}}
          - expect: {file: {sizeBytes: {atMost: 1 KiB}}}
          - expect: {file: {sizeBytes: {atMost: 2 x content}}}
          - ui: {write: [{insert: Dog, _id: 2}], fails: io}
        """))
    #expect(violations.count == 6)
    #expect(violations.allSatisfy { $0.oracle == .expectation })
    #expect(violations.first?.got == "it has 1")
    #expect(violations.last?.got == "it succeeded")
    #expect(try worker.end() == 0)
  }

  @Test("whatever comes in, one answer comes out")
  func hostile() throws {
    let worker = try PipedWorker()
    let lines = [
      "", "{", "[]", "7", "null", "\u{0}", "{\"actor\":\"ui\"}", "{\"action\":{\"open\":{}}}",
      "{\"index\":0,\"actor\":\"ui\",\"action\":{\"fly\":{}}}",
      "{\"index\":1e400,\"actor\":\"ui\",\"action\":{\"open\":{}}}",
      String(repeating: "[", count: 100_000),
      "{\"index\":0,\"actor\":\"ui\",\"action\":{\"verify\":{}}}",
      "{\"index\":0,\"actor\":\"ui\",\"action\":{\"pin\":{\"_0\":\"x\"}}}",
    ]
    for line in lines {
      let answer = try worker.send(Array(line.utf8) + [10])
      guard case .failed(WorkerAnswer.protocolCode, _) = answer else {
        Issue.record("\(line): \(answer)")
        continue
      }
    }
    let open = try worker.send(
      Array("{\"index\":0,\"actor\":\"ui\",\"action\":{\"open\":{}}}\n".utf8))
    #expect(open == .done(version: 1))
    let wrong = [
      WorkerAction.release("x"), .expect(.pinnedUnchanged("x")),
      .expect(.count(table: "X", rows: 1)),
      .transaction(PlannedTransaction(number: 1, mutations: [Mutation(.insert, "X", key: 1)])),
    ]
    for action in wrong {
      let answer = try worker.send(
        JSONLine.encode(WorkerCommand(index: 0, actor: "ui", action: action)))
      guard case .failed = answer else {
        Issue.record("\(action): \(answer)")
        continue
      }
    }
    for index in 0..<80 {
      let command = WorkerCommand(index: index, actor: "actor\(index)", action: .open)
      let answer = try worker.send(JSONLine.encode(command))
      if index < 63 { #expect(answer == .done()) }
      if index >= 63 {
        guard case .failed(WorkerAnswer.protocolCode, _) = answer else {
          Issue.record("actor \(index): \(answer)")
          continue
        }
      }
    }
    #expect(try worker.end() == 0)
  }

  @Test("an actor that joins an open handle acknowledges nothing, so doubts remain")
  func joining() throws {
    let plan = try plan(
      "steps: [{ui: open}, {ui: {write: [{insert: Dog, _id: 1}], fails: io}}, {background: open}]")
    let client = WorkerClient(plan)
    let join = try #require(plan.commands.last)
    #expect(client.entriesAfter(join, .done()) == [])
    #expect(client.entriesAfter(join, .done(version: 3)) == [.recovered(version: 3)])
    let worker = try PipedWorker()
    let answers = try [plan.commands[0], join].map { try worker.send(JSONLine.encode($0)) }
    #expect(answers == [.done(version: 1), .done()])
    #expect(try worker.end() == 0)
  }

  @Test("answers are read back as they were written")
  func answers() throws {
    let all: [WorkerAnswer] = [
      .done(), .done(version: 17), .done(version: 1, contentHash: .max),
      .failed(code: "poisoned", message: "a\nb"),
      .broken(Violation(.isolation, promised: "p", got: "g")),
    ]
    for answer in all {
      let line = try JSONLine.encode(answer)
      #expect(line.count { $0 == 10 } == 1 && line.last == 10)
      #expect(try WorkerWire.answer(line.dropLast()) == answer)
    }
    #expect(
      String(decoding: try JSONLine.encode(WorkerAnswer.done(version: 17)), as: UTF8.self)
        == "{\"ok\":true,\"version\":17}\n")
  }
}
