// Support.swift [U]: what the snippets stand on: realms to use, and how a wrong result is reported.

import Foundation
import ObjectDatabase

// Safety: the program has one thread.
/// How many checks did not hold.
nonisolated(unsafe) var failureCount = 0

/// Reports a condition that does not hold.
func check(
  _ holds: @autoclosure () throws -> Bool, file: String = #fileID, line: Int = #line
) rethrows {
  guard try !holds() else { return }
  failureCount += 1
  print("\(file):\(line): does not hold")
}

/// Not there on Linux.
func autoreleasepool<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }

/// A realm without objects.
func freshRealm() throws -> Realm {
  try Realm(configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString))
}

/// A realm with some objects of each class.
func filledRealm() throws -> Realm {
  let realm = try freshRealm()
  let dogs = [("Rex", 1), ("Fido", 3), ("Max", 4), ("Ida", 5)].map { Dog(name: $0, age: $1) }
  dogs[2].companion = .string("cat")
  let ada = Person(name: "Ada", age: 36)
  ada.address = Address(value: ["city": "London"])
  ada.dogs.append(objectsIn: dogs.prefix(2))
  ada.favorites.insert("tea")
  ada.notes["a"] = "b"
  let done = DogTask(name: "done", minutes: 5)
  done.status = .complete
  let company = Company()
  company.location = CustomGeoPoint(47.6, -122.3)
  try realm.write {
    realm.add(dogs)
    realm.add([ada, Person(name: "Bob", age: 7)])
    realm.add([DogTask(name: "open"), done])
    realm.add(company)
  }
  return realm
}
