// ObjectTests.swift: objects, unmanaged and managed: every type, links, lists, embedded ones.

import FoundationEssentials
import Testing

@testable import ObjectDatabase

@Suite("objects")
struct ObjectTests {
  @Test("an unmanaged object holds its values")
  func unmanaged() {
    let dog = Dog(name: "Fido", age: 3)
    #expect(dog.name == "Fido" && dog.age == 3 && dog.owner == nil)
    #expect(dog.realm == nil && !dog.isInvalidated && !dog.isFrozen)
    #expect(dog.owners.isEmpty)
    let person = Person()
    let id = person._id
    #expect(person._id == id, "a generated default is made once")
    person.dogs.append(dog)
    #expect(person.dogs.count == 1 && person.dogs[0] === dog)
  }

  @Test("an added object is managed, and so is what it leads to")
  func adding() throws {
    let folder = try Folder()
    let realm = try folder.realm()
    let person = Person()
    person.name = "Ada"
    let dog = Dog(name: "Fido", age: 3)
    dog.owner = person
    person.dogs.append(dog)
    let list = person.dogs
    try realm.write { realm.add(person) }
    #expect(person.realm == realm && dog.realm == realm)
    #expect(realm.objects(Dog.self).count == 1 && realm.objects(Person.self).count == 1)
    #expect(dog.owner?.name == "Ada")
    #expect(list.realm == realm && list.count == 1 && list[0].name == "Fido")
    #expect(dog.owners.count == 1 && dog.owners.first == person)
    try realm.write { dog.age += 1 }
    #expect(realm.objects(Dog.self).first?.age == 4)
  }

