// ScenarioRecorder.swift: runs a plan in workers of a backend, in lockstep, and records it.
// Invariants: a mark is in the trace before the next command is sent, so acknowledgements are
// ordered exactly with the file operations; each process of the plan is one worker, started for its
// first command; when a worker dies as planned, the others continue with their commands.

import Exploration
import FaultFS
import Findings
import Glibc
import LabCore
import Recording
import Workload

/// The result of running a plan in workers.
struct WorkerRun: Sendable {
  /// Acknowledgements, in order.
  var marks: [Mark] = []
  /// Promises that were broken without a crash.
  var violations: [Violation] = []
  /// How the first worker died during a command; nil if all were completed.
  var death: ProcessEnding?
  /// The step of a commit in which it died.
  var deathPhase: String?
  /// Steps of commits in which an operation failed.
  var coverage = CommitCoverage()
  /// Whether a process was stopped within a commit, as planned.
  var wasStopped = false

  /// A worker ended by a signal of its own: the engine trapped.
  var trap: Violation? {
    guard case .signalled(let signal) = death, signal != SIGKILL, let death else { return nil }
    return Violation(
      .liveness, promised: "the engine does not trap", got: "its process was \(death)")
  }
}

/// A process to be killed, and when.
struct PlannedKill {
  /// When it is killed.
  enum Moment {
    /// At one of its file operations; the rule is made for the number that the process turns out to
    /// have.
    case operation(@Sendable (_ process: Int32) -> FaultRule)
    /// It is stopped before one of its file operations, and continues later; the rule makes the
    /// operation hang.
    case standstill(@Sendable (_ process: Int32) -> FaultRule)
    /// In place of its n-th command, counted from 1.
    case command(Int)
    /// Before its n-th step of a commit, counted from 1; it may continue later.
    case commitStep(Int, stops: Bool)
  }

  /// Its name in the plan.
  let process: String
  let moment: Moment
}

/// Runs plans through a backend.
struct ScenarioRecorder {
  let backend: any ScenarioBackend
  let timeoutSeconds: Int
  /// File for the standard error of a worker process.
  let errorPath: String
  /// Notified which worker runs a command, if needed.
  var watch: WorkerWatch?

  /// Codes that may result from a failing file operation, then and later.
  static let tolerated: Set<String> = ["io", "noSpace", "poisoned"]

  /// Runs the whole plan, or as much of it as the workers survive.
  /// - Parameters:
  ///   - plan: The plan.
  ///   - kill: A process to be killed.
  ///   - tolerated: Codes with which any command may fail; its actor then reopens.
  ///   - healing: Called once before that.
  /// - Returns: The result.
  /// - Throws: `LabError` when Faultline fails or is asked to stop.
  func run(
    _ plan: WorkloadPlan, killing kill: PlannedKill? = nil, tolerating tolerated: Set<String> = [],
    healing: @escaping () throws(LabError) -> Void = {}
  ) throws(LabError) -> WorkerRun {
    var run = RunningPlan(plan, self, kill, tolerating: tolerated, healing: healing)
    defer { run.end() }
    var commands = plan.commands[...]
    do throws(LabError) {
      while let index = run.next(of: commands) {
        try Interruption.check()
        guard try run.perform(commands.remove(at: index)) else { break }
      }
      try run.finish()
    } catch {
      // After a broken promise the plan may be unable to continue: a failed pin cannot be released.
      guard error.code == .lab, !run.outcome.violations.isEmpty else { throw error }
    }
    return run.outcome
  }
}
