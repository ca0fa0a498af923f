// ScenarioParser+Events.swift: parses events of processes and files between the steps of actors,
// and actions that must fail.

import LabCore
import Workload

extension ScenarioParser {
  /// A step that names a process or a file instead of an actor; nil and a report if it is invalid.
  func readEvent(_ entry: ScenarioNode.Entry) -> ScenarioStep? {
    let node = entry.value
    let position = entry.key.position
    switch entry.key.text {
    case "kill": return step(position, node, .kill)
    case "exit": return step(position, node, .exit)
    case "stop": return step(position, node, .stop)
    case "continue": return step(position, node, .resume)
    case "limit": return readLimit(node, position)
    case "remove":
      return readPart(node).map {
        ScenarioStep(
          position: position, actors: [actors.first ?? ""], action: .command(.file(.remove($0))))
      }
    case "shorten": return readShorten(node, position)
    default: return readOverwrite(node, position)
    }
  }

  private func step(
    _ position: SourcePosition, _ node: ScenarioNode, _ event: ProcessEvent
  ) -> ScenarioStep? {
    guard let name = reader.word(node, "process", of: processes.map(\.name)),
      let process = processes.first(where: { $0.name == name }), let actor = process.actors.first
    else { return nil }
    return ScenarioStep(position: position, actors: [actor], action: .command(.process(event)))
  }

  private func readLimit(_ node: ScenarioNode, _ position: SourcePosition) -> ScenarioStep? {
    guard let fields = reader.fields(node, .limit, required: ["process"]),
      let process = fields["process"]
    else { return nil }
    let bounds = fields.entries.filter { $0.key.text != "process" }
    guard let bound = bounds.first, bounds.count == 1,
      let resource = LimitedResource(rawValue: bound.key.text)
    else {
      let words = LimitedResource.allCases.map(\.rawValue).joined(separator: ", ")
      reader.report(
        bounds.dropFirst().first?.key.position ?? position,
        "a limit has one of \(words), found \(bounds.count)", "write one of them, with its bound")
      return nil
    }
    if case .scalar("none", isQuoted: false) = bound.value.body {
      return step(position, process, .limit(ProcessLimit(resource, count: nil)))
    }
    guard let bytes = readBytes(bound.value, "a bound") else { return nil }
    return step(position, process, .limit(ProcessLimit(resource, count: bytes)))
  }

  private func readPart(_ node: ScenarioNode) -> DatabasePart? {
    reader.word(node, "file of the database", of: DatabasePart.allCases.map(\.rawValue))
      .flatMap { DatabasePart(rawValue: $0) }
  }

  private func readOverwrite(_ node: ScenarioNode, _ position: SourcePosition) -> ScenarioStep? {
    guard let fields = reader.fields(node, .overwrite, required: ["file", "with"]),
      let part = fields["file"].flatMap({ readPart($0) }), let with = fields["with"],
      let word = reader.word(with, "filling", of: FileFilling.allCases.map(\.rawValue)),
      let filling = FileFilling(rawValue: word)
    else { return nil }
    guard part == .lock else {
      reader.report(
        position, "only the lock file may be overwritten with any bytes",
        "write 'file: lock', or let 'media' damage the database")
      return nil
    }
    return ScenarioStep(
      position: position, actors: [actors.first ?? ""],
      action: .command(.file(.overwrite(part, with: filling))))
  }

  private func readShorten(_ node: ScenarioNode, _ position: SourcePosition) -> ScenarioStep? {
    guard let fields = reader.fields(node, .shorten, required: ["file", "to"]),
      let part = fields["file"].flatMap({ readPart($0) }),
      let bytes = fields["to"].flatMap({ readBytes($0, "a size") })
    else { return nil }
    guard part == .database else {
      reader.report(
        position, "only the database is a file that can be too short",
        "write 'file: database', or overwrite the lock file")
      return nil
    }
    return ScenarioStep(
      position: position, actors: [actors.first ?? ""],
      action: .command(.file(.cut(part, toBytes: bytes))))
  }

  private func readBytes(_ node: ScenarioNode, _ what: String) -> UInt64? {
    guard let text = reader.text(node, what) else { return nil }
    if let bytes = Self.byteCount(text) { return bytes }
    reader.report(
      node.position, "'\(text.prefix(60))' is not a number of bytes or descriptors",
      "write a number (65536), one with a unit (64 KiB, MiB, GiB), or none")
    return nil
  }

  /// The number of bytes in `65536` or `64 KiB`; nil for any other text.
  static func byteCount(_ text: String) -> UInt64? {
    let words = text.split(separator: " ")
    let units = ["KiB": Int64(1) << 10, "MiB": 1 << 20, "GiB": 1 << 30]
    guard words.count <= 2, let number = words.first.flatMap({ ScenarioReader.number($0) }),
      number >= 0
    else { return nil }
    let unit = words.count == 1 ? 1 : units[String(words[1])] ?? 0
    let (bytes, overflow) = number.multipliedReportingOverflow(by: unit)
    return unit == 0 || overflow ? nil : UInt64(bytes)
  }

  /// `{try: open, fails: locked}`: an action that must fail.
  func readAttempt(_ fields: ScenarioReader.Fields, actor: String) -> StepAction? {
    guard let node = fields["try"] else { return nil }
    guard let failing = fields["fails"] else {
      reader.report(
        fields.position, "'try' needs the engine's error code in 'fails'",
        "write as in {try: open, fails: locked}")
      return nil
    }
    guard let text = reader.word(node, "action to try", of: GrammarWords.attempts),
      let word = ActionWord.find(text),
      let code = reader.word(failing, "engine error code", of: GrammarWords.errorCodes)
    else { return nil }
    if let with = fields["with"], text != "open", text != "reopen" {
      reader.report(
        with.position, "'with' says how the database is opened, and '\(text)' does not open it",
        "remove it")
    }
    return .attempt(word.action(actor), fails: code)
  }
}
