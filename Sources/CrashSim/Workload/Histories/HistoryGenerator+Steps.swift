// HistoryGenerator+Steps.swift: the steps of a history that write nothing, and the values for those
// that write.

import LabCore

extension HistoryGenerator {
  // MARK: - Handles

  /// An actor without the database open opens it.
  mutating func openOne() {
    let closed = parameters.processes.filter { $0.name != stopped?.process }.flatMap(\.actors)
      .filter { !open.contains($0) }
    guard !closed.isEmpty else { return }
    let first = steps.isEmpty ? parameters.doomed : []
    let actor = pick(first.isEmpty ? closed : first)
    emit("\(actor): \(opening())")
    open.append(actor)
  }

  mutating func closeOne() {
    let free = ready.filter { actor in !pins.contains { $0.actor == actor } }
    guard !free.isEmpty, open.count > 1 || random.below(4) == 0 else { return }
    let actor = pick(free)
    emit("\(actor): close")
    open.removeAll { $0 == actor }
  }

  mutating func reopen() {
    let actor = pick(ready)
    let fellows = process(of: actor).actors
    releaseAll { fellows.contains($0.actor) }
    emit("\(actor): reopen")
  }

  // MARK: - Pins

  mutating func pin() {
    let actor = pick(ready)
    let name = makeName("v")
    let isOld = has(.oldPins) && random.below(3) == 0
    let age = isOld ? stepsMax : 1 + random.below(1 << (1 + random.below(5)))
    pins.append(Pin(name: name, actor: actor, until: steps.count + age))
    emit("\(actor): {pin: \(name)}")
  }

  mutating func release(_ index: Int) {
    let pin = pins.remove(at: index)
    emit("\(pin.actor): {release: \(pin.name)}")
  }

  mutating func diff() {
    let able = ready
    let mine = pins.filter { able.contains($0.actor) }
    guard !mine.isEmpty else { return }
    let pin = pick(mine)
    emit("\(pin.actor): {diff: \(pin.name)}")
  }

  mutating func releaseAll(where isMeant: (Pin) -> Bool) {
    for index in pins.indices.reversed() where isMeant(pins[index]) { release(index) }
  }

  // MARK: - Files

  mutating func copy() {
    emit("\(pick(ready)): {copy: \(makeName("f"))}")
  }

  /// One actor has the file to itself, and compacts it.
  mutating func compact() {
    guard let actor = beAlone() else { return }
    emit("\(actor): compact")
  }

  /// The same on open.
  mutating func launch() {
    guard let actor = beAlone() else { return }
    releaseAll { _ in true }
    for other in open { emit("\(other): close") }
    open = [actor]
    emit("\(actor): \(opening("compactOnLaunch: true"))")
  }

  /// Makes all other processes close, and releases all pins; rarely, so that pins grow old.
  mutating func beAlone() -> String? {
    guard stopped == nil, pins.isEmpty || random.below(3) == 0 else { return nil }
    let actor = pick(ready)
    releaseAll { _ in true }
    let fellows = process(of: actor).actors
    for other in open where !fellows.contains(other) { emit("\(other): close") }
    open.removeAll { !fellows.contains($0) }
    return actor
  }

  // MARK: - Processes

  /// A process ends without closing.
  mutating func end(by word: String) {
    let process = process(of: pick(ready))
    emit("\(word): \(process.name)")
    open.removeAll { process.actors.contains($0) }
    pins.removeAll { process.actors.contains($0.actor) }
  }

  mutating func stop() {
    guard stopped == nil, Set(open.map { process(of: $0).name }).count > 1 else { return }
    let name = process(of: pick(ready)).name
    emit("stop: \(name)")
    stopped = (name, steps.count + 2 + random.below(12))
  }

  mutating func goOn() {
    guard let process = stopped?.process else { return }
    emit("continue: \(process)")
    stopped = nil
  }

  // MARK: - Values

  /// Rules for some or all columns of a statement.
  mutating func values(_ table: TableDeclaration) -> String {
    table.columns.map { column in
      random.below(5) == 0 ? "" : ", \(column.name): \(value(column))"
    }.joined()
  }

  private mutating func value(_ column: ColumnDeclaration) -> String {
    if column.isUnique { return "random" }
    if column.isOptional, column.target == nil, column.type != .mixed, random.below(6) == 0 {
      return "null"
    }
    if column.isList {
      let most = has(.longTexts) && random.below(8) == 0 ? 200 : 12
      return random.below(2) == 0 ? "random" : "{random: items 0..\(random.below(most))}"
    }
    switch column.type {
    case .int: return intValue()
    case .string: return textValue()
    default: return "random"
    }
  }

  mutating func intValue() -> String {
    has(.widths) ? makeInt() : pick(["random", "1..9", "random 1..100", "7"])
  }

  mutating func textValue() -> String {
    has(.longTexts) ? makeText() : pick(["random", "{random: letters 0..20}", "same"])
  }

  /// An int at a width limit.
  private mutating func makeInt() -> String {
    let bits = pick([0, 1, 2, 4, 7, 8, 15, 16, 31, 32, 62])
    let power = Int64(1) << bits
    return pick([
      "random", "\(power)", "\(power - 1)", "-\(power)", "random 0..\(power - 1)",
      "random -\(power)..\(power)",
    ])
  }

  /// A text at a size limit.
  private mutating func makeText() -> String {
    let count = pick([0, 1, 7, 8, 15, 16, 63, 64, 255, 256, 1024, 4050, 8200, 20_000])
    // Long texts are rare, to keep histories small.
    guard count < 1024 || random.below(3) == 0 else { return "random" }
    return pick(["{random: letters \(count)}", "{random: letters 0..\(count + 1)}"])
  }
}
