// ScenarioParser+Steps.swift: parses the steps: their actors, actions and order.

import LabCore
import Workload

extension ScenarioParser {
  var actors: [String] { processes.flatMap(\.actors) }

  func readSteps(_ node: ScenarioNode) -> [ScenarioStep] {
    var blockCount = 0
    return reader.list(node, of: "steps").flatMap { item -> [ScenarioStep] in
      guard let block = block(item) else { return readStep(item).map { [$0] } ?? [] }
      defer { blockCount += 1 }
      return reader.list(block, of: "steps").compactMap { item in
        guard self.block(item) == nil else {
          reader.report(item.position, "a 'together' in a 'together'", "write one list of steps")
          return nil
        }
        var step = readStep(item)
        if step?.actors.isEmpty ?? false {
          reader.report(
            item.position, "'expect' cannot be in 'together'", "put it after the block")
        }
        step?.block = blockCount
        return step
      }
    }
  }

  /// The steps of a block, if the step is a block.
  private func block(_ node: ScenarioNode) -> ScenarioNode? {
    guard case .map(let pairs) = node.body, pairs.count == 1, pairs[0].key.text == "together"
    else { return nil }
    return pairs[0].value
  }

  private func readStep(_ node: ScenarioNode) -> ScenarioStep? {
    guard let fields = reader.fields(node, .step, extra: actors) else { return nil }
    guard let entry = fields.entries.first, fields.entries.count == 1 else {
      if fields.entries.count > 1 {
        reader.report(
          fields.entries[1].key.position, "a step has one actor, this is a second one",
          "start a new '- ' line")
      }
      return nil
    }
    switch entry.key.text {
    case "kill", "exit", "stop", "continue", "limit", "remove", "overwrite", "shorten":
      return readEvent(entry)
    case "expect":
      let claims = readExpectations(entry.value)
      return ScenarioStep(position: entry.key.position, actors: [], action: .expect(claims))
    case "all":
      guard let action = readAction(entry.value, actor: "all") else { return nil }
      if let opening = entry.value.openingKeys {
        reader.report(
          opening.position, "'all' opens as 'database' says, and takes no keys of its own",
          "write 'all: open', or a step with these keys for each actor")
        return nil
      }
      switch action {
      case .command(.open), .command(.close), .command(.verify): break
      default:
        reader.report(
          entry.value.position, "only open, close and verify can be given to all",
          "name one of: \(actors.joined(separator: ", "))")
        return nil
      }
      return ScenarioStep(position: entry.key.position, actors: actors, action: action)
    default:
      guard let action = readAction(entry.value, actor: entry.key.text) else { return nil }
      var step = ScenarioStep(
        position: entry.key.position, actors: [entry.key.text], action: action)
      step.database = readOpening(entry.value)
      return step
    }
  }

  /// How a step opens the database, if specified.
  private func readOpening(_ node: ScenarioNode) -> DatabaseDeclaration? {
    node.openingKeys.map { readDatabase($0) }
  }

  private func readAction(_ node: ScenarioNode, actor: String) -> StepAction? {
    if case .scalar = node.body {
      return reader.word(node, "action", of: GrammarWords.actions)
        .flatMap { ActionWord.find($0) }.map { .command($0.action(actor)) }
    }
    guard let fields = reader.fields(node, .action) else { return nil }
    let names =
      ["open"] + ActionWord.keys + ["copy", "write", "try", "query", "misuse", "observe"]
    // A copy in a write contains what the transaction sees.
    let isWrite = fields["write"] != nil
    let verbs = fields.entries.filter {
      names.contains($0.key.text) && !(isWrite && $0.key.text == "copy")
    }
    guard let verb = verbs.first, verbs.count == 1 else {
      reader.report(
        verbs.dropFirst().first?.key.position ?? node.position,
        "an action has one of \(names.joined(separator: ", ")), found \(verbs.count)",
        "write one of them, each in a step of its own")
      return nil
    }
    let isCopying = isWrite && fields["copy"] != nil
    for entry in fields.entries where entry.key.text != verb.key.text {
      if entry.key.text == "of", verb.key.text == "observe" { continue }
      if isCopying, ["copy", "key"].contains(entry.key.text) { continue }
      let owner =
        ["key": "copy", "with": "try", "of": "query", "finds": "query"][entry.key.text] ?? "write"
      if owner == verb.key.text || (entry.key.text == "fails" && verb.key.text == "try") {
        continue
      }
      reader.report(
        entry.key.position, "'\(entry.key.text)' belongs to '\(owner)', not to '\(verb.key.text)'",
        "remove it")
    }
    if verb.key.text == "open" { return .command(.open) }
    if verb.key.text == "write" { return readWrite(fields).map { .write($0) } }
    if verb.key.text == "try" { return readAttempt(fields, actor: actor) }
    if verb.key.text == "query" { return readQuery(fields).map { .command(.query($0)) } }
    if verb.key.text == "observe" { return readObserve(fields).map { .command(.observe($0)) } }
    if verb.key.text == "misuse" {
      return readMisuse(verb.value, by: actor).map { .command(.misuse(of: $0)) }
    }
    let word = ActionWord.find(verb.key.text)
    let what = word?.nameOf ?? "copy"
    guard let text = reader.text(verb.value, "the name of a \(what)"),
      let name = reader.name(text, verb.value.position, what)
    else { return nil }
    if let word { return .command(word.action(name)) }
    return .command(.copy(CopyStep(name: name, key: fields["key"].flatMap { readKey($0) })))
  }

