// CertifyTests.swift: `faultline certify`: needed syncs come with proofs that replay, superfluous
// ones are named, and a workload that does not hold gets no certificate.

import Exploration
import Foundation
import Glibc
import Scenarios
import TestSupport
import Testing

@Suite(
  "certify",
  .requires(.fuse))
struct CertifyTests {
  private static let check = """
    grep -q saved "$FAULTLINE_OUTPUT" || exit 0
    test "$(cat file 2>/dev/null)" = hello && exit 0
    echo 'lost: the file'; exit 1
    """

  private func certify(
    _ command: FaultlineCommand, _ workload: String, _ more: [String] = []
  ) throws -> CommandResult {
    try command.run(
      ["certify", "--workload", workload, "--check", Self.check, "--model", "posix"] + more)
  }

  private func report(_ command: FaultlineCommand, _ name: String) throws -> CertificateReport {
    try JSONDecoder().decode(CertificateReport.self, from: Data(try command.text(name).utf8))
  }

  @Test("every needed sync has a proof, and its token brings the failure back")
  func complete() throws {
    let command = try FaultlineCommand()
    let result = try certify(
      command, "echo hello > t; sync t; mv t file; sync .; echo saved",
      ["--json", "c.json", "--fail-on-redundant"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("verdict: complete; 2 syncs at 2 sites: 2 needed, 0 not needed"))
    let certificate = try #require(try report(command, "c.json").certificates.first)
    #expect(certificate.outcome == .complete)
    #expect(certificate.syncs.map(\.text) == ["fsync of 't'", "fsync of the directory '/'"])
    for (name, token) in certificate.proofTokens {
      let replay = try command.run(["replay", token])
      #expect(replay.status == 1, "\(name): \(replay.output)")
      #expect(replay.output.contains("FINDING 1: lost: the file"), "\(name): \(replay.output)")
      #expect(replay.output.contains("was acknowledged and ignored: injected"))
    }
    #expect(certificate.proofTokens.count == 4)
  }

  @Test("syncs of two sites that stand in for each other are needed together")
  func standIns() throws {
    let command = try FaultlineCommand()
    let workload = "echo hello > t; sync -d t; sync t; mv t file; sync .; echo saved"
    let result = try certify(command, workload, ["--json", "c.json"])
    #expect(result.status == 0, "\(result.output)")
    #expect(
      result.output.contains("3 syncs at 3 sites: 1 needed, 2 not needed"), "\(result.output)")
    #expect(result.output.contains("the 2 that are not needed alone, ignored together: needed"))
    #expect(result.output.contains("not all of those can go"))
    let certificate = try #require(try report(command, "c.json").certificates.first)
    let token = try #require(certificate.together?.proof?.token)
    let replay = try command.run(["replay", token])
    #expect(replay.status == 1 && replay.output.contains("FINDING 1: lost: the file"))
  }

  @Test("a sync that secures nothing is named, and fails only on request")
  func superfluous() throws {
    let command = try FaultlineCommand()
    let workload = "sync .; echo hello > t; sync t; mv t file; sync .; echo saved"
    let result = try certify(command, workload, ["--report", "out"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("verdict: redundant; 3 syncs at 3 sites: 2 needed, 1 not"))
    #expect(result.output.contains("all of them ignored: not needed within the bound"))
    let certificate = try #require(try report(command, "out/certificate.json").certificates.first)
    #expect(certificate.syncs.map { $0.verdict?.isNeeded } == [false, true, true])
    #expect(try command.text("out/certificate.md").contains("fsync of 't' (created, written)"))
    let replay = try command.run(["replay", "out/1-site-2.token"])
    #expect(replay.status == 1, "\(replay.output)")
    #expect(try certify(command, workload, ["--fail-on-redundant"]).status == 1)
  }

  @Test("a token that ignores what is not a sync is refused", arguments: [-1, 0, 9999, Int.max])
  func hostileToken(event: Int) throws {
    let command = try FaultlineCommand()
    _ = try certify(
      command, "echo hello > t; sync t; mv t file; sync .; echo saved", ["--json", "c.json"])
    let proof = try #require(try report(command, "c.json").certificates.first?.proofTokens.first)
    guard case .explore(var recipe) = try ReplayRecipe(token: proof.token) else {
      Issue.record("not a token of a program")
      return
    }
    recipe.ignoredSyncs = [event]
    let replay = try command.run(["replay", recipe.token])
    #expect(replay.status == 2, "\(replay.output)")
    #expect(replay.output.contains("not a sync that worked"), "\(replay.output)")
  }

  @Test("two syncs of one site that stand in for each other are needed together")
  func together() throws {
    let command = try FaultlineCommand()
    let result = try certify(
      command,
      """
      for i in 1 2; do
        printf hello | dd of=file conv=notrunc 2>/dev/null; sync file; echo $i
      done
      echo saved
      """, ["--setup", ": > file", "--json", "c.json", "--model", "strict"])
    #expect(result.status == 0, "\(result.output)")
    let certificate = try #require(try report(command, "c.json").certificates.first)
    #expect(certificate.sites.count == 1)
    #expect(certificate.syncs.map { $0.verdict?.isNeeded } == [false, false])
    #expect(certificate.sites[0].verdict?.isNeeded == true, "\(result.output)")
    #expect(certificate.outcome == .redundant)
  }

  @Test("a workload that lacks a sync gets no certificate but the finding")
  func missing() throws {
    let command = try FaultlineCommand()
    let result = try certify(command, "echo hello > t; sync t; mv t file; echo saved")
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("a certificate needs a workload that holds"))
    #expect(result.output.contains("Missing: fsync of the directory '/'"), "\(result.output)")
    #expect(!result.output.contains("site 1"))
  }

