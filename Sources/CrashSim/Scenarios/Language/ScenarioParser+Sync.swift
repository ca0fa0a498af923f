// ScenarioParser+Sync.swift: reads what a scenario does with a synchronized realm.

import LabCore
import Workload

extension ScenarioParser {
  /// Sections that have no meaning beside `sync`.
  private static let withoutSync = [
    "schema", "processes", "database", "steps", "history", "documents", "schedule", "writeBack",
    "media", "killSweep", "faults",
  ]

  /// Most clients of a realm: each is a file with its recording.
  private static let clientsMax = 8

  func readSync(
    _ node: ScenarioNode, _ scenario: ScenarioReader.Fields
  ) -> SyncDeclaration? {
    refuseSections(of: scenario, beside: "sync", except: [])
    guard let fields = reader.fields(node, .sync, required: ["nodes", "steps"]) else { return nil }
    var sync = SyncDeclaration()
    if let nodes = fields["nodes"] { readNodes(nodes, &sync) }
    guard !sync.server.isEmpty else { return nil }
    (sync.plant, sync.breaks) = readPlant(fields)
    if let before = fields["before"] { sync.before = readSyncSteps(before, sync) }
    if let steps = fields["steps"] { sync.steps = readSyncSteps(steps, sync) }
    return sync
  }

  /// Reports sections that have no meaning beside synchronization.
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - text: What says that it is about synchronization.
  ///   - allowed: Sections that have a meaning here.
  func refuseSections(
    of scenario: ScenarioReader.Fields, beside text: String, except allowed: [String]
  ) {
    for key in Self.withoutSync where scenario[key] != nil && !allowed.contains(key) {
      reader.report(
        scenario.keyPosition(key) ?? scenario.position,
        "'\(key)' has no meaning beside '\(text)'",
        "remove it; nodes and steps of synchronization are in 'sync', or drawn by 'history'")
    }
  }

  /// Reads a planted bug, and the invariant that it breaks.
  func readPlant(_ fields: ScenarioReader.Fields) -> (plant: SyncPlant?, breaks: SyncPromise?) {
    let plant = fields["plant"].flatMap {
      reader.word($0, "planted bug", of: SyncPlant.allCases.map(\.rawValue))
    }
    let breaks = fields["breaks"].flatMap {
      reader.word($0, "invariant", of: SyncPromise.allCases.map(\.name))
    }
    return (
      plant.flatMap { SyncPlant(rawValue: $0) }, breaks.flatMap { SyncPromise(named: $0) }
    )
  }

  private func readNodes(_ node: ScenarioNode, _ sync: inout SyncDeclaration) {
    guard case .map(let pairs) = node.body else {
      reader.report(
        node.position, "expected a mapping of nodes, found \(node.kind)",
        "write as in {server: server, a: client, b: client}")
      return
    }
    var names: Set<String> = []
    for pair in pairs {
      guard let name = reader.name(pair.key.text, pair.key.position, "node"),
        let kind = reader.word(pair.value, "kind of node", of: ["server", "client"])
      else { continue }
      guard names.insert(name).inserted else {
        reader.report(pair.key.position, "node '\(name)' occurs twice", "remove one")
        continue
      }
      if kind == "client" {
        sync.clients.append(name)
      } else if sync.server.isEmpty {
        sync.server = name
      } else {
        reader.report(
          pair.key.position, "'\(name)' is a second server", "a realm has one; make it a client")
      }
    }
    if sync.server.isEmpty || sync.clients.isEmpty || sync.clients.count > Self.clientsMax {
      reader.report(
        node.position, "a realm has one server, and 1 to \(Self.clientsMax) clients",
        "write as in {server: server, a: client, b: client}")
    }
  }

  /// Checks what stands in place of tables and steps.
  func checkDrawn(_ scenario: Scenario, _ fields: ScenarioReader.Fields) {
    checkDocuments(scenario, fields)
    checkSync(scenario, fields)
  }

