// Scheduler.swift: actors on threads of their own, of which exactly one runs at a time. Who runs
// comes to a point now and then, or waits, or ends; then a chooser says who goes on, and the thread
// of that one is woken and the other one sleeps.
// Invariants: between two decisions one actor runs, so what it does is ordered with all that others
// do; nothing is decided by time, except that a run which is silent for long is the lab's failure.
// A wait is a condition that the scheduler looks at when it decides, so nobody sleeps in the kernel
// for something that a sleeping actor would have to do. Waits with a time limit end when nobody can
// go on any more: that is when time passes.

import Dispatch
import Engine
import Glibc
import LabCore
import Synchronization

/// What one run may take.
struct ScheduleLimits: Sendable, Hashable {
  /// Decisions by the chooser; as many again are taken in turn, and then the run counts as endless.
  var decisions = 200_000
  /// Seconds without a decision after which the lab gives up.
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
    /// Actors take turns, so that whoever has to get somewhere gets there.
    case inTurn
    /// It is known how the run ends: actors go on until they end, and waits are over.
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

  /// Decisions so far: the time of whatever must not look at a clock.
  var clock: Int { decisionCount.load(ordering: .relaxed) }

  /// Whether actors run.
  var isRunning: Bool { isActive.load(ordering: .relaxed) }

  /// Number of the actor that calls; nil for a thread that is none.
  var caller: Int? { state.withLock { caller($0) } }

  /// Whether it is known how the run ends, so that what actors do now counts for nothing.
  var isReleased: Bool { state.withLock { $0.ending != nil } }

  /// Runs the actors until all of them have ended.
  /// - Parameters:
  ///   - threads: As many as there are actors, or more.
  ///   - body: What an actor does.
  /// - Returns: The decisions, and how the run ended.
  /// - Throws: `LabError` when an actor comes to no point for too long; it is left behind then.
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

  /// Waits for the last actor; only that nothing happens at all is judged by the clock.
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

  /// An actor stands at a place; it goes on when this returns.
  ///
  /// Threads that are no actors, and all threads outside of a run, pass.
  func reach(_ place: SchedulePlace) {
    guard isActive.load(ordering: .relaxed) else { return }
    let turn = state.withLock { state -> (me: Int, next: Int)? in
      guard let me = caller(state), state.mode != .released else { return nil }
      return decide(&state, place).map { (me, $0) }
    }
    if let turn { hand(turn.me, turn.next) }
  }

  /// An actor goes on when a condition holds.
  /// - Parameters:
  ///   - reason: What it waits for, for messages.
  ///   - isBounded: Whether it would rather give up than wait for ever.
  ///   - isOver: The condition; it must not come to a point.
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
    // Whoever was woken without reason gave up.
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

  /// Says who goes on, and notes it.
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

  /// Who could go on; nil when all have ended.
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
