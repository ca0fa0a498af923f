// DoctorTests.swift: what `faultline doctor` says of machines that lack something.

import Exploration
import Foundation
import TestSupport
import Testing

@Suite("faultline doctor", .requires(.fuse, .root, .setpriv, .namespaces), .serialized)
struct DoctorTests {
  private func report(_ result: ProgramResult) throws -> MachineReport {
    let lines = result.output.split(separator: "\n").filter { !$0.hasPrefix("end ") }
    return try JSONDecoder().decode(
      MachineReport.self, from: Data(lines.joined(separator: "\n").utf8))
  }

  private func missing(_ report: MachineReport) -> [String] {
    report.capabilities.filter { $0.state == .missing }.map(\.name)
  }

  @Test("root with everything lacks nothing that a mount needs, in one line each")
  func root() throws {
    let result = try runShell("'\(FaultlineCommand.program)' doctor 2>&1; echo \"end $?\"", in: "/")
    #expect(result.output.hasSuffix("faultline works here\nend 0\n"), "\(result.output)")
    for name in ["/dev/fuse", "mount", "fusermount3", "seccomp", "speed of a mount"] {
      #expect(result.output.contains("ok       \(name) "), "\(name): \(result.output)")
    }
  }

  @Test("a user's lacks have what is lost and a command; a mount works, so the code is 0")
  func user() throws {
    let user = try OrdinaryUser(hidesFusermount: true)
    let result = try user.run("$F doctor --json; echo \"end $?\"")
    let report = try report(result)
    #expect(result.output.hasSuffix("end 0\n") && report.mounts, "\(result.output)")
    #expect(missing(report).contains("fusermount3"), "\(result.output)")
    let complete = report.capabilities.allSatisfy { item in
      let isOk = item.state == .ok
      return isOk == (item.lost == nil) && isOk == (item.mend == nil)
    }
    #expect(complete, "\(result.output)")
    let way = report.capabilities.first { $0.name == "mount" }
    #expect(way?.found.contains("namespace") == true)
  }

  @Test("a run directory that somebody else has is a lack, and the refusal points here")
  func takenDirectory() throws {
    let user = try OrdinaryUser()
    _ = try runShell("mkdir -m 755 s s/faultline-\(user.number)", in: user.home)
    let result = try user.run(
      """
      export FAULTLINE_SCRATCH=$PWD/s
      $F doctor --json 2> /dev/null; echo "end $?"
      $F explore -- true > out 2>&1; echo "end $?"
      grep -q "'faultline doctor' says" out && echo "end pointed"
      """)
    let report = try report(result)
    let item = try #require(report.capabilities.first { $0.name == "run directory" })
    #expect(item.state == .missing && item.found.contains("may not write in"), "\(item)")
    #expect(item.mend?.contains("export FAULTLINE_SCRATCH=") == true, "\(item)")
    #expect(result.output.hasSuffix("end 3\nend 3\nend pointed\n"), "\(result.output)")
  }

  @Test("without any way to mount the code is 3, and refusals point here")
  func nothing() throws {
    let user = try OrdinaryUser(hidesFusermount: true)
    // A limit of the user namespace in which the user has no more of them.
    let result = try user.run(
      """
      $F doctor --json 2> /dev/null; echo "end $?"
      $F explore --workload true --check true > out 2>&1; echo "end $?"; grep -q \
        "'faultline doctor' says what this machine lacks" out && echo "end pointed"
      """,
      within: "unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec \"$@\"' sh")
    let report = try report(result)
    #expect(!report.mounts, "\(result.output)")
    #expect(missing(report).contains("user namespaces"), "\(result.output)")
    #expect(result.output.hasSuffix("end 3\nend 3\nend pointed\n"), "\(result.output)")
  }
}
