// ScenarioParser+Disturbance.swift: reads power cuts, kills, faults and planted bugs.

extension ScenarioParser {
  func readCrash(_ node: ScenarioNode) -> CrashDeclaration? {
    guard let fields = reader.fields(node, .crash, required: ["model"]) else { return nil }
    var crash = CrashDeclaration(
      models: [], explore: .all, budgetStates: nil, duringRecovery: false)
    if let model = fields["model"] {
      for item in reader.oneOrMore(model, of: "models") {
        guard let name = reader.word(item, "persistence model", of: GrammarWords.models) else {
          continue
        }
        if crash.models.contains(name) {
          reader.report(item.position, "model '\(name)' stands twice", "remove one")
        } else {
          crash.models.append(name)
        }
      }
    }
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
      crash.duringRecovery = reader.flag(recovery, "value of recovery") ?? false
    }
    return crash
  }

  func readKill(_ node: ScenarioNode) -> KillDeclaration? {
    guard let fields = reader.fields(node, .kill, required: ["process", "at"]) else { return nil }
    let names = processes.map(\.name)
    guard let process = fields["process"].flatMap({ reader.word($0, "process", of: names) }),
      let place = fields["at"].flatMap({ readPlace($0) })
    else { return nil }
    var kill = KillDeclaration(process: process, place: place, side: .both)
    if let side = fields["side"] {
      let words = KillSide.allCases.map(\.rawValue)
      kill.side = reader.word(side, "side", of: words).flatMap { KillSide(rawValue: $0) } ?? .both
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

  // MARK: - Faults

  func readFaults(_ node: ScenarioNode) -> [FaultDeclaration] {
    reader.list(node, of: "faults").compactMap { readFault($0) }
  }

  func readSweep(_ node: ScenarioNode) -> FaultDeclaration? {
    guard let fields = reader.fields(node, .sweep, required: ["on", "error"]),
      let kind = fields["on"].flatMap({ readKind($0) }),
      let error = fields["error"].flatMap({ reader.word($0, "errno", of: GrammarWords.errnos) })
    else { return nil }
    return FaultDeclaration(
      position: node.position, on: kind,
      fileGlob: fields["file"].flatMap { reader.text($0, "a glob") },
      bytes: nil, which: .each, effect: .error(error))
  }

  private func readKind(_ node: ScenarioNode) -> FaultOperation? {
    let kinds = FaultOperation.allCases.map(\.rawValue)
    return reader.word(node, "operation", of: kinds).flatMap { FaultOperation(rawValue: $0) }
  }

  private func readFault(_ node: ScenarioNode) -> FaultDeclaration? {
    guard let fields = reader.fields(node, .fault, required: ["on"]), let on = fields["on"] else {
      return nil
    }
    guard let kind = readKind(on), let which = readCount(fields),
      let effect = readEffect(fields, kind)
    else { return nil }
    var fault = FaultDeclaration(
      position: node.position, on: kind, fileGlob: nil, bytes: nil, which: which, effect: effect)
    fault.fileGlob = fields["file"].flatMap { reader.text($0, "a glob") }
    if let bytes = fields["bytes"] {
      guard kind == .write || kind == .allocate else {
        reader.report(
          fields.keyPosition("bytes") ?? bytes.position,
          "only write and allocate have bytes, not \(kind.rawValue)", "remove 'bytes'")
        return nil
      }
      fault.bytes = readSpan(bytes)
    }
    return fault
  }

  private func readCount(_ fields: ScenarioReader.Fields) -> FaultCount? {
    let numbers = Int64(1)...Int64(Int32.max)
    func number(_ key: String, from first: Int64 = 1) -> Int? {
      fields[key].flatMap {
        reader.integer($0, "'\(key)'", in: first...numbers.upperBound).map { Int($0) }
      }
    }
    let chosen = fields.entries.filter { ["every", "nth", "ofCommit"].contains($0.key.text) }
    guard chosen.count <= 1 else {
      reader.report(
        chosen[1].key.position, "a fault has one of every, nth and ofCommit", "keep one of them")
      return nil
    }
    let isEvery = chosen.first?.key.text == "every"
    let isOfCommit = chosen.isEmpty || chosen.first?.key.text == "ofCommit"
    for (key, fits, owner) in [("offset", isEvery, "every"), ("commit", isOfCommit, "ofCommit")]
    where fields[key] != nil && !fits {
      reader.report(
        fields.keyPosition(key) ?? fields.position, "'\(key)' goes with '\(owner)'",
        "remove it, or write '\(owner):'")
      return nil
    }
    switch chosen.first?.key.text {
    case "every":
      guard let step = number("every") else { return nil }
      return .every(step, offset: number("offset", from: 0) ?? 0)
    case "nth":
      return number("nth").map { .nth($0) }
    case "ofCommit":
      guard let position = number("ofCommit") else { return nil }
      guard fields["commit"] != nil else { return .ofCommit(position) }
      return number("commit").map { .ofCommitNumber(position, transaction: $0) }
    default:
      guard fields["commit"] != nil else { return .each }
      return number("commit").map { .eachOfTransaction($0) }
    }
  }

  private func readEffect(
    _ fields: ScenarioReader.Fields, _ kind: FaultOperation
  ) -> FaultEffect? {
    let effects = ["ignore", "error", "holdBehind"]
    let chosen = fields.entries.filter { effects.contains($0.key.text) }
    guard let entry = chosen.first, chosen.count == 1 else {
      reader.report(
        chosen.dropFirst().first?.key.position ?? fields.position,
        "a fault has one effect, found \(chosen.count)",
        "write one of: \(effects.joined(separator: ", "))")
      return nil
    }
    switch entry.key.text {
    case "ignore":
      guard [.fsync, .fdatasync, .sync, .syncDirectory].contains(kind) else {
        reader.report(
          entry.key.position, "only syncs can be ignored, not \(kind.rawValue)",
          "write 'on: sync', or 'error:'")
        return nil
      }
      return reader.word(entry.value, "value of ignore", of: ["true"]).map { _ in .ignore }
    case "error":
      return reader.word(entry.value, "errno", of: GrammarWords.errnos).map { .error($0) }
    default:
      guard kind == .write else {
        reader.report(
          entry.key.position, "only writes can be held, not \(kind.rawValue)", "write 'on: write'")
        return nil
      }
      guard let held = reader.fields(entry.value, .holdBehind, required: ["bytes"]) else {
        return nil
      }
      return held["bytes"].flatMap { readSpan($0) }.map { .holdBehind($0) }
    }
  }

  /// Bytes as `first..last` or `first..`.
  private func readSpan(_ node: ScenarioNode) -> ByteSpan? {
    guard let text = reader.text(node, "a range of bytes") else { return nil }
    if text.hasSuffix(".."), let first = ScenarioReader.number(text.dropLast(2)), first >= 0 {
      return ByteSpan(first: UInt64(first), last: nil)
    }
    return reader.range(text, node.position, "a byte", in: 0...Int64.max).map {
      ByteSpan(first: UInt64($0.lowerBound), last: UInt64($0.upperBound))
    }
  }
}
