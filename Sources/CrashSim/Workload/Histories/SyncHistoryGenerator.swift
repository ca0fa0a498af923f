// SyncHistoryGenerator.swift: expands the parameters of a history of synchronization to the section
// `sync` of a scenario: what apps write, which messages arrive, and what happens to nodes.
// Invariants: the same parameters and seed give the same text; each step is possible wherever it
// stands, since no step needs a message to be on its way, or a dog to be there.

import LabCore

/// Draws the steps of clients and their server.
struct SyncHistoryGenerator {
  private let parameters: HistoryParameters
  private var random: PRNG
  private var steps: [String] = []
  private var textCount = 0
  /// Clients whose messages are lost.
  private var cut: Set<String> = []
  /// Nodes whose file was copied.
  private var copied: Set<String> = []

  /// A step that can be drawn, and its weight.
  private typealias Choice = (weight: Int, step: (inout SyncHistoryGenerator) -> Void)

  /// The section `sync` of a history.
  /// - Parameters:
  ///   - parameters: The values drawn first.
  ///   - stepsMax: Number of steps.
  ///   - random: The source of choices.
  /// - Returns: The text.
  /// - Complexity: O(steps).
  static func text(_ parameters: HistoryParameters, steps stepsMax: Int, _ random: PRNG) -> String {
    var generator = SyncHistoryGenerator(parameters, random)
    for _ in 0..<2 { generator.write() }
    let before = generator.steps + ["settle"]
    generator.steps = []
    for _ in 0..<stepsMax { generator.drawStep() }
    let nodes = ["server: server"] + generator.clients.map { "\($0): client" }
    var lines = ["sync:", "  nodes: {\(nodes.joined(separator: ", "))}"]
    if let plant = parameters.plant { lines.append("  plant: \(plant.rawValue)") }
    if let promise = parameters.breaks { lines.append("  breaks: \(promise.name)") }
    lines += ["  before:"] + before.map { "    - \($0)" }
    lines += ["  steps:"] + generator.steps.map { "    - \($0)" }
    return lines.joined(separator: "\n") + "\n"
  }

  private init(_ parameters: HistoryParameters, _ random: PRNG) {
    self.parameters = parameters
    self.random = random
  }

  private var clients: [String] { parameters.processes.dropFirst().map(\.name) }

  private func has(_ feature: HistoryFeature) -> Bool { parameters.features.contains(feature) }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[random.below(elements.count)]
  }

  private mutating func client() -> String { pick(clients) }
  private mutating func node() -> String { pick(["server"] + clients) }
  private mutating func direction() -> String { pick(["up", "down"]) }
  private mutating func dog() -> Int { 1 + random.below(parameters.rows) }

  // MARK: - Steps

  private mutating func drawStep() {
    var choices: [Choice] = [
      (24, { $0.write() }), (40, { $0.message("deliver", most: 4) }),
      (5, { $0.steps.append("{connect: \($0.client())}") }), (3, { $0.steps.append("settle") }),
    ]
    func add(_ weight: Int, _ feature: HistoryFeature, _ step: @escaping (inout Self) -> Void) {
      if has(feature) { choices.append((weight, step)) }
    }
    add(4, .disconnects) { $0.steps.append("{disconnect: \($0.client())}") }
    add(6, .losses) { $0.message("drop", most: 2) }
    add(5, .duplicates) { $0.message("duplicate", most: 1) }
    add(5, .overtaking) { $0.message("delay", most: 1) }
    add(5, .cuts) { $0.cutOrHeal() }
    add(4, .exits) { $0.steps.append("{crash: \($0.node())}") }
    add(3, .clocks) {
      $0.steps.append("{clock: \($0.node()), seconds: \($0.random.below(80) - 40)}")
    }
    add(5, .restores) { $0.copyOrRestore($0.client()) }
    add(3, .backups) { $0.copyOrRestore("server") }
    if clients.count > 1 { add(2, .clones) { $0.clone() } }
    add(4, .trims) { $0.steps.append("trim") }
    var place = random.below(choices.reduce(0) { $0 + $1.weight })
    for choice in choices {
      place -= choice.weight
      if place < 0 { return choice.step(&self) }
    }
  }

  private mutating func message(_ verb: String, most: Int) {
    let name = client()
    let count = 1 + random.below(most)
    steps.append("{\(verb): \(name), direction: \(direction()), upTo: \(count)}")
  }

  private mutating func cutOrHeal() {
    let name = client()
    if cut.remove(name) != nil { return steps.append("{heal: \(name)}") }
    cut.insert(name)
    let way = pick(["", ", direction: up", ", direction: down"])
    steps.append("{cut: \(name)\(way)}")
  }

  private mutating func copyOrRestore(_ name: String) {
    let restores = copied.contains(name) && random.below(2) == 0
    copied.insert(name)
    steps.append("{\(restores ? "restore" : "copy"): \(name)}")
  }

  private mutating func clone() {
    let source = client()
    let others = clients.filter { $0 != source }
    steps.append("{clone: \(source), to: \(pick(others))}")
  }

  // MARK: - Writes

  private mutating func write() {
    let edits = (0...random.below(3)).map { _ in edit() }
    steps.append("{write: \(client()), do: [\(edits.joined(separator: ", "))]}")
  }

  private mutating func text() -> String {
    textCount += 1
    return "t\(textCount)"
  }

  private mutating func edit() -> String {
    let number = dog()
    var kinds = ["create", "create", "set", "increment"]
    if has(.deletes) { kinds.append("delete") }
    if has(.lists) { kinds += ["insert", "insert", "erase", "move", "toys"] }
    if has(.links) { kinds += ["link", "link"] }
    if has(.sets) { kinds += ["tag", "untag"] }
    if has(.maps) { kinds += ["count", "uncount"] }
    let tags = ["red", "old", "loud"]
    switch pick(kinds) {
    case "create":
      return "{create: \(number), age: \(random.below(20)), toys: [\(text()), \(text())]}"
    case "set": return "{set: \(number), age: \(random.below(20)), name: \(text())}"
    case "toys": return "{set: \(number), toys: [\(text())]}"
    case "increment": return "{increment: \(number), by: \(random.below(9) - 4)}"
    case "insert": return "{insert: \(number), toy: \(text()), at: \(random.below(4))}"
    case "erase": return "{erase: \(number), at: \(random.below(4))}"
    case "move": return "{move: \(number), from: \(random.below(4)), to: \(random.below(4))}"
    case "link": return "{link: \(number), to: \(dog())}"
    case "tag": return "{tag: \(number), value: \(pick(tags))}"
    case "untag": return "{untag: \(number), value: \(pick(tags))}"
    case "count": return "{count: \(number), key: \(pick(tags)), value: \(random.below(9))}"
    case "uncount": return "{count: \(number), key: \(pick(tags))}"
    default: return "{delete: \(number)}"
    }
  }
}
