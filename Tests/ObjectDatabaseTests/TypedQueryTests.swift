// TypedQueryTests.swift: typed queries one by one: each finds what a loop over the objects finds.
// It must not use `@testable`.

import FoundationEssentials
import ObjectDatabase
import Testing

class Spot: EmbeddedObject {
  @Persisted var type = "Point"
  @Persisted var coordinates: List<Double>

  convenience init(_ latitude: Double, _ longitude: Double) {
    self.init()
    coordinates.append(objectsIn: [longitude, latitude])
  }
}

class Hound: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var age: Int
  @Persisted var nickname: String?
  @Persisted var mood: Mood
  @Persisted var heat: Kelvin
  @Persisted var born: Date
  @Persisted var isGood: Bool
  @Persisted var any: AnyRealmValue
  @Persisted var home: Spot?
  @Persisted var pups: List<Hound>
  @Persisted var foes: MutableSet<Hound>
  @Persisted var scores: List<Int>
  @Persisted var weights: MutableSet<Double>
  @Persisted var words: Map<String, String>
  @Persisted var counts: Map<String, Int>
  @Persisted var friends: Map<String, Hound?>
  @Persisted(originProperty: "pups") var parents: LinkingObjects<Hound>

  convenience init(_ id: Int, _ name: String, age: Int) {
    self.init()
    self.id = id
    self.name = name
    self.age = age
  }
}

@Suite("typed queries")
struct TypedQueryTests {
  /// Four hounds: 1 has the pups 2 and 3; 4 has the pup 3.
  static func hounds() throws -> (Folder, Results<Hound>) {
    let folder = try Folder()
    let realm = try folder.realm([Hound.self])
    let names = ["Ännchen", "Bob", "annabel", "Zoë"]
    let hounds = names.enumerated().map { Hound($0 + 1, $1, age: [9, 3, 4, 7][$0]) }
    hounds[0].pups.append(objectsIn: [hounds[1], hounds[2]])
    hounds[3].pups.append(hounds[2])
    hounds[0].foes.insert(hounds[3])
    hounds[1].nickname = "Bob"
    hounds[2].nickname = "abel"
    hounds[2].mood = .wild
    for (index, hound) in hounds.enumerated() {
      hound.heat = Kelvin(persistedValue: Double(280 + index))
      hound.born = Date(timeIntervalSince1970: Double(index) * 1_000)
      hound.isGood = index % 2 == 0
      hound.home = index == 3 ? nil : Spot(50 + Double(index), 10)
      hound.scores.append(objectsIn: Array(0...index).map { $0 * 10 })
      hound.weights.insert(Double(index) + 0.5)
      hound.words["colour"] = ["red", "blue", "Red", "green"][index]
      if index == 1 { hound.words["tail"] = "long" }
      hound.counts["bones"] = index
    }
    hounds[3].counts["balls"] = 5
    hounds[2].friends["best"] = hounds[0]
    hounds[0].any = .int(5)
    hounds[1].any = .string("five")
    hounds[2].any = .double(5)
    hounds[3].any = .object(hounds[1])
    try realm.write { realm.add(hounds) }
    return (folder, realm.objects(Hound.self))
  }

  private static func ids(
    _ hounds: Results<Hound>, _ query: (Query<Hound>) -> Query<Bool>
  ) -> [Int] {
    hounds.where(query).map(\.id)
  }

  @Test("subqueries count the objects of a collection that meet a condition")
  func subqueries() throws {
    let (folder, hounds) = try Self.hounds()
    #expect(Self.ids(hounds) { ($0.pups.age > 3).count > 0 } == [1, 4])
    #expect(Self.ids(hounds) { ($0.pups.age > 2).count > 1 } == [1])
    #expect(Self.ids(hounds) { ($0.pups.age > 3 && $0.pups.name == "Bob").count > 0 } == [])
    #expect(Self.ids(hounds) { ($0.pups.age >= 3 && $0.pups.name == "Bob").count == 1 } == [1])
    #expect(Self.ids(hounds) { ($0.pups.age < $0.age - 4).count == 2 } == [1], "the owner's age")
    #expect(Self.ids(hounds) { ($0.foes.pups.count == 1).count == 1 } == [1])
    #expect(Self.ids(hounds) { ($0.parents.name == "Zoë").count == 1 && $0.age == 4 } == [3])
    #expect(Self.ids(hounds) { ($0.pups.scores.contains(20)).count == 1 } == [1, 4])
    #expect(Self.ids(hounds) { $0.pups.isGood && ($0.pups.isGood).count == 1 } == [1, 4])
    #expect(Self.ids(hounds) { !($0.pups.age > 3).count.in([0, 2]) } == [1, 4])
    withExtendedLifetime(folder) {}
  }

