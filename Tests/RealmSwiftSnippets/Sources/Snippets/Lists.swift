// Lists.swift: 26 snippets about lists, as RealmSwift's documentation
// uses the API.

import Foundation
import ObjectDatabase

enum ListsSnippets {
  static let all: [(String, () throws -> Void)] = [
    ("append", snippet1),
    ("insert, replace, remove", snippet2),
    ("subscript", snippet3),
    ("remove first and last", snippet4),
    ("remove several", snippet5),
    ("remove a range", snippet6),
    ("remove all", snippet7),
    ("move and swap", snippet8),
    ("remove at offsets", snippet9),
    ("move from offsets", snippet10),
    ("replace a range", snippet11),
    ("assign a range", snippet12),
    ("loop", snippet13),
    ("index of", snippet14),
    ("equal lists", snippet15),
    ("sums of an unmanaged list", snippet16),
    ("sums of a managed list", snippet17),
    ("sums of properties of unmanaged objects", snippet18),
    ("optional elements", snippet19),
    ("filtered list", snippet20),
    ("sorted list", snippet21),
    ("list of values sorted", snippet22),
    ("assigning a list", snippet23),
    ("set value for all", snippet24),
    ("list of mixed values", snippet25),
    ("list of embedded objects", snippet26),
  ]

  /// Append.
  static func snippet1() throws {
    let person = Person()
    person.dogs.append(Dog(name: "Rex", age: 1))
    person.dogs.append(objectsIn: [Dog(), Dog()])
    check(person.dogs.count == 3)
  }

  /// Insert, replace, remove.
  static func snippet2() throws {
    let kinds = Kinds()
    kinds.ints.append(objectsIn: [1, 2, 3])
    kinds.ints.insert(0, at: 0)
    kinds.ints.replace(index: 1, object: 9)
    kinds.ints.remove(at: 2)
    check(Array(kinds.ints) == [0, 9, 3])
  }

  /// Subscript.
  static func snippet3() throws {
    let kinds = Kinds()
    kinds.ints.append(1)
    kinds.ints[0] = 2
    check(kinds.ints[0] == 2)
  }

  /// Remove first and last.
  static func snippet4() throws {
    let kinds = Kinds()
    kinds.ints.append(objectsIn: [1, 2, 3])
    kinds.ints.removeFirst()
    kinds.ints.removeLast()
    check(Array(kinds.ints) == [2])
  }

  /// Remove several.
  static func snippet5() throws {
    let kinds = Kinds()
    kinds.ints.append(objectsIn: [1, 2, 3, 4, 5])
    kinds.ints.removeFirst(2)
    kinds.ints.removeLast(2)
    check(Array(kinds.ints) == [3])
  }

  /// Remove a range.
  static func snippet6() throws {
    let kinds = Kinds()
    kinds.ints.append(objectsIn: [1, 2, 3, 4, 5])
    kinds.ints.removeSubrange(1..<3)
    check(Array(kinds.ints) == [1, 4, 5])
  }

  /// Remove all.
  static func snippet7() throws {
    let kinds = Kinds()
    kinds.ints.append(objectsIn: [1, 2])
    kinds.ints.removeAll()
    check(kinds.ints.isEmpty)
  }

  /// Move and swap.
  static func snippet8() throws {
    let kinds = Kinds()
    kinds.ints.append(objectsIn: [1, 2, 3])
    kinds.ints.move(from: 0, to: 2)
    kinds.ints.swapAt(0, 1)
    check(Array(kinds.ints) == [3, 2, 1])
  }

  /// Remove at offsets.
  static func snippet9() throws {
    let kinds = Kinds()
    kinds.ints.append(objectsIn: [1, 2, 3, 4])
    kinds.ints.remove(atOffsets: IndexSet([0, 2]))
    check(Array(kinds.ints) == [2, 4])
  }

  /// Move from offsets.
  static func snippet10() throws {
    let kinds = Kinds()
    kinds.ints.append(objectsIn: [1, 2, 3, 4])
    kinds.ints.move(fromOffsets: IndexSet([0, 2]), toOffset: 4)
    check(Array(kinds.ints) == [2, 4, 1, 3])
  }

