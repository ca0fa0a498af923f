// SmallScopeTests.swift: where two ways of the object database must agree, every short sequence
// with few values: objects in bulk and one by one, edits of a list and what observers are told of
// them, operations of sets, sorted and distinct lists, queries with and without an index.

import FoundationEssentials
import Testing

@testable import ObjectDatabase

private class Named: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var half: Int
  @Persisted var text: String
}

private class Lists: Object {
  @Persisted var numbers: List<Int>
  @Persisted var doubles: List<Double?>
}

private class Sets: Object {
  @Persisted var left: MutableSet<Int>
  @Persisted var right: MutableSet<Int>
}

private class Indexed: Object {
  @Persisted(indexed: true) var number: Int?
  @Persisted(indexed: true) var text: String?
  @Persisted var plainNumber: Int?
  @Persisted var plainText: String?
}

@Suite("All short sequences of objects and values")
struct SmallScopeTests {
  /// All sequences of `count` elements.
  private static func sequences<Element>(_ elements: [Element], _ count: Int) -> [[Element]] {
    guard count > 0 else { return [[]] }
    return sequences(elements, count - 1).flatMap { shorter in elements.map { shorter + [$0] } }
  }

  // MARK: objects in bulk

  private enum Way: CaseIterable {
    case add, addAll, count, from, values
  }

  private static func make(_ ids: [Int], _ way: Way, _ realm: Realm) -> String {
    func fill(_ object: Named, _ place: Int) {
      (object.id, object.half, object.text) = (ids[place], ids[place] / 2, "\(place)")
    }
    let made = ids.indices.map { place in
      let object = Named()
      fill(object, place)
      return object
    }
    do {
      try realm.write {
        switch way {
        case .add: for object in made { realm.add(object) }
        case .addAll: realm.add(made)
        case .count: realm.create(Named.self, count: ids.count) { fill($0, $1) }
        case .from: realm.create(Named.self, from: ids.indices) { fill($0, $1) }
        case .values:
          for place in ids.indices {
            let id = ids[place]
            realm.create(Named.self, value: ["id": id, "half": id / 2, "text": "\(place)"])
          }
        }
      }
    } catch { return "\(error)" }
    let all = realm.objects(Named.self)
    let rows = all.map { "\($0.id) \($0.half) \($0.text)" } + ["\(all.filter("half == 0").count)"]
    return rows.joined(separator: ", ")
  }

  @Test("up to four objects with keys out of four are the same in every way of making them")
  func bulk() throws {
    let folder = try Folder()
    let realm = try folder.realm([Named.self])
    var refused = 0
    for count in 0...4 {
      for ids in Self.sequences([-1, 0, 1, 2], count) {
        let expected = Self.make(ids, .add, realm)
        if Set(ids).count < ids.count {
          refused += 1
          #expect(expected.contains("primary key id"), "\(ids)")
        }
        try realm.write { realm.deleteAll() }
        for way in Way.allCases.dropFirst() {
          #expect(Self.make(ids, way, realm) == expected, "\(ids) \(way)")
          try realm.write { realm.deleteAll() }
        }
      }
    }
    #expect(refused > 100)
  }

  // MARK: lists

  private enum Edit {
    case insert(Int, at: Int)
    case remove(at: Int)
    case replace(Int, at: Int)
    case move(from: Int, to: Int)

    static func all(_ count: Int) -> [Edit] {
      let places = 0..<count
      return (0...count).flatMap { place in [7, 8].map { insert($0, at: place) } }
        + places.map { remove(at: $0) } + places.map { replace(9, at: $0) }
        + places.flatMap { from in places.map { move(from: from, to: $0) } }
    }

    func apply(_ array: inout [Int]) {
      switch self {
      case .insert(let number, let place): array.insert(number, at: place)
      case .remove(let place): array.remove(at: place)
      case .replace(let number, let place): array[place] = number
      case .move(let from, let to): array.insert(array.remove(at: from), at: to)
      }
    }

