// ScenarioRecorder.swift: runs a plan in workers behind a backend, in lockstep, and records it.
// Invariants: a mark is in the trace before the next command is sent, so what was acknowledged is
// ordered exactly with the file operations; each process of the plan is one worker, started over
// its first command; when one dies that was to be killed, the others go on with what they were
// told.

import Exploration
import FaultFS
import Findings
import Glibc
import LabCore
import Recording
import Workload

/// What workers did with a plan.
struct WorkerRun: Sendable {
  /// Acknowledgements, in order.
  var marks: [Mark] = []
  /// Promises that were broken without any crash.
  var violations: [Violation] = []
  /// How the first worker died over a command; nil when they did them all.
  var death: ProcessEnding?
  /// The step of a commit that it was in.
  var deathPhase: String?
  /// Steps of commits in which an operation failed.
  var coverage = CommitCoverage()
  /// Whether a process stood still within a commit, as planned.
  var wasStopped = false

  /// A worker that a signal of its own ended: the engine trapped.
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
    /// At one of its file operations; the rule is for whatever number the process turns out to
    /// have.
    case operation(@Sendable (_ process: Int32) -> FaultRule)
    /// It stands still before one of its file operations, and goes on later; the rule makes the
    /// operation hang.
    case standstill(@Sendable (_ process: Int32) -> FaultRule)
    /// Instead of being told its n-th command, counted from 1.
    case command(Int)
    /// Before the n-th step of a commit that it comes to, counted from 1; it may go on later.
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
  /// Where the standard error of a worker process goes.
  let errorPath: String
  /// Told which worker is asked, if anybody has to know.
  var watch: WorkerWatch?

  /// Codes that a failing file operation may come out as, then and later.
  static let tolerated: Set<String> = ["io", "noSpace", "poisoned"]

  /// Runs the whole plan, or as much of it as the workers live through.
  /// - Parameters:
  ///   - plan: What to do.
  ///   - kill: A process to be killed.
  ///   - tolerated: Codes that any command may fail with; its actor then opens anew.
  ///   - healing: Called once, before it does.
  /// - Returns: What came of it.
  /// - Throws: `LabError` when the lab fails or is asked to stop.
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
      // Who has broken a promise may be unable to follow: the pin that failed cannot be released.
      guard error.code == .lab, !run.outcome.violations.isEmpty else { throw error }
    }
    return run.outcome
  }
}
