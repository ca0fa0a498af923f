// DocumentWritersTests.swift: two processes write documents to one file at the same moment, and one
// of them is killed at an operation: the other goes on, and nothing that was acknowledged is lost.

import FaultFS
import Glibc
import LabCore
import Scenarios
import TestSupport
import Testing

@Suite("writers of documents beside each other", .requires(.fuse))
struct DocumentWritersTests {
  private static let program = FaultlineCommand.folder.path + "/document-saver"
  /// Additions of each writer.
  private static let count = 3

  /// How many additions a writer acknowledged; a line that a kill cut off is none.
  private static func acknowledged(_ output: String) -> Int {
    output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().count
  }

  /// Both writers run with a kill at one of their operations.
  /// - Returns: Whether the kill happened, and what is wrong; nil when nothing is.
  private static func life(killedAt number: Int, _ moment: String) throws -> (Bool, String?) {
    let mount = try MountedFaultFS()
    let made = try RunningProgram([program, "check-additions"], in: mount.path).wait()
    guard made.status == 0 else { return (false, made.output) }
    // Closing is no operation that a kill can be tied to, and looking up names changes nothing.
    let rule = """
      {on: [open, create, read, write, truncate, sync, remove], command: "document-save*",
       nth: \(number), killCaller: \(moment)}
      """
    try mount.client.addRules(try FaultFile.parse(rule, file: "test"))
    let writers = try ["ann", "bob"].map {
      ($0, try RunningProgram([program, "add", "\(count)", $0], in: mount.path))
    }
    let ended = writers.map { (name: $0.0, result: $0.1.wait(limitSeconds: 60)) }
    let isKilled = try mount.client.ruleHits().contains { $0.hitCount > 0 }
    try mount.client.removeRules(try mount.client.rules().map(\.id))
    let killed = ended.filter { $0.result.status == 128 + SIGKILL }
    guard killed.count == (isKilled ? 1 : 0) else { return (isKilled, "ends: \(ended)") }
    for writer in ended where writer.result.status != 128 + SIGKILL {
      guard writer.result.status == 0, acknowledged(writer.result.output) == count else {
        return (isKilled, "the survivor \(writer.name): \(writer.result)")
      }
    }
    let counts = ended.map { "\($0.name):\(acknowledged($0.result.output))" }
    let judged = try RunningProgram([program, "check-additions"] + counts, in: mount.path).wait()
    return (isKilled, judged.status == 0 ? nil : "\(counts): \(judged.output)")
  }

  @Test("one that is killed at any operation takes nothing from the other")
  func killed() throws {
    // The kernel orders the two, so another run has other orders; numbers are far beyond the last.
    let step = FullSize.isOn ? 1 : 23
    var (number, kills) = (1, 0)
    while true {
      let moment = number % 2 == 0 ? "before" : "after"
      let (isKilled, fault) = try Self.life(killedAt: number, moment)
      #expect(fault == nil, "killed \(moment) operation \(number): \(fault ?? "")")
      guard isKilled, fault == nil else { break }
      kills += 1
      number += step
    }
    print("writers: \(kills) kills, up to operation \(number)")
    #expect(kills > 2)
  }
}
