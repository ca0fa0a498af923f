// ScenarioParser+Documents.swift: reads what a scenario does with documents.

import DocumentLab
import LabCore
import Workload

extension ScenarioParser {
  /// Sections that have no meaning beside `documents`.
  private static let withoutDocuments = [
    "schema", "processes", "database", "steps", "history", "writeBack",
  ]

  func readDocuments(
    _ node: ScenarioNode, _ scenario: ScenarioReader.Fields
  ) -> DocumentDeclaration? {
    for key in Self.withoutDocuments where scenario[key] != nil {
      reader.report(
        scenario.keyPosition(key) ?? node.position, "'\(key)' has no meaning beside 'documents'",
        "remove it; steps on documents are in 'documents'")
    }
    let required = node.hasKey("together") ? [] : ["steps"]
    guard let fields = reader.fields(node, .documents, required: required) else { return nil }
    var documents = DocumentDeclaration()
    if let sync = fields["sync"] {
      let words = DocumentDeclaration.Sync.allCases.map(\.rawValue)
      documents.sync =
        reader.word(sync, "sync", of: words).flatMap { DocumentDeclaration.Sync(rawValue: $0) }
        ?? .full
    }
    if let format = fields["format"] {
      let words = DocumentDeclaration.formats.map { "\($0)" }
      documents.format = reader.word(format, "format", of: words).flatMap { Int($0) }
    }
    if let breaks = fields["breaks"] {
      let words = DocumentPromise.allCases.map(\.name)
      documents.breaks = reader.word(breaks, "invariant", of: words)
        .flatMap { DocumentPromise(named: $0) }
    }
    if let processes = fields["processes"] {
      let names = reader.distinct(reader.list(processes, of: "processes"), "process") { item in
        reader.text(item, "a name").flatMap { reader.name($0, item.position, "process") }
          .map { ($0, $0) }
      }
      if !names.isEmpty { documents.processes = names }
    }
    if let before = fields["before"] {
      documents.before = readDocumentSteps(before, documents.processes, isInside: false)
    }
    if let steps = fields["steps"] {
      documents.steps = readDocumentSteps(steps, documents.processes, isInside: false)
    }
    if let together = fields["together"] {
      documents.together = readDocumentActors(together)
    }
    if let pages = fields["checkpointPages"] {
      documents.checkpointPages = reader.integer(pages, "a number of pages", in: 1...1_000)
        .map { Int($0) }
      if documents.together.isEmpty {
        reader.report(
          pages.position, "'checkpointPages' is for actors side by side", "remove it")
      }
    }
    if documents.together.isEmpty, let place = scenario.keyPosition("schedule") {
      reader.report(
        place, "'schedule' is for actors side by side",
        "write them under 'documents: together:', or remove it")
    }
    let alone = documents.before + documents.steps
    for step in alone where step.action.isForActorsAlone {
      reader.report(
        step.position, "this step is for actors side by side", "write it under 'together:'")
    }
    return documents
  }

  /// Actors side by side, by name.
  private func readDocumentActors(_ node: ScenarioNode) -> [DocumentActorDeclaration] {
    guard case .map(let entries) = node.body,
      (2...DocumentDeclaration.actorsMax).contains(entries.count)
    else {
      reader.report(
        node.position, "expected the steps of 2 to \(DocumentDeclaration.actorsMax) actors",
        "write as in {writer: [{save: a, body: {}}], reader: [look]}")
      return []
    }
    return entries.compactMap { entry in
      guard let name = reader.name(entry.key.text, entry.key.position, "actor") else { return nil }
      let steps = readDocumentSteps(entry.value, [name], isInside: false)
      for step in steps where !step.action.isForActors {
        reader.report(
          step.position, "actors side by side cannot do this step", "write it under 'steps:'")
      }
      return DocumentActorDeclaration(name: name, steps: steps)
    }
  }

