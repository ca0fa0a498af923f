// DryRunSteps.swift: the steps of a scenario in words, one line each.

import LabCore
import Workload

/// Says what each step does.
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
    case .process: return scenario.process(of: step.actors[0]).name
    case .file: return "a stranger"
    default: return step.actors.isEmpty ? "expected" : step.actors.joined(separator: ", ")
    }
  }

  private func text(of action: StepAction) -> String {
    switch action {
    case .open: "open the database; whoever is first creates it and its tables"
    case .close: "close it"
    case .reopen: "close it and open it again"
    case .pin(let name): "pin the newest version as '\(name)'"
    case .release(let name): "release '\(name)', which must be as it was"
    case .verify: "verify the file, and compare its content with the model"
    case .compact: "compact the file, and compare its content with the model"
    case .copy(let copy): "write a copy to \(copy.fileName), and compare its content with the model"
    case .write(let write): text(of: write)
    case .expect(let claims): claims.map(text).joined(separator: "; ")
    case .attempt(let tried, let code): "\(text(of: tried)); it must be refused with \(code)"
    case .fork: "fork; the child may use nothing of its parent's, and can open the file itself"
    case .query(let query):
      "find \(query.keys.map { "\($0)" } ?? Formatting.counted(query.count, "object")) "
        + "of \(query.table) by '\(query.text)'"
    case .observe(let query):
      "observe the \(query.table) objects of '\(query.text)', and follow them by what is told"
    case .refresh: "refresh the realm, which must have stayed at its version"
    case .invalidate: "give up the version that the realm reads"
    case .misuse(let owner): "use the realm of '\(owner)' on another thread, which must be refused"
    case .process(let event): text(of: event)
    case .file(.remove(let part)): "remove the name of the \(part.rawValue) file"
    case .file(.overwrite(let part, let filling)):
      "write \(filling.rawValue) bytes over the \(part.rawValue) file"
    case .file(.cut(let part, let bytes)):
      "cut the \(part.rawValue) file to \(Formatting.grouped(Int(clamping: bytes))) bytes"
    }
  }

  private func text(of event: ProcessEvent) -> String {
    switch event {
    case .kill: "it is killed"
    case .exit: "it exits, and closes nothing"
    case .stop: "it stands still"
    case .resume: "it goes on"
    case .limit(let limit):
      limit.count.map { "it gets no more \(limit.resource.rawValue) than \($0)" }
        ?? "its bound of \(limit.resource.rawValue) is lifted"
    }
  }

  private func text(of write: WriteStep) -> String {
    let statements = write.statements.map { statement in
      let rows = Formatting.counted(statement.times, "row")
      return "\(statement.kind.rawValue) \(rows) of \(statement.table)"
    }
    let ending: String
    if let code = write.fails {
      ending = "which must fail with \(code)"
    } else {
      ending = write.cancels ? "rolled back" : "committed"
    }
    let each = write.repeats == 1 ? "" : "each "
    let copy = write.copy.map { "; before it ends, \(text(of: .copy($0)))" } ?? ""
    return "\(Formatting.counted(write.repeats, "transaction")), \(each)\(ending): "
      + statements.joined(separator: ", ") + copy
  }

  private func text(of claim: LiveExpectation) -> String {
    switch claim {
    case .count(let table, let rows): "\(table) has \(Formatting.counted(rows, "row"))"
    case .version(let version): "the newest version is \(version)"
    case .versionAtLeast(let version): "the newest version is \(version) or later"
    case .fileBytesAtMost(let bytes):
      "the file has at most \(Formatting.grouped(Int(clamping: bytes))) bytes"
    case .fileTimesContentAtMost(let times): "the file is at most \(times) times its content"
    case .pinnedUnchanged(let name): "'\(name)' is as it was"
    case .verifies: "the engine's verification finds nothing"
    }
  }
}