  @Test("every type of property survives the file", arguments: [false, true])
  func everyType(isReopened: Bool) throws {
    let folder = try Folder()
    let id = ObjectId.generate()
    let uuid = try #require(UUID(uuidString: "8E2F1C3A-97C1-4E1B-9F5D-0A1B2C3D4E5F"))
    try autoreleased {
      let realm = try folder.realm()
      let all = Everything()
      all.id = 7
      all.bool = true
      all.int8 = -128
      all.int16 = 32767
      all.int32 = .min
      all.int64 = .max
      all.float = 1.5
      all.double = -0.1
      all.string = "Grüße"
      all.data = Data([0, 255, 1])
      all.date = Date(timeIntervalSince1970: -1.25)
      all.objectId = id
      all.uuid = uuid
      all.decimal = Decimal128(high: 0x3040_0000_0000_0000, low: 42)
      all.any = .string("any")
      all.mood = .wild
      all.heat = Kelvin(persistedValue: 273.15)
      all.optionalInt = 5
      all.optionalMood = .wild
      all.ints.append(objectsIn: [3, 1, 2])
      all.optionalStrings.append(objectsIn: ["a", nil])
      all.numbers.insert(objectsIn: [5, 3, 5])
      all.words["b"] = "B"
      all.words["a"] = "A"
      all.link = all
      all.links["self"] = all
      all.links["none"] = .some(nil)
      all.things.append(objectsIn: [.int(1), .none, .object(all), .double(2.5)])
      try realm.write { realm.add(all) }
      if !isReopened { try check(all, id, uuid) }
    }
    guard isReopened else { return }
    let realm = try folder.realm()
    try check(try #require(realm.object(ofType: Everything.self, forPrimaryKey: 7)), id, uuid)
  }

  private func autoreleased(_ body: () throws -> Void) rethrows { try body() }

  private func check(_ all: Everything, _ id: ObjectId, _ uuid: UUID) throws {
    #expect(all.bool && all.int8 == -128 && all.int16 == 32767)
    #expect(all.int32 == .min && all.int64 == .max)
    #expect(all.float == 1.5 && all.double == -0.1 && all.string == "Grüße")
    #expect(all.data == Data([0, 255, 1]) && all.date == Date(timeIntervalSince1970: -1.25))
    #expect(all.objectId == id && all.uuid == uuid && all.decimal.low == 42)
    #expect(all.any.stringValue == "any" && all.mood == .wild && all.heat.degrees == 273.15)
    #expect(all.optionalInt == 5 && all.optionalString == nil && all.optionalDate == nil)
    #expect(all.optionalMood == .wild && all.link == all)
    #expect(Array(all.ints) == [3, 1, 2] && Array(all.optionalStrings) == ["a", nil])
    #expect(Array(all.numbers) == [3, 5])
    #expect(all.words.keys == ["a", "b"] && all.words["b"] == "B" && all.words["c"] == nil)
    #expect(all.links.keys == ["none", "self"] && all.links["self"] == .some(all))
    #expect(all.things[0] == .int(1) && all.things[1] == .none && all.things[3] == .double(2.5))
    #expect(all.things[2].object(Everything.self) == all)
  }

  @Test("embedded objects go with their owner, and with what replaces them")
  func embedded() throws {
    let folder = try Folder()
    let realm = try folder.realm()
    let company = Company()
    company.name = "Acme"
    company.seat = Address()
    company.seat?.street = "High Street"
    company.seat?.notes.append(Note())
    company.branches.append(objectsIn: [Address(), Address()])
    company.byCity["Rome"] = Address()
    try realm.write { realm.add(company) }
    func counts() -> [Int] {
      [realm.objects(Address.self).count, realm.objects(Note.self).count]
    }
    #expect(company.seat?.street == "High Street" && counts() == [4, 1])
    let old = try #require(company.seat)
    try realm.write { company.seat = Address() }
    #expect(old.isInvalidated && counts() == [4, 0])
    try realm.write { company.branches.remove(at: 0) }
    #expect(counts() == [3, 0])
    try realm.write { company.branches[0] = Address() }
    #expect(counts() == [3, 0])
    try realm.write { company.byCity["Rome"] = nil }
    #expect(counts() == [2, 0])
    try realm.write { company.seat?.notes.append(Note()) }
    try realm.write { realm.delete(company) }
    #expect(counts() == [0, 0] && company.isInvalidated)
  }

  @Test("a deleted object leaves nil in links and no element in lists")
  func deleting() throws {
    let folder = try Folder()
    let realm = try folder.realm()
    let person = Person()
    let dogs = [Dog(name: "a"), Dog(name: "b")]
    person.dogs.append(objectsIn: dogs)
    try realm.write {
      realm.add(person)
      dogs[0].owner = person
    }
    try realm.write { realm.delete(dogs[1]) }
    #expect(person.dogs.map(\.name) == ["a"] && dogs[1].isInvalidated)
    try realm.write { realm.delete(person) }
    #expect(dogs[0].owner == nil && !dogs[0].isInvalidated)
    try realm.write { realm.delete(realm.objects(Dog.self)) }
    #expect(realm.isEmpty)
  }

  @Test("a chain of many objects is added without deep recursion")
  func longChain() throws {
    let folder = try Folder()
    let realm = try folder.realm()
    var first = Everything()
    for id in 1..<3000 {
      let next = Everything()
      next.id = id
      next.link = first
      first = next
    }
    try realm.write { realm.add(first) }
    #expect(realm.objects(Everything.self).count == 3000)
  }

  @Test("a key is never given twice, so a deleted object does not come back as another")
  func keysAreNotReused() throws {
    let folder = try Folder()
    let realm = try folder.realm()
    let dog = Dog()
    try realm.write { realm.add(dog) }
    let key = dog.rowKey
    try realm.write { realm.delete(dog) }
    let other = Dog()
    try realm.write { realm.add(other) }
    #expect(other.rowKey > key && dog.isInvalidated)
  }

  @Test("default values come from the class; ignored properties are not kept")
  func defaults() throws {
    let folder = try Folder()
    let realm = try folder.realm()
    let dog = try realm.write { realm.create(Dog.self, value: ["age": 4]) }
    #expect(dog.name == "Rex" && dog.age == 4)
    let all = Everything()
    all.ignored = "changed"
    try realm.write { realm.add(all) }
    #expect(all.ignored == "changed")
    #expect(realm.objects(Everything.self).first?.ignored == "not kept")
    #expect(realm.schema["Everything"]?["ignored"] == nil)
  }

  @Test("a managed object describes itself")
  func description() throws {
    let folder = try Folder()
    let realm = try folder.realm()
    let dog = Dog(name: "Fido", age: 3)
    try realm.write { realm.add(dog) }
    #expect(dog.description == "Dog {\n\tname = Fido;\n\tage = 3;\n\towner = (null);\n}")
    try realm.write { realm.delete(dog) }
    #expect(dog.description == "[invalid object]")
  }

  @Test("an object is identified by its row, or by an id of its own")
  func identifiable() throws {
    func ids<Item: Identifiable>(_ items: some Sequence<Item>) -> [Item.ID] { items.map(\.id) }
    let folder = try Folder()
    let realm = try folder.realm()
    try realm.write {
      for number in 1...3 {
        realm.add(Anonymous(value: ["number": number]))
        realm.add(Numbered(value: ["id": number]))
      }
    }
    let live = ids(realm.objects(Anonymous.self))
    #expect(Set(live).count == 3)
    #expect(live == ids(realm.objects(Anonymous.self).freeze()))
    #expect(ids(realm.objects(Numbered.self)) == [1, 2, 3])
  }
}

private class Anonymous: Object, ObjectKeyIdentifiable {
  @Persisted var number: Int
}

private class Numbered: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var id: Int
}
