// RecoveredCrash.swift: a crash before the recovery in which a state was found.

/// A crash that a program recovered from before a state.
public struct RecoveredCrash: Codable, Sendable, Hashable {
  /// The crash state: see `StateKey`.
  public var state: String
  /// Shape of the recording of the recovery from it.
  public var shape: String

  package init(state: String, shape: String) {
    self.state = state
    self.shape = shape
  }

  /// Used instead of a state if the recovery itself failed.
  package static let refusal = "refused"
}
