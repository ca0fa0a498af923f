// ScenarioParser.swift: parses the text of a scenario file to a `Scenario`, or to a list of all its
// errors. This file has the main sequence; each extension parses one part.

import LabCore
import Workload

/// Parses scenario files.
public struct ScenarioParser {
  let reader: ScenarioReader
  /// Whether `during:` accepts phases of any program instead of only the steps of engine commits.
  let takesAnyPhase: Bool
  var tables: [TableDeclaration] = []
  var processes: [ProcessDeclaration] = []
  var database = DatabaseDeclaration()

  init(file: String, takesAnyPhase: Bool = false) {
    self.takesAnyPhase = takesAnyPhase
    reader = ScenarioReader(file: file)
  }

  /// The scenario in a text.
  /// - Parameters:
  ///   - text: The content of the file.
  ///   - file: Its name, for messages and reports.
  /// - Returns: A scenario whose steps are possible and whose names all exist.
  /// - Throws: `ScenarioError` with all diagnostics.
  ///
  /// Old spellings of keys are accepted silently; `read` returns them.
  public static func parse(_ text: String, file: String) throws(ScenarioError) -> Scenario {
    try read(text, file: file).scenario
  }

  /// Parses a file's bytes, which need not be text, like `parse(_:file:)`.
  /// - Parameters:
  ///   - bytes: The content of the file.
  ///   - file: Its name, for messages and reports.
  /// - Returns: The scenario.
  /// - Throws: `ScenarioError` with all diagnostics.
  public static func parse(bytes: [UInt8], file: String) throws(ScenarioError) -> Scenario {
    try parse(try text(of: bytes, file: file), file: file)
  }

  /// The scenario in a text, and the old spellings in it.
  /// - Parameters:
  ///   - text: The content of the file.
  ///   - file: Its name, for messages and reports.
  /// - Returns: The scenario, and the keys with old spellings, in the order of parsing.
  /// - Throws: `ScenarioError` with all diagnostics.
  package static func read(
    _ text: String, file: String
  ) throws(ScenarioError) -> (scenario: Scenario, oldSpellings: [OldSpelling]) {
    let root = try ScenarioText.compose(text, file: file)
    var parser = ScenarioParser(file: file)
    var scenario = parser.scenario(root)
    scenario?.history?.source = text
    guard parser.reader.diagnostics.isEmpty, let scenario else {
      throw ScenarioError(parser.reader.diagnostics)
    }
    return (scenario, parser.reader.oldSpellings)
  }

