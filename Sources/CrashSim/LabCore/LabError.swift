// LabError.swift: errors of Faultline and of its input, and their exit codes.

/// An error of Faultline itself or of its input; never a finding.
public struct LabError: Error, Sendable, CustomStringConvertible {
  /// The kind of error, which determines the exit code.
  public enum Code: String, Codable, Sendable, Hashable {
    /// The command line, a scenario or a file from the user is invalid.
    case usage
    /// Faultline failed: mount, fork, out of space, an invalid trace.
    case lab
    /// The same seed did not give the same run.
    case nondeterminism
    /// The user asked Faultline to stop.
    case interrupted
  }

  /// The kind of error.
  public let code: Code
  /// What happened, where, and the remedy.
  public let message: String

  /// Makes an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// An error in the user's input.
  public static func usage(_ message: String) -> LabError { LabError(.usage, message) }
  /// A failure of Faultline itself.
  public static func lab(_ message: String) -> LabError { LabError(.lab, message) }
  /// A broken invariant of Faultline: no user input can cause it.
  package static func internalError(_ what: String) -> LabError {
    LabError(.lab, "internal error: \(what); please report it with the command and its seed")
  }

  /// Faultline was asked to stop while it worked.
  public static let interrupted = LabError(.interrupted, "interrupted")

  /// The message.
  public var description: String { message }

  /// The exit code that reports this error.
  package var exitCode: ExitCode {
    switch code {
    case .usage: .usage
    case .lab: .labFailed
    case .nondeterminism: .nondeterminism
    case .interrupted: .interrupted
    }
  }
}

/// The exit code of the `faultline` command.
package enum ExitCode: Int32, Sendable {
  /// Every promise held.
  case held = 0
  /// A promise was broken.
  case broken = 1
  /// Usage or scenario error.
  case usage = 2
  /// Faultline itself failed.
  case labFailed = 3
  /// The same seed did not give the same run.
  case nondeterminism = 4
  /// Stopped by Ctrl-C, SIGTERM or SIGHUP; 128 + SIGINT, as shells report it.
  case interrupted = 130
}
