// Scheduler.swift: actors on their own threads, of which exactly one runs at a time. The running
// actor eventually reaches a point, waits, or ends; then a chooser selects the next one, whose
// thread is woken while the other one sleeps.
// Invariants: between two decisions one actor runs, so its actions are ordered with those of all
// others; no decision depends on time, except that a run without decisions for too long is a
// failure of Faultline. A wait is a condition that the scheduler checks when it decides, so no
// thread sleeps in the kernel for an action of a sleeping actor. Waits with a time limit end when
// no actor can continue: only then does time pass.
// go on any more: that is when time passes.

import Dispatch
import Engine
import Glibc
import LabCore
import Synchronization

/// The limits of one run.
struct ScheduleLimits: Sendable, Hashable {
  /// Decisions by the chooser; after the same number taken in turn, the run counts as endless.
  var decisions = 200_000
  /// Seconds without a decision after which Faultline gives up.
  var silenceSeconds = 20
}

/// One run of some actors under a chooser.
final class Scheduler: Sendable {
  private struct Wait: Sendable {
    let reason: String
    let isBounded: Bool
    let isOver: @Sendable () -> Bool
  }

  private enum Status: Sendable {
    case ready
    case waiting(Wait)
    case ended
  }

  private enum Mode: Sendable {
    /// The chooser chooses.
    case scheduled
    /// Actors take turns, so that any actor that can end does.
    case inTurn
    /// The result of the run is known: actors continue until they end, and waits are over.
    case released
  }

  private struct State: Sendable {
    var statuses: [Status]
    var threads: [UInt]
    var running: Int?
    var mode = Mode.scheduled
    var chooser: any ScheduleChooser
    var decisions: [TakenDecision] = []
    var ending: ScheduleEnding?
  }

  /// Names of the actors.
  let actors: [String]
  private let limits: ScheduleLimits
  private let state: Mutex<State>
  private let gates: [DispatchSemaphore]
  private let isOver = DispatchSemaphore(value: 0)
  private let isActive = Atomic<Bool>(false)
  private let decisionCount = Atomic<Int>(0)

  /// Makes a scheduler for one run.
  init(actors: [String], chooser: any ScheduleChooser, limits: ScheduleLimits = .init()) {
    precondition((1...ActorSet.countMax).contains(actors.count), "actors fit a set")
    self.actors = actors
    self.limits = limits
    gates = actors.map { _ in DispatchSemaphore(value: 0) }
    state = Mutex(
      State(
        statuses: actors.map { _ in .ready }, threads: actors.map { _ in 0 }, chooser: chooser))
  }

  /// Decisions so far: the time for code that must not read a clock.
  var clock: Int { decisionCount.load(ordering: .relaxed) }

  /// Whether actors are running.
  var isRunning: Bool { isActive.load(ordering: .relaxed) }

  /// Number of the calling actor; nil for other threads.
  var caller: Int? { state.withLock { caller($0) } }

  /// Whether the result of the run is known, so that further actions of actors do not count.
  var isReleased: Bool { state.withLock { $0.ending != nil } }

  /// Runs the actors until all of them have ended.
  /// - Parameters:
  ///   - threads: At least as many as there are actors.
  ///   - body: An actor's work.
  /// - Returns: The decisions, and how the run ended.
  /// - Throws: `LabError` when an actor reaches no point for too long; it is then abandoned.
  func run(
    on threads: ScheduleThreads, _ body: @escaping @Sendable (_ actor: Int) -> Void
  ) throws(LabError) -> ScheduleRecord {
    for actor in actors.indices {
      threads.start(actor) { [self] in
        gates[actor].wait()
        state.withLock { $0.threads[actor] = pthread_self() }
        body(actor)
        end(actor)
      }
    }
    isActive.store(true, ordering: .sequentiallyConsistent)
    if let first = state.withLock({ decide(&$0, .start) }) { gates[first].signal() }
    try awaitEnd()
    isActive.store(false, ordering: .sequentiallyConsistent)
    return state.withLock { state in
      let complaint = state.ending == nil ? state.chooser.complaint() : nil
      return ScheduleRecord(
        actors: actors, decisions: state.decisions,
        ending: state.ending ?? complaint.map { .refused($0) } ?? .finished)
    }
  }

  /// Waits for the last actor; the clock is used only to detect that nothing happens at all.
  private func awaitEnd() throws(LabError) {
    var seen = -1
    while isOver.wait(timeout: .now() + .seconds(limits.silenceSeconds)) != .success {
      let count = clock
      guard count != seen else {
        let name = state.withLock { state in state.running.map { actors[$0] } ?? "nobody" }
        throw .lab(
          "schedule: '\(name)' ran for \(limits.silenceSeconds) s after decision \(count) and came "
            + "to no point; it hangs, or waits for something that the scheduler does not know of")
      }
      seen = count
    }
  }