  /// Replace a range.
  static func snippet11() throws {
    let kinds = Kinds()
    kinds.ints.append(objectsIn: [1, 2, 3])
    kinds.ints.replaceSubrange(0..<2, with: [7, 8, 9])
    check(Array(kinds.ints) == [7, 8, 9, 3])
  }

  /// Assign a range.
  static func snippet12() throws {
    let kinds = Kinds()
    kinds.ints.append(objectsIn: [1, 2, 3])
    let other = Kinds()
    other.ints.append(objectsIn: [5])
    kinds.ints[0..<2] = other.ints[0..<1]
    check(Array(kinds.ints) == [5, 3])
  }

  /// Loop.
  static func snippet13() throws {
    let kinds = Kinds()
    kinds.strings.append(objectsIn: ["a", "b"])
    for text in kinds.strings { _ = text }
    for (index, text) in kinds.strings.enumerated() { _ = (index, text) }
  }

  /// Index of.
  static func snippet14() throws {
    let kinds = Kinds()
    kinds.strings.append(objectsIn: ["a", "b"])
    check(kinds.strings.index(of: "b") == 1 && kinds.strings.firstIndex(of: "a") == 0)
  }

  /// Equal lists.
  static func snippet15() throws {
    let a = Kinds()
    let b = Kinds()
    a.ints.append(1)
    b.ints.append(1)
    check(a.ints == b.ints)
  }

  /// Sums of an unmanaged list.
  static func snippet16() throws {
    let kinds = Kinds()
    kinds.ints.append(objectsIn: [1, 2, 3])
    let average: Double? = kinds.ints.average()
    check(kinds.ints.sum() == 6 && kinds.ints.min() == 1 && kinds.ints.max() == 3 && average == 2)
  }

  /// Sums of a managed list.
  static func snippet17() throws {
    let realm = try freshRealm()
    let kinds = try realm.write { realm.create(Kinds.self, value: ["ints": [1, 2, 3]]) }
    check(kinds.ints.sum() == 6 && kinds.ints.min() == 1 && kinds.ints.max() == 3)
  }

  /// Sums of properties of unmanaged objects.
  static func snippet18() throws {
    let person = Person()
    person.dogs.append(objectsIn: [Dog(name: "a", age: 1), Dog(name: "b", age: 3)])
    let sum: Int = person.dogs.sum(ofProperty: "age")
    check(sum == 4 && person.dogs.max(of: \.age) == 3)
  }

  /// Optional elements.
  static func snippet19() throws {
    let kinds = Kinds()
    kinds.optInts.append(nil)
    kinds.optInts.append(1)
    check(kinds.optInts[0] == nil)
  }

  /// Filtered list.
  static func snippet20() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    check(person.dogs.filter("age > 1").count == 1 && person.dogs.where { $0.age > 1 }.count == 1)
  }

  /// Sorted list.
  static func snippet21() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    check(person.dogs.sorted(byKeyPath: "age").first?.age == 1)
  }

  /// List of values sorted.
  static func snippet22() throws {
    let realm = try freshRealm()
    let kinds = try realm.write { realm.create(Kinds.self, value: ["strings": ["b", "a"]]) }
    check(Array(kinds.strings.sorted()) == ["a", "b"])
  }

  /// Assigning a list.
  static func snippet23() throws {
    let realm = try freshRealm()
    let kinds = try realm.write { realm.create(Kinds.self) }
    let list = List<Int>()
    list.append(objectsIn: [4, 5])
    try realm.write { kinds.ints = list }
    check(Array(kinds.ints) == [4, 5])
  }

  /// Set value for all.
  static func snippet24() throws {
    let person = Person()
    person.dogs.append(objectsIn: [Dog(), Dog()])
    person.dogs.setValue(4, forKey: "age")
    check(person.dogs.allSatisfy { $0.age == 4 })
  }

  /// List of mixed values.
  static func snippet25() throws {
    let kinds = Kinds()
    kinds.anyList.append(objectsIn: [.int(1), .string("a"), .none])
    check(kinds.anyList.count == 3)
  }

  /// List of embedded objects.
  static func snippet26() throws {
    let realm = try filledRealm()
    let person = realm.objects(Person.self).first!
    try realm.write {
      person.addresses.append(Address(value: ["city": "Rome"]))
      person.addresses[0].city = "Oslo"
    }
    check(person.addresses.first?.city == "Oslo")
  }
}
