// ScenarioRunner+Debug.swift: runs a failing scenario again, stops its worker at one operation and
// attaches gdb. The plain run is recorded first, so that the operation is identified by its number
// among those of its kind on its file, which is the same in every run.

import Exploration
import FaultFS
import Findings
import Foundation
import LabCore
import Synchronization
import Workload

extension ScenarioRunner {
  /// Stops the worker at an operation of the run that a recipe names.
  /// - Parameters:
  ///   - recipe: The run.
  ///   - event: The operation's number in the recording; nil is the last one before the failure.
  ///   - debugger: The debugger for the worker.
  /// - Returns: The result, in words.
  /// - Throws: `LabError` with code `.usage` when a worker has no such operation.
  package func debug(
    _ recipe: ScenarioRecipe, at event: Int?, with debugger: Debugger
  ) throws(LabError) -> [String] {
    guard let mount = opened.mount else {
      throw .usage(
        "--gdb needs a worker in a process of its own, and the backend is "
          + backendName)
    }
    let walk = try walk(recipe).workload
    let scenario = try Self.load([recipe.path])[0]
    let plan = try WorkloadPlan(scenario, seed: Seed(rawValue: recipe.seed))
    let target = try walk.operation(event ?? walk.failurePosition - 1, isExact: event != nil)
    console.say("stopping in \(target.text)")
    let line = try debug(scenario, plan, mount, target.rule, debugger)
    guard let line else {
      throw LabError(
        .nondeterminism, "the run came to its end without that operation; nothing was stopped")
    }
    return [line, "the worker went on; nothing was judged"]
  }

  /// Runs the plan while another thread waits for the operation.
  private func debug(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ mount: FaultFSClient, _ rule: FaultRule,
    _ debugger: Debugger
  ) throws(LabError) -> String? {
    var rules: [FaultRule] = []
    for fault in scenario.faults { rules.append(try fault.rule()) }
    try mount.empty(writeBack: scenario.writeBack?.rule(plan.seed))
    try mount.addRules(rules + [rule])
    guard let id = try mount.rules().last?.id else {
      throw .internalError("the rule of the debugger was not installed")
    }
    defer { try? mount.clearRules() }
    let watch = WorkerWatch()
    let attendance = Attendance()
    attendance.start { () throws(LabError) in
      try debugger.attend(rule: id, on: mount, watch) { attendance.isOver }
    }
    let recorder = ScenarioRecorder(
      backend: mount, timeoutSeconds: Debugger.patienceSeconds,
      errorPath: "\(run.path)/worker-errors", watch: watch)
    do throws(LabError) {
      _ = try recorder.run(plan)
    } catch {
      _ = try? attendance.end()
      throw error
    }
    return try attendance.end()
  }
}

/// Work on a separate thread, with its result.
private final class Attendance: Sendable {
  private let result = Mutex<Result<String?, LabError>?>(nil)
  private let over = Atomic<Bool>(false)

  var isOver: Bool { over.load(ordering: .relaxed) }

  func start(_ work: @escaping @Sendable () throws(LabError) -> String?) {
    let thread = Thread { [self] in
      let found: Result<String?, LabError>
      do throws(LabError) { found = .success(try work()) } catch { found = .failure(error) }
      result.withLock { $0 = found }
    }
    thread.start()
  }

  /// Ends the wait and returns the result.
  func end() throws(LabError) -> String? {
    over.store(true, ordering: .relaxed)
    while true {
      if let found = result.withLock({ $0 }) { return try found.get() }
      Thread.sleep(forTimeInterval: 0.005)
    }
  }
}

extension TraceWalk {
  /// A rule that makes one operation of a worker wait.
  /// - Parameters:
  ///   - number: Its event, or, unless `isExact`, the last suitable one up to there.
  ///   - isExact: Whether only this operation is suitable.
  /// - Returns: The rule, and the operation in words.
  /// - Throws: `LabError` with code `.usage` when there is none.
  func operation(
    _ number: Int, isExact: Bool
  ) throws(LabError) -> (rule: FaultRule, text: String) {
    var number = min(number, trace.events.count - 1)
    while !isExact, number >= 0, kind(of: number) == nil { number -= 1 }
    guard number >= 0, trace.events.indices.contains(number), let kind = kind(of: number),
      case .operation(let operation) = trace.events[number].body
    else {
      throw .usage(
        "--at \(number): not an operation that a worker waits for; see --step for the numbers")
    }
    let path = paths.path(of: operation.inode, at: number + 1)
    // Earlier ones of its kind on its file: recorded ones, and those that a fault made fail.
    let earlier = (0..<number).count { place in
      guard self.kind(of: place) == kind, case .operation(let other) = trace.events[place].body
      else { return false }
      return paths.path(of: other.inode, at: place + 1) == path
    }
    let refused = trace.faults.count { fault in
      !fault.isOfEvent && fault.kind == kind.rawValue && fault.path == path
        && fault.position <= number && fault.errno != 0
    }
    var match = FaultRule.Match([kind], path: path)
    match.nth = earlier + refused + 1
    return (
      FaultRule(when: match, what: .delay(milliseconds: 60_000)),
      "#\(number) \(operation.sentence(at: number, paths: paths))"
    )
  }

  /// The kind of an operation that its process awaits; nil for marks, closes, the kernel's own.
  private func kind(of number: Int) -> OperationKind? {
    let event = trace.events[number]
    guard case .operation(let operation) = event.body, event.process != 0,
      !event.flags.contains(.writeBack)
    else { return nil }
    switch operation {
    case .create, .createNameless: return .create
    case .link: return .link
    case .remove: return .remove
    case .rename, .renameWithWhiteout, .exchange: return .rename
    case .write: return .write
    case .truncate: return .truncate
    case .allocate: return .allocate
    case .setOwnership: return .setOwnership
    case .setExtendedAttribute: return .setExtendedAttribute
    case .setTimes: return .setTimes
    case .sync: return .sync
    case .syncDirectory: return .syncDirectory
    // A sync of everything cannot be held.
    case .syncAll, .close: return nil
    }
  }
}
