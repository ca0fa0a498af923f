// CollectionSamples.swift: lists, sets, maps, values of any type, embedded objects.

import FoundationEssentials
import ObjectDatabase
import Testing

@Suite("samples: collections")
struct CollectionSamples {
  private typealias Dog = Kennel.Dog
  private typealias Person = Kennel.Person

  @Test("lists keep their order")
  func lists() throws {
    let folder = try Folder()
    let realm = try Kennel.filled(folder)
    let ada = try #require(realm.objects(Person.self).first)
    // sample: lists
    try realm.write {
      ada.dogs.append(Dog(value: ["name": "Max", "age": 4]))
      ada.dogs.move(from: 3, to: 0)
      ada.dogs.remove(at: 1)
    }
    let names = ada.dogs.map(\.name)
    let byAge = ada.dogs.sorted(by: \.age).map(\.name)
    let young = ada.dogs.where { $0.age < 5 }
    // end
    #expect(names == ["Max", "Fido", "Bo"] && byAge == ["Bo", "Max", "Fido"] && young.count == 2)
    #expect(realm.objects(Dog.self).count == 4, "a dog that left a list is still there")
  }

  @Test("sets hold each value once, and have the operations of sets")
  func sets() throws {
    let folder = try Folder()
    let realm = try Kennel.filled(folder)
    let ada = try #require(realm.objects(Person.self).first)
    let bob = Person(value: ["id": 2, "name": "Bob"])
    // sample: sets
    try realm.write {
      realm.add(bob)
      ada.citiesVisited.insert(objectsIn: ["Rome", "Berlin", "Rome"])
      bob.citiesVisited.insert(objectsIn: ["Berlin", "Oslo"])
    }
    let haveMet = ada.citiesVisited.intersects(bob.citiesVisited)
    try realm.write { ada.citiesVisited.formUnion(bob.citiesVisited) }
    let travellers = realm.objects(Person.self).where { $0.citiesVisited.contains("Oslo") }
    // end
    #expect(haveMet && Array(ada.citiesVisited) == ["Berlin", "Oslo", "Rome"])
    #expect(travellers.count == 2)
  }

  @Test("maps, values of any type, embedded objects")
  func others() throws {
    let folder = try Folder()
    let realm = try Kennel.filled(folder)
    let ada = try #require(realm.objects(Person.self).first)
    // sample: maps
    try realm.write {
      ada.phoneNumbers["home"] = "030 1"
      ada.phoneNumbers["work"] = "030 2"
      ada.phoneNumbers["home"] = nil
      ada.note = .string("likes terriers")
      ada.address = Kennel.Address(value: ["street": "1 Main Street", "city": "Berlin"])
    }
    let people = realm.objects(Person.self)
    let reachable = people.where { $0.phoneNumbers["work"].starts(with: "030") }
    let noted = people.where { $0.note.contains("terrier") && $0.address.city == "Berlin" }
    // end
    #expect(reachable.count == 1 && noted.count == 1 && ada.phoneNumbers.keys == ["work"])
    switch ada.note {
    case .string(let text): #expect(text.hasSuffix("terriers"))
    default: Issue.record("\(ada.note)")
    }
    try realm.write { ada.address = nil }
    #expect(realm.objects(Kennel.Address.self).isEmpty, "an embedded object has one owner")
  }
}
