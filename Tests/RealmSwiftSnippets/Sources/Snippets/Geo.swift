// Geo.swift: 7 snippets about geo, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum GeoSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("circle", snippet1),
    ("circle by a distance", snippet2),
    ("box", snippet3),
    ("polygon", snippet4),
    ("polygon with holes", snippet5),
    ("distances", snippet6),
    ("altitude", snippet7),
  ]

  /// Circle.
  static func snippet1() throws {
    let realm = try filledRealm()
    let circle = GeoCircle(center: (47.8, -122.6), radiusInRadians: 0.000944)!
    check(realm.objects(Company.self).where { $0.location.geoWithin(circle) }.count == 0)
  }

  /// Circle by a distance.
  static func snippet2() throws {
    let circle = GeoCircle(
      center: GeoPoint(latitude: 47.8, longitude: -122.6)!, radius: Distance.kilometers(44.0)!)
    check(circle != nil)
  }

  /// Box.
  static func snippet3() throws {
    let realm = try filledRealm()
    let box = GeoBox(bottomLeft: (47.3, -122.7), topRight: (48.1, -122.1))
    check(realm.objects(Company.self).where { $0.location.geoWithin(box!) }.count == 1)
  }

  /// Polygon.
  static func snippet4() throws {
    let polygon = GeoPolygon(outerRing: [
      (48.0, -122.8), (48.2, -121.8), (47.6, -121.6), (47.0, -122.0), (47.2, -122.6),
      (48.0, -122.8),
    ])
    check(polygon != nil)
  }

  /// Polygon with holes.
  static func snippet5() throws {
    let polygon = GeoPolygon(
      outerRing: [(0, 0), (0, 10), (10, 10), (10, 0), (0, 0)],
      holes: [[(2, 2), (2, 4), (4, 4), (2, 2)]])
    check(polygon != nil)
  }

  /// Distances.
  static func snippet6() throws {
    check(Distance.miles(1)!.asKilometers() > 1.6 && Distance.degrees(1)!.asDegrees() > 0.9)
  }

  /// Altitude.
  static func snippet7() throws {
    check(GeoPoint(latitude: 1, longitude: 2, altitude: 3)?.altitude == 3)
  }
}