  /// What a disturbance cannot do here.
  private func checkSync(_ scenario: Scenario, _ fields: ScenarioReader.Fields) {
    let isSync = scenario.sync != nil || scenario.history?.content == .sync
    guard isSync, reader.diagnostics.isEmpty else { return }
    func refuse(_ key: String, _ message: String) {
      reader.report(
        fields.keyPosition(key) ?? fields.position, message, "see docs/reference/sync-lab.md")
    }
    if let crash = scenario.crash {
      if crash.explore == .prefixes || !crash.systems.isEmpty || crash.recoveryDepth > 0 {
        refuse("crash", "'explore: prefixes', 'on' and 'recovery' are not for synchronization")
      }
    }
  }

  // MARK: steps

  private func readSyncSteps(_ node: ScenarioNode, _ sync: SyncDeclaration) -> [SyncStep] {
    reader.list(node, of: "steps").compactMap { readSyncStep($0, sync) }
  }

  private func readSyncStep(_ node: ScenarioNode, _ sync: SyncDeclaration) -> SyncStep? {
    if case .scalar = node.body {
      let words: [String: SyncAction] = ["settle": .settle, "trim": .trim]
      return reader.word(node, "step", of: GrammarWords.syncWords).flatMap { words[$0] }
        .map { SyncStep(position: node.position, action: $0) }
    }
    guard let fields = reader.fields(node, .syncStep) else { return nil }
    let verbs = GrammarWords.syncVerbs.filter { fields[$0] != nil }
    guard verbs.count == 1, let verb = verbs.first, let value = fields[verb] else {
      reader.report(
        node.position, verbs.isEmpty ? "a step without an action" : "a step with two actions",
        "write one of: \(GrammarWords.syncVerbs.joined(separator: ", "))")
      return nil
    }
    let ofNodes = ["crash", "clock", "copy", "restore", "expect"]
    let names = ofNodes.contains(verb) ? sync.nodes : sync.clients
    guard let name = reader.word(value, ofNodes.contains(verb) ? "node" : "client", of: names)
    else { return nil }
    guard let action = readSyncAction(verb, name, fields, sync) else { return nil }
    var step = SyncStep(position: node.position, action: action)
    readTimes(verb, fields, &step)
    return step
  }

  /// How many messages a step is about.
  private func readTimes(_ verb: String, _ fields: ScenarioReader.Fields, _ step: inout SyncStep) {
    let given = ["times", "upTo"].filter { fields[$0] != nil }
    guard let key = given.first, let node = fields[key] else { return }
    guard given.count == 1, ["deliver", "drop", "duplicate", "delay"].contains(verb) else {
      reader.report(
        fields.keyPosition(key) ?? fields.position,
        given.count == 1 ? "'\(key)' has no meaning beside '\(verb)'" : "both 'times' and 'upTo'",
        "write one of them with deliver, drop, duplicate or delay")
      return
    }
    step.mayBeIdle = key == "upTo"
    step.times = reader.integer(node, "a number of messages", in: 1...1_000).map { Int($0) } ?? 1
  }

  private func readSyncAction(
    _ verb: String, _ name: String, _ fields: ScenarioReader.Fields, _ sync: SyncDeclaration
  ) -> SyncAction? {
    let words = SyncDirection.allCases.map(\.rawValue)
    let direction = fields["direction"].flatMap { reader.word($0, "direction", of: words) }
      .flatMap { SyncDirection(rawValue: $0) }
    switch verb {
    case "write":
      guard let edits = need("do", fields) else { return nil }
      return .write(name, reader.list(edits, of: "changes").compactMap { readSyncEdit($0) })
    case "connect": return .connect(name)
    case "disconnect": return .disconnect(name)
    case "deliver":
      guard let direction = direction ?? missing("direction", fields) else { return nil }
      return .deliver(name, direction)
    case "drop", "duplicate", "delay":
      guard let direction = direction ?? missing("direction", fields) else { return nil }
      return verb == "drop"
        ? .drop(name, direction)
        : verb == "delay" ? .delay(name, direction) : .duplicate(name, direction)
    case "cut": return .cut(name, direction)
    case "heal": return .heal(name)
    case "crash": return .crash(name)
    case "clock":
      let seconds = need("seconds", fields).flatMap {
        reader.integer($0, "a number of seconds", in: Self.seconds)
      }
      return seconds.map { .clock(name, seconds: $0) }
    case "copy": return .copy(name)
    case "restore": return .restore(name)
    case "clone":
      let other = need("to", fields).flatMap { reader.word($0, "client", of: sync.clients) }
      return other.map { .clone(name, to: $0) }
    case "expect":
      let dog = need("dog", fields).flatMap { reader.integer($0, "a number", in: Self.numbers) }
      return dog.map { .expect(name, dog: $0, has: readProperties(fields)) }
    default: return nil
    }
  }