  /// What a disturbance cannot do here, and whether the steps are possible in their order.
  func checkDocuments(_ scenario: Scenario, _ fields: ScenarioReader.Fields) {
    guard let documents = scenario.documents, reader.diagnostics.isEmpty else { return }
    func refuse(_ key: String, _ message: String) {
      reader.report(
        fields.keyPosition(key) ?? fields.position, message, "see docs/reference/document-lab.md")
    }
    if scenario.crash?.explore == .prefixes || scenario.crash?.systems.isEmpty == false {
      refuse("crash", "'explore: prefixes' and 'on' are not for documents")
    }
    if let kill = scenario.kill {
      if kill.manner == .stop || kill.crashStates != nil || kill.kinds.isEmpty {
        refuse("killSweep", "documents are killed at operations, without 'by' and 'crashStates'")
      }
    }
    if !documents.together.isEmpty {
      for key in ["killSweep", "sweep", "media", "faults"] where fields[key] != nil {
        refuse(key, "'\(key)' is not for actors side by side")
      }
      if documents.processes.count > 1 {
        refuse("documents", "actors side by side come after the steps of one process")
      }
    }
    if scenario.sweep?.lasts == true { refuse("sweep", "'lasts' is not for documents") }
    do throws(ScenarioError) {
      _ = try DocumentPlan(documents, file: scenario.file, isComplete: false)
    } catch {
      for found in error.diagnostics {
        reader.report(found.position, found.message, found.remedy)
      }
    }
  }

  private func readDocumentSteps(
    _ node: ScenarioNode, _ processes: [String], isInside: Bool
  ) -> [DocumentStep] {
    reader.list(node, of: "steps").compactMap {
      readDocumentStep($0, processes, isInside: isInside)
    }
  }

  private func readDocumentStep(
    _ node: ScenarioNode, _ processes: [String], isInside: Bool
  ) -> DocumentStep? {
    if case .scalar = node.body {
      guard let action = readDocumentWord(node) else { return nil }
      return DocumentStep(
        position: node.position, process: processes[0],
        collection: DocumentModel.defaultCollection, action: action)
    }
    guard let fields = reader.fields(node, .documentStep) else { return nil }
    let verbs = GrammarWords.documentVerbs.filter { fields[$0] != nil }
    guard verbs.count == 1, let verb = verbs.first, let value = fields[verb] else {
      reader.report(
        node.position, verbs.isEmpty ? "a step without an action" : "a step with two actions",
        "write one of: \(GrammarWords.documentVerbs.joined(separator: ", "))")
      return nil
    }
    var collection = fields["in"].flatMap { reader.text($0, "a collection") }
    if ["createCollection", "deleteCollection"].contains(verb) {
      collection = reader.text(value, "a collection")
    }
    guard let action = readDocumentAction(verb, value, fields, processes) else { return nil }
    if isInside, !action.isChange {
      reader.report(node.position, "'\(verb)' is no part of a transaction", "write it beside it")
      return nil
    }
    let process = fields["by"].flatMap { reader.word($0, "process", of: processes) }
    var step = DocumentStep(
      position: node.position, process: process ?? processes[0],
      collection: collection ?? DocumentModel.defaultCollection, action: action)
    if let times = fields["repeat"] {
      step.repeats = reader.integer(times, "a number of times", in: 1...1_000).map { Int($0) } ?? 1
    }
    step.fails = fields["fails"].flatMap { reader.text($0, "an error code") }
    if case .saveStale = action { step.fails = step.fails ?? "conflict" }
    return step
  }

  private func readDocumentWord(_ node: ScenarioNode) -> DocumentAction? {
    switch reader.word(node, "step", of: GrammarWords.documentWords) {
    case "open": .open
    case "openAndPurge": .openAndPurge
    case "look": .look(isSplit: false)
    case "plantSplitLook": .look(isSplit: true)
    case "refresh": .refresh
    case "close": .close
    case "compact": .compact
    case "reindex": .reindex
    case "hold": .hold
    case "release": .release
    default: nil
    }
  }

