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

  /// A place in a shape; places of the kennel are on edges of some polygons, and of no other shape.
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
      return .polygon(rings())
    }
  }

  /// A square with corners a bit elsewhere, and a hole in it or none.
  private mutating func rings() -> [[QueryPoint]] {
    if chance(3) { return [edges()] }
    let (west, south) = (Double(random.below(3)) - 0.69, Double(random.below(3)) - 0.43)
    let (width, height) = (Double(random.below(3)) + 1.5, Double(random.below(3)) + 1.5)
    func corner(_ x: Double, _ y: Double) -> QueryPoint {
      let shift = Double(random.below(3)) * 0.07
      return at(west + x * width + shift, south + y * height + shift)
    }
    let outer = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)]
    guard chance(2) else { return [outer] }
    return [outer, [corner(0.3, 0.3), corner(0.6, 0.3), corner(0.5, 0.7)]]
  }

  /// A figure of four edges with whole degrees at its corners, where places are.
  private mutating func edges() -> [QueryPoint] {
    let (west, south) = (Double(random.below(3)), Double(random.below(3)))
    let (east, north) = (west + Double(1 + random.below(3)), south + Double(1 + random.below(2)))
    return [
      at(west, south), at(east, south), at(east + Double(random.below(3)), north),
      at(west - Double(random.below(3)), north),
    ]
  }

  private mutating func at(_ longitude: Double, _ latitude: Double) -> QueryPoint {
    QueryPoint(
      longitude: chance(4) ? argument(.double(longitude)) : number(longitude),
      latitude: number(latitude))
  }

  private func number(_ number: Double) -> QueryOperand { .literal(.number("\(number)")) }

  private mutating func point(_ longitude: Double, _ latitude: Double) -> QueryPoint {
    at(Double(random.below(5)) + longitude, Double(random.below(5)) + latitude)
  }

  /// A property of the targets of a mixed column.
  mutating func behindMixed(_ table: String) -> QueryComparison? {
    guard table == "Person" else { return nil }
    var steps: [QueryStep] = [.property(pick(["thing", "thing", "things", "map"]))]
    var isMany = steps[0] != .property("thing")
    if isMany, chance(3) {
      steps.append(steps[0] == .property("map") ? .key(pick(["a", "b"])) : .index(random.below(2)))
      isMany = false
    } else if steps[0] == .property("map") {
      steps.append(.operation(.values))
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
