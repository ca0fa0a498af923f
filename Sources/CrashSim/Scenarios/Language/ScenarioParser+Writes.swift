// ScenarioParser+Writes.swift: parses the statements of a transaction.

import LabCore
import Workload

extension ScenarioParser {
  func readStatement(_ node: ScenarioNode) -> WriteStatement? {
    guard case .map(let pairs) = node.body else {
      reader.report(
        node.position, "expected a statement, found \(node.kind)",
        "write as in {insert: Dog, _id: sequence, name: random}")
      return nil
    }
    let kinds = StatementKind.allCases.map(\.rawValue)
    let verbs = pairs.filter { kinds.contains($0.key.text) }
    guard let verb = verbs.first, verbs.count == 1,
      let kind = StatementKind(rawValue: verb.key.text)
    else {
      let lone = pairs.first { !kinds.contains($0.key.text) }?.key
      reader.report(
        verbs.dropFirst().first?.key.position ?? node.position,
        "a statement does one thing, found \(verbs.count)",
        nearest: verbs.isEmpty ? lone.flatMap { nearestWord(to: $0.text, among: kinds) } : nil,
        "write one of: \(kinds.joined(separator: ", "))")
      return nil
    }
    guard let name = reader.text(verb.value, "the name of a table"),
      let table = findTable(name, verb.value.position)
    else { return nil }
    return readStatement(node, kind, table)
  }

  private func readStatement(
    _ node: ScenarioNode, _ kind: StatementKind, _ table: TableDeclaration
  ) -> WriteStatement? {
    let columns = [table.key] + table.columns.map(\.name)
    guard let fields = reader.fields(node, .statement, extra: columns) else { return nil }
    guard let keyNode = fields[table.key] else {
      reader.report(
        node.position, "\(kind.rawValue) needs the key '\(table.key)' of '\(table.name)'",
        "add '\(table.key):' with a number, a range, random or sequence")
      return nil
    }
    guard let key = readKey(keyNode, kind) else { return nil }
    var statement = WriteStatement(
      position: node.position, kind: kind, table: table.name, times: 1, key: key, values: [:])
    if let times = fields["times"] {
      statement.times = Int(reader.integer(times, "times", in: ScenarioBounds.repeats) ?? 1)
    }
    if let most = fields["upTo"] {
      statement.times = Int(reader.integer(most, "upTo", in: ScenarioBounds.repeats) ?? 1)
      statement.isAtMost = true
      if fields["times"] != nil {
        reader.report(most.position, "'times' and 'upTo' in one statement", "keep one of them")
      }
    }
    for column in table.columns {
      guard let value = fields[column.name] else { continue }
      guard kind != .delete else {
        reader.report(
          fields.keyPosition(column.name) ?? value.position,
          "delete takes no column, found '\(column.name)'", "remove it")
        continue
      }
      statement.values[column.name] = readValue(value, column)
    }
    if let edit = fields["edit"] { readEdit(edit, of: &statement, table) }
    return statement
  }

  // MARK: - Keys and values

  private func readKey(_ node: ScenarioNode, _ kind: StatementKind) -> KeyRule? {
    let remedy = "write a number, first..last, random first..last, or sequence"
    guard case .scalar(let text, isQuoted: false) = node.body, !text.isEmpty else {
      reader.report(
        node.position, "expected a key, found \(node.kind)",
        node.isQuoted ? "\(remedy), without quotes" : remedy)
      return nil
    }
    if let number = ScenarioReader.number(text) {
      return reader.bounded(number, node.position, "a key", in: ScenarioBounds.keys)
        .map { .constant($0) }
    }
    if text == "sequence" {
      guard kind == .insert || kind == .upsert else {
        reader.report(
          node.position, "\(kind.rawValue) cannot have the key 'sequence', which is always new",
          "write a number, first..last or random first..last")
        return nil
      }
      return .sequence
    }
    if let bounds = randomRange(text) {
      return reader.range(bounds, node.position, "a key", in: ScenarioBounds.keys)
        .map { .random($0) }
    }
    guard text.contains("..") else {
      reader.report(
        node.position, "'\(text.prefix(60))' is not a key",
        nearest: nearestWord(to: text, among: ["sequence", "random"]), remedy)
      return nil
    }
    return reader.range(text, node.position, "a key", in: ScenarioBounds.keys).map { .walk($0) }
  }

