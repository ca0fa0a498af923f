// NestedObservationTests.swift: changes within lists and dictionaries in mixed values, as observers
// of what holds them see them: an object, a collection, results with key paths. The oracle is a
// model of trees before and after each transaction.

import Foundation
import Testing

@testable import ObjectDatabase

private class MixedShelf: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var value: AnyRealmValue
  @Persisted var list: List<AnyRealmValue>
  @Persisted var map: Map<String, AnyRealmValue>
  @Persisted var next: MixedShelf?
}

/// What observers reported, in words.
private final class Reports {
  private var lines: [String] = []

  func note(_ line: String) { lines.append(line) }

  /// All since the last call, sorted.
  func taken() -> [String] {
    defer { lines = [] }
    return lines.sorted()
  }

  func observer<Collection>(_ name: String) -> (RealmCollectionChange<Collection>) -> Void {
    { change in
      guard case .update(_, let removed, let added, let changed) = change else { return }
      self.note("\(name) \(removed)\(added)\(changed)")
    }
  }

  func observer(_ name: String) -> (RealmMapChange<Map<String, AnyRealmValue>>) -> Void {
    { change in
      guard case .update(_, let removed, let added, let changed) = change else { return }
      self.note("\(name) \(removed)\(added)\(changed)")
    }
  }

  func observer(_ name: String) -> (ObjectChange<MixedShelf>) -> Void {
    { change in
      guard case .change(_, let properties) = change else { return }
      self.note("\(name) \(properties.map(\.name).sorted().joined(separator: ","))")
    }
  }
}

@Suite("changes within collections in mixed values")
struct NestedObservationTests {
  private func realm(_ name: String = #function) throws -> Realm {
    try Realm(configuration: .init(inMemoryIdentifier: name, objectTypes: [MixedShelf.self]))
  }

  private func filled(_ realm: Realm) throws -> [MixedShelf] {
    try realm.write {
      let below = realm.create(
        MixedShelf.self, value: ["id": 1, "value": ["a": [1, ["deep": "x"]] as [Any], "n": 0]])
      let above = realm.create(
        MixedShelf.self,
        value: ["id": 2, "list": [3, [4]] as [Any], "map": ["k": [7, ["deep": true]] as [Any]]])
      above.next = below
      return [below, above]
    }
  }

  /// Changes the text at the end of three collections.
  private static func deepen(_ shelf: MixedShelf, _ text: String) {
    let list = shelf.value.dictionaryValue?["a"]?.listValue
    list?[1].dictionaryValue?["deep"] = .string(text)
  }

  @Test("are reported to observers of the object, under the property that holds them")
  func objects() throws {
    let realm = try realm()
    let shelves = try filled(realm)
    let reports = Reports()
    let tokens = [
      shelves[0].observe(reports.observer("any")),
      shelves[0].observe(keyPaths: ["value"], reports.observer("value")),
      shelves[0].observe(keyPaths: ["list", "map"], reports.observer("others")),
      shelves[1].observe(reports.observer("above")),
      shelves[1].observe(keyPaths: ["next.value"], reports.observer("through")),
    ]
    try realm.write { Self.deepen(shelves[0], "y") }
    #expect(reports.taken() == ["any value", "through next", "value value"])
    try realm.write { shelves[1].list[1].listValue?.append(.int(5)) }
    #expect(reports.taken() == ["above list"])
    try realm.write {
      shelves[1].map["k"]?.listValue?[1].dictionaryValue?["deep"] = AnyRealmValue.none
    }
    #expect(reports.taken() == ["above map"])
    try realm.write { Self.deepen(shelves[0], "y") }
    #expect(reports.taken() == [], "an equal value is no change")
    for token in tokens { token.invalidate() }
  }

  @Test("give no old value, which would be the new one")
  func oldValues() throws {
    let realm = try realm()
    let shelf = try filled(realm)[0]
    var values: [String] = []
    let token = shelf.observe { change in
      guard case .change(_, let properties) = change else { return }
      for property in properties {
        let new = (property.newValue as? AnyRealmValue)?.dictionaryValue?.count
        values.append("\(property.oldValue == nil) \(new ?? -1)")
      }
    }
    try realm.write { shelf.value.dictionaryValue?["more"] = .int(1) }
    try realm.write { shelf.value = .int(3) }
    #expect(values == ["true 3", "true -1"])
    token.invalidate()
  }

