// Geospatial.swift: points and areas on the Earth for `geoWithin`. A place in the database is an
// object with `type` "Point" and `coordinates` (longitude, latitude), as in GeoJSON. Invariant:
// numbers are in their ranges, since all initializers check them.

import Query

/// A place in degrees.
public struct GeoPoint: Hashable, Sendable {
  /// From -90 to 90.
  public let latitude: Double
  /// From -180 to 180.
  public let longitude: Double
  /// At least 0; of no meaning to queries.
  public let altitude: Double

  /// Makes a place; nil for numbers outside of their ranges.
  /// - Parameters:
  ///   - latitude: Degrees from -90 to 90.
  ///   - longitude: Degrees from -180 to 180.
  ///   - altitude: At least 0; of no meaning to queries.
  public init?(latitude: Double, longitude: Double, altitude: Double = 0) {
    guard (-90...90).contains(latitude), (-180...180).contains(longitude), altitude >= 0 else {
      return nil
    }
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
  }

  /// Makes a place; nil for numbers outside of their ranges.
  public init?(_ latitude: Double, _ longitude: Double, altitude: Double = 0) {
    self.init(latitude: latitude, longitude: longitude, altitude: altitude)
  }

  var place: QueryPlace { QueryPlace(longitude: longitude, latitude: latitude) }
}

/// A part of the Earth, for this module.
protocol GeoShape {
  var argument: QueryArgument { get }
}

/// The area between two corners in the plane of longitude and latitude, edges included.
public struct GeoBox: Hashable, Sendable, GeoShape {
  /// The corner in the south-west.
  public let bottomLeft: GeoPoint
  /// The corner in the north-east.
  public let topRight: GeoPoint

  /// Makes a box.
  public init(bottomLeft: GeoPoint, topRight: GeoPoint) {
    self.bottomLeft = bottomLeft
    self.topRight = topRight
  }

  /// Makes a box of latitudes and longitudes; nil for numbers outside of their ranges.
  public init?(bottomLeft: (Double, Double), topRight: (Double, Double)) {
    guard let low = GeoPoint(bottomLeft.0, bottomLeft.1),
      let high = GeoPoint(topRight.0, topRight.1)
    else { return nil }
    self.init(bottomLeft: low, topRight: high)
  }

  var argument: QueryArgument { .geoBox(bottomLeft.place, topRight.place) }
}

/// A distance on the Earth's surface.
public struct Distance: Hashable, Sendable {
  private static let earthRadiusKilometers = 6_378.1
  private static let kilometersPerMile = 1.609344

  /// The angle at the centre of the Earth.
  public let radians: Double

  private init?(_ radians: Double) {
    guard radians >= 0, radians.isFinite else { return nil }
    self.radians = radians
  }

  /// A distance in kilometres; nil for a negative one.
  public static func kilometers(_ kilometers: Double) -> Distance? {
    Distance(kilometers / earthRadiusKilometers)
  }

  /// A distance in miles; nil for a negative one.
  public static func miles(_ miles: Double) -> Distance? {
    Distance(miles * kilometersPerMile / earthRadiusKilometers)
  }

  /// A distance in degrees; nil for a negative one.
  public static func degrees(_ degrees: Double) -> Distance? { Distance(degrees * .pi / 180) }

  /// A distance in radians; nil for a negative one.
  public static func radians(_ radians: Double) -> Distance? { Distance(radians) }

  /// The distance in kilometres.
  public func asKilometers() -> Double { radians * Self.earthRadiusKilometers }

  /// The distance in miles.
  public func asMiles() -> Double { asKilometers() / Self.kilometersPerMile }

  /// The distance in degrees.
  public func asDegrees() -> Double { radians * 180 / .pi }
}

/// The area within a distance of a point on the sphere.
public struct GeoCircle: Hashable, Sendable, GeoShape {
  /// The centre.
  public let center: GeoPoint
  /// The distance of the edge.
  public let radiusInRadians: Double

  /// Makes a circle; nil for a radius below 0 or beyond half the circumference of the Earth.
  public init?(center: GeoPoint, radiusInRadians: Double) {
    guard (0...Double.pi).contains(radiusInRadians) else { return nil }
    self.center = center
    self.radiusInRadians = radiusInRadians
  }

  /// Makes a circle; nil for a radius beyond half the circumference of the Earth.
  public init?(center: GeoPoint, radius: Distance) {
    self.init(center: center, radiusInRadians: radius.radians)
  }

  /// Makes a circle from latitude and longitude; nil for numbers outside of their ranges.
  public init?(center: (Double, Double), radiusInRadians: Double) {
    guard let point = GeoPoint(center.0, center.1) else { return nil }
    self.init(center: point, radiusInRadians: radiusInRadians)
  }

  /// Makes a circle from latitude and longitude; nil for numbers outside of their ranges.
  public init?(center: (Double, Double), radius: Distance) {
    self.init(center: center, radiusInRadians: radius.radians)
  }

  var argument: QueryArgument { .geoCircle(center.place, radius: radiusInRadians) }
}

/// The area inside a ring and outside of others, in the plane of longitude and latitude.
public struct GeoPolygon: Hashable, Sendable, GeoShape {
  /// The outer ring; its first and last points are the same.
  public let outerRing: [GeoPoint]
  /// Rings whose inside is excluded.
  public let holes: [[GeoPoint]]

  /// Makes a polygon; nil for a ring that is not closed or has less than three different points.
  public init?(outerRing: [GeoPoint], holes: [[GeoPoint]]? = nil) {
    for ring in [outerRing] + (holes ?? []) {
      guard ring.first == ring.last, Set(ring).count >= 3 else { return nil }
    }
    self.outerRing = outerRing
    self.holes = holes ?? []
  }

  /// Makes a polygon of latitudes and longitudes; nil for numbers outside of their ranges, too.
  public init?(outerRing: [(Double, Double)], holes: [[(Double, Double)]]? = nil) {
    var rings: [[GeoPoint]] = []
    for ring in [outerRing] + (holes ?? []) {
      let points = ring.compactMap { GeoPoint($0.0, $0.1) }
      guard points.count == ring.count else { return nil }
      rings.append(points)
    }
    self.init(outerRing: rings[0], holes: Array(rings.dropFirst()))
  }

  /// Makes a polygon of latitudes and longitudes; nil for numbers outside of their ranges, too.
  public init?(outerRing: [(Double, Double)], holes: [(Double, Double)]...) {
    self.init(outerRing: outerRing, holes: holes)
  }

  var argument: QueryArgument { .geoPolygon(([outerRing] + holes).map { $0.map(\.place) }) }
}

/// An embedded object, or an optional one, which may be a place.
public protocol _QueryPlace {}
extension EmbeddedObject: _QueryPlace {}
extension Optional: _QueryPlace where Wrapped: EmbeddedObject {}

extension Query where Value: _QueryPlace {
  /// Whether the place is in an area: a box, a circle or a polygon.
  ///
  /// An embedded object without `type` (text) and `coordinates` (list of doubles) stops the
  /// process.
  public func geoWithin<Area: RLMGeospatial>(_ value: Area) -> Query<Bool> {
    condition("GEOWITHIN", value)
  }
}

/// An area on the Earth.
public protocol RLMGeospatial {}
extension GeoBox: RLMGeospatial {}
extension GeoCircle: RLMGeospatial {}
extension GeoPolygon: RLMGeospatial {}
