// Sections.swift: 9 snippets about sections, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum SectionsSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("sectioned by a key path", snippet1),
    ("sectioned by a block", snippet2),
    ("sectioned by a computed key path", snippet3),
    ("sectioned behind a link", snippet4),
    ("sections and elements", snippet5),
    ("one section", snippet6),
    ("sections of a list of values", snippet7),
    ("sections frozen", snippet8),
    ("sections observed", snippet9),
  ]

  /// Sectioned by a key path.
  static func snippet1() throws {
    let realm = try filledRealm()
    let sections = realm.objects(Dog.self).sectioned(by: \.age, ascending: true)
    check(sections.allKeys == [1, 3, 4, 5])
  }

  /// Sectioned by a block.
  static func snippet2() throws {
    let realm = try filledRealm()
    let sections = realm.objects(Dog.self).sectioned(
      by: { String($0.name.prefix(1)) }, sortDescriptors: [SortDescriptor(keyPath: "name")])
    check(sections.count > 0)
  }

  /// Sectioned by a computed key path.
  static func snippet3() throws {
    let realm = try filledRealm()
    _ = realm.objects(Dog.self).sectioned(
      by: \.name.count, sortDescriptors: [SortDescriptor(keyPath: "name")])
  }

  /// Sectioned behind a link.
  static func snippet4() throws {
    let realm = try filledRealm()
    _ = realm.objects(Person.self).sectioned(by: \.address?.city)
  }

  /// Sections and elements.
  static func snippet5() throws {
    let realm = try filledRealm()
    let sections = realm.objects(Dog.self).sectioned(by: \.age)
    for section in sections {
      _ = section.key
      for dog in section { _ = dog.name }
    }
  }

  /// One section.
  static func snippet6() throws {
    let realm = try filledRealm()
    let sections = realm.objects(Dog.self).sectioned(by: \.age)
    check(sections[0].count == 1 && sections[0][0].age == 1)
  }

  /// Sections of a list of values.
  static func snippet7() throws {
    let realm = try filledRealm()
    let kinds = try realm.write { realm.create(Kinds.self, value: ["strings": ["b", "aa", "a"]]) }
    check(
      kinds.strings.sectioned(by: { String($0.prefix(1)) }, ascending: true).allKeys == ["a", "b"])
  }

  /// Sections frozen.
  static func snippet8() throws {
    let realm = try filledRealm()
    let sections = realm.objects(Dog.self).sectioned(by: \.age)
    check(sections.freeze().isFrozen)
  }

  /// Sections observed.
  static func snippet9() throws {
    let realm = try filledRealm()
    let sections = realm.objects(Dog.self).sectioned(by: \.age)
    let token = sections.observe { change in
      switch change {
      case .initial(let collection): _ = collection.count
      case .update(
        _, let deletions, let insertions, let modifications, let sectionsToInsert,
        let sectionsToDelete):
        _ = (deletions, insertions, modifications, sectionsToInsert, sectionsToDelete)
      default: break
      }
    }
    token.invalidate()
  }
}
