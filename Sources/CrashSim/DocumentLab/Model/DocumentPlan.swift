// DocumentPlan.swift: a scenario's documents, expanded: a flat list of steps, and the contents
// after each commit. The worker runs the steps, and the oracles know the contents from the same
// plan. Invariant: `states[k]` is what the file holds after commit k; `states[0]` before the first.

import LabCore
import Workload

/// One step of a plan.
package struct DocumentUnit: Sendable, Hashable {
  /// Place in the plan, from 0.
  package var index: Int
  /// The step; it is repeated no more.
  package var step: DocumentStep
  /// Number of its commit, from 1; nil when it changes nothing.
  package var commit: Int?

  /// Its place, for messages.
  package var name: String { "the step at \(step.position)" }
}

/// An expanded scenario.
package struct DocumentPlan: Sendable {
  /// The declaration.
  package let declaration: DocumentDeclaration
  /// The steps before the run.
  package private(set) var before: [DocumentUnit] = []
  /// The steps of the run.
  package private(set) var units: [DocumentUnit] = []
  /// Actors side by side after the steps, with theirs; the number of a commit says only that it is
  /// one.
  package private(set) var together: [(name: String, units: [DocumentUnit])] = []
  /// The contents after each commit.
  package private(set) var states = [DocumentModel()]
  /// What `states` are compared by; empty for a plan that only checks its steps.
  package let lines: [[String]]

  /// Most steps of an expanded scenario.
  package static let unitsMax = 1_000
  /// Most bytes of all bodies together.
  package static let bodyBytesMax = 4 << 20

  /// Expands a declaration.
  /// - Parameters:
  ///   - declaration: The declaration.
  ///   - file: The scenario's file, for messages.
  ///   - isComplete: Whether the contents are compared with others.
  /// - Throws: `ScenarioError` for a step that cannot be done where it stands.
  package init(
    _ declaration: DocumentDeclaration, file: String, isComplete: Bool = true
  ) throws(ScenarioError) {
    self.declaration = declaration
    var expansion = Expansion(file: file)
    before = try expansion.units(declaration.before)
    expansion.states = [expansion.model]
    expansion.commits = 0
    units = try expansion.units(declaration.steps)
    states = expansion.states
    for actor in declaration.together {
      together.append((actor.name, try expansion.units(actor.steps)))
    }
    lines = isComplete ? expansion.states.map(\.lines) : []
  }

  /// The same plan with the commits of its actors in an order, after those of its steps.
  /// - Parameter order: The commits.
  /// - Returns: The plan, with the contents after each of them.
  /// - Throws: `DocumentModel.Refusal` when one is not possible where it stands.
  package func following(_ order: [DocumentPlace]) throws(DocumentModel.Refusal) -> DocumentPlan {
    var states = states
    for place in order {
      guard together.indices.contains(place.actor),
        together[place.actor].units.indices.contains(place.unit)
      else { throw DocumentModel.Refusal(text: "no step \(place.unit) of actor \(place.actor)") }
      let step = together[place.actor].units[place.unit].step
      var model = states[states.count - 1]
      try model.apply(step.action, in: step.collection)
      states.append(model)
    }
    return DocumentPlan(self, states)
  }

  private init(_ plan: DocumentPlan, _ states: [DocumentModel]) {
    declaration = plan.declaration
    before = plan.before
    units = plan.units
    together = plan.together
    self.states = states
    lines = states.map(\.lines)
  }

  /// Properties that have an index at some time, with the numbers and texts that documents have in
  /// them at some time.
  var indexed: [String: Set<DocumentValue>] {
    let all = (before + units + together.flatMap(\.units)).map(\.step).flatMap(\.whole)
    var indexed: [String: Set<DocumentValue>] = [:]
    for case .createIndex(_, .value, let property) in all.map(\.action) { indexed[property] = [] }
    for case .save(_, let body, _) in all.map(\.action) {
      for property in indexed.keys {
        switch body[property] {
        case .integer(let number)?: indexed[property]?.insert(.integer(number))
        case .text(let text)?: indexed[property]?.insert(.text(text))
        default: break
        }
      }
    }
    return indexed
  }

  /// Expands steps, and follows what they do.
  private struct Expansion {
    let file: String
    var model = DocumentModel()
    var states: [DocumentModel] = []
    var commits = 0
    var total = 0
    var bodyBytes = 0

    mutating func units(_ steps: [DocumentStep]) throws(ScenarioError) -> [DocumentUnit] {
      var units: [DocumentUnit] = []
      for step in steps {
        for number in 1...max(1, step.repeats) {
          total += step.count
          bodyBytes += step.bodyBytes
          guard total <= DocumentPlan.unitsMax, bodyBytes <= DocumentPlan.bodyBytesMax else {
            throw refusal(
              step,
              "more than \(DocumentPlan.unitsMax) steps, or \(DocumentPlan.bodyBytesMax) bytes of "
                + "bodies")
          }
          var unit = DocumentUnit(index: units.count, step: step.numbered(number))
          try follow(&unit)
          units.append(unit)
        }
      }
      return units
    }

    private mutating func follow(_ unit: inout DocumentUnit) throws(ScenarioError) {
      let step = unit.step
      guard step.fails == nil else { return }
      do throws(DocumentModel.Refusal) {
        try model.apply(step.action, in: step.collection)
      } catch {
        throw refusal(step, error.text)
      }
      guard step.commits else { return }
      commits += 1
      unit.commit = commits
      states.append(model)
    }

    private func refusal(_ step: DocumentStep, _ text: String) -> ScenarioError {
      ScenarioError([
        ScenarioDiagnostic(
          file: file, position: step.position, message: text,
          remedy: "change the step, or those before it")
      ])
    }
  }
}

