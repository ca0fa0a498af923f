// OwnCommands.swift: [U] how a program under test fared with the lab's own commands. A shell script
// goes on after a `faultline fault add` that failed, and exits with 0; the run then lacks what the
// command was to do, and nobody sees why. So the command itself tells the run, in a file that its
// environment names.
// Invariants: a line is written by one call, so lines of processes side by side stay whole; what
// failed first and was done afterwards by the same command is not a failure; the file is bounded.
// Safety: paths are passed to one system call each and not kept.

import CSystem
import Foundation
import Glibc

/// What the lab's own commands note for the run whose program started them.
package enum OwnCommands {
  /// Variable with the path of the file; empty or missing outside of programs under test.
  package static let variable = "FAULTLINE_OWN_COMMANDS"

  /// One command that has ended.
  private struct Entry: Codable {
    let arguments: [String]
    /// Why it failed; nil when it did what it is for.
    let failure: String?
  }

  /// A longer file takes no more lines.
  private static let bytesMax = 1 << 20
  /// More of a command or a message is not kept.
  private static let textMax = 400

  /// What does the same for a run's own mount.
  private static let remedies = [
    "fault add": "; --fault and --faults give the rules of a run",
    "fault mark": "; what the workload prints is its marks",
  ]

  /// Whether a command changes what a run does, so that the run lacks something when it fails.
  ///
  /// Lists change nothing, and who waits in vain has an answer: both may be questions.
  private static func isNeeded(_ arguments: [String], _ code: ExitCode) -> Bool {
    guard arguments.first == "fault", code != .interrupted else { return false }
    switch arguments.dropFirst().first {
    case "list": return false
    case "wait": return code == .usage || code == .held
    default: return true
    }
  }

  /// Tells the run of the program that started this command how the command ended.
  /// - Parameters:
  ///   - arguments: The command line, without the program's name.
  ///   - code: What it leaves with.
  ///   - failure: Why it failed; nil when it did not.
  package static func note(_ arguments: [String], _ code: ExitCode, failure: String?) {
    guard let path = ProcessInfo.processInfo.environment[variable], !path.isEmpty,
      isNeeded(arguments, code)
    else { return }
    let entry = Entry(
      arguments: arguments.map { String($0.prefix(textMax)) },
      failure: failure.map { String($0.prefix(textMax)) })
    guard let line = try? JSONEncoder().encode(entry) else { return }
    // Without O_CREAT: the file is there as long as the run that asks for it.
    let descriptor = unsafe csystem_open(path, O_WRONLY | O_APPEND | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_size < bytesMax else { return }
    _ = StandardStream.send(Array(line) + [0x0A], to: descriptor)
  }

  /// Begins anew, for programs of any user.
  package static func begin(at path: String) {
    let descriptor = unsafe csystem_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o622)
    guard descriptor >= 0 else { return }
    // The mask of the process does not apply to it.
    fchmod(descriptor, 0o622)
    close(descriptor)
  }

  /// What the commands that failed were to do, a line each.
  package static func failures(at path: String) -> [String] {
    var failures: [(arguments: [String], text: String)] = []
    let bytes = FileManager.default.contents(atPath: path) ?? Data()
    for line in bytes.split(separator: 0x0A) {
      guard let entry = try? JSONDecoder().decode(Entry.self, from: line) else { continue }
      failures.removeAll { $0.arguments == entry.arguments }
      if let failure = entry.failure { failures.append((entry.arguments, failure)) }
    }
    return failures.map { arguments, failure in
      let command = arguments.prefix(2).joined(separator: " ")
      return "what the program's own 'faultline \(command)' was to do: it failed (\(failure))"
        + (remedies[command] ?? "")
    }
  }
}
