// ScheduleLog.swift: the answers to concurrent actors, and whether they could also have been given
// one after the other. Commits are put in the order of their versions, in which they happened, and
// each read after the commit whose version it saw; then the oracles for lockstep judge them. This
// detects reads of no version, and reads of a version older than one acknowledged before they
// began.

import Findings
import LabCore
import Synchronization
import Workers
import Workload

/// The answers of concurrent actors.
final class ScheduleLog: Sendable {
  /// One command with its answer.
  struct Event: Sendable {
    let command: WorkerCommand
    let answer: WorkerAnswer
    /// The newest acknowledged version when the command began.
    let floor: UInt64

    /// The version in the answer; nil without one.
    var version: UInt64? {
      guard case .done(let version?, _) = answer else { return nil }
      return version
    }

    /// Whether it is an acknowledged commit.
    var isCommit: Bool { command.transaction.map { !$0.cancels } ?? false && version != nil }
  }

  private struct State {
    var events: [Event] = []
    var newest: UInt64 = 0
  }

  private let state = Mutex(State())

  /// The newest version of an acknowledged commit.
  var newestAcknowledged: UInt64 { state.withLock { $0.newest } }

  /// Number of compactions performed.
  var compactionCount: Int {
    state.withLock { state in
      state.events.count { $0.command.action == .compact && $0.version != nil }
    }
  }

  /// Adds an answer whose mark is in the trace.
  func append(_ event: Event) {
    state.withLock { state in
      state.events.append(event)
      if event.isCommit { state.newest = max(state.newest, event.version ?? 0) }
    }
  }

  /// Judges the answers as if they had been given one after the other.
  func judge(with client: inout WorkerClient) throws(LabError) -> [Violation] {
    let events = state.withLock { $0.events }
    var violations = events.compactMap { Self.staleRead($0) }
    for index in Self.order(events) {
      violations += try client.judge(events[index].command, events[index].answer)
    }
    return violations
  }

  /// Indices of the events in a possible sequential order.
  private static func order(_ events: [Event]) -> [Int] {
    struct Key: Comparable {
      let version: UInt64
      let rank: Int
      let index: Int

      static func < (a: Key, b: Key) -> Bool {
        (a.version, a.rank, a.index) < (b.version, b.rank, b.index)
      }
    }
    let keys = events.enumerated().map { index, event in
      if event.isCommit { return Key(version: event.version ?? 0, rank: 0, index: index) }
      if case .failed = event.answer { return Key(version: .max, rank: 2, index: index) }
      return Key(version: event.version ?? event.floor, rank: 1, index: index)
    }
    return keys.sorted().map(\.index)
  }

  private static func staleRead(_ event: Event) -> Violation? {
    switch event.command.action {
    case .pin, .verify: break
    default: return nil
    }
    guard let version = event.version, version < event.floor else { return nil }
    return Violation(
      .isolation,
      promised: "a read sees every version that was acknowledged before it began",
      got: "stale read: '\(event.command.actor)' saw version \(version), and version "
        + "\(event.floor) was acknowledged before")
  }
}

/// The order in which writers requested their turn, and in which they got it.
final class TurnLog: Sendable {
  private struct State {
    var waiting: [Int] = []
    var overtakings: [(taker: Int, waiting: Int)] = []
  }

  private let state = Mutex(State())

  /// An actor starts to wait for its turn.
  func queue(_ actor: Int) {
    state.withLock { $0.waiting.append(actor) }
  }

  /// An actor gets its turn.
  func take(_ actor: Int) {
    state.withLock { state in
      if let first = state.waiting.first, first != actor {
        state.overtakings.append((actor, first))
      }
      state.waiting.removeAll { $0 == actor }
    }
  }

  /// Actors that got their turn before one that had waited longer.
  func violations(_ actors: [String]) -> [Violation] {
    let overtakings = state.withLock { $0.overtakings }
    return overtakings.prefix(1).map { overtaking in
      Violation(
        .liveness, promised: "writers get their turn in the order in which they asked for it",
        got: "'\(actors[overtaking.taker])' got its turn before '\(actors[overtaking.waiting])', "
          + "who had waited longer")
    }
  }
}

/// Checks after each step of an actor whether all pins have their reader slots.
final class PinWatch: Sendable {
  private struct State {
    var session: WorkerSession?
    var violation: Violation?
  }

  private let state = Mutex(State())

  /// The owner of the pins; nil while nothing is checked.
  var session: WorkerSession? {
    get { state.withLock { $0.session } }
    set { state.withLock { $0.session = newValue } }
  }

  /// The first pin without a slot.
  var violations: [Violation] { state.withLock { $0.violation.map { [$0] } ?? [] } }

  /// Called by the running actor at a point.
  func look() {
    let session = state.withLock { $0.violation == nil ? $0.session : nil }
    guard let found = session?.pinWithoutSlot() else { return }
    state.withLock { $0.violation = found }
  }
}
