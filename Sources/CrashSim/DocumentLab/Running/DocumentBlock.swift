// DocumentBlock.swift: [U] actors side by side, each with the data file open for itself, and what
// they did in the order in which it happened.
// Invariants: an entry of `order` is added while its actor holds the right to write, and taken back
// if the commit fails, so the order of entries is that of the commits; a look saw the contents
// after some commit from its floor, those acknowledged when it began, to its ceiling, those begun
// when it ended.
// Safety: the one @unchecked type says which semaphore comes between accesses of two threads.

import DocumentStore
import LabCore
import Synchronization
import Workload

/// A step of an actor.
package struct DocumentPlace: Sendable, Hashable {
  /// Number of the actor.
  package let actor: Int
  /// Number of its step, from 0.
  package let unit: Int

  package init(actor: Int, unit: Int) {
    self.actor = actor
    self.unit = unit
  }
}

/// One run of a plan's actors.
///
/// `@unchecked Sendable`: an actor's hand is used by its thread alone while the actors run, and by
/// the caller of the scheduler before and after; the scheduler's semaphores are between.
package final class DocumentBlock: @unchecked Sendable {
  private struct Look: Sendable {
    let floor: Int
    let ceiling: Int
    let observation: DocumentObservation
    let name: String
  }

  private struct State: Sendable {
    var order: [DocumentPlace] = []
    /// How many commits of the order were acknowledged, all before the last of them included.
    var acknowledged = 0
    var looks: [[Look]]
    var problems: [DocumentProblem] = []
  }

  private let plan: DocumentPlan
  private let hands: [DocumentHand]
  private let directory: String
  private let state: Mutex<State>
  /// Called with each acknowledgement: how many commits there are.
  private let acknowledge: @Sendable (Int) -> Void

  /// How often a step that finds the file busy is done again.
  private static let attemptsMax = 10

  /// Opens the file for each actor whose first step does not.
  /// - Parameters:
  ///   - plan: The plan.
  ///   - directory: Where the bundle is.
  ///   - acknowledge: Called with the number of commits, for each that returned.
  /// - Throws: The store's errors.
  package init(
    _ plan: DocumentPlan, directory: String,
    acknowledge: @escaping @Sendable (Int) -> Void = { _ in }
  ) throws {
    self.plan = plan
    self.directory = directory
    self.acknowledge = acknowledge
    hands = plan.together.map { _ in DocumentHand(plan, directory: directory) }
    state = Mutex(State(looks: plan.together.map { _ in [] }))
    for (actor, hand) in hands.enumerated() {
      if plan.together[actor].units.first?.step.action != .open { try hand.open() }
    }
  }

  /// Does one step of an actor.
  /// - Returns: Whether the actor can go on.
  package func perform(_ place: DocumentPlace) -> Bool {
    let unit = plan.together[place.actor].units[place.unit]
    let hand = hands[place.actor]
    let floor = state.withLock { $0.acknowledged }
    hand.observation = nil
    hand.willCommit = { [self] in state.withLock { $0.order.append(place) } }
    defer { hand.willCommit = nil }
    for _ in 1...Self.attemptsMax {
      let answer = hand.perform(unit)
      guard answer != .done else {
        done(place, unit, floor, hand.observation)
        return true
      }
      state.withLock { $0.order.removeAll { $0 == place } }
      if case .failed(let code, _) = answer, code == "busy", unit.step.fails != code { continue }
      return note(answer, unit)
    }
    return note(.failed(code: "busy", text: "busy \(Self.attemptsMax) times"), unit)
  }

  private func done(
    _ place: DocumentPlace, _ unit: DocumentUnit, _ floor: Int, _ observation: DocumentObservation?
  ) {
    if let code = unit.step.fails {
      add(.staleWrites, "\(unit.name) succeeded, and must fail with \(code)")
    }
    let count = state.withLock { state -> Int? in
      if let observation {
        state.looks[place.actor].append(
          Look(
            floor: floor, ceiling: state.order.count, observation: observation, name: unit.name))
      }
      guard let index = state.order.lastIndex(of: place) else { return nil }
      state.acknowledged = max(state.acknowledged, index + 1)
      return index + 1
    }
    if let count { acknowledge(plan.states.count - 1 + count) }
  }

  private func note(_ answer: DocumentAnswer, _ unit: DocumentUnit) -> Bool {
    switch answer {
    case .done: return true
    case .wrong(let promise, let text): add(promise, "\(unit.name): \(text)")
    case .failed(let code, let text):
      if code == unit.step.fails { return true }
      add(.atomic, "\(unit.name) failed with \(code): \(text)")
    case .gone(let ending): add(.atomic, "\(unit.name): the process ended with \(ending)")
    }
    return false
  }

  private func add(_ promise: DocumentPromise, _ text: String) {
    state.withLock { $0.problems.append(DocumentProblem(promise: promise, text: text)) }
  }

  /// The order of the commits.
  package var order: [DocumentPlace] { state.withLock { $0.order } }

  /// Closes the file everywhere; live queries are asked a last time before.
  /// - Returns: What is wrong with what the actors saw.
  package func end() -> [DocumentProblem] {
    for (actor, hand) in hands.enumerated() {
      do {
        if let last = try hand.lastRefresh() {
          state.withLock { state in
            let count = state.order.count
            state.looks[actor].append(
              Look(floor: count, ceiling: count, observation: last, name: "the last refresh"))
          }
        }
        if let difference = try hand.end() { add(.snapshots, difference) }
      } catch { add(.readable, "the file cannot be closed: \(error)") }
    }
    let state = state.withLock { $0 }
    guard state.problems.isEmpty else { return state.problems }
    let whole: DocumentPlan
    do throws(DocumentModel.Refusal) { whole = try plan.following(state.order) } catch {
      return [
        DocumentProblem(
          promise: .atomic, text: "the commits are not possible in their order: \(error.text)")
      ]
    }
    return state.looks.indices.flatMap { actor in
      Self.problems(state.looks[actor], by: plan.together[actor].name, whole, plan)
    }
  }

  /// What is wrong with what the actors left, after `end`; changes the files.
  package func problemsOfFiles() -> [DocumentProblem] {
    guard let whole = try? plan.following(order) else { return [] }
    let last = DocumentAcknowledgements.commit(whole.states.count - 1)
    return DocumentJudge(whole).problems(
      in: directory, output: Array("\(last)\n".utf8), hasPower: true)
  }

  /// What an actor saw that it must not have seen.
  private static func problems(
    _ looks: [Look], by actor: String, _ whole: DocumentPlan, _ plan: DocumentPlan
  ) -> [DocumentProblem] {
    let first = plan.states.count - 1
    var position = 0
    for look in looks {
      let floor = max(position, look.floor)
      let states = whole.states[first...]
      func saw(_ number: Int) -> Bool {
        states[first + number].lines(of: look.observation.view) == look.observation.lines
      }
      if floor <= look.ceiling, let found = (floor...look.ceiling).first(where: saw) {
        position = found
        continue
      }
      let before = (0..<floor).last(where: saw)
      let what =
        before.map { "sees the contents after commit \($0) of the block again" }
        ?? "sees the contents of no commit"
      let expected = states[first + max(floor, look.ceiling)].lines(of: look.observation.view)
      return [
        DocumentProblem(
          promise: .snapshots,
          text: "'\(actor)', \(look.name): \(what), and must see one of "
            + "\(floor)...\(look.ceiling): "
            + DocumentDifference.text(look.observation.lines, expected))
      ]
    }
    return []
  }
}
