// GeoArea.swift: areas of the Earth's surface, and whether a point is in them. Boxes and polygons
// are figures in the plane of longitude and latitude; circles are measured along the sphere. Points
// on an edge of a box or circle are inside; those on an edge of a polygon are inside where the
// polygon is to the east of the edge, or to the north of a horizontal one.

import Engine
import Glibc

/// A place in degrees.
struct GeoPoint: Hashable, Sendable {
  let longitude: Double
  let latitude: Double
}

/// A part of the Earth's surface.
enum GeoArea: Hashable, Sendable {
  case box(lowest: GeoPoint, highest: GeoPoint)
  /// The radius is in radians.
  case circle(GeoPoint, radius: Double)
  /// Rings; a point is inside when a line from it crosses them an odd number of times.
  case polygon([[GeoPoint]])

  /// Whether a point is in the area.
  func contains(_ point: GeoPoint) -> Bool {
    switch self {
    case .box(let lowest, let highest):
      return (lowest.longitude...highest.longitude).contains(point.longitude)
        && (lowest.latitude...highest.latitude).contains(point.latitude)
    case .circle(let centre, let radius): return Self.distance(centre, point) <= radius
    case .polygon(let rings):
      var isInside = false
      for ring in rings {
        var previous = ring[ring.count - 1]
        for corner in ring {
          if (corner.latitude > point.latitude) != (previous.latitude > point.latitude) {
            let isRising = corner.latitude < previous.latitude
            let (low, high) = isRising ? (corner, previous) : (previous, corner)
            // Products, because a quotient would be rounded: a point on the edge stays on it.
            let across =
              (high.longitude - low.longitude) * (point.latitude - low.latitude)
              - (point.longitude - low.longitude) * (high.latitude - low.latitude)
            if across > 0 { isInside.toggle() }
          }
          previous = corner
        }
      }
      return isInside
    }
  }

  /// The angle between two places in radians, by the haversine formula.
  static func distance(_ left: GeoPoint, _ right: GeoPoint) -> Double {
    let factor = Double.pi / 180
    let (first, second) = (left.latitude * factor, right.latitude * factor)
    let north = sin((second - first) / 2)
    let east = sin((right.longitude - left.longitude) * factor / 2)
    let half = north * north + cos(first) * cos(second) * east * east
    return 2 * asin(min(1, half.squareRoot()))
  }
}

extension GeoArea {
  /// The area of a shape given as an argument.
  /// - Throws: `QueryError` with code `.argument` when a number is outside of its range.
  init(_ argument: QueryArgument) throws(QueryError) {
    switch argument {
    case .value: preconditionFailure("the binder asks for the areas of shapes only")
    case .geoBox(let first, let second):
      self = .box(try GeoPoint(first), try GeoPoint(second))
    case .geoCircle(let centre, let radius):
      self = .circle(
        try GeoPoint(centre), radius: try Self.checked(radius, "\(radius)", .radius))
    case .geoPolygon(let rings):
      var bound: [[GeoPoint]] = []
      for ring in rings {
        var points: [GeoPoint] = []
        for corner in ring { points.append(try GeoPoint(corner)) }
        bound.append(points)
      }
      self = try .polygon(checked: bound)
    }
  }

  /// The box between two corners, whichever they are.
  fileprivate static func box(_ one: GeoPoint, _ other: GeoPoint) -> GeoArea {
    .box(
      lowest: GeoPoint(
        longitude: min(one.longitude, other.longitude),
        latitude: min(one.latitude, other.latitude)),
      highest: GeoPoint(
        longitude: max(one.longitude, other.longitude),
        latitude: max(one.latitude, other.latitude)))
  }

  /// A polygon with valid rings.
  fileprivate static func polygon(checked rings: [[GeoPoint]]) throws(QueryError) -> GeoArea {
    guard !rings.isEmpty else {
      throw QueryError(.argument, "a geoPolygon has one ring or more")
    }
    for ring in rings where Set(ring).count < 3 {
      throw QueryError(.argument, "a ring of a geoPolygon has three different points or more")
    }
    try GeoRings(rings).check()
    return .polygon(rings)
  }

  /// The meaning of a shape's number.
  fileprivate enum Measure: String {
    case longitude = "a longitude in degrees"
    case latitude = "a latitude in degrees"
    case radius = "the radius of a geoCircle in radians"

    var range: ClosedRange<Double> {
      switch self {
      case .longitude: -180...180
      case .latitude: -90...90
      case .radius: 0...Double.pi
      }
    }
  }

  /// A number in its range; NaN is in none.
  fileprivate static func checked(
    _ number: Double?, _ text: String, _ measure: Measure
  ) throws(QueryError) -> Double {
    guard let number, measure.range.contains(number) else {
      throw QueryError(
        .argument,
        "\(text): \(measure.rawValue) is a number from \(measure.range.lowerBound) to "
          + "\(measure.range.upperBound)")
    }
    return number
  }
}

extension GeoPoint {
  fileprivate init(_ place: QueryPlace) throws(QueryError) {
    longitude = try GeoArea.checked(place.longitude, "\(place.longitude)", .longitude)
    latitude = try GeoArea.checked(place.latitude, "\(place.latitude)", .latitude)
  }
}

extension Binder {
  /// Binds a part of the Earth's surface.
  func area(_ shape: QueryShape) throws(QueryError) -> GeoArea {
    switch shape {
    case .box(let first, let second): return .box(try point(first), try point(second))
    case .circle(let centre, let radius):
      let radians = try number(radius, .radius)
      return .circle(try point(centre), radius: radians)
    case .polygon(let rings):
      var bound: [[GeoPoint]] = []
      for ring in rings {
        var points: [GeoPoint] = []
        for corner in ring { points.append(try point(corner)) }
        bound.append(points)
      }
      return try .polygon(checked: bound)
    }
  }

  private func point(_ point: QueryPoint) throws(QueryError) -> GeoPoint {
    GeoPoint(
      longitude: try number(point.longitude, .longitude),
      latitude: try number(point.latitude, .latitude))
  }

  private func number(
    _ operand: QueryOperand, _ measure: GeoArea.Measure
  ) throws(QueryError) -> Double {
    let value: Value
    switch operand {
    case .argument(let number): value = try argument(number)
    case .literal(.number(let text)): value = Numbers.value(text, .double)
    case .literal(.value(let literal)): value = literal
    default: value = .null
    }
    return try GeoArea.checked(Numbers.double(value), Self.text(operand), measure)
  }
}
