// GeoArea.swift: parts of the Earth's surface, and whether a point is in them.
// Boxes and polygons are figures in the plane of longitude and latitude; circles are measured along
// the sphere. Points on an edge of a box or circle are inside.

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
            let share =
              (point.latitude - corner.latitude) / (previous.latitude - corner.latitude)
            let crossing = corner.longitude + share * (previous.longitude - corner.longitude)
            if point.longitude < crossing { isInside.toggle() }
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

extension Binder {
  /// Binds a part of the Earth's surface.
  func area(_ shape: QueryShape) throws(QueryError) -> GeoArea {
    switch shape {
    case .box(let first, let second):
      let (one, other) = (try point(first), try point(second))
      return .box(
        lowest: GeoPoint(
          longitude: min(one.longitude, other.longitude),
          latitude: min(one.latitude, other.latitude)),
        highest: GeoPoint(
          longitude: max(one.longitude, other.longitude),
          latitude: max(one.latitude, other.latitude)))
    case .circle(let centre, let radius):
      let radians = try number(radius, in: 0...Double.pi, "the radius of a geoCircle in radians")
      return .circle(try point(centre), radius: radians)
    case .polygon(let rings):
      var bound: [[GeoPoint]] = []
      for ring in rings {
        var points: [GeoPoint] = []
        for corner in ring { points.append(try point(corner)) }
        guard Set(points).count >= 3 else {
          throw QueryError(.argument, "a ring of a geoPolygon has three different points or more")
        }
        bound.append(points)
      }
      return .polygon(bound)
    }
  }

  private func point(_ point: QueryPoint) throws(QueryError) -> GeoPoint {
    GeoPoint(
      longitude: try number(point.longitude, in: -180...180, "a longitude in degrees"),
      latitude: try number(point.latitude, in: -90...90, "a latitude in degrees"))
  }

  private func number(
    _ operand: QueryOperand, in range: ClosedRange<Double>, _ what: String
  ) throws(QueryError) -> Double {
    let value: Value
    switch operand {
    case .argument(let number): value = try argument(number)
    case .literal(.number(let text)): value = Numbers.value(text, .double)
    case .literal(.value(let literal)): value = literal
    default: value = .null
    }
    guard let number = Numbers.double(value), range.contains(number) else {
      throw QueryError(
        .argument,
        "\(Self.text(operand)): \(what) is a number from \(range.lowerBound) to \(range.upperBound)"
      )
    }
    return number
  }
}
