// QueryArgument.swift: what `$0`, `$1` and so on can stand for.

import Engine

/// A place on the Earth in degrees.
public struct QueryPlace: Hashable, Sendable {
  /// From -180 to 180.
  public var longitude: Double
  /// From -90 to 90.
  public var latitude: Double

  /// Makes a place; a query that is bound with numbers outside of their ranges throws.
  /// - Parameters:
  ///   - longitude: Degrees from -180 to 180.
  ///   - latitude: Degrees from -90 to 90.
  public init(longitude: Double, latitude: Double) {
    self.longitude = longitude
    self.latitude = latitude
  }
}

/// An argument of a query.
public enum QueryArgument: Hashable, Sendable {
  /// A value; collections for the operators that take collections.
  case value(Value)
  /// Behind GEOWITHIN: what is between two corners.
  case geoBox(QueryPlace, QueryPlace)
  /// Behind GEOWITHIN: what is near a place; the radius is in radians.
  case geoCircle(QueryPlace, radius: Double)
  /// Behind GEOWITHIN: what is inside the first ring and outside of the others.
  case geoPolygon([[QueryPlace]])
}