  /// The copy in a write.
  private func readCopy(_ fields: ScenarioReader.Fields, of step: WriteStep) -> CopyStep? {
    guard let node = fields["copy"], let text = reader.text(node, "the name of a copy"),
      let name = reader.name(text, node.position, "copy")
    else { return nil }
    if step.repeats > 1 || step.fails != nil {
      reader.report(
        node.position, "one transaction that succeeds can write a copy",
        "remove 'repeat' and 'fails', or the copy")
    }
    return CopyStep(name: name, key: fields["key"].flatMap { readKey($0) })
  }

  private func readWrite(_ fields: ScenarioReader.Fields) -> WriteStep? {
    var step = WriteStep(repeats: 1, statements: [], cancels: false, fails: nil)
    if let node = fields["repeat"] {
      step.repeats = Int(reader.integer(node, "repeat", in: ScenarioBounds.repeats) ?? 1)
    }
    if let node = fields["cancel"] { step.cancels = reader.flag(node, "value of cancel") ?? false }
    if let node = fields["async"] { step.isAsync = reader.flag(node, "value of async") ?? false }
    if let node = fields["fails"] {
      step.fails = reader.word(node, "engine error code", of: GrammarWords.errorCodes)
      if step.cancels {
        reader.report(
          node.position, "a cancelled transaction cannot be expected to fail",
          "remove 'cancel' or 'fails'")
      }
    }
    if let node = fields["write"] {
      step.statements = reader.list(node, of: "statements").compactMap { readStatement($0) }
    }
    step.copy = readCopy(fields, of: step)
    return step
  }

  // MARK: - Expectations

  private func readExpectations(_ node: ScenarioNode) -> [LiveExpectation] {
    guard let fields = reader.fields(node, .expectation) else { return [] }
    if fields.entries.isEmpty, case .map(let pairs) = node.body, pairs.isEmpty {
      reader.report(
        node.position, "an expectation without a claim",
        "write one of: \(GrammarObject.expectation.keys.joined(separator: ", "))")
    }
    return fields.entries.flatMap { entry -> [LiveExpectation] in
      switch entry.key.text {
      case "count": return readCounts(entry.value)
      case "version": return readVersion(entry.value)
      case "file": return readFileBound(entry.value)
      case "pinned": return readPinned(entry.value)
      default:
        return reader.word(entry.value, "value of verify", of: ["true"]).map { _ in
          [.verifies]
        } ?? []
      }
    }
  }

  private func readCounts(_ node: ScenarioNode) -> [LiveExpectation] {
    guard case .map(let pairs) = node.body, !pairs.isEmpty else {
      reader.report(
        node.position, "expected a count mapping, found \(node.kind)", "write as in {Dog: 50}")
      return []
    }
    return pairs.compactMap { pair in
      guard findTable(pair.key.text, pair.key.position) != nil,
        let rows = reader.integer(pair.value, "a count", in: 0...Int64(Int32.max))
      else { return nil }
      return .count(table: pair.key.text, rows: Int(rows))
    }
  }

  private func readVersion(_ node: ScenarioNode) -> [LiveExpectation] {
    let range: ClosedRange<Int64> = 0...Int64.max
    if case .map = node.body {
      guard let fields = reader.fields(node, .versionBound, required: ["atLeast"]),
        let bound = fields["atLeast"],
        let version = reader.integer(bound, "a version", in: range)
      else { return [] }
      return [.versionAtLeast(UInt64(version))]
    }
    return reader.integer(node, "a version", in: range).map { [.version(UInt64($0))] } ?? []
  }

  private func readFileBound(_ node: ScenarioNode) -> [LiveExpectation] {
    guard let fields = reader.fields(node, .fileBound, required: ["sizeBytes"]),
      let size = fields["sizeBytes"],
      let bound = reader.fields(size, .sizeBound, required: ["atMost"]),
      let limit = bound["atMost"], let text = reader.text(limit, "a size")
    else { return [] }
    let words = text.split(separator: " ")
    if words.count == 3, words[1] == "x", words[2] == "content",
      let times = ScenarioReader.number(words[0]), (1...1_000_000).contains(times)
    {
      return [.fileTimesContentAtMost(UInt64(times))]
    }
    if let bytes = Self.byteCount(text) { return [.fileBytesAtMost(bytes)] }
    reader.report(
      limit.position, "'\(text.prefix(60))' is not a size",
      "write bytes (65536), a unit (64 KiB, MiB, GiB) or a multiple (4 x content)")
    return []
  }

  private func readPinned(_ node: ScenarioNode) -> [LiveExpectation] {
    guard case .map(let pairs) = node.body, !pairs.isEmpty else {
      reader.report(
        node.position, "expected a mapping of pins, found \(node.kind)",
        "write as in {old: unchanged}")
      return []
    }
    return pairs.compactMap { pair in
      guard reader.word(pair.value, "claim about a pin", of: ["unchanged"]) != nil else {
        return nil
      }
      return .pinnedUnchanged(pair.key.text)
    }
  }

  /// The table with a name; reports a name without a table.
  func findTable(_ name: String, _ position: SourcePosition) -> TableDeclaration? {
    if let table = tables.first(where: { $0.name == name }) { return table }
    let names = tables.map(\.name)
    reader.report(
      position, "no table '\(name.prefix(60))'", nearest: nearestWord(to: name, among: names),
      "write one of: \(names.joined(separator: ", "))")
    return nil
  }
}

extension ScenarioNode {
  /// The keys with which an action opens the database, if any.
  fileprivate var openingKeys: ScenarioNode? {
    guard case .map(let pairs) = body else { return nil }
    return pairs.first { ["open", "with"].contains($0.key.text) }?.value
  }
}
