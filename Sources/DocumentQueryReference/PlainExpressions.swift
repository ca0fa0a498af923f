// PlainExpressions.swift: expressions answered the simple way, one document after the other,
// straight from the lists that the query is written in.

/// The meaning of names at the place of an expression.
package struct PlainScope {
  /// Documents and items, by the name of their source.
  var sources: [(name: String, value: PlainValue, id: String?)] = []
  /// Items visited by ANY and EVERY.
  var variables: [String: PlainValue] = [:]
  /// Expressions of columns that may be called by their names here.
  var columns: [String: PlainValue] = [:]

  /// The scope where a column's name means a property.
  var withoutColumns: PlainScope {
    var scope = self
    scope.columns = [:]
    return scope
  }
}

/// Evaluates expressions.
package enum PlainExpressions {
  static func value(_ expression: PlainValue, _ scope: PlainScope) throws -> PlainValue {
    switch expression {
    case .array(let list):
      guard case .text(let name)? = list.first else { throw PlainValue.Open() }
      return try operation(name, Array(list.dropFirst()), scope)
    case .dict(let pairs):
      var values: [String: PlainValue] = [:]
      for (key, value) in pairs {
        let found = stored(try self.value(value, scope))
        if found != .missing { values[key] = found }
      }
      return .dict(values)
    default: return expression
    }
  }

  /// A value as an item of an array or a dict.
  private static func stored(_ value: PlainValue) -> PlainValue { value }

  private static func operation(
    _ name: String, _ operands: [PlainValue], _ scope: PlainScope
  ) throws -> PlainValue {
    if name.hasPrefix("."), name != "." || operands.isEmpty {
      return try property(path(String(name.dropFirst())), scope)
    }
    if name.hasPrefix("?") {
      let path = path(String(name.dropFirst()))
      guard case .text(let variable)? = path.first else { throw PlainValue.Open() }
      return (scope.variables[variable] ?? .missing).at(path.dropFirst())
    }
    switch name {
    case "ANY", "EVERY", "ANY AND EVERY": return try items(name, operands, scope)
    case "CASE": return try choice(operands, scope)
    case "MISSING": return .missing
    case "[]":
      return .array(try operands.map { try value($0, scope) }.filter { $0 != .missing })
    case "EXISTS":
      return .boolean(try value(operands[0], scope) != .missing)
    case "AND", "OR": return try connect(name, operands, scope)
    case "IS", "IS NOT":
      return try same(name == "IS", operands[0], operands[1], scope)
    case "array_count()" where isProperty(operands[0], scope):
      // Of a property, pairs of a dict count too.
      let found = try value(operands[0], scope)
      if case .dict(let pairs) = found { return .integer(Int64(pairs.count)) }
      return try PlainFunctions.value("array_count", [found])
    case "IN", "NOT IN": return try member(name == "IN", operands, scope)
    default: break
    }
    let values = try operands.map { try value($0, scope) }
    if name.hasSuffix("()") { return try PlainFunctions.value(String(name.dropLast(2)), values) }
    return try PlainOperators.value(name, values)
  }

  private static func isProperty(_ expression: PlainValue, _ scope: PlainScope) -> Bool {
    guard case .array(let list) = expression, case .text(let name)? = list.first,
      name.hasPrefix("."), name.count > 1
    else { return false }
    guard case .text(let first)? = path(String(name.dropFirst())).first else { return true }
    return scope.columns[first] == nil
  }

  static func path(_ text: String) -> [PlainValue] {
    text.split(separator: ".").flatMap { part -> [PlainValue] in
      let pieces = part.split(separator: "[")
      return pieces.enumerated().map { index, piece in
        piece.hasSuffix("]") ? .integer(Int64(piece.dropLast()) ?? 0) : .text(String(piece))
      }
    }
  }

  private static func property(
    _ path: [PlainValue], _ scope: PlainScope
  ) throws -> PlainValue {
    var (path, source, isNamed) = (path[...], scope.sources[0], false)
    if scope.sources.count > 1 || scope.sources[0].name != "_doc" {
      let named = scope.sources.first { path.first == .text($0.name) }
      if let named {
        (source, isNamed) = (named, true)
        path = path.dropFirst()
      }
    }
    if !isNamed, case .text(let name)? = path.first, let expression = scope.columns[name] {
      return try value(expression, scope.withoutColumns).at(path.dropFirst())
    }
    if path.count == 1, path.first == .text("_id"), let id = source.id { return .text(id) }
    return source.value.at(path)
  }

  private static func connect(
    _ name: String, _ operands: [PlainValue], _ scope: PlainScope
  ) throws -> PlainValue {
    var isUnknown = false
    for operand in operands {
      switch try value(operand, scope).truth {
      case nil: isUnknown = true
      case true?: if name == "OR" { return .integer(1) }
      case false?: if name == "AND" { return .integer(0) }
      }
    }
    return isUnknown ? .missing : .integer(name == "AND" ? 1 : 0)
  }

  private static func same(
    _ isSame: Bool, _ first: PlainValue, _ second: PlainValue, _ scope: PlainScope
  ) throws -> PlainValue {
    let (one, two) = (try value(first, scope), try value(second, scope))
    // Against null itself it is a comparison; a missing value is neither null nor not null.
    if second == .null, one == .missing { return .missing }
    let found = try one == .missing || two == .missing ? one == two : one.equals(two)
    return .integer(found == isSame ? 1 : 0)
  }

  private static func member(
    _ isIn: Bool, _ operands: [PlainValue], _ scope: PlainScope
  ) throws -> PlainValue {
    let wanted = try value(operands[0], scope)
    guard case .array(let list) = operands[1], list.first == .text("[]") else {
      let found = try PlainFunctions.value(
        "array_contains", [try value(operands[1], scope), wanted])
      guard !isIn else { return found }
      return found == .missing ? .missing : .integer(found.truth == true ? 0 : 1)
    }
    var isUnknown = false
    for item in list.dropFirst() {
      let item = try value(item, scope)
      if item == .missing || wanted == .missing {
        isUnknown = true
      } else if try item.equals(wanted) {
        return .integer(isIn ? 1 : 0)
      }
    }
    return isUnknown ? .missing : .integer(isIn ? 0 : 1)
  }

  private static func choice(
    _ operands: [PlainValue], _ scope: PlainScope
  ) throws -> PlainValue {
    let rest = Array(operands.dropFirst())
    let subject = operands[0] == .null ? nil : try value(operands[0], scope)
    for index in stride(from: 0, to: rest.count - 1, by: 2) {
      let when = try value(rest[index], scope)
      let isMet: Bool
      if let subject {
        isMet = try subject != .missing && when != .missing && subject.equals(when)
      } else {
        isMet = when.truth == true
      }
      if isMet { return try value(rest[index + 1], scope) }
    }
    return rest.count % 2 == 1 ? try value(rest[rest.count - 1], scope) : .null
  }

  private static func items(
    _ name: String, _ operands: [PlainValue], _ scope: PlainScope
  ) throws -> PlainValue {
    guard case .text(let variable) = operands[0] else { throw PlainValue.Open() }
    let container = try value(operands[1], scope)
    if name == "ANY", case .array(let list) = operands[2], list.count == 3,
      list[0] == .text("="), list[1] == .array([.text("?" + variable)]),
      !list[2].json.contains("\"?" + variable)
    {
      return try contains(container, list[2], variable, scope)
    }
    let items = Self.items(of: container)
    var (any, every) = (false, true)
    for item in items {
      var inner = scope
      inner.variables[variable] = item
      let truth = try value(operands[2], inner).truth
      if truth == true { any = true }
      // An unknown result does not refute it.
      if truth == false { every = false }
    }
    switch name {
    case "ANY": return .integer(any ? 1 : 0)
    case "EVERY": return .integer(every ? 1 : 0)
    default:
      switch container {
      case .array(let items):
        return .integer(every && items.contains { $0 != .null } ? 1 : 0)
      case .dict(let pairs): return .integer(every && !pairs.isEmpty ? 1 : 0)
      default: return every ? .missing : .integer(0)
      }
    }
  }

  /// The items of an array, the values of a dict by key, or the value itself.
  static func items(of container: PlainValue) -> [PlainValue] {
    switch container {
    case .missing: []
    case .array(let items): items
    case .dict(let pairs):
      pairs.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { pairs[$0] }
    default: [container]
    }
  }

  private static func contains(
    _ container: PlainValue, _ wanted: PlainValue, _ variable: String, _ scope: PlainScope
  ) throws -> PlainValue {
    let wanted = try value(wanted, scope)
    switch container {
    case .array, .dict:
      guard wanted != .missing else { return .missing }
      return .boolean(try items(of: container).contains { try $0.equals(wanted) })
    default: return .null
    }
  }
}
