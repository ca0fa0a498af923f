// DryRunSteps.swift: describes the steps of a scenario, one line each.

import LabCore
import Workload

/// Describes each step.
struct DryRunSteps {
  private let scenario: Scenario

  init(_ scenario: Scenario) { self.scenario = scenario }

  /// One line for each step, numbered from 1.
  var lines: [String] {
    scenario.steps.enumerated().map { index, step in
      let who = self.who(step)
      return "\(index + 1). line \(step.position.line), \(who): \(text(of: step.action))"
    }
  }

  private func who(_ step: ScenarioStep) -> String {
    switch step.action {
    case .command(.process): return scenario.process(of: step.actors[0]).name
    case .command(.file): return "a stranger"
    default: return step.actors.isEmpty ? "expected" : step.actors.joined(separator: ", ")
    }
  }

  private func text(of action: StepAction) -> String {
    switch action {
    case .command(let action): action.phrase
    case .write(let write): text(of: write)
    case .expect(let claims): claims.map(\.phrase).joined(separator: "; ")
    case .attempt(let tried, let code): "\(tried.phrase); it must be refused with \(code)"
    }
  }

  private func text(of write: WriteStep) -> String {
    let statements = write.statements.map { statement in
      let most = statement.isAtMost ? "up to " : ""
      let rows = most + Formatting.counted(statement.times, "row")
      return "\(statement.kind.rawValue) \(rows) of \(statement.table)"
    }
    let ending: String
    if let code = write.fails {
      ending = "which must fail with \(code)"
    } else {
      ending = write.cancels ? "rolled back" : "committed"
    }
    let each = write.repeats == 1 ? "" : "each "
    let manner = write.isAsync ? "asynchronously " : ""
    let copy = write.copy.map { "; before it ends, \(WorkerAction.copy($0).phrase)" } ?? ""
    return "\(Formatting.counted(write.repeats, "transaction")), \(each)\(manner)\(ending): "
      + statements.joined(separator: ", ") + copy
  }
}
