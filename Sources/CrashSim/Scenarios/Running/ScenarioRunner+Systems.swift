// ScenarioRunner+Systems.swift: a scenario on the kernel's own file systems, as `faultline explore
// --on` does for any program: the scenario is the program (ScenarioProgram.swift), and its oracles
// are the checker. A finding's token is one of an explored program.

import Exploration
import Findings
import LabCore
import Workload

extension ScenarioRunner {
  /// Number of states mounted for each file system of a scenario without a budget.
  static let defaultBudgetOfSystem = 300

  /// Explores the crash states of a scenario on a file system.
  func explore(
    _ scenario: Scenario, _ crash: CrashDeclaration, on system: KernelFileSystem,
    _ item: inout CaseReport
  ) throws(LabError) {
    try Interruption.check()
    guard opened.mount != nil else { return item.skipped.append("on: \(system) needs a mount") }
    if let missing = system.missing { return item.skipped.append("on: \(system): \(missing)") }
    let seed = self.seed(of: scenario)
    let program = "'\(try LineProcess.program())'"
    let commands = ScenarioProgram.commands(scenario, seed: seed, program: program)
    var settings = self.settings
    let declared = crash.budgetStates ?? Self.defaultBudgetOfSystem
    settings.budget = min(declared, settings.budget ?? declared)
    settings.models = []
    settings.fileSystems = [system]
    settings.seed = seed
    settings.progress = nil
    let explorer = try ProgramExplorer(
      program: ProgramUnderTest(workload: commands.work, check: commands.judge),
      settings: settings, keepingTrace: nil, console: .silent)
    let found = try explorer.explore()
    let known = item.findings.count
    for var exploration in found.explorations {
      for place in exploration.findings.indices { exploration.findings[place].number += known }
      exploration.title = scenario.title
      exploration.line = scenario.lines.crash
      item.explorations.append(exploration)
    }
    if found.isInterrupted { throw .interrupted }
  }
}
