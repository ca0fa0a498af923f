// Failpoint.swift: named places where a lab can observe a commit or make it fail.

/// A callback before each step of each commit.
///
/// When it throws, the step fails with that error as if its own work had failed: see
/// `CommitStep.poisons`. Steps that a commit does not need are not reached.
public struct Failpoint: Sendable {
  /// The function to call, on the committing thread.
  public let reach: @Sendable (CommitStep) throws(EngineError) -> Void

  /// Makes a failpoint.
  /// - Parameter reach: Called with each step before it runs; throws to make it fail.
  public init(_ reach: @escaping @Sendable (CommitStep) throws(EngineError) -> Void) {
    self.reach = reach
  }

  /// Makes a failpoint that fails one step every time it is reached, with an error marked as
  /// injected.
  /// - Parameters:
  ///   - step: The step.
  ///   - code: The code of the error.
  public init(failing step: CommitStep, code: EngineError.Code = .io) {
    self.init { (reached) throws(EngineError) in
      guard reached == step else { return }
      throw EngineError(code: code, message: "failpoint: \(step)", isInjected: true)
    }
  }
}
