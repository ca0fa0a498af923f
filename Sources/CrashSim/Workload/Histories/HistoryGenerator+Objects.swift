// HistoryGenerator+Objects.swift: the additional steps of histories of objects: realms that move,
// queries, observers, and a program that is replaced by its next version.

import LabCore

extension HistoryGenerator {
  /// How an actor currently opens the database.
  /// - Parameter more: A key of `open` besides the version of the classes.
  /// - Returns: The action in scenario syntax.
  func opening(_ more: String? = nil) -> String {
    let version = schemaVersion == 1 ? nil : "schemaVersion: \(schemaVersion)"
    let keys = [version, more].compactMap { $0 }
    return keys.isEmpty ? "open" : "{open: {\(keys.joined(separator: ", "))}}"
  }

  // MARK: - Realms

  mutating func refresh() {
    emit("\(pick(ready)): \(random.below(4) == 0 ? "invalidate" : "refresh")")
  }

  /// An actor uses the realm of another actor in its process.
  mutating func misuse() {
    let able = ready
    let pairs = able.flatMap { caller in
      process(of: caller).actors.filter { $0 != caller && able.contains($0) }.map { (caller, $0) }
    }
    guard !pairs.isEmpty else { return }
    let (caller, owner) = pick(pairs)
    // After a reopen a realm exists only once its actor uses it.
    emit("\(owner): refresh")
    emit("\(caller): {misuse: \(owner)}")
  }

  /// All actors leave; those that return have the program's next version.
  mutating func migrate() {
    guard schemaVersion == 1, let actor = beAlone() else { return }
    for other in open { emit("\(other): close") }
    schemaVersion = 2
    open = [actor]
    emit("\(actor): \(opening("migration: \(pick(["empty", "full"]))"))")
  }

  // MARK: - Queries

  /// Several queries, because each is cheap compared to a commit.
  mutating func query() {
    let actor = pick(ready)
    for _ in 0..<12 { ask("query", actor) }
  }

  mutating func observe() { ask("observe", pick(ready)) }

  private mutating func ask(_ verb: String, _ actor: String) {
    var query = HistoryQuery(schemaVersion: schemaVersion, keys: parameters.rows, random: random)
    let (text, name) = query.draw()
    random = query.random
    emit("\(actor): {\(verb): '\(text)', of: \(name)}")
  }

  // MARK: - Writes

  /// A class with its key's name, and rules for some or all of its properties.
  mutating func makeObject() -> (table: String, values: String) {
    let rows = parameters.rows
    var values: [(name: String, value: String)] = []
    let isDog = random.below(2) == 0
    values.append(("name", nameValue()))
    // Small values are matched by queries.
    values.append(("age", random.below(2) == 0 ? "random 1..9" : intValue()))
    if isDog {
      if has(.links) { values.append(("owner", pick(["random", "null", "random 1..\(rows)"]))) }
      let weights = has(.nulls) ? ["null", "random", "1..9"] : ["1..9", "7"]
      values.append(("weight", pick(weights)))
    } else {
      if has(.embedded) {
        values.append(("home", has(.nulls) ? pick(["random", "random", "null"]) : "random"))
      }
      let kinds: [(HistoryFeature, String)] = [
        (.lists, "dogs"), (.sets, "nicknames"), (.maps, "scores"),
      ]
      for (feature, name) in kinds where has(feature) {
        values.append((name, pick(["random", "{random: items 0..2}", "{random: items 0..9}"])))
      }
    }
    let text = values.map { value in
      random.below(5) == 0 ? "" : ", \(value.name): \(value.value)"
    }
    return (isDog ? "Dog, _id" : "Person, _id", text.joined())
  }

  /// Short names are matched by queries, and repeat more often.
  private mutating func nameValue() -> String {
    random.below(2) == 0 ? "{random: letters 0..2}" : textValue()
  }
}
