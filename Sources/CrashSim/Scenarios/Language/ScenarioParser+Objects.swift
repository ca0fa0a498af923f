// ScenarioParser+Objects.swift: parses what is allowed only in scenarios over Faultline's classes.

import LabCore
import Workload

extension ScenarioParser {
  /// Parses how realms are opened.
  func readRealm(_ fields: ScenarioReader.Fields, _ database: inout DatabaseDeclaration) {
    guard var objects = database.objects else {
      for key in GrammarObject.realmKeys {
        guard let position = fields.keyPosition(key) else { continue }
        reader.report(
          position, "'\(key)' is how a realm is opened, and this schema has tables",
          "write 'schema: \(ObjectClasses.word)', or remove the key")
      }
      return
    }
    if let node = fields["schemaVersion"],
      let version = reader.integer(node, "a schema version", in: ObjectDeclaration.versions)
    {
      objects.schemaVersion = UInt64(version)
    }
    if let node = fields["migration"] {
      let words = DeclaredMigration.allCases.map(\.rawValue)
      objects.migration =
        reader.word(node, "migration", of: words).flatMap { DeclaredMigration(rawValue: $0) }
        ?? .none
    }
    if let node = fields["deleteIfNeeded"] {
      objects.deletesIfNeeded = reader.flag(node, "value of deleteIfNeeded") ?? false
      if objects.deletesIfNeeded, objects.migration != .none {
        reader.report(
          node.position, "a realm is migrated or its data deleted, not both",
          "remove 'migration' or 'deleteIfNeeded'")
      }
    }
    if let node = fields["seedCopy"], let text = reader.text(node, "the name of a copy") {
      objects.seed = reader.name(text, node.position, "copy")
    }
    for key in ["commitProtocol", "grouped"] where fields.keyPosition(key) != nil {
      if key == "grouped", !database.isGrouped { continue }
      if key == "commitProtocol", database.commit == .twoPhase { continue }
      reader.report(
        fields.keyPosition(key) ?? fields.position,
        "'\(key)' is for tables: a realm has no such setting", "remove it")
    }
    database.objects = objects
  }

  /// `{query: "age > 3", of: Dog, finds: [1, 2]}`, or `finds: 2`, or without it.
  func readQuery(_ fields: ScenarioReader.Fields) -> ObjectQuery? {
    guard var query = readQuestion(fields, "query") else { return nil }
    guard let finds = fields["finds"] else {
      guard query.table == ObjectClasses.crate else { return query }
      reader.report(
        fields.position, "a query of \(query.table) needs 'finds'",
        "write the keys or the number of the objects that it must find")
      return nil
    }
    if case .list(let items) = finds.body {
      query.keys = items.compactMap { reader.integer($0, "a key", in: ScenarioBounds.keys) }
      return query
    }
    guard let count = reader.integer(finds, "a count", in: 0...Int64(Int32.max)) else {
      return nil
    }
    query.count = Int(count)
    return query
  }

  /// `{observe: "age > 3", of: Dog}`.
  func readObserve(_ fields: ScenarioReader.Fields) -> ObjectQuery? {
    readQuestion(fields, "observe")
  }

  private func readQuestion(_ fields: ScenarioReader.Fields, _ verb: String) -> ObjectQuery? {
    guard let node = fields[verb], let text = reader.text(node, "a query"),
      requireObjects(node.position, verb)
    else { return nil }
    guard let of = fields["of"], let name = reader.text(of, "the name of a class") else {
      reader.report(
        fields.position, "'\(verb)' needs the class in 'of'",
        "write as in {\(verb): \"age > 3\", of: Dog}")
      return nil
    }
    return findTable(name, of.position).map { ObjectQuery(text: text, table: $0.name) }
  }

  /// `{misuse: background}`: the actor whose realm is used.
  func readMisuse(_ node: ScenarioNode, by actor: String) -> String? {
    guard let owner = reader.text(node, "the name of an actor"),
      requireObjects(node.position, "misuse")
    else { return nil }
    let process = processes.first { $0.actors.contains(actor) }
    guard owner != actor, process?.actors.contains(owner) ?? false else {
      reader.report(
        node.position, "'\(owner.prefix(60))' is not another actor of the process of '\(actor)'",
        "name one whose thread the realm belongs to")
      return nil
    }
    return owner
  }

  private func requireObjects(_ position: SourcePosition, _ what: String) -> Bool {
    guard database.objects == nil else { return true }
    reader.report(
      position, "'\(what)' is for objects, and this schema has tables",
      "write 'schema: \(ObjectClasses.word)'")
    return false
  }
}
