// ChildProgramTests.swift: what a child is started with is what it takes; nothing else is taken.

import CrashStates
import Foundation
import LabCore
import Testing

@testable import EngineExploration
@testable import Exploration
@testable import Scenarios
@testable import Workers

@Suite("Child programs")
struct ChildProgramTests {
  private static let shard = EngineShard(
    job: "a job", shard: Shard(index: 2, of: 5), first: 7, progress: "it's")

  @Test(
    "take the arguments that they are started with",
    arguments: [
      WorkerProgram(directory: "/mnt/a b"), shard, EngineJudgeServer(job: ""),
      ScheduleServer(job: "job", journal: "--journal"),
      CalibrationStep(.data, on: KernelFileSystem(.ext4, options: "data=writeback")),
      CalibrationCall(.copy, "d/a", "it's"),
      ScenarioWork(scenario: "a.yaml", seed: .max), ScenarioJudge(scenario: "-", seed: 0),
    ] as [any ChildProgram])
  func roundTrip(program: any ChildProgram) throws {
    let kind = type(of: program)
    let taken = try kind.started(with: program.arguments)
    #expect("\(taken)" == "\(program)")
    #expect(program.arguments.count == kind.parameters.count)
    #expect(program.commandLine == ["child", kind.name] + program.arguments)
  }

  @Test("are started by a shell with the same arguments")
  func shell() throws {
    let command = Self.shard.shellCommand(program: "printf '%s\\n'")
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    process.standardOutput = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    #expect(lines == Self.shard.commandLine)
  }

  @Test("refuse other arguments with what they should be")
  func refusal() {
    let number = #expect(throws: LabError.self) {
      try ScenarioWork.started(with: ["a.yaml", "-1"])
    }
    #expect(
      number?.message
        == "faultline child scenario-work SCENARIO SEED: SEED is not a number: '-1'; "
        + "faultline starts it itself")
    #expect(number?.code == .usage)
    for arguments in [[], ["0"], ["0", "0", "0"]] {
      #expect(throws: LabError.self) { try StressLoad.started(with: arguments) }
    }
  }
}