  // MARK: - Called by actors

  /// An actor has reached a place; it continues when this returns.
  ///
  /// For threads that are not actors, and all threads outside of a run, it has no effect.
  func reach(_ place: SchedulePlace) {
    guard isActive.load(ordering: .relaxed) else { return }
    let turn = state.withLock { state -> (me: Int, next: Int)? in
      guard let me = caller(state), state.mode != .released else { return nil }
      return decide(&state, place).map { (me, $0) }
    }
    if let turn { hand(turn.me, turn.next) }
  }

  /// An actor waits for a condition.
  /// - Parameters:
  ///   - reason: The reason for waiting, for messages.
  ///   - isBounded: Whether it gives up instead of waiting for ever.
  ///   - isOver: The condition; it must not reach a point.
  /// - Returns: Whether the condition holds.
  func wait(
    for reason: String, isBounded: Bool = false, until isOver: @escaping @Sendable () -> Bool
  ) -> Bool {
    guard isActive.load(ordering: .relaxed), !isOver() else { return isOver() }
    let turn = state.withLock { state -> (me: Int, next: Int)? in
      guard let me = caller(state), state.mode != .released else { return nil }
      state.statuses[me] = .waiting(Wait(reason: reason, isBounded: isBounded, isOver: isOver))
      return decide(&state, .pause).map { (me, $0) }
    }
    if let turn { hand(turn.me, turn.next) }
    // An actor woken without its condition gave up.
    return isOver()
  }

  private func caller(_ state: borrowing State) -> Int? {
    guard let running = state.running, state.threads[running] == pthread_self() else { return nil }
    return running
  }

  private func hand(_ me: Int, _ next: Int) {
    guard next != me else { return }
    gates[next].signal()
    gates[me].wait()
  }

  private func end(_ actor: Int) {
    let next = state.withLock { state in
      state.statuses[actor] = .ended
      return decide(&state, .pause)
    }
    if let next { gates[next].signal() } else { isOver.signal() }
  }

  // MARK: - Decisions

  /// Selects the next actor, and records it.
  /// - Returns: Nil when all have ended.
  private func decide(_ state: inout State, _ place: SchedulePlace) -> Int? {
    guard let enabled = enabled(&state) else { return nil }
    var current: Int?
    if let running = state.running, case .ready = state.statuses[running] { current = running }
    if state.mode == .released {
      let next = current ?? enabled.first
      state.statuses[next] = .ready
      state.running = next
      return next
    }
    decisionCount.add(1, ordering: .relaxed)
    let decision = ScheduleDecision(
      step: state.decisions.count, current: current, place: place, enabled: enabled)
    let chosen = choose(&state, decision)
    if state.mode != .released {
      state.decisions.append(TakenDecision(decision, chosen: chosen))
    }
    state.statuses[chosen] = .ready
    state.running = chosen
    return chosen
  }

  private func choose(_ state: inout State, _ decision: ScheduleDecision) -> Int {
    if state.mode == .scheduled, decision.step >= limits.decisions { state.mode = .inTurn }
    if state.mode == .inTurn {
      guard decision.step < 2 * limits.decisions else {
        release(&state, .endless(decision.step))
        return decision.usual
      }
      return decision.enabled.next(after: state.running ?? 0)
    }
    switch state.chooser.choose(decision) {
    case .actor(let actor) where decision.enabled.contains(actor): return actor
    case .actor(let actor):
      release(&state, .refused("decision \(decision.step): actor \(actor)cannot continue"))
    case .refuse(let reason): release(&state, .refused(reason))
    }
    return decision.usual
  }

  private func release(_ state: inout State, _ ending: ScheduleEnding) {
    state.ending = ending
    state.mode = .released
  }

  /// The actors that can continue; nil when all have ended.
  private func enabled(_ state: inout State) -> ActorSet? {
    var enabled = ActorSet()
    var alive = ActorSet()
    var bounded: Int?
    var waits: [String] = []
    for (actor, status) in state.statuses.enumerated() {
      switch status {
      case .ready:
        alive.insert(actor)
        enabled.insert(actor)
      case .waiting(let wait):
        alive.insert(actor)
        if wait.isOver() { enabled.insert(actor) }
        if wait.isBounded, bounded == nil { bounded = actor }
        waits.append("'\(actors[actor])' waits for \(wait.reason)")
      case .ended: break
      }
    }
    guard !alive.isEmpty else { return nil }
    if state.mode == .released { return alive }
    if enabled.isEmpty, let bounded { enabled.insert(bounded) }
    if enabled.isEmpty {
      release(&state, .deadlock(waits))
      return alive
    }
    return enabled
  }
}