  private static let seconds: ClosedRange<Int64> = -1_000_000...1_000_000
  private static let numbers: ClosedRange<Int64> = -1_000_000...1_000_000
  private static let places: ClosedRange<Int64> = 0...1_000

  private func need(_ key: String, _ fields: ScenarioReader.Fields) -> ScenarioNode? {
    if let node = fields[key] { return node }
    let _: Never? = missing(key, fields)
    return nil
  }

  private func missing<Value>(_ key: String, _ fields: ScenarioReader.Fields) -> Value? {
    reader.report(fields.position, "the step lacks the key '\(key)'", "add '\(key):'")
    return nil
  }

  private func readProperties(_ fields: ScenarioReader.Fields) -> [DogProperty] {
    var found: [DogProperty] = []
    if let node = fields["age"], let age = reader.integer(node, "an age", in: Self.numbers) {
      found.append(.age(age))
    }
    if let node = fields["name"], let name = reader.text(node, "a name") {
      found.append(.name(name))
    }
    if let node = fields["toys"] { found.append(.toys(texts(node))) }
    if fields.object == .syncStep {
      if let node = fields["tags"] { found.append(.tags(texts(node).sorted())) }
      if let node = fields["friends"] {
        found.append(.friends(texts(node).compactMap { ScenarioReader.number($0) }))
      }
      if let node = fields["gone"], reader.flag(node, "value of gone") == true {
        found.append(.gone)
      }
    }
    return found
  }

  private func texts(_ node: ScenarioNode) -> [String] {
    if case .list(let items) = node.body { return items.compactMap { reader.text($0, "a text") } }
    return reader.text(node, "a text").map { [$0] } ?? []
  }

  // MARK: changes

  private func readSyncEdit(_ node: ScenarioNode) -> SyncEdit? {
    guard let fields = reader.fields(node, .syncEdit) else { return nil }
    let verbs = GrammarWords.syncEdits.filter { fields[$0] != nil }
    guard verbs.count == 1, let verb = verbs.first, let value = fields[verb] else {
      reader.report(
        node.position, verbs.isEmpty ? "a change without an action" : "a change with two actions",
        "write one of: \(GrammarWords.syncEdits.joined(separator: ", "))")
      return nil
    }
    guard let id = reader.integer(value, "the number of a dog", in: Self.numbers) else {
      return nil
    }
    func place(_ key: String) -> Int64? {
      need(key, fields).flatMap { reader.integer($0, "an index", in: Self.places) }
    }
    func text(_ key: String) -> String? { need(key, fields).flatMap { reader.text($0, "a text") } }
    switch verb {
    case "create": return .create(id, readProperties(fields))
    case "set": return .set(id, readProperties(fields))
    case "delete": return .delete(id)
    case "increment":
      let amount = need("by", fields).flatMap { reader.integer($0, "an amount", in: Self.numbers) }
      return amount.map { .increment(id, by: $0) }
    case "insert":
      let at = fields["at"].flatMap { reader.integer($0, "an index", in: Self.places) }
      return text("toy").map { .insert(id, toy: $0, at: at) }
    case "erase": return place("at").map { .erase(id, at: $0) }
    case "move":
      guard let from = place("from"), let to = place("to") else { return nil }
      return .move(id, from: from, to: to)
    case "link":
      let other = need("to", fields).flatMap {
        reader.integer($0, "the number of a dog", in: Self.numbers)
      }
      return other.map { .link(id, to: $0) }
    case "tag", "untag":
      return text("value").map { verb == "tag" ? .tag(id, $0) : .untag(id, $0) }
    case "count":
      let number = fields["value"].flatMap { reader.integer($0, "a number", in: Self.numbers) }
      return text("key").map { .count(id, key: $0, value: number) }
    default: return nil
    }
  }
}
