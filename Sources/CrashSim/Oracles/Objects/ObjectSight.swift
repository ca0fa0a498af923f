// ObjectSight.swift: all objects of a realm as plain values, read in two ways: through the object
// database's API, property by property, and directly from the engine's rows.
// Invariant: compared collections are sorted where their order has no meaning, and only there.

import Engine
import ObjectDatabase
import Workload

/// The objects of one version.
package struct ObjectSight: Sendable, Hashable {
  /// An object of `Person`.
  struct Person: Sendable, Hashable {
    var name: String
    var age: Int
    /// City, and names, sizes and chests of the rooms.
    var home: [String]?
    var dogs: [Int]
    var nicknames: [String]
    var scores: [String]
  }

  /// An object of `Dog`.
  package struct Dog: Sendable, Hashable {
    var name: String
    package var age: Int
    var owner: Int?
    /// The weight or the breed, as the version has it.
    var kind: String
    /// The persons in whose lists it is; a person with two places counts twice.
    var fans: [Int]
  }

  var people: [Int: Person] = [:]
  package var dogs: [Int: Dog] = [:]
  /// The contents of crates.
  var crates: [Int: PlannedValue] = [:]
  /// The names of the rooms that link to a crate, ascending; a room belongs to a home.
  var places: [Int: [String]] = [:]

  /// The number of objects, for messages.
  var summary: String {
    "\(people.count) people, \(dogs.count) dogs and \(crates.count) crates"
  }

  /// Describes the first object in which two sights differ; nil when they are equal.
  func difference(from other: ObjectSight) -> String? {
    let ids = Set(people.keys).union(other.people.keys).sorted()
    for id in ids where people[id] != other.people[id] {
      return "Person \(id) is \(Self.text(people[id])) and not \(Self.text(other.people[id]))"
    }
    for id in Set(dogs.keys).union(other.dogs.keys).sorted() where dogs[id] != other.dogs[id] {
      return "Dog \(id) is \(Self.text(dogs[id])) and not \(Self.text(other.dogs[id]))"
    }
    for id in Set(crates.keys).union(other.crates.keys).sorted()
    where crates[id] != other.crates[id] {
      let texts = [crates[id], other.crates[id]].map { $0?.text ?? "not there" }
      return "the content of Crate \(id) is \(texts[0]) and not \(texts[1])"
    }
    for id in Set(places.keys).union(other.places.keys).sorted()
    where places[id] != other.places[id] {
      let texts = [places[id], other.places[id]].map { "\($0 ?? [])" }
      return "the rooms with Crate \(id) are \(texts[0]) and not \(texts[1])"
    }
    return nil
  }

  private static func text(_ object: (some Hashable)?) -> String {
    object.map { "\($0)" } ?? "not there"
  }

  package static func kind(weight: Int?, breed: String?) -> String {
    breed ?? weight.map { "\($0)" } ?? "none"
  }

  /// A room in a home.
  struct RoomSight {
    let name: String
    let size: Int
    let chest: Int?
  }

  static func home(_ city: String, _ rooms: [RoomSight]) -> [String] {
    [city]
      + rooms.map { room in
        "\(room.name) \(room.size)" + (room.chest.map { " with Crate \($0)" } ?? "")
      }
  }

  static func score(_ key: String, _ value: Int) -> String { "\(key)=\(value)" }

  // MARK: through the API

  /// Reads all objects of a realm, live or frozen.
  package init<Classes: Kennel>(_ realm: Realm, _: Classes.Type) {
    for person in realm.objects(Classes.Person.self) {
      people[person._id] = Person(
        name: person.label, age: person.age,
        home: person.home.map { home in
          let rooms = home.rooms.map {
            RoomSight(name: $0.name, size: $0.size, chest: $0.chest?._id)
          }
          return Self.home(home.city, Array(rooms))
        },
        dogs: Classes.dogs(of: person).map(\._id), nicknames: Array(person.nicknames),
        scores: person.scores.map { Self.score($0.key, $0.value) })
    }
    for dog in realm.objects(Classes.Dog.self) {
      dogs[dog._id] = Dog(
        name: dog.name, age: dog.age, owner: Classes.owner(of: dog),
        kind: Self.kind(weight: dog.weightIfAny, breed: dog.breedIfAny),
        fans: Classes.fans(of: dog))
    }
    for crate in realm.objects(Crate.self) {
      crates[crate._id] = PlannedValue(crate.content)
      places[crate._id] = crate.places.map(\.name).sorted()
    }
  }

  // MARK: from the rows

  /// Reads all objects from rows.
  init(_ rows: ObjectRows) {
    var ids: [Int64: Int] = [:]
    for (key, dog) in rows.dogs { ids[key] = dog.int("_id") }
    var owners: [Int64: Int] = [:]
    for (key, person) in rows.people { owners[key] = person.int("_id") }
    var chests: [Int64: Int] = [:]
    for (key, crate) in rows.crates {
      let id = crate.int("_id")
      chests[key] = id
      crates[id] = PlannedValue(crate.columns["content"] ?? .null, rows)
      places[id] = []
    }
    for room in rows.rooms.values {
      guard let chest = room.link("chest").flatMap({ chests[$0] }) else { continue }
      places[chest, default: []].append(room.text("name"))
    }
    places = places.mapValues { $0.sorted() }
    var fans: [Int64: [Int]] = [:]
    for (_, person) in rows.people {
      let links = person.links("dogs")
      for link in links { fans[link, default: []].append(person.int("_id")) }
      let home = person.link("home").flatMap { rows.addresses[$0] }.map { address in
        Self.home(
          address.text("city"),
          address.links("rooms").compactMap { rows.rooms[$0] }.map { room in
            RoomSight(
              name: room.text("name"), size: room.int("size"),
              chest: room.link("chest").flatMap { chests[$0] })
          })
      }
      people[person.int("_id")] = Person(
        name: person.text(person.columns["name"] == nil ? "fullName" : "name"),
        age: person.int("age"), home: home, dogs: links.compactMap { ids[$0] },
        nicknames: person.texts("nicknames"),
        scores: person.entries("scores").map { Self.score($0.key, $0.value) })
    }
    for (key, dog) in rows.dogs {
      dogs[dog.int("_id")] = Dog(
        name: dog.text("name"), age: dog.int("age"),
        owner: dog.link("owner").flatMap { owners[$0] },
        kind: Self.kind(
          weight: dog.optionalInt("weight"),
          breed: dog.columns["breed"] == nil ? nil : dog.text("breed")),
        fans: (fans[key] ?? []).sorted())
    }
  }
}
