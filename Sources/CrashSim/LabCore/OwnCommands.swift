// OwnCommands.swift: [U] the results of `faultline` commands that a program under test ran. A shell
// script continues after a `faultline fault add` that failed, and exits with 0; without a report,
// the run would silently lack the command's effect. So each command writes its result to a file
// that its environment names.
// Invariants: a line is written in one call, so concurrent processes do not mix lines; a failure
// does not count if the same command succeeded later; the file is bounded.
// Safety: paths are passed to one system call each and not kept.

import CSystem
import Foundation
import Glibc

/// The results that `faultline` commands report to the run that started their program.
package enum OwnCommands {
  /// Environment variable with the file's path; empty or missing outside of programs under test.
  package static let variable = "FAULTLINE_OWN_COMMANDS"

  /// One command that has ended.
  private struct Entry: Codable {
    let arguments: [String]
    /// Why it failed; nil if it succeeded.
    let failure: String?
  }

  /// Size of the file above which nothing is appended.
  private static let bytesMax = 1 << 20
  /// Longer commands and messages are cut here.
  private static let textMax = 400

  /// Alternatives that have the same effect on a run's own mount.
  private static let remedies = [
    "fault add": "; --fault and --faults give the rules of a run",
    "fault mark": "; what the workload prints is its marks",
  ]

  /// Whether a command changes what a run does, so that a failure makes the run incomplete.
  ///
  /// Lists change nothing, and a failed `wait` is an answer: both may be queries.
  private static func isNeeded(_ arguments: [String], _ code: ExitCode) -> Bool {
    guard arguments.first == "fault", code != .interrupted else { return false }
    switch arguments.dropFirst().first {
    case "list": return false
    case "wait": return code == .usage || code == .held
    default: return true
    }
  }

  /// Reports to the run that started this command's program how the command ended.
  /// - Parameters:
  ///   - arguments: The command line, without the program's name.
  ///   - code: Its exit code.
  ///   - failure: Why it failed; nil if it did not.
  package static func note(_ arguments: [String], _ code: ExitCode, failure: String?) {
    guard let path = ProcessInfo.processInfo.environment[variable], !path.isEmpty,
      isNeeded(arguments, code)
    else { return }
    let entry = Entry(
      arguments: arguments.map { String($0.prefix(textMax)) },
      failure: failure.map { String($0.prefix(textMax)) })
    guard let line = try? JSONEncoder().encode(entry) else { return }
    // Without O_CREAT: the file exists as long as the run that reads it.
    let descriptor = unsafe csystem_open(path, O_WRONLY | O_APPEND | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_size < bytesMax else { return }
    _ = StandardStream.send(Array(line) + [0x0A], to: descriptor)
  }

  /// Creates an empty file, writable by programs of any user.
  package static func begin(at path: String) {
    let descriptor = unsafe csystem_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o622)
    guard descriptor >= 0 else { return }
    // fchmod is not subject to the process's umask.
    fchmod(descriptor, 0o622)
    close(descriptor)
  }

  /// The commands that failed, one line each.
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
