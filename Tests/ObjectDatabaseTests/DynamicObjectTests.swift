// DynamicObjectTests.swift: objects by the name of their class: of classes that the program has,
// and of classes that only the file has.

import FoundationEssentials
import Testing

@testable import ObjectDatabase

@Suite("dynamic objects")
struct DynamicObjectTests {
  @Test("of the program's classes")
  func known() throws {
    let folder = try Folder()
    let realm = try folder.realm([Person.self, Company.self])
    try realm.write {
      let made = realm.dynamicCreate("Dog", value: ["age": 3])
      #expect(made["name"] as? String == "Rex", "the class's default")
      realm.dynamicCreate(
        "Person", value: ["_id": ObjectId.generate(), "name": "Ada", "dogs": [made]])
      made["name"] = "Fido"
    }
    let people = realm.dynamicObjects("Person")
    #expect(people.count == 1 && people[0]["name"] as? String == "Ada")
    let dogs = people[0]["dogs"] as? [Any?]
    #expect((dogs?.first as? DynamicObject)?["name"] as? String == "Fido")
    #expect(realm.objects(Dog.self).first?.name == "Fido")
    #expect(people.filter("dogs.age > 2").count == 1)
    #expect(people.sorted(byKeyPath: "name").first == people[0])
    let id = try #require(realm.objects(Person.self).first?._id)
    #expect(realm.dynamicObject(ofType: "Person", forPrimaryKey: id) == people[0])
    #expect(realm.dynamicObject(ofType: "Person", forPrimaryKey: ObjectId.generate()) == nil)
    let frozen = people.freeze()
    try realm.write { people[0].setValue("Bob", forKey: "name") }
    #expect(frozen[0]["name"] as? String == "Ada" && people[0]["name"] as? String == "Bob")
    try realm.write { realm.delete(realm.dynamicObjects("Dog")) }
    #expect(realm.objects(Dog.self).isEmpty)
  }

  @Test("of classes that only the file has, with what they own")
  func unknown() throws {
    let folder = try Folder()
    do {
      let realm = try folder.realm([Person.self, Company.self])
      let company = Company()
      company.name = "Sea"
      company.seat = Address(value: ["street": "Quay"])
      let person = Person()
      person.name = "Ada"
      person.dogs.append(Dog(name: "Rex", age: 2))
      try realm.write { realm.add([company, person] as [Object]) }
    }
    let realm = try folder.realm([Everything.self])
    let companies = realm.dynamicObjects("Company")
    #expect(companies.count == 1 && companies[0]["name"] as? String == "Sea")
    #expect((companies[0]["seat"] as? DynamicObject)?["street"] as? String == "Quay")
    #expect(companies.filter("seat.street == 'Quay'").count == 1)
    #expect(realm.dynamicObjects("Person").filter("ANY dogs.age == 2").count == 1)
    try realm.write {
      realm.dynamicCreate("Company", value: ["name": "Air", "seat": ["street": "Runway"]])
    }
    #expect(
      companies.sorted(byKeyPath: "seat.street").map { $0["name"] as? String } == ["Sea", "Air"])
    try realm.write { realm.delete(companies.filter("name == 'Sea'")) }
    #expect(realm.dynamicObjects("Address").count == 1, "the embedded object went along")
    let known = realm.objects(Everything.self)
    #expect(known.isEmpty && realm.schema["Company"] == nil, "the program's classes stay its own")
  }

  @Test("of a class that nobody has are a trap")
  func nobody() async {
    await #expect(processExitsWith: .failure) {
      let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: "nobody"))
      _ = realm.dynamicObjects("Ghost")
    }
  }

  @Test("texts from outside end at the bound of their work")
  func bounded() throws {
    let folder = try Folder()
    let realm = try folder.realm([Person.self])
    try realm.write { for _ in 0..<20 { realm.add(Person()) } }
    let people = realm.objects(Person.self)
    let text = "name != 'x' AND dogs.@count == 0"
    for bounded in [people, people.sorted(byKeyPath: "name")] {
      let error = #expect(throws: Realm.Error.self) {
        _ = try bounded.filtered(by: text, stepsMax: 10)
      }
      #expect(error?.code == .invalidValue && error?.message.contains("more than 10") == true)
      #expect(try bounded.filtered(by: text).count == 20)
    }
  }
}
