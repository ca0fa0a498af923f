// ScenarioParser+Contents.swift: parses contents of crates, which may be lists and dictionaries of
// each other, and changes deep inside them. Invariant: both are bounded in depth before they are
// read, so that recursion is.

import LabCore
import Workload

extension ScenarioParser {
  /// `random`, or a plain value, a list or a mapping as it is written.
  func readContent(_ node: ScenarioNode) -> ValueRule? {
    if case .scalar("random", isQuoted: false) = node.body { return .any }
    return readLiteral(node, depth: 0).map { .content($0) }
  }

  /// A value as it is written; `depth` collections are around it.
  private func readLiteral(_ node: ScenarioNode, depth: Int) -> PlannedValue? {
    if case .scalar(let text, let isQuoted) = node.body {
      return isQuoted ? .string(text) : readPlain(text, node)
    }
    guard depth < ScenarioBounds.contentDepth else {
      reader.report(
        node.position,
        "\(node.kind) inside \(depth) others, and a content has at most "
          + "\(ScenarioBounds.contentDepth) nested collections",
        "write it flatter, or nest it deeper by no more than that")
      return nil
    }
    switch node.body {
    case .list(let items):
      let values = items.compactMap { readLiteral($0, depth: depth + 1) }
      return values.count == items.count ? .list(values) : nil
    case .map(let pairs):
      if let link = pairs.first(where: { $0.key.text.hasPrefix("$") }) {
        return readLink(link, isAlone: pairs.count == 1)
      }
      var entries: [PlannedEntry] = []
      for pair in pairs {
        guard let value = readLiteral(pair.value, depth: depth + 1) else { continue }
        if entries.contains(where: { $0.key == pair.key.text }) {
          reader.report(
            pair.key.position, "'\(pair.key.text.prefix(60))' twice in one dictionary",
            "keep one of them")
        }
        entries.append(PlannedEntry(key: pair.key.text, value: value))
      }
      return entries.count == pairs.count ? .dictionary(sorting: entries) : nil
    case .scalar: return nil
    }
  }

  /// A link to a dog: the mapping of one key, which no dictionary has.
  private func readLink(_ pair: ScenarioNode.Entry, isAlone: Bool) -> PlannedValue? {
    if isAlone, pair.key.text == ObjectClasses.linkKey,
      case .scalar(let text, isQuoted: false) = pair.value.body,
      let key = ScenarioReader.number(text)
    {
      return .link(key)
    }
    refuseKey(pair.key.text, pair.key.position)
    return nil
  }

  private func refuseKey(_ key: String, _ position: SourcePosition) {
    reader.report(
      position,
      "'\(key.prefix(60))' is no key of a dictionary, which begins with no dollar sign",
      "for a link write as in {\(ObjectClasses.linkKey): 3}")
  }

  private func readPlain(_ text: String, _ node: ScenarioNode) -> PlannedValue? {
    switch text {
    case "null", "~", "": return .null
    case "true", "false": return .bool(text == "true")
    default: break
    }
    if let number = ScenarioReader.number(text) { return .int(number) }
    let words = text.split(separator: " ", maxSplits: 1)
    let bounds = text.components(separatedBy: "..")
    let isRange = bounds.count == 2 && bounds.allSatisfy { ScenarioReader.number($0) != nil }
    guard words.first != "random", !isRange else {
      reader.report(
        node.position, "'\(text.prefix(60))' is no value of a content, which is written whole",
        "write a value, put a text in quotes, or draw the whole content: 'content: random'")
      return nil
    }
    if let number = Double(text), number.isFinite { return .double(number.bitPattern) }
    return .string(text)
  }

  // MARK: - Edits

  /// `edit: random`, or as in `{at: [rooms, 0], set: 5}`.
  func readEdit(
    _ node: ScenarioNode, of statement: inout WriteStatement, _ table: TableDeclaration
  ) {
    guard let column = table.columns.first(where: { $0.objects == .content }),
      statement.kind == .update
    else {
      reader.report(
        node.position, "'edit' changes the content of a \(ObjectClasses.crate) in an update",
        "write as in {update: \(ObjectClasses.crate), _id: 1, edit: {at: [0], remove: true}}")
      return
    }
    if statement.values[column.name] != nil {
      reader.report(
        node.position, "'edit' and '\(column.name)' in one statement", "keep one of them")
    }
    if case .scalar("random", isQuoted: false) = node.body {
      statement.edit = .any
    } else {
      statement.edit = readEdit(node).map { .planned($0) }
    }
  }

  private func readEdit(_ node: ScenarioNode) -> ContentEdit? {
    guard let fields = reader.fields(node, .contentEdit) else { return nil }
    let path = fields["at"].map { readPath($0) } ?? []
    let changes = fields.entries.filter { $0.key.text != "at" }
    guard let change = changes.first, changes.count == 1, let path else {
      if path != nil {
        reader.report(
          changes.dropFirst().first?.key.position ?? node.position,
          "an edit makes one change, found \(changes.count)",
          "write one of: set, insert, remove, clear, move, swap")
      }
      return nil
    }
    if path.isEmpty, !["set", "clear"].contains(change.key.text) {
      reader.report(
        change.key.position, "'\(change.key.text)' needs the place of an element in 'at'",
        "write as in {at: [rooms, 0], \(change.key.text): …}")
      return nil
    }
    switch change.key.text {
    case "set", "insert":
      guard let value = readLiteral(change.value, depth: path.count) else { return nil }
      return ContentEdit(
        path: path, change: change.key.text == "set" ? .set(value) : .insert(value))
    case "move", "swap":
      let place = reader.integer(change.value, "the index of another element", in: 0...Int64.max)
      guard let place else { return nil }
      return ContentEdit(
        path: path, change: change.key.text == "move" ? .move(to: place) : .swap(with: place))
    default:
      guard reader.word(change.value, "value of \(change.key.text)", of: ["true"]) != nil else {
        return nil
      }
      return ContentEdit(path: path, change: change.key.text == "remove" ? .remove : .clear)
    }
  }

  /// Indexes and keys; quoted numbers are keys.
  private func readPath(_ node: ScenarioNode) -> [PlannedValue]? {
    guard case .list(let items) = node.body else {
      reader.report(
        node.position, "expected a list of indexes and keys, found \(node.kind)",
        "write as in [rooms, 0]")
      return nil
    }
    guard items.count <= ScenarioBounds.contentDepth else {
      reader.report(
        node.position,
        "\(items.count) steps, and a content has at most \(ScenarioBounds.contentDepth) nested "
          + "collections", "write a shorter path")
      return nil
    }
    var path: [PlannedValue] = []
    for item in items {
      guard case .scalar(let text, let isQuoted) = item.body, isQuoted || !text.isEmpty else {
        reader.report(
          item.position, "expected an index or a key, found \(item.kind)",
          "write a number for a list, or a text for a dictionary")
        return nil
      }
      guard !text.hasPrefix("$") else {
        refuseKey(text, item.position)
        return nil
      }
      let number = isQuoted ? nil : ScenarioReader.number(text)
      path.append(number.map { .int($0) } ?? .string(text))
    }
    return path
  }
}
