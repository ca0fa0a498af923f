// SyncWritersTests.swift: two processes write to one synchronized file while the agent in a third
// one synchronizes it with a server's file, and one of the three is killed at an operation: the
// others continue, and what was acknowledged reaches the server once.

import FaultFS
import Foundation
import Glibc
import LabCore
import Scenarios
import TestSupport
import Testing

@Suite("writers of a synchronized file beside its agent", .requires(.fuse))
struct SyncWritersTests {
  private static let program = FaultlineCommand.folder.path + "/sync-writer"
  /// Additions of each writer.
  private static let count = 3

  /// What a life came to.
  private struct Life {
    /// Who was killed; nil when nobody was.
    var killed: String?
    /// What is wrong; nil when nothing is.
    var fault: String?
  }

  /// How many additions a writer acknowledged; a line that a kill cut off is none.
  private static func acknowledged(_ output: String) -> Int {
    output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().count
  }

  /// Writers and agent run with a kill at one of their operations.
  private static func life(killedAt number: Int, _ moment: String) throws -> Life {
    let mount = try MountedFaultFS()
    let made = try RunningProgram([program, "make"], in: mount.path).wait(limitSeconds: 60)
    guard made.status == 0 else { return Life(fault: "make: \(made.output)") }
    let rule = """
      {on: [open, create, read, write, truncate, sync, remove], command: "sync-writer*",
       nth: \(number), killCaller: \(moment)}
      """
    try mount.client.addRules(try FaultFile.parse(rule, file: "test"))
    let agent = try RunningProgram([program, "agent", "stop"], in: mount.path)
    let writers = try ["ann", "bob"].map {
      ($0, try RunningProgram([program, "write", "\(count)", $0], in: mount.path))
    }
    var ended = writers.map { (name: $0.0, result: $0.1.wait(limitSeconds: 60)) }
    try Data().write(to: URL(filePath: mount.file("stop")))
    ended.append(("agent", agent.wait(limitSeconds: 60)))
    let isKilled = try mount.client.ruleHits().contains { $0.hitCount > 0 }
    try mount.client.removeRules(try mount.client.rules().map(\.id))
    let killed = ended.filter { $0.result.status == 128 + SIGKILL }
    guard killed.count == (isKilled ? 1 : 0) else { return Life(fault: "ends: \(ended)") }
    var life = Life(killed: killed.first?.name)
    var counts: [String] = []
    for (name, result) in ended {
      let isSurvivor = name != life.killed
      if isSurvivor, result.status != 0 { life.fault = "the survivor \(name): \(result)" }
      guard name != "agent" else { continue }
      counts.append("\(name):\(acknowledged(result.output))")
      if isSurvivor, acknowledged(result.output) != count {
        life.fault = "the survivor \(name): \(result)"
      }
    }
    guard life.fault == nil else { return life }
    let judged = try RunningProgram([program, "check"] + counts, in: mount.path)
      .wait(limitSeconds: 60)
    if judged.status != 0 { life.fault = "\(counts): \(judged.output)" }
    return life
  }

  @Test("one that is killed at any operation takes nothing from the others")
  func killed() throws {
    // The kernel orders the three, so another run has other orders; numbers are far beyond the
    // last, since an agent that waits does nothing.
    let step = FullSize.isOn ? 1 : 31
    var number = 1
    var kills: [String: Int] = [:]
    while true {
      let moment = number % 2 == 0 ? "before" : "after"
      let life = try Self.life(killedAt: number, moment)
      #expect(life.fault == nil, "killed \(moment) operation \(number): \(life.fault ?? "")")
      guard let killed = life.killed, life.fault == nil else { break }
      kills[killed, default: 0] += 1
      number += step
    }
    print("synchronized writers: kills \(kills), up to operation \(number)")
    #expect(kills.values.reduce(0, +) > 2)
    if FullSize.isOn { #expect(kills.count == 3) }
  }
}
