// HistoryQuery.swift: queries over Faultline's classes, with every operator of the query language
// that their properties allow. The text is put in single quotes in YAML, so it contains none.
// Invariant: the binder accepts each text, whatever objects exist.

import LabCore

/// Draws queries.
struct HistoryQuery {
  /// The version of the classes that the queries are for.
  let schemaVersion: Int
  /// Primary keys are at most about this.
  let keys: Int
  var random: PRNG

  /// Draws a query and its class.
  mutating func draw() -> (text: String, name: String) {
    let isDog = random.below(2) == 0
    let name = isDog ? "name" : label
    // An index can be used for a single condition only.
    var text =
      switch random.below(4) {
      case 0: number("age")
      case 1: comparison(isDog)
      default: condition(isDog, depth: 0)
      }
    if random.below(3) > 0 {
      let path = pick(["age", name, isDog ? "owner.age" : "home.city"])
      text += " SORT(\(path) \(pick(["ASC", "DESC"]))\(pick(["", ", _id DESC"])))"
    }
    if random.below(6) == 0 { text += " DISTINCT(\(pick(["age", name, "age, \(name)"])))" }
    if random.below(6) == 0 { text += " LIMIT(\(random.below(12)))" }
    return (text, isDog ? "Dog" : "Person")
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[random.below(elements.count)]
  }

  /// The property with a person's name.
  private var label: String { schemaVersion == 1 ? "name" : "fullName" }

  // MARK: - Conditions

  private mutating func condition(_ isDog: Bool, depth: Int) -> String {
    let kind = random.below(depth < 2 ? 10 : 6)
    switch kind {
    case 6: return "NOT (\(condition(isDog, depth: depth + 1)))"
    case 7:
      return "(\(condition(isDog, depth: depth + 1)) OR \(condition(isDog, depth: depth + 1)))"
    case 8, 9:
      return "\(condition(isDog, depth: depth + 1)) AND (\(condition(isDog, depth: depth + 1)))"
    default: return comparison(isDog)
    }
  }

  private mutating func comparison(_ isDog: Bool) -> String {
    switch random.below(12) {
    case 0..<4: return number(pick(numbers(isDog)))
    case 4..<7: return text(pick(texts(isDog)))
    case 7: return "\(isDog ? "owner" : "home") \(pick(["==", "!="])) null"
    case 8: return quantified(isDog)
    case 9: return arithmetic(isDog)
    case 10 where !isDog:
      return "SUBQUERY(dogs, $d, $d.\(number("age")) AND $d.\(text("name"))).@count "
        + "\(pick(["==", ">", "<="])) \(random.below(3))"
    case 10: return "@links.Person.dogs.@count \(pick(["==", ">", "<="])) \(random.below(3))"
    default: return pick(["TRUEPREDICATE", "FALSEPREDICATE", number("_id")])
    }
  }

  private func numbers(_ isDog: Bool) -> [String] {
    isDog
      ? ["age", "age", "_id", "owner.age", "fans.@count", "fans.@max.age", "name.@count"]
        + (schemaVersion == 1 ? ["weight", "weight"] : ["breed.@count"])
      : [
        "age", "age", "_id", "dogs.@count", "dogs.@min.age", "dogs.@max.age", "dogs.@sum.age",
        "dogs.@avg.age", "nicknames.@count", "scores.@count", "scores.@sum", "home.rooms.@count",
        "home.rooms.@sum.size",
      ]
  }

  private func texts(_ isDog: Bool) -> [String] {
    isDog
      ? ["name", "owner.\(label)"] + (schemaVersion == 1 ? [] : ["breed"])
      : [label, "home.city"]
  }

  private mutating func quantified(_ isDog: Bool) -> String {
    let quantifier = pick(["ANY", "ALL", "NONE"])
    if isDog { return "\(quantifier) fans.\(pick([true, false]) ? number("age") : text(label))" }
    switch random.below(5) {
    case 0: return "\(quantifier) dogs.\(number("age"))"
    case 1: return "\(quantifier) dogs.\(text("name"))"
    case 2: return "\(quantifier) \(text("nicknames"))"
    case 3: return "\(quantifier) \(number("scores.@values"))"
    default: return "\(quantifier) home.rooms.\(number("size"))"
    }
  }

  private mutating func arithmetic(_ isDog: Bool) -> String {
    let (first, second) = (pick(numbers(isDog)), pick(numbers(isDog)))
    return "(\(first) \(pick(["+", "-", "*", "/"])) \(makeInt())) "
      + "\(pick(Self.orders)) \(second)"
  }

  // MARK: - Operators

  private static let orders = ["==", "!=", "<", "<=", ">", ">="]

  private mutating func number(_ path: String) -> String {
    switch random.below(8) {
    case 0: return "\(path) BETWEEN {\(random.below(5)), \(5 + random.below(50))}"
    case 1: return "\(path) IN {\(makeInt()), \(makeInt()), \(makeInt())}"
    case 2: return "\(path) \(pick(["==", "!=", "<=", ">=", "<"])) null"
    default: return "\(path) \(pick(Self.orders)) \(makeInt())"
    }
  }

  private mutating func text(_ path: String) -> String {
    let letters = makeText()
    switch random.below(8) {
    case 0: return "\(path) IN {\"\(letters)\", \"same\", \"\(makeText())\"}"
    case 1:
      // A star as its character code: after a quote, the star itself would look like a YAML alias.
      let star = "\\u002a"
      let pattern = pick([star, "?", ""]) + letters + pick([star, "?", ""])
      return "\(path) \(pick(["LIKE", "LIKE[c]"])) \"\(pattern)\""
    case 2: return "\(path) \(pick(Self.orders)) \"\(letters)\""
    case 3: return "\(path) TEXT \"\(letters) same\""
    default:
      let search = pick(["BEGINSWITH", "ENDSWITH", "CONTAINS", "=="])
      return "\(path) \(search)\(pick(["", "[c]", "[d]"])) \"\(letters)\""
    }
  }

  private mutating func makeInt() -> Int {
    switch random.below(3) {
    case 0: random.below(keys + 1)
    case 1: random.below(10)
    default: pick([-1, 0, 1, 3, 7, 9, 50, 4_294_967_296])
    }
  }

  /// None, one or two letters, some of them upper case.
  private mutating func makeText() -> String {
    let letters = Array("aAbcdeEmnorst")
    return String((0..<random.below(3)).map { _ in letters[random.below(letters.count)] })
  }
}
