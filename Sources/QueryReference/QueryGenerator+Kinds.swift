// QueryGenerator+Kinds.swift: random conditions on words of texts, on places, and through mixed
// columns.

import Engine
import Query

extension QueryGenerator {
  /// Words of a text.
  mutating func words(_ table: String) -> QueryComparison? {
    let isMany = chance(3)
    guard let (path, _) = path(table, isMany: isMany, where: { $0.type == .string }) else {
      return nil
    }
    let wanted = pick([
      "a", "long", "lo* text", "-a", "long -node", "É", "strasse", "STRAß*", "no its", "", "c", "d",
      "node?it*", "-", "*", "ab -c-d", "-zzz", "e", "åb", "x-y",
    ])
    let right: QueryOperand =
      chance(4) ? argument(.string(wanted)) : .literal(.value(.string(wanted)))
    return QueryComparison(
      .path(path), .text, right, leftQuantifier: isMany ? pick(Quantifier.allCases) : nil)
  }

  /// Two whole collections, without a quantifier.
  mutating func whole(_ table: String) -> QueryComparison? {
    guard
      let (path, column) = path(
        table, isMany: true,
        where: { $0.type != .mixed && $0.type != .link && $0.collection != .none })
    else { return nil }
    let isSame = chance(2)
    if chance(2),
      let other = self.path(table, isMany: true, where: { $0.type == column.type })
    {
      return QueryComparison(
        .path(path), isSame ? pick([.equal, .notEqual]) : order(column.type), .path(other.path))
    }
    // Short ones, so that some are equal.
    let members = (0..<random.below(3)).map { _ in constant(column.type) }
    return QueryComparison(
      .path(path), isSame ? pick([.equal, .notEqual]) : order(column.type), .list(members))
  }

  /// A place in a shape; no place of the kennel is on the edge of one.
  mutating func place(_ table: String) -> QueryComparison? {
    var steps: [QueryStep] = [.property("home")]
    switch (table, random.below(3)) {
    case ("Person", 0): steps.insert(.property("boss"), at: 0)
    case ("Person", _): break
    case ("Dog", _): steps.insert(.property("owner"), at: 0)
    default: return nil
    }
    return QueryComparison(.path(QueryPath(steps)), .geoWithin, .shape(shape()))
  }

  private mutating func shape() -> QueryShape {
    switch random.below(3) {
    case 0: return .box(point(0.31, 0.57), point(0, 0))
    case 1:
      return .circle(point(0.25, 0), radius: .literal(.number(pick(["0.021", "0.0333", "0.05"]))))
    default:
      let rings = (0...random.below(2)).map { _ in
        // Three corners that are not one: two have different longitudes.
        [point(0.31, 0.57, low: true), point(1.31, 0.57, low: true), point(0.31, 1.57, low: true)]
          + (0..<random.below(3)).map { _ in point(0.31, 0.57) }
      }
      return .polygon(rings)
    }
  }

  private mutating func point(
    _ longitude: Double, _ latitude: Double, low: Bool = false
  ) -> QueryPoint {
    let (first, second) =
      low ? (longitude, latitude) : (Double(random.below(5)), Double(random.below(5)))
    let (east, north) = low ? (first, second) : (first + longitude, second + latitude)
    return QueryPoint(
      longitude: chance(4) ? argument(.double(east)) : .literal(.number("\(east)")),
      latitude: .literal(.number("\(north)")))
  }

  /// A property of the targets of a mixed column.
  mutating func behindMixed(_ table: String) -> QueryComparison? {
    guard table == "Person" else { return nil }
    var steps: [QueryStep] = [.property(pick(["thing", "thing", "things", "map"]))]
    var isMany = steps[0] != .property("thing")
    if isMany, chance(3) {
      steps.append(steps[0] == .property("map") ? .key(pick(["a", "b"])) : .index(random.below(2)))
      isMany = false
    }
    if chance(3) { steps.append(.property(pick(["boss", "owner", "pet"]))) }
    if chance(6) {
      steps.append(.property("friends"))
      isMany = true
    }
    let last = pick(["age", "name", "weight", "score", "thing", "prices", "numbers", "boss"])
    steps.append(.property(last))
    isMany = isMany || last == "prices" || last == "numbers"
    if last == "boss" {
      return QueryComparison(
        .path(QueryPath(steps)), chance(2) ? .equal : .notEqual,
        .literal(.object(table: "Person", key: .int(Int64(random.below(8)) - 1), isRowKey: true)),
        leftQuantifier: isMany ? pick(Quantifier.allCases) : nil)
    }
    if isMany, chance(3), last != "name" {
      steps.append(.operation(pick([.sum, .max, .min, .count, .avg])))
      return QueryComparison(
        .path(QueryPath(steps)), pick([.equal, .less, .greaterEqual]), constant(.int))
    }
    return QueryComparison(
      .path(QueryPath(steps)), pick([.equal, .notEqual, .less, .greaterEqual]), constant(.mixed),
      leftQuantifier: isMany ? pick(Quantifier.allCases) : nil)
  }
}
