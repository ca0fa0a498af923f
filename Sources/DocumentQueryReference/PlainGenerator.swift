// PlainGenerator.swift: drawn documents and drawn queries that fit them; all follows from the seed.

/// Numbers that follow from a seed.
package struct PlainRandom {
  private var state: UInt64

  package init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 1 }

  package mutating func below(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int((state &* 0x2545_f491_4f6c_dd1d) >> 33) % bound
  }

  package mutating func pick<Item>(_ items: [Item]) -> Item { items[below(items.count)] }
}

/// Draws documents and queries.
package struct PlainGenerator {
  package var random: PlainRandom
  /// The names of properties: those with a source's name before them, where there are several.
  private var prefixes = [""]
  private var variables: [String] = []
  /// The name of a column, which conditions may use; it may be that of a property, too.
  private var columnName: String?

  package init(seed: UInt64) { random = PlainRandom(seed) }

  /// Documents with properties `n` and `m` (numbers, booleans, texts, null), `t` (a text or
  /// nothing), `a` (an array or something else), `o` (a dict or something else).
  package mutating func documents(_ count: Int) -> PlainCollection {
    PlainCollection(
      (0..<count).map { index in
        var pairs: [String: PlainValue] = [:]
        for key in ["n", "m"] where random.below(6) > 0 { pairs[key] = scalar() }
        if random.below(5) > 0 { pairs["t"] = .text(text()) }
        if random.below(5) > 0 { pairs["a"] = random.below(6) == 0 ? scalar() : array() }
        if random.below(5) > 0 { pairs["o"] = random.below(6) == 0 ? scalar() : dict() }
        return ("d\(index)", .dict(pairs))
      })
  }

  private mutating func text() -> String {
    random.pick(["", "a", "b", "ab", "Abc", "é", "1", "12.5", "-3", "x y", "2x"])
  }

  private mutating func scalar() -> PlainValue {
    switch random.below(12) {
    case 0: .null
    case 1: .boolean(true)
    case 2: .boolean(false)
    case 3, 4: .text(text())
    case 5, 6: .real(random.pick([0.5, 1.5, -2.5, 1.0, 3.25]))
    default: .integer(Int64(random.below(9)) - 3)
    }
  }

  private mutating func array() -> PlainValue {
    .array(
      (0..<random.below(4)).map { _ in
        switch random.below(8) {
        case 0: dict()
        case 1: .array([scalar()])
        default: scalar()
        }
      })
  }

  private mutating func dict() -> PlainValue {
    var pairs: [String: PlainValue] = [:]
    for key in ["x", "y"] where random.below(3) > 0 { pairs[key] = scalar() }
    return .dict(pairs)
  }

  /// A query over the documents.
  package mutating func query() -> PlainValue {
    (prefixes, variables, columnName) = ([""], [], nil)
    var clauses: [String: PlainValue] = [:]
    switch random.below(8) {
    case 0:
      clauses["FROM"] = .array([
        .dict(["AS": .text("p")]),
        .dict(["AS": .text("u"), "UNNEST": .array([.text(random.pick([".p.a", ".p.o"]))])]),
      ])
      prefixes = ["p.", "u"]
    case 1:
      prefixes = ["p.", "q."]
      var join: [String: PlainValue] = ["AS": .text("q")]
      if random.below(2) == 0 { join["JOIN"] = .text("LEFT OUTER") }
      join["ON"] =
        random.below(2) == 0
        ? .array([.text("="), .array([.text(".p.n")]), .array([.text(".q.n")])]) : condition(1)
      clauses["FROM"] = .array([.dict(["AS": .text("p")]), .dict(join)])
    default: break
    }
    var named: PlainValue?
    if clauses["FROM"] == nil, random.below(4) == 0 {
      let name = random.pick(["k", "n"])
      named = .array([.text("AS"), value(2), .text(name)])
      columnName = name
    }
    if random.below(5) > 0 { clauses["WHERE"] = condition(3) }
    columnName = nil
    if random.below(6) == 0 { return .dict(clauses.merging(grouped()) { $1 }) }
    var columns = (0...random.below(3)).map { _ in column() }
    if random.below(10) == 0 {
      columns = (0...random.below(2)).map { _ in aggregate() }
    } else if clauses["FROM"] == nil || prefixes[1] == "u" {
      let id = PlainValue.array([.text(clauses["FROM"] == nil ? "._id" : ".p._id")])
      if random.below(4) == 0, clauses["FROM"] == nil {
        clauses["DISTINCT"] = .boolean(true)
        columns = [property(["t"])]
      } else if random.below(2) == 0, clauses["FROM"] == nil {
        let term = property(["n", "m", "t"])
        clauses["ORDER_BY"] = .array([
          random.below(2) == 0 ? .array([.text("DESC"), term]) : term, id,
        ])
        if random.below(2) == 0 { clauses["LIMIT"] = .integer(Int64(random.below(6))) }
        if random.below(3) == 0 { clauses["OFFSET"] = .integer(Int64(random.below(4))) }
      }
      columns.append(id)
      if let named { columns.append(named) }
      if clauses["DISTINCT"] != nil { columns = [columns[0]] }
    }
    clauses["WHAT"] = .array(columns)
    return .dict(clauses)
  }

  /// A column; a bare text would be the name of a property.
  private mutating func column() -> PlainValue {
    let value = value(2)
    if case .text = value { return .array([.text("[]"), value]) }
    return value
  }

  private mutating func grouped() -> [String: PlainValue] {
    let key = PlainValue.array([.text(".\(prefixes[0])t")])
    var clauses: [String: PlainValue] = [
      "GROUP_BY": .array([key]), "WHAT": .array([key, aggregate(), aggregate()]),
      "ORDER_BY": .array([key]),
    ]
    if random.below(3) == 0 {
      clauses["HAVING"] = .array([
        .text(random.pick([">", "<", "="])), .array([.text("count()"), .array([.text(".")])]),
        .integer(2),
      ])
    }
    return clauses
  }

  private mutating func aggregate() -> PlainValue {
    .array([
      .text(random.pick(["count()", "sum()", "min()", "max()", "avg()"])),
      .array([.text(".\(prefixes[0])\(random.pick(["n", "m"]))")]),
    ])
  }

  private mutating func property(_ names: [String]) -> PlainValue {
    if let columnName, random.below(3) == 0 {
      return .array([.text("." + columnName + random.pick(["", "", ".x", "[0]"]))])
    }
    let prefix = random.pick(prefixes)
    guard prefix != "u" else {
      return .array([.text(random.pick([".u", ".u.x", ".u[0]"]))])
    }
    return .array([.text("." + prefix + random.pick(names))])
  }

  /// An expression that has a value.
  private mutating func value(_ depth: Int) -> PlainValue {
    if depth == 0 || random.below(3) == 0 {
      switch random.below(8) {
      case 0: return scalar()
      case 1 where !variables.isEmpty:
        let name = random.pick(variables)
        return .array([.text(random.pick(["?\(name)", "?\(name).x"]))])
      case 2: return .array([.text("MISSING")])
      default:
        return property(["n", "m", "t", "a", "o", "o.x", "o.y", "a[0]", "a[-1]", "a[1].x", "z"])
      }
    }
    switch random.below(10) {
    case 0:
      return .array([
        .text(random.pick(["+", "-", "*", "/", "%"])), value(depth - 1), value(depth - 1),
      ])
    case 1: return .array([.text("-"), value(depth - 1)])
    case 2:
      let choices = [condition(depth - 1), value(depth - 1)]
      return .array([.text("CASE"), .null] + choices + (random.below(2) == 0 ? [] : [scalar()]))
    case 3:
      return .array([.text("CASE"), value(depth - 1), value(depth - 1), scalar(), scalar()])
    case 4: return .array([.text("[]"), value(depth - 1), value(depth - 1)])
    case 5: return .dict(["k": value(depth - 1)])
    case 6: return condition(depth - 1)
    default:
      let function = random.pick(PlainFunctions.drawn)
      return .array(
        [.text(function.name + "()")] + (0..<function.operands).map { _ in value(depth - 1) })
    }
  }

  /// An expression used as a condition.
  private mutating func condition(_ depth: Int) -> PlainValue {
    guard depth > 0 else { return .array([.text("EXISTS"), property(["n", "o.x", "a[0]"])]) }
    switch random.below(14) {
    case 0, 1:
      let count = 2 + random.below(2)
      return .array(
        [.text(random.pick(["AND", "OR"]))] + (0..<count).map { _ in condition(depth - 1) })
    case 2: return .array([.text("NOT"), condition(depth - 1)])
    case 3: return .array([.text("BETWEEN"), value(1), scalar(), scalar()])
    case 4:
      return .array([
        .text(random.pick(["IN", "NOT IN"])), value(1),
        .array([.text("[]")] + (0..<random.below(4)).map { _ in scalar() }),
      ])
    case 5: return .array([.text("IN"), value(1), property(["a"])])
    case 6:
      let pattern = random.pick(["a%", "%b", "_", "A_c", "%", "", "%é%"])
      return .array([.text("LIKE"), property(["t"]), .text(pattern)])
    case 7: return .array([.text("IS VALUED"), value(1)])
    case 8:
      let other = random.pick([.null, .array([.text("MISSING")]), value(1)])
      return .array([.text(random.pick(["IS", "IS NOT"])), value(1), other])
    case 9, 10: return items(depth)
    default:
      return .array([
        .text(random.pick(["=", "!=", "<", "<=", ">", ">="])), value(depth - 1), value(depth - 1),
      ])
    }
  }

  private mutating func items(_ depth: Int) -> PlainValue {
    let container =
      variables.isEmpty || random.below(2) == 0
      ? property(["a", "o", "n"]) : .array([.text("?\(random.pick(variables))")])
    let name = "v\(variables.count)"
    variables.append(name)
    defer { variables.removeLast() }
    let predicate: PlainValue =
      random.below(2) == 0
      ? .array([.text("="), .array([.text("?" + name)]), scalar()]) : condition(depth - 1)
    return .array([
      .text(random.pick(["ANY", "EVERY", "ANY AND EVERY"])), .text(name), container, predicate,
    ])
  }
}