extension DocumentStep {
  /// Whether it is a commit.
  fileprivate var commits: Bool {
    switch action {
    case .transaction(_, let cancels): !cancels
    case .purgeExpired, .openAndPurge, .increment: true
    default: action.isChange
    }
  }

  /// The step, or the steps of its transaction.
  fileprivate var whole: [DocumentStep] {
    guard case .transaction(let steps, _) = action else { return [self] }
    return steps
  }

  /// How many steps one repetition is, with those of a transaction.
  fileprivate var count: Int {
    guard case .transaction(let steps, _) = action else { return 1 }
    return steps.reduce(1) { $0 + $1.repeats }
  }

  /// About how many bytes the bodies of one repetition have.
  fileprivate var bodyBytes: Int {
    switch action {
    case .save(_, let body, let blob): body.json.utf8.count + (blob ?? 0) / 16
    case .saveStale(_, let body), .conflict(_, let body): body.json.utf8.count
    case .transaction(let steps, _): steps.reduce(0) { $0 + $1.bodyBytes * $1.repeats }
    default: 0
    }
  }

  /// One repetition.
  fileprivate func numbered(_ number: Int) -> DocumentStep {
    var step = self
    step.repeats = 1
    step.action = action.numbered(number)
    return step
  }
}

extension DocumentAction {
  fileprivate func numbered(_ number: Int) -> DocumentAction {
    func text(_ text: String) -> String { text.replacing("#", with: "\(number)") }
    switch self {
    case .save(let id, let body, let blob):
      return .save(id: text(id), body: body.numbered(number), blobBytes: blob)
    case .saveStale(let id, let body):
      return .saveStale(id: text(id), body: body.numbered(number))
    case .conflict(let id, let body):
      return .conflict(id: text(id), body: body.numbered(number))
    case .resolve(let id): return .resolve(id: text(id))
    case .delete(let id): return .delete(id: text(id))
    case .purge(let id): return .purge(id: text(id))
    case .expire(let id, let time): return .expire(id: text(id), at: time)
    case .increment(let id, let name, let isBlind):
      return .increment(id: text(id), name: name, isBlind: isBlind)
    case .transaction(let steps, let cancels):
      let all = steps.flatMap { step in
        (1...max(1, step.repeats)).map { inner in
          var copy = step
          copy.repeats = 1
          copy.action = step.action.numbered(step.repeats > 1 ? inner : number)
          return copy
        }
      }
      return .transaction(all, cancels: cancels)
    default: return self
    }
  }
}
