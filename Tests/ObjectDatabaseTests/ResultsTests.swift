// ResultsTests.swift: results are lazy and live; sorting, distinct values, sums, filters, bulk.

import FoundationEssentials
import Testing

@testable import ObjectDatabase

@Suite("results")
struct ResultsTests {
  private func prepared() throws -> (Folder, Realm) {
    let folder = try Folder()
    let realm = try folder.realm([Person.self, Everything.self])
    try realm.write {
      for (index, name) in ["Cleo", "Ada", "Bob", "Ada"].enumerated() {
        let person = Person()
        person.name = name
        person.age = [30, 20, 40, 50][index]
        person.dogs.append(Dog(name: "dog of \(index)", age: index))
        person.dogs[0].owner = person
        realm.add(person)
      }
    }
    return (folder, realm)
  }

  @Test("results follow what is written")
  func live() throws {
    let (_, realm) = try prepared()
    let people = realm.objects(Person.self)
    let sorted = people.sorted(byKeyPath: "age")
    #expect(sorted.map(\.age) == [20, 30, 40, 50] && people.count == 4)
    try realm.write {
      let person = Person()
      person.age = 25
      realm.add(person)
      #expect(sorted.map(\.age) == [20, 25, 30, 40, 50], "within the transaction")
      realm.delete(people[0])
    }
    #expect(sorted.map(\.age) == [20, 25, 40, 50] && people.count == 4)
    #expect(people.first?.age == 20 && people.last?.age == 25)
    #expect(sorted.index(of: people[1]) == 2 && people.firstIndex { $0.age == 50 } == 2)
  }

  @Test("sorting by several properties, over links, by key path, and of values")
  func sorting() throws {
    let (_, realm) = try prepared()
    let people = realm.objects(Person.self)
    let twice = people.sorted(by: [
      SortDescriptor(keyPath: "name"), SortDescriptor(keyPath: "age", ascending: false),
    ])
    #expect(twice.map(\.age) == [50, 20, 40, 30])
    #expect(people.sorted(by: \.age, ascending: false).map(\.age) == [50, 40, 30, 20])
    let dogs = realm.objects(Dog.self).sorted(byKeyPath: "owner.age")
    #expect(dogs.map(\.age) == [1, 0, 2, 3])
    #expect(people.distinct(by: ["name"]).map(\.name) == ["Cleo", "Ada", "Bob"])
    let all = Everything()
    all.ints.append(objectsIn: [3, 1, 3, 2])
    try realm.write { realm.add(all) }
    #expect(Array(all.ints.sorted()) == [1, 2, 3, 3])
    #expect(Array(all.ints.distinct()) == [3, 1, 2])
    #expect(all.ints.min() == 1 && all.ints.max() == 3 && all.ints.sum() == 9)
    #expect(all.ints.average() == 2.25)
  }

