// Doctor.swift: `faultline doctor`: what this machine offers, and what mends a lack.

import ArgumentParser
import Exploration
import Findings
import Foundation
import LabCore

struct Doctor: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show what this machine offers, and the command that mends each lack.",
    discussion: """
      Looks at the FUSE device, the ways to mount, seccomp, loop devices, mkfs, shared memory, and \
      readers of file formats. Makes one mount and measures it. For each lack it says what does \
      not work, and the command that mends it (docs/how-to/run-without-root.md).

      Examples:
        faultline doctor
        faultline doctor --json | jq '.capabilities[] | select(.state == "missing")'

      Exit codes: 0 a mount works, so explore, certify, stress, run and mount do, even if \
      something else is missing; 3 no mount could be made.
      """)

  @Flag(help: "Print JSON instead of text.") var json = false

  func run() throws {
    let console = Console()
    let report = try MachineSurvey.report()
    if json {
      console.say(document: try report.json())
    } else {
      for line in report.capabilities.flatMap(\.lines) { console.say(line) }
      console.say(report.mounts ? "faultline works here" : "faultline cannot mount here")
    }
    if !report.mounts { throw Leave(code: .labFailed) }
  }
}
