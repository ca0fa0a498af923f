// SyncError.swift: what is wrong with bytes, changesets and operations that come from elsewhere.

/// What is wrong.
public struct SyncError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of what can be wrong.
  public enum Code: Hashable, Sendable {
    /// Bytes that are no encoding, or not the only one of what they mean.
    case malformed
    /// More than SyncLimits allows.
    case limit
    /// A changeset whose number does not follow the client's last one.
    case sequence
    /// A base that does not exist, is trimmed, or goes back.
    case base
    /// A stamp that is not later than what the changeset knows.
    case stamp
    /// An entry that does not follow the head.
    case version
    /// An operation that does not fit the state that it is applied to.
    case misfit
    /// An entry whose effect, barrier or digest is not what its replay gives.
    case divergence
  }

  /// Its kind.
  public let code: Code
  /// What it is about, with numbers.
  public let message: String

  /// An error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The kind and the message.
  public var description: String { "\(code): \(message)" }
}