  @Test("smallest, greatest, sum and average")
  func aggregates() throws {
    let (_, realm) = try prepared()
    for people in [realm.objects(Person.self), realm.objects(Person.self).sorted(by: \.age)] {
      #expect(people.min(ofProperty: "age") == 20 && people.max(ofProperty: "age") == 50)
      #expect(people.sum(ofProperty: "age") == 140 && people.sum(of: \.age) == 140)
      #expect(people.average(ofProperty: "age") == 35)
    }
    let none = realm.objects(Everything.self)
    let smallest: Int? = none.min(ofProperty: "id")
    #expect(smallest == nil && none.average(ofProperty: "double") == nil)
    #expect(none.sum(ofProperty: "double") == 0.0)
    try realm.write {
      for (id, text) in ["0.1", "0.2"].enumerated() {
        let one = Everything()
        one.id = id
        one.decimal = try Decimal128(string: text)
        one.optionalInt = id == 0 ? nil : 7
        one.double = id == 0 ? -1.5 : 2
        realm.add(one)
      }
    }
    #expect(none.sum(ofProperty: "decimal") == (try Decimal128(string: "0.3")))
    #expect(none.max(ofProperty: "decimal") == (try Decimal128(string: "0.2")))
    #expect(
      none.sum(ofProperty: "optionalInt") == 7 && none.average(ofProperty: "optionalInt") == 7)
    #expect(none.min(ofProperty: "double") == -1.5)
  }

  @Test("filters take arguments, and stay live")
  func filters() throws {
    let (_, realm) = try prepared()
    let people = realm.objects(Person.self)
    let old = people.filter("age >= $0", 30)
    #expect(old.map(\.age) == [30, 40, 50])
    #expect(people.filter("%K == %@ AND age > %d", "name", "Ada", 20).map(\.age) == [50])
    #expect(people.filter("name == '%@'").isEmpty, "within quotes it is text")
    #expect(people.filter("ANY dogs.age == 2").map(\.name) == ["Bob"])
    #expect(realm.objects(Dog.self).filter("owner == $0", people[0]).count == 1)
    #expect(realm.objects(Dog.self).filter("owners.@count == 1").count == 4)
    #expect(old.filter("age < 50").sorted(by: \.age, ascending: false).map(\.age) == [40, 30])
    #expect(people[0].dogs.filter("age > 0").isEmpty)
    #expect(people.filter("age > 0 SORT(age DESC) LIMIT(2)").map(\.age) == [50, 40])
    try realm.write {
      people[1].age = 60
      #expect(old.count == 4)
    }
    #expect(old.count == 4 && old.explain().contains("Person"))
    let error = #expect(throws: Realm.Error.self) { _ = try people.filtered(by: "age >") }
    #expect(error?.code == .invalidValue)
    #expect(throws: Realm.Error.self) { _ = try people.filtered(by: "legs > 3") }
    #expect(throws: Realm.Error.self) { _ = try old.filtered(by: "age > 1 LIMIT(1)") }
    #expect(throws: Realm.Error.self) { _ = try people.filtered(by: "age > %@") }
  }

  @Test("properties of all elements at once")
  func bulk() throws {
    let (_, realm) = try prepared()
    let people = realm.objects(Person.self).filter("name == 'Ada'")
    #expect(people.value(forKey: "age").map { $0 as? Int } == [20, 50])
    try realm.write { people.setValue("Eve", forKey: "name") }
    #expect(people.isEmpty && realm.objects(Person.self).filter("name == 'Eve'").count == 2)
    try realm.write { realm.delete(realm.objects(Person.self).filter("age > 25")) }
    #expect(realm.objects(Person.self).map(\.age) == [20])
  }

  @Test("a loop sees what was there at its begin, and may delete it")
  func loops() throws {
    let (_, realm) = try prepared()
    var seen = 0
    try realm.write {
      for person in realm.objects(Person.self) {
        seen += 1
        realm.delete(person)
      }
    }
    #expect(seen == 4 && realm.objects(Person.self).isEmpty)
  }

  @Test("a loop reuses an object that nobody keeps, and no other")
  func reuse() throws {
    let (_, realm) = try prepared()
    let kept = Array(realm.objects(Person.self))
    #expect(Set(kept.map(\.age)).count == 4)
    var weak: [Weak] = []
    for person in realm.objects(Person.self) {
      // Not after the loop, when all are gone.
      #expect(weak.allSatisfy { $0.person == nil || $0.person?.age == $0.age })
      weak.append(Weak(person: person))
    }
    // The memory of an object with an unowned reference is nobody else's.
    var unowned: [Unowned] = []
    var seen: Set<ObjectIdentifier> = []
    for person in realm.objects(Person.self) {
      unowned.append(Unowned(person: person))
      seen.insert(ObjectIdentifier(person))
    }
    #expect(seen.count == unowned.count)
    var ids: Set<ObjectIdentifier> = []
    for person in realm.objects(Person.self) { ids.insert(ObjectIdentifier(person)) }
    #expect(ids.count == 1)
  }

  private struct Unowned {
    unowned let person: Person
  }

  private struct Weak {
    weak var person: Person?
    let age: Int

    init(person: Person) {
      self.person = person
      age = person.age
    }
  }

  @Test("lists change in place, keep their order, and move")
  func lists() throws {
    let (_, realm) = try prepared()
    let all = Everything()
    try realm.write {
      realm.add(all)
      all.ints.append(objectsIn: 0..<6)
      all.ints.move(from: 0, to: 5)
      all.ints.swapAt(0, 1)
      all.ints.remove(at: 2)
      all.ints[0] = 9
      all.ints.insert(7, at: 1)
    }
    #expect(Array(all.ints) == [9, 7, 1, 4, 5, 0])
    try realm.write {
      all.ints.replaceSubrange(1..<3, with: [8, 8, 8])
      all.numbers.insert(objectsIn: [4, 2, 4])
      all.numbers.remove(2)
      all.words["k"] = "v"
    }
    #expect(Array(all.ints) == [9, 8, 8, 8, 4, 5, 0] && Array(all.numbers) == [4])
    #expect(all.numbers.contains(4) && !all.numbers.contains(2) && all.words["k"] == "v")
    try realm.write {
      let new = List<Int>()
      new.append(objectsIn: [1, 2])
      all.ints = new
      all.words = ["a": "b"]
      all.numbers.removeAll()
    }
    #expect(Array(all.ints) == [1, 2] && all.words.keys == ["a"] && all.numbers.isEmpty)
  }
}
