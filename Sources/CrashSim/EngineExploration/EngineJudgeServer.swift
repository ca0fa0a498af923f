// EngineJudgeServer.swift: a child process that judges single states or directories on request, so
// that shrinking, replaying and runs with kills survive an engine that traps.
// One request per line, one answer per line, until the input ends.

import CrashStates
import Exploration
import Findings
import Foundation
import LabCore
import Oracles
import Recording
import Workload

/// A request to the judge.
package enum JudgeQuestion: Codable, Sendable {
  /// A crash state of the job, or of its recovery.
  case state(key: String, second: String?)
  /// Faults of the medium in the job's recording.
  case media(MediaState)
  /// A directory with the database, after a run with these marks.
  case directory(path: String, marks: [String])
}

/// The judge's answer.
enum JudgeAnswer: Codable, Sendable {
  case violations([Violation])
  case error(String)
}

/// The child's side of the judge.
package struct EngineJudgeServer: ChildProgram {
  package static let name = "judge"
  package static let parameters = ["JOB"]
  /// The job file.
  let job: String

  package var arguments: [String] { [job] }

  init(job: String) { self.job = job }

  package init(_ arguments: inout ChildArguments) { self.init(job: arguments.text()) }

  /// Serves until the input ends.
  package func run() throws(LabError) -> Int32 {
    let job = try EngineJob.load(job)
    var judge: EngineJudge?
    var mediaJudge: MediaJudge?
    var channel = LineChannel(input: 0, output: 1)
    while let line = try channel.readLine() {
      let answer: JudgeAnswer
      do throws(LabError) {
        answer = .violations(try Self.answer(line, job, &judge, &mediaJudge))
      } catch {
        answer = .error(error.message)
      }
      try channel.write(try JSONLine.encode(answer))
    }
    return ExitCode.held.rawValue
  }

  private static func answer(
    _ line: [UInt8], _ job: EngineJob, _ judge: inout EngineJudge?,
    _ mediaJudge: inout MediaJudge?
  ) throws(LabError) -> [Violation] {
    guard let question = try? JSONDecoder().decode(JudgeQuestion.self, from: Data(line)) else {
      throw .internalError("the judging process got an unreadable question")
    }
    switch question {
    case .state(let key, let second):
      if let judge { return try judge.judge(key: key, second: second) }
      let made = try EngineJudge(job, enumerator: try job.enumerator())
      judge = made
      return try made.judge(key: key, second: second)
    case .media(let state):
      if let mediaJudge { return try mediaJudge.judge(state).violations }
      let made = try MediaJudge(job, job.media ?? MediaDeclaration())
      mediaJudge = made
      return try made.judge(state).violations
    case .directory(let path, let marks):
      let marks = marks.map { Mark($0) }
      let check = try EngineCheck(job.plan, marks: marks)
      return check.timeline.violations
        + check.judge(
          directory: path, marksSeen: marks.count, foundBefore: AckLog(marks).lastFound)
    }
  }
}

/// Uses a judge in a separate process, and starts another when it dies.
package final class EngineJudgeClient {
  private let jobPath: String
  private let timeoutSeconds: Int
  private var process: LineProcess?

  package init(jobPath: String, timeoutSeconds: Int) {
    self.jobPath = jobPath
    self.timeoutSeconds = timeoutSeconds
  }

  /// The verdict on a request; when the judge dies or hangs during it, the state has failed.
  package func ask(_ question: JudgeQuestion) throws(LabError) -> CheckResult {
    if process == nil { process = try LineProcess(EngineJudgeServer(job: jobPath)) }
    guard let current = process else { preconditionFailure("just made") }
    switch try current.ask(try JSONLine.encode(question), timeoutSeconds: timeoutSeconds) {
    case .ended(let ending):
      process = nil
      return CheckResult(engineEnded: ending)
    case .line(let line):
      guard let answer = try? JSONDecoder().decode(JudgeAnswer.self, from: Data(line)) else {
        throw .internalError("the judging process sent an unreadable answer")
      }
      switch answer {
      case .error(let message): throw .lab(message)
      case .violations(let violations): return CheckResult(violations)
      }
    }
  }

  /// Whether the judge accepts a state of an enumerator.
  package func accepts(_ enumerator: CrashStateEnumerator) -> FindingMaker.Check {
    { (state) throws(LabError) in
      let key = enumerator.key(of: state).description
      return try self.ask(.state(key: key, second: nil)).ending.isSuccess
    }
  }
}

extension CheckResult {
  /// The violations that the oracles found.
  package init(_ violations: [Violation]) {
    let lines = violations.map { "\($0.oracle.rawValue): \($0.got)" }
    self.init(
      ending: .exited(violations.isEmpty ? 0 : 1), output: lines.joined(separator: "\n"),
      promised: violations.first?.promised, oracles: violations.map(\.oracle))
  }

  /// The engine did not survive the state.
  init(engineEnded ending: ProcessEnding) {
    self.init(
      ending: ending == .exited(0) ? .exited(127) : ending,
      output: "structure: the engine did not survive the state: \(ending)",
      promised: "no file content makes the process trap or hang", oracles: [.structure])
  }
}