    func apply(_ list: List<Int>) {
      switch self {
      case .insert(let number, let place): list.insert(number, at: place)
      case .remove(let place): list.remove(at: place)
      case .replace(let number, let place): list[place] = number
      case .move(let from, let to): list.move(from: from, to: to)
      }
    }
  }

  /// Calls `body` with each sequence of up to `depth` edits of a list, and the array after them.
  private static func forEachEdits(
    _ array: [Int], _ depth: Int, _ edits: [Edit] = [], _ body: ([Edit], [Int]) throws -> Void
  ) rethrows {
    try body(edits, array)
    guard depth > 0 else { return }
    for edit in Edit.all(array.count) {
      var changed = array
      edit.apply(&changed)
      try forEachEdits(changed, depth - 1, edits + [edit], body)
    }
  }

  @Test("a list after any edits is an array after them, and what observers are told leads there")
  func lists() throws {
    let folder = try Folder()
    let realm = try folder.realm([Lists.self])
    let object = Lists()
    try realm.write { realm.add(object) }
    let list = object.numbers
    var copy: [Int] = []
    var calls = 0
    let token = list.observe { change in
      guard case .update(let list, let deletions, let insertions, let modifications) = change else {
        copy = Array(list)
        return
      }
      calls += 1
      for place in deletions.reversed() { copy.remove(at: place) }
      for place in insertions { copy.insert(list[place], at: place) }
      for place in modifications { copy[place] = list[place] }
    }
    realm.refresh()
    for base in [[], [1], [1, 2], [1, 1, 3]] {
      try Self.forEachEdits(base, base.count > 1 ? 2 : 3) { edits, expected in
        try realm.write {
          list.removeAll()
          list.append(objectsIn: base)
        }
        #expect(copy == base, "to the base of \(edits)")
        try realm.write { for edit in edits { edit.apply(list) } }
        #expect(Array(list) == expected, "\(base) \(edits)")
        #expect(copy == expected, "\(base) \(edits)")
      }
    }
    #expect(calls > 2_000)
    token.invalidate()
  }

  @Test("sorted and distinct lists of up to four values are those of arrays")
  func sortedLists() throws {
    let folder = try Folder()
    let realm = try folder.realm([Lists.self])
    let object = Lists()
    try realm.write { realm.add(object) }
    // In their order: null, NaN, and zero, which is one whatever its sign.
    let values: [Double?] = [nil, .nan, -1, -0.0, 0]
    let ranks = [0, 1, 2, 3, 3]
    for count in 0...4 {
      for places in Self.sequences(Array(values.indices), count) {
        try realm.write {
          object.doubles.removeAll()
          object.doubles.append(objectsIn: places.map { values[$0] })
        }
        func text(_ values: some Sequence<Double?>) -> [String] {
          values.map { $0.map { "\($0)" } ?? "null" }
        }
        func text(_ places: [Int]) -> [String] { text(places.map { values[$0] }) }
        func stable(_ isBefore: (Int, Int) -> Bool) -> [Int] {
          places.enumerated().sorted {
            isBefore(ranks[$0.element], ranks[$1.element])
              || ranks[$0.element] == ranks[$1.element] && $0.offset < $1.offset
          }.map(\.element)
        }
        let list = object.doubles
        #expect(text(list.sorted()) == text(stable(<)), "\(places)")
        #expect(text(list.sorted(ascending: false)) == text(stable(>)), "\(places)")
        let first = places.enumerated().filter { offset, place in
          !places[..<offset].contains { ranks[$0] == ranks[place] }
        }
        #expect(text(list.distinct()) == text(first.map(\.element)), "\(places)")
      }
    }
  }

  // MARK: sets

