// CommitStepLog.swift: which step of a commit each process is in, as workers say it.
// A worker says so by setting an extended attribute of the mount's root, which is no operation of
// its program: it is not decided by rules, not recorded as an operation, and changes nothing. What
// comes is in order with the worker's file operations, because each waits for its answer.
// Invariant: whatever a process says, the log holds at most `processesMax` processes.

/// What processes have said.
struct CommitStepLog {
  /// The attribute by which a worker says it.
  static let attribute = "user.faultline.step"
  /// The value that says that no step is under way.
  static let noStep: UInt8 = 255
  /// Larger numbers are no steps.
  static let stepsMax = 64
  private static let processesMax = 1024

  private var current: [Int32: Int] = [:]

  /// The step that a process is in.
  func step(of process: Int32) -> Int? { current[process] }

  /// Takes in what a process says.
  /// - Returns: The step, or nil for none; nothing at all for what makes no sense.
  mutating func note(_ value: [UInt8], of process: Int32) -> Int?? {
    guard value.count == 1, process > 0 else { return nil }
    guard value[0] != Self.noStep else {
      current[process] = nil
      return .some(nil)
    }
    guard value[0] < Self.stepsMax else { return nil }
    if current.count >= Self.processesMax { current = [:] }
    current[process] = Int(value[0])
    return .some(Int(value[0]))
  }
}

extension FaultFileSystem {
  /// Takes in that a process has come to a step of a commit.
  func noteCommitStep(_ value: [UInt8], by caller: Caller) {
    guard let step = commitSteps.note(value, of: caller.process) else { return }
    recorder.note(step: step, of: caller.process)
  }
}