  /// The text of a file.
  /// - Throws: `ScenarioError` for bytes that are not UTF-8.
  package static func text(of bytes: [UInt8], file: String) throws(ScenarioError) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    throw ScenarioError([
      ScenarioDiagnostic(
        file: file, position: SourcePosition(line: 1, column: 1),
        message: "the file is not UTF-8", remedy: "save it as UTF-8")
    ])
  }

  private mutating func scenario(_ root: ScenarioNode) -> Scenario? {
    guard reader.isReadable(root) else { return nil }
    let isDrawn = ["history", "documents", "sync"].contains { root.hasKey($0) }
    guard
      let fields = reader.fields(
        root, .scenario, required: ["title"] + (isDrawn ? [] : Self.sectionsOfSteps))
    else { return nil }
    let history = fields["history"].flatMap { readHistory($0, fields) }
    let title = fields["title"].flatMap { reader.text($0, "a title") }
    let before = reader.diagnostics.count
    if let node = fields["schema"] { readSchema(node) }
    if let node = fields["processes"] { processes = readProcesses(node) }
    // An error in a name would be reported again wherever the name is used.
    if let history { processes = history.declaredProcesses }
    let documents = fields["documents"].flatMap { readDocuments($0, fields) }
    let sync = fields["sync"].flatMap { readSync($0, fields) }
    let names = documents.map { $0.processes + $0.together.map(\.name) } ?? sync?.nodes
    processes = names?.map { ProcessDeclaration(name: $0, actors: [$0]) } ?? processes
    let areNamesKnown =
      reader.diagnostics.count == before
      && (isDrawn || fields["schema"] != nil && fields["processes"] != nil)
    if let node = fields["database"] { database = readDatabase(node) }
    let steps = areNamesKnown ? fields["steps"].map { readSteps($0) } ?? [] : []
    var scenario = Scenario(
      title: title ?? "", file: reader.file, tables: tables, processes: processes,
      database: database, steps: steps,
      schedule: fields["schedule"].flatMap { readSchedule($0) },
      crash: fields["crash"].flatMap { readCrash($0) },
      media: fields["media"].flatMap { readMedia($0) },
      kill: areNamesKnown ? fields["killSweep"].flatMap { readKill($0) } : nil,
      sweep: fields["sweep"].flatMap { readSweep($0) },
      faults: fields["faults"].map { readFaults($0) } ?? [],
      writeBack: fields["writeBack"].flatMap { readWriteBack($0) },
      negative: fields["negative"].flatMap { readNegative($0) },
      seed: fields["seed"].flatMap { readSeed($0) },
      tags: fields["tags"].map { readTags($0) } ?? [])
    scenario.lines = ScenarioLines(
      title: fields.keyPosition("title")?.line, crash: fields.keyPosition("crash")?.line,
      schedule: fields.keyPosition("schedule")?.line, media: fields.keyPosition("media")?.line,
      kill: fields.keyPosition("killSweep")?.line, sweep: fields.keyPosition("sweep")?.line,
      version: fields.keyPosition("version")?.line)
    scenario.history = history
    scenario.documents = documents
    scenario.sync = sync
    let hasModels = scenario.crash?.models.isEmpty == false
    if scenario.kill?.crashStates != nil, !hasModels, let node = fields["killSweep"] {
      reader.report(
        node.position, "the power cuts of killed runs need the models of 'crash'",
        "add 'crash: {model: ext4-ordered}', or take 'crashStates' out of 'killSweep'")
    }
    if scenario.writeBack != nil, !scenario.blocks.isEmpty, let node = fields["writeBack"] {
      reader.report(
        node.position, "actors side by side run inside Faultline, where nothing is mapped",
        "take 'writeBack' out, or write the steps one after the other")
    }
    if scenario.crash?.systems.isEmpty == false, let node = fields["crash"] {
      if !scenario.blocks.isEmpty || !scenario.faults.isEmpty || scenario.writeBack != nil {
        reader.report(
          node.position, "faults, written-back pages and actors side by side need FaultFS",
          "take 'on' out of 'crash', or 'faults', 'writeBack' and 'together' out of the scenario")
      }
    }
    checkDrawn(scenario, fields)
    // The expansion of the steps is checked only if each of them is well formed.
    if reader.diagnostics.isEmpty, !isDrawn {
      StepOrder(scenario, reader).check()
      TogetherCheck(scenario: scenario, reader: reader).check()
    }
    return scenario
  }

  private func readTags(_ node: ScenarioNode) -> [String] {
    let items = reader.oneOrMore(node, of: "tags")
    guard items.count <= ScenarioBounds.names else {
      reader.report(
        node.position, "\(items.count) tags are more than \(ScenarioBounds.names)",
        "write fewer tags")
      return []
    }
    return reader.distinct(items, "tag") { item in
      reader.text(item, "a tag").flatMap { reader.tag($0, item.position) }.map { ($0, $0) }
    }
  }

  func readSeed(_ node: ScenarioNode) -> Seed? {
    if case .scalar(let text, isQuoted: false) = node.body, let value = UInt64(text) {
      return Seed(rawValue: value)
    }
    reader.report(
      node.position, "expected a seed, found \(node.kind)",
      "write a whole number from 0 to \(UInt64.max)")
    return nil
  }
}

// MARK: - Schema and processes

extension ScenarioParser {
  /// The scenario's own tables, or Faultline's classes.
  private mutating func readSchema(_ node: ScenarioNode) {
    guard case .scalar(ObjectClasses.word, isQuoted: false) = node.body else {
      tables = readTables(node)
      return
    }
    tables = ObjectClasses.tables
    database.objects = ObjectDeclaration()
  }

  private func readTables(_ node: ScenarioNode) -> [TableDeclaration] {
    guard case .map(let pairs) = node.body, !pairs.isEmpty else {
      reader.report(
        node.position, "expected a schema mapping, found \(node.kind)",
        "write as in {Dog: {_id: int primary, name: string}}")
      return []
    }
    guard pairs.count <= ScenarioBounds.names else {
      reader.report(
        node.position, "\(pairs.count) tables are more than \(ScenarioBounds.names)",
        "write fewer tables")
      return []
    }
    let names = pairs.map(\.key.text)
    let tables = pairs.compactMap { pair -> TableDeclaration? in
      guard let name = reader.name(pair.key.text, pair.key.position, "table") else { return nil }
      return readTable(name, pair.key.position, pair.value, among: names)
    }
    if let column = tables.first?.columns.first(where: \.isUnique) {
      reader.report(
        pairs[0].value.position,
        "'\(column.name)' is unique in the first table, which takes rows of Faultline, all alike",
        "put another table before it")
    }
    return tables
  }

  private func readTable(
    _ name: String, _ position: SourcePosition, _ node: ScenarioNode, among names: [String]
  ) -> TableDeclaration? {
    guard case .map(let pairs) = node.body else {
      reader.report(
        node.position, "expected the columns of '\(name)', found \(node.kind)",
        "write as in {_id: int primary, name: string}")
      return nil
    }
    guard pairs.count <= ScenarioBounds.names else {
      reader.report(
        node.position, "\(pairs.count) columns are more than \(ScenarioBounds.names)",
        "write fewer columns")
      return nil
    }
    var table = TableDeclaration(name: name, key: "", columns: [])
    for pair in pairs {
      guard let column = reader.name(pair.key.text, pair.key.position, "column") else { continue }
      if case .scalar(GrammarWords.primary, _) = pair.value.body {
      } else {
        if let read = readColumn(column, pair.value, among: names) { table.columns.append(read) }
        continue
      }
      if table.key.isEmpty {
        table.key = column
      } else {
        reader.report(
          pair.value.position,
          "table '\(name)' has two primary keys, '\(table.key)' and '\(column)'",
          "write 'int primary' once")
      }
    }
    let isBroken = pairs.count != table.columns.count + (table.key.isEmpty ? 0 : 1)
    guard !table.key.isEmpty || isBroken else {
      reader.report(
        position, "table '\(name)' has no primary key", "write 'int primary' for one column")
      return nil
    }
    return table
  }