  private func readValue(_ node: ScenarioNode, _ column: ColumnDeclaration) -> ValueRule? {
    if column.isOptional, case .scalar("null", isQuoted: false) = node.body { return .null }
    if let kind = column.objects {
      if kind == .home, case .scalar("random", isQuoted: false) = node.body { return .any }
      return kind == .content ? readContent(node) : readItems(node, column)
    }
    if column.isList { return readItems(node, column) }
    switch column.type {
    case .int: return readInt(node, column)
    case .string: return readText(node, column)
    case .link:
      guard let rule = readInt(node, column), rule != .anyInt else { return .any }
      return rule
    case .bool:
      let words = reader.word(node, "value of '\(column.name)'", of: ["true", "false", "random"])
      return words.map { $0 == "random" ? .any : .bool($0 == "true") }
    case .double: return readDouble(node, column)
    case .binary, .date, .uuid, .mixed:
      return reader.word(node, "value of '\(column.name)'", of: ["random"]).map { _ in .any }
    }
  }

  private func readItems(_ node: ScenarioNode, _ column: ColumnDeclaration) -> ValueRule? {
    if case .scalar("random", isQuoted: false) = node.body { return .items(0...8) }
    guard let fields = reader.fields(node, .randomText, required: ["random"]),
      let form = fields["random"]
    else { return nil }
    return readCount(form, of: "items", in: ScenarioBounds.items).map { .items($0) }
  }

  /// `letters 12` or `items 1..300`.
  private func readCount(
    _ node: ScenarioNode, of what: String, in bounds: ClosedRange<Int64>
  ) -> ClosedRange<Int>? {
    guard let text = reader.text(node, "\(what) and their number") else { return nil }
    let words = text.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0] == what else {
      reader.report(
        node.position, "'\(text.prefix(60))' is not a number of \(what)",
        "write '\(what) 12' or '\(what) 1..300'")
      return nil
    }
    let count = String(words[1])
    let span = count.contains("..") ? count : "\(count)..\(count)"
    return reader.range(span, node.position, "a number of \(what)", in: bounds)
      .map { Int($0.lowerBound)...Int($0.upperBound) }
  }

  private func readInt(_ node: ScenarioNode, _ column: ColumnDeclaration) -> ValueRule? {
    let remedy = "write a number, first..last, random, or random first..last"
    guard case .scalar(let text, isQuoted: false) = node.body, !text.isEmpty else {
      reader.report(
        node.position, "expected an int for '\(column.name)', found \(node.kind)", remedy)
      return nil
    }
    let all = Int64.min...Int64.max
    if let number = ScenarioReader.number(text) { return .int(number) }
    if text == "random" { return .anyInt }
    if let bounds = randomRange(text) {
      return reader.range(bounds, node.position, "a value", in: all).map { .randomInt($0) }
    }
    guard text.contains("..") else {
      reader.report(
        node.position, "'\(text.prefix(60))' is not an int for '\(column.name)'",
        nearest: nearestWord(to: text, among: ["random"]), remedy)
      return nil
    }
    return reader.range(text, node.position, "a value", in: all).map { .walk($0) }
  }

  private func readDouble(_ node: ScenarioNode, _ column: ColumnDeclaration) -> ValueRule? {
    if case .scalar("random", isQuoted: false) = node.body { return .any }
    guard case .scalar(let text, isQuoted: false) = node.body, let number = Double(text),
      number.isFinite
    else {
      reader.report(
        node.position, "expected a number for '\(column.name)', found \(node.kind)",
        "write a number like 2.5, or random")
      return nil
    }
    return .double(number)
  }

  private func readText(_ node: ScenarioNode, _ column: ColumnDeclaration) -> ValueRule? {
    switch node.body {
    case .scalar("random", isQuoted: false):
      return .letters(12...12)
    case .scalar(let text, let isQuoted) where isQuoted || !text.isEmpty:
      return .text(text)
    case .map:
      guard let fields = reader.fields(node, .randomText, required: ["random"]),
        let form = fields["random"]
      else { return nil }
      return readCount(form, of: "letters", in: ScenarioBounds.letters).map { .letters($0) }
    default:
      reader.report(
        node.position, "expected a string for '\(column.name)', found \(node.kind)",
        "write a text, random, or {random: letters 12}")
      return nil
    }
  }

  /// The text after `random `, also in the form `random in first..last`.
  private func randomRange(_ text: String) -> String? {
    let words = text.split(separator: " ")
    guard words.first == "random", words.count >= 2 else { return nil }
    guard words[1] == "in" else { return words.dropFirst().joined(separator: " ") }
    return words.dropFirst(2).joined(separator: " ")
  }
}
