// ScenarioParser+Disturbance.swift: reads power cuts, kills and planted bugs.

import CrashStates
import Exploration
import FaultFS
import Findings
import Workload

extension ScenarioParser {
  func readCrash(_ node: ScenarioNode) -> CrashDeclaration? {
    guard let fields = reader.fields(node, .crash) else { return nil }
    guard fields["model"] != nil || fields["on"] != nil else {
      reader.report(
        node.position, "crash has neither 'model' nor 'on'",
        "say what the disk may leave, as in {model: ext4-ordered}")
      return nil
    }
    var crash = CrashDeclaration(
      models: [], explore: .all, budgetStates: nil, recoveryDepth: 0)
    if let model = fields["model"] {
      var isMapping = false
      if case .map = model.body { isMapping = true }
      let items = isMapping ? [model] : reader.oneOrMore(model, of: "models")
      crash.models = reader.distinct(items, "model") { item in
        reader.modelWord(item).map { (PersistenceModel.name(ofSpecification: $0), $0) }
      }
    }
    if let on = fields["on"] { crash.systems = readSystems(on) }
    if let explore = fields["explore"] {
      let words = ExploreRule.allCases.map(\.rawValue)
      crash.explore =
        reader.word(explore, "rule of exploration", of: words).flatMap { ExploreRule(rawValue: $0) }
        ?? .all
    }
    if let budget = fields["budget"],
      let parts = reader.fields(budget, .budget, required: ["states"]), let states = parts["states"]
    {
      let count = reader.integer(states, "a number of states", in: 1...1_000_000_000)
      crash.budgetStates = count.map { Int($0) }
    }
    if let recovery = fields["recovery"] {
      crash.recoveryDepth = readRecovery(recovery) ?? 0
    }
    return crash
  }

  private func readSystems(_ node: ScenarioNode) -> [KernelFileSystem] {
    let items = reader.oneOrMore(node, of: "file systems")
    return reader.distinct(items, "file system") { item in
      guard let text = reader.text(item, "a file system") else { return nil }
      guard let system = try? KernelFileSystem(parsing: text) else {
        reader.report(
          item.position, "'\(text.prefix(60))' is not a file system that can be tested",
          "write ext4, xfs or btrfs, with mount options as in \"ext4:data=writeback\", and those "
            + "of mkfs as in \"ext4:mkfs=-b 1024\"")
        return nil
      }
      return (system.description, system)
    }
  }

  /// When mapped pages are written back: `true` for the defaults.
  func readWriteBack(_ node: ScenarioNode) -> WriteBackDeclaration? {
    if case .scalar("true", isQuoted: false) = node.body { return WriteBackDeclaration() }
    guard let fields = reader.fields(node, .writeBack) else { return nil }
    var declared = WriteBackDeclaration()
    if let node = fields["rate"] {
      let rate = reader.integer(
        node, "a mean number of operations", in: 1...Int64(PageWriteBack.rateMax))
      declared.rate = rate.map { Int($0) } ?? PageWriteBack.defaultRate
    }
    declared.seed = fields["seed"].flatMap { readSeed($0) }?.rawValue
    return declared
  }

  /// The number of consecutive recoveries in which power fails: `true` is one.
  private func readRecovery(_ node: ScenarioNode) -> Int? {
    if case .scalar(let text, isQuoted: false) = node.body, ScenarioReader.number(text) != nil {
      return reader.integer(
        node, "a number of recoveries", in: 0...Int64(CrashDeclaration.recoveryDepthMax)
      ).map { Int($0) }
    }
    return reader.flag(node, "value of recovery").map { $0 ? 1 : 0 }
  }

  func readKill(_ node: ScenarioNode) -> KillDeclaration? {
    guard let fields = reader.fields(node, .killSweep, required: ["process", "at"]) else {
      return nil
    }
    let names = processes.map(\.name)
    guard let process = fields["process"].flatMap({ reader.word($0, "process", of: names) }),
      let place = fields["at"].flatMap({ readPlace($0) })
    else { return nil }
    var kill = KillDeclaration(process: process, place: place, side: .both)
    if let side = fields["side"] {
      let words = KillSide.allCases.map(\.rawValue)
      kill.side = reader.word(side, "side", of: words).flatMap { KillSide(rawValue: $0) } ?? .both
    }
    if let by = fields["by"] {
      let words = KillManner.allCases.map(\.rawValue)
      kill.manner =
        reader.word(by, "manner", of: words).flatMap { KillManner(rawValue: $0) } ?? .kill
      if kill.manner == .stop, place == .everyCommand {
        reader.report(
          by.position, "between its commands a process waits anyway",
          "write 'at: every operation', or another place")
      }
      if kill.manner == .stop, let side = fields["side"] {
        reader.report(
          side.position, "a process is stopped before the operation, never after it", "remove it")
      }
    }
    if let states = fields["crashStates"] {
      kill.crashStates =
        reader.integer(states, "a number of crash states", in: 1...1_000_000).map { Int($0) }
    }
    return kill
  }

  private func readPlace(_ node: ScenarioNode) -> KillPlace? {
    if case .scalar(let text, isQuoted: false) = node.body, ScenarioReader.number(text) != nil {
      return reader.integer(node, "the number of an operation", in: 1...Int64(Int32.max))
        .map { .operation(Int($0)) }
    }
    switch reader.word(node, "place to kill at", of: GrammarWords.killPlaces) {
    case "every operation": return .everyOperation
    case "every sync": return .everySync
    case "every write": return .everyWrite
    case "every truncate": return .everyTruncate
    case "every command": return .everyCommand
    case "every commit step": return .everyCommitStep
    default: return nil
    }
  }

  func readNegative(_ node: ScenarioNode) -> NegativeDeclaration? {
    guard let fields = reader.fields(node, .negative, required: ["expect", "because"]),
      let because = fields["because"].flatMap({ reader.text($0, "the planted bug in words") }),
      let expected = fields["expect"]
    else { return nil }
    let words = OracleName.allCases.map(\.rawValue)
    let oracles = reader.oneOrMore(expected, of: "oracles").compactMap {
      reader.word($0, "oracle", of: words).flatMap { OracleName(rawValue: $0) }
    }
    return NegativeDeclaration(oracles: oracles, because: because)
  }
}
