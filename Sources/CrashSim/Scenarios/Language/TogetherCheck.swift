// TogetherCheck.swift: checks whether steps may run concurrently. The order of their commits is not
// known, so they must be possible in any order, and leave the same keys.

import LabCore
import Workload

/// Checks a scenario's blocks of concurrent steps.
struct TogetherCheck {
  let scenario: Scenario
  let reader: ScenarioReader

  /// Reports steps that cannot run concurrently, or not with other parts of the scenario.
  func check() {
    let blocks = scenario.blocks
    guard let first = blocks.first?.first else {
      if scenario.schedule != nil {
        reader.report(
          SourcePosition(line: scenario.lines.schedule ?? 1, column: 1),
          "a schedule, and no steps that run side by side", "add '- together:' to the steps")
      }
      return
    }
    if blocks.count > 1 {
      reader.report(
        blocks[1][0].position, "a second 'together'",
        "put these steps into the first one, or into a scenario of their own")
    }
    if scenario.processes.count > 1 {
      reader.report(
        first.position, "the actors of several processes cannot be scheduled together",
        "put all actors into one process")
    }
    if scenario.database.objects != nil {
      reader.report(
        first.position, "the realms of several actors are not scheduled together",
        "write the steps one after the other, or use a schema of tables")
    }
    let others = [
      ("killSweep", scenario.kill != nil), ("sweep", scenario.sweep != nil),
      ("media", scenario.media != nil),
    ]
    for (key, isThere) in others where isThere {
      reader.report(
        first.position, "'together' does not go with '\(key)'", "remove one of them")
    }
    if let step = scenario.steps.first(where: \.isOfProcesses) {
      reader.report(
        step.position,
        "'together' runs its actors as threads of Faultline, which this step does not support",
        "put it into a scenario of its own")
    }
    check(blocks[0])
  }

  private func check(_ block: [ScenarioStep]) {
    let actors = Set(block.flatMap(\.actors))
    if actors.count < 2 {
      reader.report(
        block[0].position, "only '\(block[0].actors.first ?? "")' has steps in this block",
        "add a step of another actor, or take the steps out of 'together'")
    }
    var writers: [String: Set<String>] = [:]
    for step in block {
      guard case .write(let write) = step.action else {
        checkReader(step)
        continue
      }
      if let code = write.fails {
        reader.report(
          step.position, "which write fails with \(code) is unknown when they run side by side",
          "remove 'fails'")
      }
      if write.copy != nil {
        reader.report(
          step.position, "what a copy has is unknown when others write beside it",
          "write the copy after the block")
      }
      for statement in write.statements {
        writers[statement.table, default: []].formUnion(step.actors)
      }
    }
    for step in block {
      guard case .write(let write) = step.action else { continue }
      for statement in write.statements { check(statement, step, writers) }
    }
  }

  private func checkReader(_ step: ScenarioStep) {
    if case .command(let action) = step.action, action.goesTogether { return }
    let words = (["write"] + ActionWord.together).dropLast().joined(separator: ", ")
    reader.report(
      step.position,
      "only \(words) and \(ActionWord.together.last ?? "") can be in 'together'",
      "put this step before or after the block")
  }

  private func check(
    _ statement: WriteStatement, _ step: ScenarioStep, _ writers: [String: Set<String>]
  ) {
    let others = writers[statement.table, default: []].subtracting(step.actors).sorted()
    if let other = others.first, statement.kind != .upsert {
      reader.report(
        statement.position,
        "'\(other)' writes to '\(statement.table)' in the same block, so it is unknown which rows "
          + "'\(statement.kind.rawValue)' finds",
        "write upsert, or give each actor a table of its own")
    }
    let table = scenario.tables.first { $0.name == statement.table }
    for column in table?.columns ?? [] {
      guard let target = column.target,
        let other = writers[target, default: []].subtracting(step.actors).sorted().first
      else { continue }
      reader.report(
        statement.position,
        "'\(column.name)' links to '\(target)', which '\(other)' writes to in the same block",
        "let one actor write both tables")
    }
  }
}