  @Test("operations on any two sets of numbers out of four are those of Swift's sets")
  func sets() throws {
    let folder = try Folder()
    let realm = try folder.realm([Sets.self])
    let object = Sets()
    try realm.write { realm.add(object) }
    let subsets = (0..<16).map { bits in Set((-1...2).filter { bits >> ($0 + 1) & 1 == 1 }) }
    typealias Operation = (
      name: String, mine: (MutableSet<Int>, MutableSet<Int>) -> Void,
      theirs: (inout Set<Int>, Set<Int>) -> Void
    )
    let operations: [Operation] = [
      ("union", { $0.formUnion($1) }, { $0.formUnion($1) }),
      ("intersection", { $0.formIntersection($1) }, { $0.formIntersection($1) }),
      ("subtract", { $0.subtract($1) }, { $0.subtract($1) }),
    ]
    for left in subsets {
      for right in subsets {
        for operation in operations {
          try realm.write {
            object.left.removeAll()
            object.right.removeAll()
            object.left.insert(objectsIn: left)
            object.right.insert(objectsIn: right)
            #expect(object.left.isSubset(of: object.right) == left.isSubset(of: right))
            #expect(object.left.intersects(object.right) == !left.isDisjoint(with: right))
            operation.mine(object.left, object.right)
          }
          var expected = left
          operation.theirs(&expected, right)
          #expect(Set(object.left) == expected, "\(operation.name) \(left) \(right)")
          #expect(object.left.count == expected.count && Set(object.right) == right)
        }
      }
      for operation in operations {
        try realm.write {
          object.left.removeAll()
          object.left.insert(objectsIn: left)
          operation.mine(object.left, object.left)
        }
        var expected = left
        operation.theirs(&expected, left)
        #expect(Set(object.left) == expected, "\(operation.name) of itself: \(left)")
      }
    }
  }

  // MARK: queries

  @Test("queries of any four rows give the same with an index, without one, and in Swift")
  func indexes() throws {
    let folder = try Folder()
    let realm = try folder.realm([Indexed.self])
    let values: [Int?] = [nil, -1, 0, 1]
    func text(_ number: Int?) -> String? { number.map { $0 < 0 ? "" : "t\($0)" } }
    func isOrdered(_ left: Int?, _ right: Int?, _ holds: (Int, Int) -> Bool) -> Bool {
      left.flatMap { left in right.map { holds(left, $0) } } ?? false
    }
    typealias Test = (format: String, holds: (Int?, Int?) -> Bool)
    let tests: [Test] = [
      ("== %@", { $0 == $1 }), ("!= %@", { $0 != $1 }),
      ("< %@", { isOrdered($0, $1, <) }), ("> %@", { isOrdered($0, $1, >) }),
      ("<= %@", { isOrdered($0, $1, <=) || $0 == nil && $1 == nil }),
      (">= %@", { isOrdered($0, $1, >=) || $0 == nil && $1 == nil }),
      ("IN {%@, 0}", { $0 == $1 || $0 == 0 }),
    ]
    for count in 0...4 {
      for numbers in Self.sequences(values, count) {
        try realm.write {
          realm.deleteAll()
          for number in numbers {
            let row = Indexed()
            (row.number, row.plainNumber) = (number, number)
            (row.text, row.plainText) = (text(number), text(number))
            realm.add(row)
          }
        }
        let all = realm.objects(Indexed.self)
        for value in values {
          for test in tests {
            let expected = numbers.filter { test.holds($0, value) }
            for name in ["number", "plainNumber"] {
              let found = all.filter("\(name) \(test.format)", value as Any).map(\.number)
              #expect(
                Array(found) == expected, "\(name) \(test.format), \(value as Any): \(numbers)")
            }
          }
          let expected = numbers.filter { $0 == value }
          for name in ["text", "plainText"] {
            let found = all.filter("\(name) == %@", text(value) as Any).map(\.number)
            #expect(Array(found) == expected, "\(name) == \(value as Any): \(numbers)")
          }
        }
      }
    }
  }
}
