// Dogs.swift: a database of dogs with three commands; docs/tutorials/object-database.md builds it
// step by step, and its tests compare the pieces.

import Foundation
import ObjectDatabase

// sample: dog
final class Dog: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted(indexed: true) var age = 0
}
// end

@main
struct Dogs {
  // sample: open
  static func open() throws -> Realm {
    let file = URL(filePath: "dogs.realm")
    return try Realm(configuration: Realm.Configuration(fileURL: file, objectTypes: [Dog.self]))
  }
  // end

  // sample: add
  static func add(_ name: String, age: Int) throws {
    let realm = try open()
    try realm.write {
      realm.create(Dog.self, value: ["name": name, "age": age], update: .modified)
    }
    print("saved \(name)")
  }
  // end

  // sample: list
  static func list(_ words: String) throws {
    let dogs = try open().objects(Dog.self)
    for dog in try dogs.filtered(by: words).sorted(byKeyPath: "name") {
      print("\(dog.name) is \(dog.age)")
    }
  }
  // end

  // sample: birthday
  static func birthday() throws {
    let realm = try open()
    try realm.write {
      for dog in realm.objects(Dog.self) { dog.age += 1 }
    }
    print("saved a birthday")
  }
  // end

  // sample: main
  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      switch (words.first, words.count) {
      case ("add", 3): try add(words[1], age: Int(words[2]) ?? 0)
      case ("list", 2): try list(words[1])
      case ("birthday", 1): try birthday()
      default:
        print("usage: dogs add NAME AGE | dogs list QUERY | dogs birthday")
        exit(2)
      }
    } catch {
      print("dogs: \(error)")
      exit(1)
    }
  }
  // end
}
