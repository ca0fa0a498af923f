// Shrink.swift: `faultline shrink`: finds the smallest scenario that still fails.

import ArgumentParser
import CrashStates
import Exploration
import Findings
import Foundation
import LabCore
import Scenarios
import Workload

struct Shrink: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make a failing scenario smaller.",
    discussion: """
      Faultline runs the scenario and takes its first finding, or that of a token. It removes \
      steps, clients, statements and repetitions, as long as the same kind of finding remains. It \
      prints the smaller scenario. --out also writes it to a file, and then its finding has a \
      replay token. A negative scenario shrinks to the least that still finds its bug.

      Examples:
        faultline shrink failing.yaml --out small.yaml
        faultline shrink fl1-… --out small.yaml --budget 50
        faultline shrink scenarios/negative/first-sync-ignored.yaml --states 2000

      Exit codes: 0 as small as it gets within the budget, 2 the scenario breaks no promise.
      """)

  @Argument(help: "A scenario file, or the token of a scenario's finding.") var source: String
  @Option(help: "Write the smaller scenario to this file.") var out: String?
  @Option(help: "Maximum number of runs.") var budget: Int = 200
  @Option(help: "Maximum number of crash states to check in each run, for each model.") var states:
    Int?
  @Option(help: "What a power failure may leave: \(PersistenceModel.stockNames), or all.")
  var model: String?
  @Option(help: "Random seed. The same seed reproduces the run.") var seed: UInt64?
  @Option(
    name: [.customLong("backend"), .customLong("door")],
    help: "fuse or in-process. Default: fuse if it works.") var backend: BackendChoice?

  func run() throws {
    let console = Console()
    guard budget > 0 else { throw LabError.usage("--budget \(budget): give at least 1 run") }
    try ReportArguments.refuseUnwritable([out])
    let recipe = try recipe()
    let shrinker = try ScenarioShrinker(
      settings: try settings(recipe), console: console, backend: recipe?.backend ?? backend,
      runBudget: budget)
    let shrunk = try shrinker.shrink(recipe?.path ?? source, keeping: recipe, out: out)
    try shrinker.end()
    guard let shrunk else {
      throw LabError.usage(
        "\(recipe?.path ?? source) breaks no promise: there is nothing to shrink")
    }
    if let out { try ReportArguments.write(shrunk.text, to: out) }
    console.say(shrunk.text)
    // The last of the lines is the token, which is useless before the file is written.
    for line in Console.lines(of: shrunk.finding).dropLast() { console.say(line) }
    console.say(
      "shrunk from \(shrunk.before) to \(shrunk.after), in \(shrunk.runCount) runs"
        + (shrunk.isCutShort ? "; the budget ended or it was stopped before the end" : ""))
    if out != nil { console.say("replay: faultline replay \(shrunk.finding.token)") }
    if Interruption.isRequested { throw Leave(code: .interrupted) }
  }

  /// The recipe in a token, or in a file that contains one; nil for a scenario's file.
  private func recipe() throws(LabError) -> ScenarioRecipe? {
    let text = source.hasPrefix("fl1-") ? source : nil
    let file = try? String(contentsOfFile: source, encoding: .utf8)
    guard let token = text ?? (file?.hasPrefix("fl1-") == true ? file : nil) else { return nil }
    switch try ReplayRecipe(token: token) {
    case .explore, .stress:
      throw .usage(
        "the token is of a program, and only you can make its workload smaller; give a "
          + "scenario, or the token of one")
    case .scenario(let recipe):
      guard recipe.ignoredSyncs == nil else {
        throw .usage(
          "the token ignores syncs by their number, which a smaller scenario has not; give the "
            + "token of a run")
      }
      return recipe
    }
  }

  private func settings(_ recipe: ScenarioRecipe?) throws(LabError) -> ExplorationSettings {
    var settings = ExplorationSettings()
    var model = model
    switch recipe?.place {
    case .crash(let named, _, _), .recovery(let named, _, _, _): model = named
    case .node(_, _, let named, _, _): model = named
    default: break
    }
    if let model {
      settings.models = try PersistenceModel.chosen(model)
      settings.modelsAreChosen = true
    }
    if let seed = recipe?.seed ?? seed {
      settings.seed = Seed(rawValue: seed)
      settings.seedIsChosen = true
    }
    if let states {
      guard states > 0 else { throw .usage("--states \(states): give at least 1 state") }
      settings.budget = states
    }
    return settings
  }
}
