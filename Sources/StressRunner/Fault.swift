// Fault.swift: `faultline fault`: changes the fault rules of a mount while it is in use.

import ArgumentParser
import FaultFS
import Findings
import Foundation
import LabCore
import Scenarios

struct Fault: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Change the fault rules of a mount while it is in use.",
    discussion: """
      For directories that 'faultline mount' has mounted. docs/reference/faults.md lists all rules.

      Examples:
        faultline fault add /mnt/faulty 'on: write, file: "*.db", nth: 3, error: EIO'
        faultline fault add /mnt/faulty --file faults.yaml
        faultline fault list /mnt/faulty
        faultline fault wait /mnt/faulty --rule 1 --hits 2 --timeout 30
        faultline fault clear /mnt/faulty 1
      """,
    subcommands: [Add.self, List.self, Clear.self, Wait.self, MarkIt.self])

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Add rules and print their numbers. They are in force when the command ends.")

    @Argument(help: "Where the faulty file system is mounted.") var directory: String
    @Argument(help: "Rules as in a fault file; braces may be left out.") var rules: [String] = []
    @Option(help: "Read rules from this file.") var file: String?
    @Flag(help: "Allow errors that the manual page of the call does not list.") var anyErrno = false

    func run() throws {
      var parsed: [FaultRule] = []
      if let file { parsed += try FaultFile.load(file, allowsAnyErrno: anyErrno) }
      for (index, text) in rules.enumerated() {
        parsed += try FaultFile.parse(
          commandLine: text, file: "rule \(index + 1)", allowsAnyErrno: anyErrno)
      }
      guard !parsed.isEmpty else {
        throw LabError.usage("no rule: give one as text, or a file with --file")
      }
      for status in try FaultControl(mountPoint: directory).add(parsed) {
        print("\(status.id)  \(status.rule)".visibleLine)
      }
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the rules in force with their hits and matches.")

    @Argument(help: "Where the faulty file system is mounted.") var directory: String
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
      let rules = try FaultControl(mountPoint: directory).list()
      guard json else {
        for status in rules { print(status.line.visibleLine) }
        return
      }
      print(try RuleList(rules: rules).json(), terminator: "")
    }

    /// The output of `--json`.
    private struct RuleList: JSONReport {
      var formatVersion = 1
      let rules: [RuleStatus]
    }
  }

  struct Clear: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Remove rules: those with these numbers, or all.")

    @Argument(help: "Where the faulty file system is mounted.") var directory: String
    @Argument(help: "Numbers of rules.") var numbers: [Int] = []

    func run() throws {
      for status in try FaultControl(mountPoint: directory).clear(numbers) {
        print(status.line.visibleLine)
      }
    }
  }

  struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Wait until a rule has hit. Exit code 3 if it does not hit in time."
    )

    @Argument(help: "Where the faulty file system is mounted.") var directory: String
    @Option(help: "Number of the rule.") var rule: Int
    @Option(help: "Number of hits to wait for.") var hits = 1
    @Option(help: "Maximum time to wait, in seconds.") var timeout = 60

    func run() throws {
      let control = try FaultControl(mountPoint: directory)
      let clock = ContinuousClock()
      let end = clock.now + .seconds(timeout)
      while true {
        guard let status = try control.list().first(where: { $0.id == rule }) else {
          throw LabError.usage("no fault rule \(rule) is in force; see 'faultline fault list'")
        }
        if status.hits.hitCount >= hits { return print(status.line.visibleLine) }
        guard clock.now < end else {
          throw LabError.lab(
            "rule \(rule) has hits=\(status.hits.hitCount) < \(hits) after \(timeout) s")
        }
        try Interruption.check()
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
  }

  struct MarkIt: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "mark",
      abstract: "Set a mark, for rules with 'after' and 'until'.")

    @Argument(help: "Where the faulty file system is mounted.") var directory: String
    @Argument(help: "The mark's text.") var text: String

    func run() throws { try FaultControl(mountPoint: directory).mark(text) }
  }
}
