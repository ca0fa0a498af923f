// AssignmentTests.swift: properties set in write transactions: what is kept of a class for the time
// of a transaction never outlives it, and follows the columns of the table.

import ObjectDatabase
import Testing

@Suite("assignments")
struct AssignmentTests {
  private func dogs(_ count: Int) throws -> (Folder, Realm, [Dog]) {
    let folder = try Folder()
    let realm = try folder.realm()
    let dogs = (0..<count).map { Dog(name: "dog \($0)", age: $0) }
    try realm.write { realm.add(dogs) }
    return (folder, realm, dogs)
  }

  @Test("are read back in the transaction and after it, and gone when it is cancelled")
  func transactions() throws {
    let (folder, realm, dogs) = try dogs(500)
    for round in 1...3 {
      try realm.write {
        for dog in dogs {
          dog.age += 1_000
          dog.name = "\(dog.name)!"
        }
        #expect(dogs[7].age == 7 + round * 1_000)
      }
      realm.beginWrite()
      for dog in dogs { dog.age = -1 }
      #expect(dogs[7].age == -1)
      realm.cancelWrite()
      #expect(dogs[7].age == 7 + round * 1_000 && dogs[7].name.hasSuffix("!"))
    }
    let sum: Int = realm.objects(Dog.self).sum(ofProperty: "age")
    #expect(sum == 124_750 + 1_500_000)
    _ = folder
  }

  @Test("keep links, backlinks and indexes up to date")
  func links() throws {
    let (folder, realm, dogs) = try dogs(20)
    let people = (0..<2).map { _ in Person() }
    try realm.write {
      realm.add(people)
      for (index, dog) in dogs.enumerated() { dog.owner = people[index % 2] }
      for person in people { person.age = 30 }
      people[0].age = 31
      #expect(realm.objects(Person.self).where { $0.age == 31 }.count == 1)
    }
    #expect(try realm.objects(Dog.self).filtered(by: "owner.age == 31").count == 10)
    try realm.write {
      realm.delete(people[0])
      #expect(dogs[0].owner == nil)
      dogs[0].owner = people[1]
    }
    #expect(try realm.objects(Dog.self).filtered(by: "owner.age == 30").count == 11)
    _ = folder
  }

  @Test("of rows that were added just before, and of a class that joins in the transaction")
  func added() throws {
    let (folder, realm, dogs) = try dogs(1)
    try realm.write {
      for number in 0..<100 {
        let dog = Dog(name: "new")
        realm.add(dog)
        dog.age = number
        dogs[0].age += number
      }
      let company = Company()
      company.name = "Acme"
      realm.add(company)
      company.seat = Address()
      company.seat?.street = "High Street"
      dogs[0].name = "still here"
    }
    #expect(dogs[0].age == 4_950 && dogs[0].name == "still here")
    let sum: Int = realm.objects(Dog.self).sum(ofProperty: "age")
    #expect(sum == 9_900)
    #expect(realm.objects(Company.self).first?.seat?.street == "High Street")
    _ = folder
  }

  @Test("a value that is too long makes the commit fail, and changes nothing")
  func refused() throws {
    let (folder, realm, dogs) = try dogs(2)
    #expect(throws: Realm.Error.self) {
      try realm.write {
        dogs[0].age = 77
        dogs[1].name = String(repeating: "x", count: 17 << 20)
      }
    }
    #expect(dogs[0].age == 0 && dogs[1].name == "dog 1")
    _ = folder
  }
}