  @Test("the same certificate every time, whatever the number of checkers")
  func deterministic() throws {
    let command = try FaultlineCommand()
    let workload = "echo hello > t; sync t; mv t file; sync .; echo saved"
    for jobs in [1, 4] {
      let result = try certify(
        command, workload, ["--jobs", "\(jobs)", "--report", "out\(jobs)"])
      #expect(result.status == 0, "\(result.output)")
    }
    func json(_ name: String) throws -> String {
      try command.text(name).split(separator: "\n").filter { !$0.contains("\"seconds\"") }
        .joined(separator: "\n")
    }
    #expect(try json("out1/certificate.json") == json("out4/certificate.json"))
    #expect(try command.text("out1/certificate.md") == command.text("out4/certificate.md"))
  }

  @Test("interrupted: what is known is kept, and exit code 130")
  func interrupted() throws {
    let command = try FaultlineCommand()
    let mark = command.directory.file("ignored")
    let program = try command.start([
      "certify", "--model", "posix", "--json", "c.json", "--jobs", "1", "--workload",
      "for i in 1 2 3 4 5 6; do echo $i > file$i; sync file$i; sync .; echo $i; done",
      "--check",
      """
      sleep 0.02
      for i in $(cat "$FAULTLINE_OUTPUT"); do
        [ "$(cat file$i)" = $i ] || { touch '\(mark)'; echo 'lost: a file'; exit 1; }
      done
      """,
    ])
    #expect(waitUntil(seconds: 60) { FileManager.default.fileExists(atPath: mark) })
    kill(program.process, SIGINT)
    let result = program.wait()
    #expect(result.status == 130, "\(result.output)")
    let report = try report(command, "c.json")
    #expect(report.isInterrupted)
    let certificate = try #require(report.certificates.first)
    #expect(certificate.outcome == .interrupted)
    #expect(certificate.syncs.contains { $0.verdict == nil })
    #expect(result.output.contains("not looked at"), "\(result.output)")
  }

  @Test("the engine's commit: the sync of the nodes, of the slot and of the folder are needed")
  func engine() throws {
    let command = try FaultlineCommand()
    let path = try command.write(
      """
      title: Two commits
      schema: {Dog: {_id: int primary, age: int}}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui: {repeat: 2, write: [{insert: Dog, _id: sequence, age: 1..99}]}
      crash: {model: posix, explore: all, budget: {states: 20000}}

      """, to: "two.yaml")
    let result = try command.run(["certify", path, "--json", "c.json"])
    #expect(result.status == 0, "\(result.output)")
    let certificate = try #require(try report(command, "c.json").certificates.first)
    func site(_ text: String) throws -> CertifiedSite {
      try #require(certificate.sites.first { $0.text.hasPrefix(text) }, "\(result.output)")
    }
    let nodes = try site("fdatasync of 'data.realm' (written), sync 1 after a mark")
    let slot = try site("fdatasync of 'data.realm' (written), sync 2 after a mark")
    let folder = try site("fsync of the directory '/' (named, renamed)")
    #expect([nodes, slot, folder].map(\.syncs.count) == [3, 3, 1])
    for sync in nodes.syncs + slot.syncs + folder.syncs {
      #expect(sync.verdict?.isNeeded == true, "\(sync.text)")
    }
    #expect(nodes.verdict?.proof?.headline.hasPrefix("structure:") == true)
    #expect(slot.verdict?.proof?.headline.hasPrefix("durability:") == true)
    let token = try #require(nodes.verdict?.proof?.token)
    #expect(try command.run(["replay", token]).status == 1)
    // The same, but for the times, in the lab's own process.
    let other = try command.run(["certify", path, "--json", "d.json", "--backend", "in-process"])
    #expect(other.status == 0, "\(other.output)")
    let inProcess = try #require(try report(command, "d.json").certificates.first)
    #expect(inProcess.sites.map(\.text) == certificate.sites.map(\.text))
    #expect(
      inProcess.syncs.map { $0.verdict?.isNeeded } == certificate.syncs.map { $0.verdict?.isNeeded }
    )
  }

  @Test(
    "what cannot be certified is a usage error",
    arguments: [
      [], ["--workload", "true", "--check", "true", "--durable"],
      ["--durable", "scenarios/durability/commits.yaml"],
      ["scenarios/negative/first-sync-ignored.yaml"],
      ["scenarios/processes/kill.yaml"], ["--workload", "true", "--check", "true", "x.yaml"],
      ["--workload", "true", "--check", "true", "--shard", "1/2"],
      ["--workload", "true", "--check", "true", "--json", "/nowhere/x"],
    ])
  func usage(arguments: [String]) throws {
    let paths = arguments.map {
      $0.hasPrefix("scenarios/") ? "\(FaultlineCommand.repository)/\($0)" : $0
    }
    let result = try FaultlineCommand().run(["certify"] + paths)
    #expect(result.status == 2, "\(result.output)")
  }
}