  /// How the database is opened: as the file specifies for all processes, except for these keys.
  func readDatabase(_ node: ScenarioNode) -> DatabaseDeclaration {
    var database = self.database
    guard let fields = reader.fields(node, .database) else { return database }
    if let node = fields["commitProtocol"] {
      let words = DeclaredProtocol.allCases.map(\.rawValue)
      let word = reader.word(node, "commit protocol", of: words)
      database.commit = word.flatMap { DeclaredProtocol(rawValue: $0) } ?? .twoPhase
    }
    if let node = fields["key"] { database.key = readKey(node) ?? .none }
    if let node = fields["grouped"] {
      database.isGrouped = reader.flag(node, "value of grouped") ?? false
    }
    if let node = fields["compactOnLaunch"] {
      database.compactsOnLaunch = reader.flag(node, "value of compactOnLaunch") ?? false
    }
    if let node = fields["readOnly"] {
      database.isReadOnly = reader.flag(node, "value of readOnly") ?? false
    }
    if let node = fields["maximumVersions"] {
      database.activeVersionsMax =
        reader.integer(node, "a number of versions", in: ScenarioBounds.repeats).map { Int($0) }
    }
    readRealm(fields, &database)
    return database
  }

  func readKey(_ node: ScenarioNode) -> DeclaredKey? {
    let words = DeclaredKey.allCases.map(\.rawValue)
    return reader.word(node, "key", of: words).flatMap { DeclaredKey(rawValue: $0) }
  }

  /// A type, for example `int`, `string?`, `int indexed`, `[int]`, `link Dog`.
  private func readColumn(
    _ name: String, _ node: ScenarioNode, among tables: [String]
  ) -> ColumnDeclaration? {
    var column = ColumnDeclaration(name: name, type: .int)
    if case .list(let items) = node.body, items.count == 1 {
      guard let type = reader.word(items[0], "element type", of: GrammarWords.elementTypes) else {
        return nil
      }
      column.type = DeclaredType(rawValue: type) ?? .int
      column.isList = true
      return column
    }
    if case .scalar(let text, _) = node.body, text.hasPrefix("link ") {
      let target = String(text.dropFirst(5))
      guard tables.contains(target) else {
        reader.report(
          node.position, "no table '\(target.prefix(60))' to link to",
          nearest: nearestWord(to: target, among: tables),
          "write one of: \(tables.joined(separator: ", "))")
        return nil
      }
      column.type = .link
      column.isOptional = true
      column.target = target
      return column
    }
    guard let word = reader.text(node, "a column type") else { return nil }
    guard GrammarWords.columnTypes.contains(word) else {
      let words = [GrammarWords.primary] + GrammarWords.columnTypes
      let whole = words.first { $0.hasSuffix(" \(word)") }
      reader.report(
        node.position, "'\(word.prefix(60))' is not a column type",
        nearest: whole ?? nearestWord(to: word, among: words),
        "write one of: \(words.joined(separator: ", ")), 'link TABLE', or '[int]' for a list")
      return nil
    }
    column.isIndexed = word.hasSuffix(" indexed")
    column.isUnique = word.hasSuffix(" unique")
    column.isFullText = word.hasSuffix(" full-text")
    let type = word.split(separator: " ")[0]
    column.isOptional = type.hasSuffix("?")
    column.type = DeclaredType(rawValue: String(type.prefix { $0 != "?" })) ?? .int
    // The engine allows null among mixed values in any case.
    if column.type == .mixed { column.isOptional = true }
    return column
  }

  private func readProcesses(_ node: ScenarioNode) -> [ProcessDeclaration] {
    guard case .map(let pairs) = node.body, !pairs.isEmpty else {
      reader.report(
        node.position, "expected a processes mapping, found \(node.kind)",
        "write as in {app: [ui, background]}")
      return []
    }
    var seen: Set<String> = []
    let read = pairs.compactMap { pair -> ProcessDeclaration? in
      guard let name = reader.name(pair.key.text, pair.key.position, "process") else { return nil }
      var actors: [String] = []
      for item in reader.list(pair.value, of: "actors").prefix(ScenarioBounds.names) {
        guard let text = reader.text(item, "the name of an actor"),
          let actor = reader.name(text, item.position, "actor")
        else { continue }
        if seen.insert(actor).inserted {
          actors.append(actor)
        } else {
          reader.report(
            item.position, "actor '\(actor)' occurs twice", "give each actor a name of its own")
        }
      }
      return ProcessDeclaration(name: name, actors: actors)
    }
    if seen.count > ScenarioBounds.names {
      reader.report(
        node.position, "\(seen.count) actors are more than \(ScenarioBounds.names)",
        "write fewer actors")
    }
    return read
  }
}