  @Test("maps, by key, by keys, by values, and what their values come to")
  func maps() throws {
    let (folder, hounds) = try Self.hounds()
    #expect(Self.ids(hounds) { $0.words["colour"] == "red" } == [1])
    #expect(Self.ids(hounds) { $0.words["colour"].like("*E*", caseInsensitive: true) }.count == 4)
    #expect(Self.ids(hounds) { $0.words["it's"] == "x" } == [])
    #expect(Self.ids(hounds) { $0.words.keys == "tail" } == [2])
    #expect(Self.ids(hounds) { $0.words.keys.starts(with: "TA", options: .caseInsensitive) } == [2])
    #expect(Self.ids(hounds) { $0.words.values.contains("ree") } == [4])
    #expect(Self.ids(hounds) { $0.words.contains("long") } == [2])
    #expect(Self.ids(hounds) { $0.words.containsAny(in: ["long", "green"]) } == [2, 4])
    #expect(Self.ids(hounds) { $0.words.count > 1 } == [2])
    #expect(Self.ids(hounds) { $0.counts["bones"] > 1 } == [3, 4])
    #expect(Self.ids(hounds) { $0.counts.sum == 8 && $0.counts.max == 5 } == [4])
    #expect(Self.ids(hounds) { $0.counts.min >= 2 && $0.counts.avg > 2 } == [4])
    #expect(Self.ids(hounds) { $0.friends["best"].name == "Ännchen" } == [3])
    withExtendedLifetime(folder) {}
  }

  @Test("what collections come to, and what is in them")
  func collections() throws {
    let (folder, hounds) = try Self.hounds()
    #expect(Self.ids(hounds) { $0.scores.sum == 30 } == [3])
    #expect(Self.ids(hounds) { $0.scores.max > 10 && $0.scores.avg < 15 } == [3])
    #expect(Self.ids(hounds) { $0.scores.min == 0 }.count == 4)
    #expect(Self.ids(hounds) { $0.scores.contains(30) } == [4])
    #expect(Self.ids(hounds) { $0.scores.containsAny(in: [30, 20]) } == [3, 4])
    #expect(Self.ids(hounds) { $0.scores.contains(0...10) } == [1, 2])
    #expect(Self.ids(hounds) { $0.weights.contains(0..<1.5) } == [1])
    #expect(Self.ids(hounds) { $0.pups.age.sum == 7 && $0.pups.age.min == 3 } == [1])
    #expect(Self.ids(hounds) { $0.pups.age.max == 4 && $0.pups.age.avg == 4 } == [4])
    #expect(Self.ids(hounds) { $0.pups.born.max >= Date(timeIntervalSince1970: 2_000) } == [1, 4])
    #expect(Self.ids(hounds) { $0.pups.contains(hounds[1]) } == [1])
    withExtendedLifetime(folder) {}
  }

  @Test("texts with case, with marks, and against each other")
  func texts() throws {
    let (folder, hounds) = try Self.hounds()
    let both: StringOptions = [.caseInsensitive, .diacriticInsensitive]
    #expect(Self.ids(hounds) { $0.name.starts(with: "ann", options: both) } == [1, 3])
    #expect(Self.ids(hounds) { $0.name.starts(with: "Ann", options: .diacriticInsensitive) } == [1])
    #expect(Self.ids(hounds) { $0.name.equals("zoe", options: both) } == [4])
    #expect(Self.ids(hounds) { $0.name.notEquals("zoe", options: both) } == [1, 2, 3])
    #expect(Self.ids(hounds) { $0.name.like("?o*") } == [2, 4])
    #expect(Self.ids(hounds) { $0.name.equals($0.nickname) } == [2])
    #expect(Self.ids(hounds) { $0.name.ends(with: $0.nickname) } == [2, 3])
    #expect(Self.ids(hounds) { $0.name.text("bob") || $0.name.text("anna*") } == [2, 3])
    #expect(Self.ids(hounds) { $0.nickname.equals(nil) } == [1, 4])
    withExtendedLifetime(folder) {}
  }

