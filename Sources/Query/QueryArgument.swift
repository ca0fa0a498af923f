// QueryArgument.swift: the possible values of `$0`, `$1` and so on.

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
  /// For GEOWITHIN: the area between two corners.
  case geoBox(QueryPlace, QueryPlace)
  /// For GEOWITHIN: the area around a point; the radius is in radians.
  case geoCircle(QueryPlace, radius: Double)
  /// For GEOWITHIN: the area inside the first ring and outside of the others.
  case geoPolygon([[QueryPlace]])
}