  private func readDocumentAction(
    _ verb: String, _ value: ScenarioNode, _ fields: ScenarioReader.Fields, _ processes: [String]
  ) -> DocumentAction? {
    switch verb {
    case "do": return readDocumentWord(value)
    case "createCollection": return .createCollection
    case "deleteCollection": return .deleteCollection
    case "purgeExpired":
      return reader.integer(value, "a time in milliseconds", in: Self.times)
        .map { .purgeExpired(now: $0) }
    case "transaction":
      let cancels = fields["cancel"].flatMap { reader.flag($0, "value of cancel") } ?? false
      return .transaction(
        readDocumentSteps(value, processes, isInside: true), cancels: cancels)
    default: break
    }
    guard let name = reader.text(value, "a name") else { return nil }
    let actor = fields["by"].flatMap { reader.text($0, "a process") } ?? processes[0]
    let body = fields["body"].map { readDocumentValue($0) } ?? .dict([])
    switch verb {
    case "save":
      let isStale = fields["stale"].flatMap { reader.flag($0, "value of stale") } ?? false
      let blob = fields["blob"].flatMap {
        reader.integer($0, "a number of bytes", in: 0...1_000_000).map { Int($0) }
      }
      return isStale
        ? .saveStale(id: name, body: body) : .save(id: name, body: body, blobBytes: blob)
    case "increment":
      let isBlind = fields["blind"].flatMap { reader.flag($0, "value of blind") } ?? false
      return .increment(id: name, name: actor, isBlind: isBlind)
    case "watch": return .watch(property: name)
    case "conflict": return .conflict(id: name, body: body)
    case "resolve": return .resolve(id: name)
    case "delete": return .delete(id: name)
    case "purge": return .purge(id: name)
    case "expire":
      let time = fields["at"].flatMap { reader.integer($0, "milliseconds", in: Self.times) }
      return .expire(id: name, at: time)
    case "index": return readDocumentIndex(name, fields)
    case "dropIndex": return .deleteIndex(name: name)
    case "query":
      let finds = fields["finds"].map { reader.texts($0) } ?? []
      let equals = fields["equals"].map { readDocumentValue($0) } ?? .null
      return .query(property: name, equals: equals, finds: finds)
    case "plant": return .plant(sql: name)
    case "plantLostBlob": return .plantLostBlob(id: name)
    default: return nil
    }
  }

  private static let times: ClosedRange<Int64> = 0...4_102_444_800_000

  private func readDocumentIndex(
    _ name: String, _ fields: ScenarioReader.Fields
  ) -> DocumentAction? {
    guard let property = fields["on"].flatMap({ reader.text($0, "a property") }) else {
      reader.report(
        fields.position, "'index' needs the property in 'on'", "write as in {index: i, on: name}")
      return nil
    }
    let words = DeclaredIndex.allCases.map(\.rawValue)
    let kind = fields["kind"].flatMap { reader.word($0, "kind of index", of: words) }
    return .createIndex(
      name: name, kind: kind.flatMap { DeclaredIndex(rawValue: $0) } ?? .value, property: property)
  }

  private func readDocumentValue(_ node: ScenarioNode) -> DocumentValue {
    switch node.body {
    case .list(let items): return .array(items.map { readDocumentValue($0) })
    case .map(let entries):
      return .dict(
        entries.map { DocumentValue.Pair($0.key.text, readDocumentValue($0.value)) })
    case .scalar(let text, isQuoted: true): return .text(text)
    case .scalar(let text, isQuoted: false):
      if let number = ScenarioReader.number(text) { return .integer(number) }
      return switch text {
      case "true": .boolean(true)
      case "false": .boolean(false)
      case "null", "": .null
      default: .text(text)
      }
    }
  }
}

extension ScenarioReader {
  /// A text, or a list of texts, which may be empty.
  fileprivate func texts(_ node: ScenarioNode) -> [String] {
    if case .list(let items) = node.body { return items.compactMap { text($0, "a text") } }
    return text(node, "a text").map { [$0] } ?? []
  }
}
