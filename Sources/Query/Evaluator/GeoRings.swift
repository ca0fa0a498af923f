// GeoRings.swift: whether the rings of a polygon enclose an area: no ring meets itself or another
// one, and the holes are inside of the outer ring. Invariant: the work is bounded, since a text can
// have tens of thousands of points.

/// The rings of a polygon as edges.
struct GeoRings {
  private struct Edge {
    let ring: Int
    let number: Int
    let from: GeoPoint
    let to: GeoPoint

    var west: Double { min(from.longitude, to.longitude) }
    var east: Double { max(from.longitude, to.longitude) }
  }

  /// The rings without the point that closes them, and without points twice in a row.
  private let rings: [[GeoPoint]]

  init(_ rings: [[GeoPoint]]) {
    self.rings = rings.map { ring in
      var corners: [GeoPoint] = []
      for corner in ring where corners.last != corner { corners.append(corner) }
      while corners.count > 1, corners.first == corners.last { corners.removeLast() }
      return corners
    }
  }

  /// How many corners of a hole are looked for in the outer ring.
  private static let cornersAsked = 8

  private static func name(_ ring: Int) -> String { ring == 0 ? "outer ring" : "hole \(ring)" }

  private static func text(_ point: GeoPoint) -> String {
    "[\(point.longitude), \(point.latitude)]"
  }

  /// - Throws: `QueryError` with code `.argument`, which names the points, and with `.limit` when
  ///   the polygon has too many edges side by side to be checked.
  /// - Complexity: O(edges × edges that are as far east or west), at most
  ///   `QueryLimits.polygonPairsMax` pairs of edges.
  func check() throws(QueryError) {
    for (number, ring) in rings.enumerated() {
      var seen: Set<GeoPoint> = []
      for corner in ring where !seen.insert(corner).inserted {
        throw QueryError(
          .argument,
          "the \(Self.name(number)) of a geoPolygon is twice at \(Self.text(corner)); a ring meets "
            + "itself nowhere but where it closes")
      }
    }
    try checkEdges()
    let outer = GeoArea.polygon([rings[0]])
    for (number, hole) in rings.enumerated().dropFirst() {
      // No edge crosses the outer ring, so that one corner tells for all, unless it is on an edge.
      guard hole.prefix(Self.cornersAsked).contains(where: outer.contains) else {
        throw QueryError(
          .argument,
          "the \(Self.name(number)) of a geoPolygon is outside of the outer ring at "
            + "\(Self.text(hole[0])); the first ring is the outer one")
      }
    }
  }

  /// Checks that no two edges cross or are the same one, by a sweep from west to east.
  private func checkEdges() throws(QueryError) {
    var edges: [Edge] = []
    for (ring, corners) in rings.enumerated() {
      for (number, corner) in corners.enumerated() {
        edges.append(
          Edge(
            ring: ring, number: number, from: corner, to: corners[(number + 1) % corners.count]))
      }
    }
    edges.sort { ($0.west, $0.ring, $0.number) < ($1.west, $1.ring, $1.number) }
    var pairsLeft = QueryLimits.polygonPairsMax
    for (place, edge) in edges.enumerated() {
      for other in edges[(place + 1)...] {
        guard other.west <= edge.east else { break }
        pairsLeft -= 1
        guard pairsLeft >= 0 else {
          throw QueryError(
            .limit,
            "a geoPolygon has more than \(QueryLimits.polygonPairsMax) pairs of edges side by side;"
              + " leave corners out")
        }
        if let problem = Self.problem(edge, other) { throw problem }
      }
    }
  }

  private static func problem(_ edge: Edge, _ other: Edge) -> QueryError? {
    let isSame =
      edge.from == other.from && edge.to == other.to
      || edge.from == other.to && edge.to == other.from
    guard isSame || areCrossing(edge, other) else { return nil }
    let place =
      "\(text(edge.from)) to \(text(edge.to)) of the \(name(edge.ring)) and \(text(other.from)) to "
      + "\(text(other.to)) of the \(name(other.ring))"
    return QueryError(
      .argument,
      "two edges of a geoPolygon \(isSame ? "are the same" : "cross"): \(place); give the corners "
        + "in the order in which they follow each other")
  }

  /// Whether two edges have a point in common that is an end of neither.
  private static func areCrossing(_ edge: Edge, _ other: Edge) -> Bool {
    let first = side(edge, other.from)
    let second = side(edge, other.to)
    let third = side(other, edge.from)
    let fourth = side(other, edge.to)
    return first * second < 0 && third * fourth < 0
  }

  /// On which side of an edge a point is: -1, 0 on its line, or 1.
  private static func side(_ edge: Edge, _ point: GeoPoint) -> Int {
    let product =
      (edge.to.longitude - edge.from.longitude) * (point.latitude - edge.from.latitude)
      - (edge.to.latitude - edge.from.latitude) * (point.longitude - edge.from.longitude)
    return product > 0 ? 1 : product < 0 ? -1 : 0
  }
}