  @Test("are modifications of results, whether filtered, sorted or along key paths")
  func results() throws {
    let realm = try realm()
    let shelves = try filled(realm)
    let reports = Reports()
    let all = realm.objects(MixedShelf.self)
    let tokens = [
      all.observe(reports.observer("all")),
      all.observe(keyPaths: ["value"], reports.observer("value")),
      all.observe(keyPaths: ["map"], reports.observer("map")),
      all.observe(keyPaths: ["next.value"], reports.observer("through")),
      all.sorted(by: \.id, ascending: false).observe(reports.observer("sorted")),
      all.filter("value['n'] == 0").observe(reports.observer("some")),
    ]
    realm.refresh()
    try realm.write { Self.deepen(shelves[0], "y") }
    #expect(
      reports.taken() == [
        "all [][][0, 1]", "some [][][0]", "sorted [][][0, 1]", "through [][][1]", "value [][][0]",
      ])
    try realm.write { shelves[0].value.dictionaryValue?["n"] = .int(1) }
    #expect(
      reports.taken() == [
        "all [][][0, 1]", "some [0][][]", "sorted [][][0, 1]", "through [][][1]", "value [][][0]",
      ])
    for token in tokens { token.invalidate() }
  }

  @Test("are modifications of the elements that hold them, at every level")
  func elements() throws {
    let realm = try realm()
    let shelves = try filled(realm)
    let reports = Reports()
    let value = try #require(shelves[0].value.dictionaryValue)
    let middle = try #require(value["a"]?.listValue)
    let tokens = [
      shelves[1].list.observe(reports.observer("list")),
      shelves[1].map.observe(reports.observer("map")),
      value.observe(reports.observer("value")), middle.observe(reports.observer("middle")),
    ]
    realm.refresh()
    try realm.write { Self.deepen(shelves[0], "y") }
    #expect(reports.taken() == ["middle [][][1]", #"value [][]["a"]"#])
    try realm.write {
      shelves[1].list[1].listValue?[0] = .string("w")
      shelves[1].list.insert(.none, at: 0)
      shelves[1].map["k"]?.listValue?.removeAll()
    }
    #expect(reports.taken() == ["list [][0][2]", #"map [][]["k"]"#])
    // A collection that is made later is known without another search.
    try realm.write { value["n"] = .fromArray([.fromArray([])]) }
    #expect(reports.taken() == [#"value [][]["n"]"#])
    try realm.write { value["n"]?.listValue?[0].listValue?.append(.int(1)) }
    #expect(reports.taken() == [#"value [][]["n"]"#])
    for token in tokens { token.invalidate() }
  }

  @Test("made in another realm of the database are reported after the refresh")
  func elsewhere() throws {
    let realm = try realm("nested-elsewhere")
    let shelf = try filled(realm)[0]
    let reports = Reports()
    let token = shelf.observe(reports.observer("object"))
    let all = realm.objects(MixedShelf.self).observe(reports.observer("all"))
    realm.refresh()
    realm.autorefresh = false
    let configuration = realm.configuration
    let carried = Smuggled(configuration)
    try ThreadRun.run {
      let other = try Realm(configuration: carried.value)
      try other.write { Self.deepen(other.objects(MixedShelf.self)[0], "z") }
    }
    #expect(reports.taken() == [])
    realm.refresh()
    #expect(reports.taken() == ["all [][][0, 1]", "object value"])
    token.invalidate()
    all.invalidate()
  }

  @Test("are those of a model, and no others", arguments: 0..<4)
  func model(number: Int) throws {
    var draws = MixedDraws(state: UInt64(number) &* 0x9e37_79b9_7f4a_7c15 &+ 7)
    let realm = try realm("nested-model-\(number)")
    let shelves = (0..<3).map { MixedShelf(value: ["id": $0]) }
    var trees = shelves.map { _ in MixedTree.list([.entries([:]), .list([])]) }
    for (shelf, tree) in zip(shelves, trees) { shelf.value = tree.value }
    try realm.write { realm.add(shelves) }
    let reports = Reports()
    let all = realm.objects(MixedShelf.self)
    var tokens = [all.observe(keyPaths: ["value"], reports.observer("all"))]
    tokens += shelves.map { $0.observe(reports.observer("\($0.id)")) }
    realm.refresh()
    var reported = 0
    for step in 0..<80 {
      let chosen = draws.below(shelves.count)
      let before = trees[chosen]
      try realm.write { trees[chosen].change(shelves[chosen].value, &draws) }
      let taken = reports.taken()
      reported += taken.count
      let expected = ["\(chosen) value", "all [][][\(chosen)]"]
      if trees[chosen] != before {
        #expect(taken == expected, "step \(step)")
      } else {
        #expect(taken == [] || taken == expected, "step \(step): only what was written")
      }
    }
    #expect(reported > 40)
    for token in tokens { token.invalidate() }
  }
}
