// Links.swift: 6 snippets about links, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum LinksSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("to-one", snippet1),
    ("backlinks", snippet2),
    ("backlinks are filtered", snippet3),
    ("link set to nil", snippet4),
    ("tree", snippet5),
    ("cycle", snippet6),
  ]

  /// To-one.
  static func snippet1() throws {
    let realm = try filledRealm()
    let project = try realm.write { realm.create(Project.self, value: ["name": "P"]) }
    try realm.write { realm.objects(DogTask.self).first!.project = project }
    check(project.linked.count == 1)
  }

  /// Backlinks.
  static func snippet2() throws {
    let realm = try filledRealm()
    let dog = realm.objects(Dog.self).first!
    check(dog.owners.count == 1 && dog.owners.first?.name == "Ada")
  }

  /// Backlinks are filtered.
  static func snippet3() throws {
    let realm = try filledRealm()
    let dog = realm.objects(Dog.self).first!
    check(dog.owners.filter("name == 'Ada'").count == 1)
  }

  /// Link set to nil.
  static func snippet4() throws {
    let realm = try filledRealm()
    let task = realm.objects(DogTask.self).first!
    try realm.write { task.project = nil }
    check(task.project == nil)
  }

  /// Tree.
  static func snippet5() throws {
    let node = Node()
    node.next = Node(value: ["value": 2])
    node.kids.append(objectsIn: [Node(), Node()])
    check(node.next?.value == 2 && node.kids.count == 2)
  }

  /// Cycle.
  static func snippet6() throws {
    let realm = try freshRealm()
    let a = Node()
    let b = Node()
    a.next = b
    b.next = a
    try realm.write { realm.add(a) }
    check(b.realm != nil)
  }
}
