// CRUDSamples.swift: creating, reading, updating, deleting, as RealmSwift's documentation has it.

import FoundationEssentials
import ObjectDatabase
import Testing

@Suite("samples: create, read, update, delete")
struct CRUDSamples {
  private typealias Dog = Kennel.Dog
  private typealias Person = Kennel.Person
  private typealias Address = Kennel.Address

  @Test("create objects, with links, embedded objects and values by name")
  func create() throws {
    let folder = try Folder()
    let config = Kennel.configuration(folder)
    // sample: create
    let realm = try Realm(configuration: config)

    let dog = Dog()
    dog.name = "Max"
    dog.age = 5
    let person = Person(value: ["id": 1, "name": "Ada"])
    person.dogs.append(dog)
    person.address = Address(value: ["street": "1 Main Street", "city": "Berlin"])

    try realm.write {
      realm.add(person)
      realm.create(Dog.self, value: ["name": "Rex", "age": 2])
    }
    // end
    #expect(realm.objects(Dog.self).count == 2 && dog.realm == realm)
    #expect(dog.owners.first == person && person.address?.city == "Berlin")
  }

  @Test("create many objects with a block, from numbers and from values")
  func createMany() throws {
    let folder = try Folder()
    let realm = try Realm(configuration: Kennel.configuration(folder))
    let names = ["Max", "Rex", "Fido"]
    // sample: create-many
    try realm.write {
      realm.create(Dog.self, count: 1_000) { dog, index in
        dog.name = "Dog \(index)"
        dog.age = index % 15
      }
      realm.create(Dog.self, from: names) { dog, name in dog.name = name }
    }
    // end
    let dogs = realm.objects(Dog.self)
    #expect(dogs.count == 1_003 && dogs[999].name == "Dog 999" && dogs[999].age == 9)
    #expect(dogs.map(\.name).suffix(3) == names)
  }

  @Test("read objects by key, by class, and follow links both ways")
  func read() throws {
    let folder = try Folder()
    let realm = try Kennel.filled(folder)
    // sample: read
    let ada = realm.object(ofType: Person.self, forPrimaryKey: 1)
    let dogs = realm.objects(Dog.self)
    let oldFirst = dogs.sorted(byKeyPath: "age", ascending: false)
    let names = oldFirst.map(\.name)
    let owner = dogs.first?.owners.first
    // end
    #expect(ada?.dogs.count == 3 && Array(names) == ["Fido", "Bo", "Rex"] && owner == ada)
    #expect(realm.object(ofType: Person.self, forPrimaryKey: 2) == nil)
  }

  @Test("update an object, many at once, and by primary key")
  func update() throws {
    let folder = try Folder()
    let realm = try Kennel.filled(folder)
    // sample: update
    let rex = realm.objects(Dog.self).where { $0.name == "Rex" }.first
    try realm.write {
      rex?.name = "Wolfie"
      rex?.age += 1
      realm.create(Person.self, value: ["id": 1, "name": "Ada L."], update: .modified)
      realm.objects(Dog.self).setValue("Berlin", forKey: "currentCity")
    }
    // end
    #expect(rex?.name == "Wolfie" && rex?.age == 2)
    let ada = realm.object(ofType: Person.self, forPrimaryKey: 1)
    #expect(ada?.name == "Ada L." && ada?.dogs.count == 3, "what was not named stays")
    #expect(realm.objects(Dog.self).allSatisfy { $0.currentCity == "Berlin" })
  }

  @Test("delete one object, some, and all")
  func delete() throws {
    let folder = try Folder()
    let realm = try Kennel.filled(folder)
    let rex = try #require(realm.objects(Dog.self).where { $0.name == "Rex" }.first)
    // sample: delete
    try realm.write {
      realm.delete(rex)
      let puppies = realm.objects(Dog.self).where { $0.age < 5 }
      realm.delete(puppies)
    }
    // end
    #expect(rex.isInvalidated && realm.objects(Dog.self).map(\.name) == ["Fido"])
    try realm.write { realm.deleteAll() }
    #expect(realm.isEmpty)
  }

  @Test("a block that throws leaves nothing, and a duplicate key fails the transaction")
  func failing() throws {
    let folder = try Folder()
    let realm = try Kennel.filled(folder)
    // sample: cancel
    do {
      try realm.write {
        realm.deleteAll()
        throw Failure("changed my mind")
      }
    } catch is Failure {
      // Nothing of the block stays.
    }
    // end
    #expect(realm.objects(Dog.self).count == 3)
    let error = #expect(throws: Realm.Error.self) {
      try realm.write {
        realm.add(Person(value: ["id": 2]))
        realm.add(Person(value: ["id": 1]))
      }
    }
    #expect(error?.code == .invalidValue && realm.objects(Person.self).count == 1)
    realm.beginWrite()
    realm.create(Dog.self)
    realm.cancelWrite()
    #expect(realm.objects(Dog.self).count == 3 && !realm.isInWriteTransaction)
  }
}
