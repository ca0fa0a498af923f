// Faultline.swift: the `faultline` command: its subcommands, and the exit codes of errors.

import ArgumentParser
import FaultFS
import Findings
import Foundation
import LabCore

@main
struct Faultline: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "faultline",
    abstract: "Find out what a program loses when the power fails.",
    discussion: """
      Faultline records a program on a file system of its own (FUSE), builds the disk states that \
      a power failure could leave, and checks each of them.

      Examples:
        faultline init
        faultline run scenarios/durability
        faultline explore --setup 'sh setup.sh' --workload 'sh work.sh' --check 'sh check.sh'
        faultline certify scenarios/durability/commits.yaml
        faultline stress --cuts 1000
        faultline replay fl1-… --keep /tmp/crashed
        faultline inspect /tmp/crashed/data.realm
        faultline history check run.jsonl
        faultline fuzz run query
        faultline doctor

      Exit codes: 0 all promises held, 1 a promise was broken, 2 wrong arguments or scenario, 3 \
      Faultline itself failed, 4 the same seed gave another run, 130 interrupted.

      Ctrl-C, SIGTERM and SIGHUP stop a run within two seconds. It unmounts, ends the processes \
      that it started, and reports what it had found.
      """,
    version: "faultline \(LabVersion.full)",
    subcommands: [
      Init.self, Run.self, Explore.self, Certify.self, Stress.self, Replay.self, Shrink.self,
      Merge.self, Mount.self, Fault.self, Inspect.self, HistoryCommand.self, FuzzSubcommand.self,
      Calibrate.self, Doctor.self, Child.self,
    ])

  /// The subcommands that need the right to mount.
  private static let mounting: Set<String> = [
    "run", "explore", "certify", "stress", "replay", "shrink", "mount", "doctor",
  ]

  static func main() {
    // In the package the daemon's program is a link to this one (decision 1131).
    let name = CommandLine.arguments.first?.split(separator: "/").last.map(String.init)
    if name == FaultFSDaemon.programName {
      FaultFSDaemon.main(CommandLine.arguments)
    }
    // Before anything asks for the version.
    LabVersion.commit = BuildCommit.text
    Interruption.install()
    // Swift itself reads the arguments from there; without them a run would only print the help.
    guard FileManager.default.contents(atPath: "/proc/self/cmdline")?.isEmpty == false else {
      Console().complain(
        "faultline: /proc is not mounted here, and nothing can be run without it; mount it "
          + "(mount -t proc proc /proc)")
      Foundation.exit(LabCore.ExitCode.labFailed.rawValue)
    }
    let prefix = name == LazyFSArguments.programName ? ["mount"] : []
    let arguments = prefix + CommandLine.arguments.dropFirst()
    MountRight.keepToOneself()
    if let name = arguments.first, mounting.contains(name) { MountRight.enterNamespaceIfNeeded() }
    do {
      var command = try parseAsRoot(Child.completed(arguments))
      try command.run()
      OwnCommands.note(arguments, .held, failure: nil)
    } catch let error as LabError {
      OwnCommands.note(arguments, error.exitCode, failure: error.message)
      // An error in a file begins with its name, for editors and problem matchers.
      let isOfFile = error.message.prefix { $0 != "\n" }.contains(#/^\S.*?:\d+:\d+: /#)
      Console().complain(isOfFile ? error.message : "faultline: \(error.message)")
      Foundation.exit(error.exitCode.rawValue)
    } catch let leave as Leave {
      Foundation.exit(leave.code.rawValue)
    } catch {
      // ArgumentParser's own errors: help and version exit with 0, misuse with 64 by default.
      let isMisuse = exitCode(for: error) != .success
      let text = fullMessage(for: error)
      if isMisuse {
        let words = text.split(separator: "\n").first.map(String.init) ?? "wrong use"
        OwnCommands.note(arguments, .usage, failure: words)
        Console().complain(text)
      } else if !text.isEmpty {
        Console().say(text)
      }
      Foundation.exit(isMisuse ? LabCore.ExitCode.usage.rawValue : 0)
    }
  }
}
