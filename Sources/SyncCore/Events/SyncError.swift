// SyncError.swift: errors in bytes, changesets and operations received from other machines.

/// The kind of error.
public struct SyncError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of errors.
  public enum Code: Hashable, Sendable {
    /// Bytes that are not a valid encoding, or not the canonical one.
    case malformed
    /// More than SyncLimits allows.
    case limit
    /// A changeset whose number does not follow the client's last one.
    case sequence
    /// A base that does not exist, is trimmed, or goes back.
    case base
    /// A stamp that is not later than those known to the changeset.
    case stamp
    /// An entry that does not follow the head.
    case version
    /// An operation that does not fit the state that it is applied to.
    case misfit
    /// An entry whose effect, barrier or digest differs from the result of its replay.
    case divergence
  }

  /// Its kind.
  public let code: Code
  /// The details, with numbers.
  public let message: String

  /// An error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The kind and the message.
  public var description: String { "\(code): \(message)" }
}