  @Test("values of any type, enumerations, types kept as others, arithmetic, other properties")
  func others() throws {
    let (folder, hounds) = try Self.hounds()
    #expect(Self.ids(hounds) { $0.any == .int(5) } == [1, 3], "numbers compare by what they are")
    #expect(Self.ids(hounds) { $0.any > .double(4.5) } == [1, 3])
    #expect(Self.ids(hounds) { $0.any == .string("five") } == [2])
    #expect(Self.ids(hounds) { $0.any.contains("iv") } == [2])
    #expect(Self.ids(hounds) { $0.any == .object(hounds[1]) } == [4])
    #expect(Self.ids(hounds) { $0.any.in([.string("five"), .object(hounds[1])]) } == [2, 4])
    #expect(Self.ids(hounds) { $0.any == .none } == [])
    #expect(Self.ids(hounds) { $0.mood == .wild || $0.mood.rawValue == "wild" } == [3])
    #expect(Self.ids(hounds) { $0.heat.persistableValue >= 282 } == [3, 4])
    #expect(Self.ids(hounds) { $0.age + 1 > 8 } == [1])
    #expect(Self.ids(hounds) { ($0.age - $0.id) * 2 == 6 } == [4])
    #expect(Self.ids(hounds) { $0.age / 2 == 2 } == [3], "integers are cut off")
    #expect(Self.ids(hounds) { $0.age > $0.id && $0.age < $0.id + 2 } == [2, 3])
    #expect(Self.ids(hounds) { $0.isGood && !($0.age == 4) } == [1])
    withExtendedLifetime(folder) {}
  }

  @Test("places in shapes, typed and as arguments of words")
  func places() throws {
    let (folder, hounds) = try Self.hounds()
    let box = try #require(GeoBox(bottomLeft: (49, 9), topRight: (51.5, 11)))
    let radius = try #require(Distance.kilometers(115))
    let circle = try #require(GeoCircle(center: (50, 10), radius: radius))
    let ring = [(51.5, 9.0), (53, 9), (53, 11), (51.5, 11), (51.5, 9)]
    let polygon = try #require(GeoPolygon(outerRing: ring))
    #expect(Self.ids(hounds) { $0.home.geoWithin(box) } == [1, 2])
    #expect(Self.ids(hounds) { $0.home.geoWithin(circle) } == [1, 2], "a degree is 111.3 km")
    #expect(Self.ids(hounds) { $0.home.geoWithin(polygon) } == [3])
    #expect(hounds.filter("home GEOWITHIN %@", box).map(\.id) == [1, 2])
    #expect(hounds.filter("home GEOWITHIN $0 AND age > $1", circle, 3).map(\.id) == [1])
    #expect(GeoPoint(91, 0) == nil && GeoCircle(center: (0, 0), radiusInRadians: -1) == nil)
    #expect(GeoPolygon(outerRing: Array(ring.dropLast())) == nil, "not closed")
    #expect(Distance.miles(1)?.asKilometers() == Distance.kilometers(1.609344)?.asKilometers())
    #expect(Distance.degrees(-1) == nil)
    withExtendedLifetime(folder) {}
  }

  @Test("lists, sets and maps are asked as results are")
  func views() throws {
    let (folder, hounds) = try Self.hounds()
    let first = hounds[0]
    #expect(first.pups.where { $0.age > 3 }.map(\.id) == [3])
    #expect(first.foes.where { $0.age > 3 }.map(\.id) == [4])
    #expect(hounds.index(matching: "age < 5") == 1 && hounds.index(matching: "age > 50") == nil)
    #expect(hounds.sorted(by: \.age).index(matching: { $0.name == "Zoë" }) == 2)
    #expect(hounds.sorted(by: \.age).index(of: first) == 3)
    #expect(first.pups.index(of: hounds[2]) == 1 && first.pups.index(of: first) == nil)
    #expect(hounds.objects(at: [0, 2]).map(\.id) == [1, 3])
    let last = hounds[3]
    #expect(Array(last.counts.sorted(ascending: false)) == [5, 3])
    #expect(last.counts.min() == 3 && last.counts.max() == 5 && last.counts.sum() == 8)
    #expect(last.counts.average() == 4 && Array(last.counts.distinct()) == [5, 3])
    let realm = try #require(hounds.realm)
    try realm.write {
      for (index, name) in ["a", "b", "c"].enumerated() { last.friends[name] = hounds[index] }
      last.friends["nobody"] = .some(nil)
    }
    #expect(last.friends.filter("age > 3").map { $0?.id } == [1, 3])
    #expect(last.friends.where { $0.age <= 4 }.map { $0?.id } == [2, 3])
    #expect(last.friends.sorted(byKeyPath: "age").map { $0?.id } == [2, 3, 1])
    #expect(last.friends.sum(ofProperty: "age") == 16)
    let oldest: Int? = last.friends.max(ofProperty: "age")
    #expect(oldest == 9)
    #expect(throws: Realm.Error.self) { try last.friends.filtered(by: "legs == 4") }
    withExtendedLifetime(folder) {}
  }
}
