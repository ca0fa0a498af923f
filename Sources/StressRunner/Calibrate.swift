// Calibrate.swift: `faultline calibrate`: compares models with the file systems of their names.

import ArgumentParser
import CrashStates
import Exploration
import Findings
import LabCore
import Scenarios

struct Calibrate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compare persistence models with the kernel's own file systems.",
    discussion: """
      Short programs run under a model and on the real file system (explore --on). An outcome that \
      the file system leaves after a crash and that the model forbids is a bug in the model (exit \
      code 1). Outcomes that only the model allows are counted, and listed with --unseen.

      The output is a table in Markdown. Without --on each built-in model is compared with its \
      file system.

      Examples:
        faultline calibrate
        faultline calibrate --on ext4:data=writeback --model ext4-writeback --probe rename-over
        faultline calibrate --durability --on btrfs --model btrfs
        faultline calibrate --on xfs --model-file mine.yaml
      """)

  @Option(name: .customLong("on"), help: "The real file system, as explore --on takes it.")
  var fileSystem: String?
  @Option(help: "The model to compare with it, by name.") var model: String?
  @Option(name: .customLong("model-file"), help: "The model to compare with it, from a YAML file.")
  var modelFile: String?
  @Option(
    name: .customLong("probe"),
    help: "Run this program only. Can be repeated. Default: all.")
  var probes: [String] = []
  @Option(help: "Random seed. The same seed reproduces the run.") var seed: UInt64 = 1
  @Option(help: "Maximum number of crash states to mount for each recording.")
  var budget = Calibration.defaultBudget
  @Flag(
    help: "Compare every kind of change with every kind of sync (docs/reference/durability.md).")
  var durability = false
  @Flag(help: "List the outcomes that only the model allows.") var unseen = false

  func run() throws {
    let console = Console()
    guard budget > 0 else { throw LabError.usage("--budget \(budget): give at least 1 state") }
    let probes = try chosenProbes()
    let pairs = try chosenPairs()
    console.say("faultline calibrate  seed=\(seed)")
    let calibration = try Calibration(seed: Seed(rawValue: seed), budget: budget)
    console.say("| probe | model | file system | states | seen | allowed | forbidden |")
    console.say("|---|---|---|---|---|---|---|")
    var results: [CalibrationResult] = []
    var skipped: [String] = []
    for (model, system) in pairs {
      if let missing = system.missing {
        skipped.append("skipped: \(system): \(missing)")
        continue
      }
      for probe in probes {
        let result = try calibration.compare(probe, model, with: system)
        console.say(
          "| `\(result.probe)` | `\(result.model)` | `\(result.system)` | \(result.stateCount) "
            + "| \(result.seen.count) | \(result.allowed.count) | \(result.forbidden.count) |")
        results.append(result)
      }
    }
    for line in skipped { console.say(line) }
    if results.isEmpty {
      throw LabError.lab(
        "nothing was compared: none of the file systems can be mounted here; 'faultline doctor' "
          + "says what each needs")
    }
    try finish(results, console)
  }

  private func finish(_ results: [CalibrationResult], _ console: Console) throws {
    for result in results where unseen && !result.unseen.isEmpty {
      console.say("only \(result.model), probe \(result.probe):")
      for outcome in result.unseen { console.say("  \(outcome)") }
    }
    for result in results {
      for (outcome, reason) in result.known {
        console.say("known of \(result.model), probe \(result.probe): \(outcome): \(reason)")
      }
    }
    let forbidden = results.filter { !$0.forbidden.isEmpty }
    for result in forbidden {
      console.say(
        "FORBIDDEN by \(result.model), left by \(result.system), probe \(result.probe):")
      for outcome in result.forbidden { console.say("  \(outcome)") }
    }
    console.say(
      "verdict: \(forbidden.isEmpty ? "held" : "broken"), \(forbidden.count) of \(results.count) "
        + "comparisons show what a model forbids")
    if !forbidden.isEmpty { throw Leave(code: .broken) }
  }

  private func chosenProbes() throws(LabError) -> [CalibrationProbe] {
    let all = durability ? CalibrationProbe.durability : CalibrationProbe.all
    var chosen: [CalibrationProbe] = []
    for name in probes {
      guard let probe = all.first(where: { $0.name == name }) else {
        throw .usage(
          "--probe \(name.prefix(60)): choose from "
            + all.map(\.name).joined(separator: ", "))
      }
      chosen.append(probe)
    }
    return chosen.isEmpty ? all : chosen
  }

  private func chosenPairs() throws(LabError) -> [(PersistenceModel, KernelFileSystem)] {
    guard let fileSystem else {
      guard model == nil, modelFile == nil else {
        throw .usage("a model is held against a file system: add --on ext4, xfs or btrfs")
      }
      return Calibration.stockPairs.map { ($0.model, $0.system) }
    }
    let system = try KernelFileSystem(parsing: fileSystem)
    var models: [PersistenceModel] = []
    if let model { models = try PersistenceModel.chosen(model) }
    if let modelFile { models.append(try ModelFile.load(modelFile)) }
    guard !models.isEmpty else {
      throw .usage("--on \(fileSystem): say which model is meant: --model or --model-file")
    }
    return models.map { ($0, system) }
  }
}
