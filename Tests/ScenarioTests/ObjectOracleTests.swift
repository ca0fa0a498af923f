// ObjectOracleTests.swift: each oracle over objects accepts what is right, and finds the one thing
// that is planted for it.

import Engine
import Testing

@testable import Findings
@testable import Oracles
@testable import Workload

/// A person with a home of one room and a dog that it owns, as rows.
private func sound() -> ObjectRows {
  var rows = ObjectRows()
  rows.people[0] = ObjectRows.Row(columns: [
    "_id": .int(7), "name": .string("Ada"), "age": .int(36), "home": .link(4),
    "dogs": .list([.link(2), .link(2)]), "nicknames": .set([.string("A"), .string("B")]),
    "scores": .dictionary([DictionaryEntry(key: "go", value: .int(3))]),
  ])
  rows.dogs[2] = ObjectRows.Row(columns: [
    "_id": .int(1), "name": .string("Rex"), "age": .int(5), "owner": .link(0), "weight": .null,
  ])
  rows.addresses[4] = ObjectRows.Row(columns: [
    "city": .string("Ulm"), "rooms": .list([.link(9)]),
  ])
  rows.rooms[9] = ObjectRows.Row(columns: [
    "name": .string("hall"), "size": .int(20), "chest": .link(5),
  ])
  rows.collectionTable = 8
  rows.dogTable = 6
  rows.crates[5] = ObjectRows.Row(columns: [
    "_id": .int(3), "content": .typedLink(table: 8, key: 1),
  ])
  rows.collections[0] = ObjectRows.Row(columns: [
    "items": .list([.int(1), .typedLink(table: 6, key: 2), .typedLink(table: 6, key: 3)]),
    "entries": .dictionary([]), "isDictionary": .bool(false),
  ])
  rows.collections[1] = ObjectRows.Row(columns: [
    "items": .list([]), "isDictionary": .bool(true),
    "entries": .dictionary([DictionaryEntry(key: "a", value: .typedLink(table: 8, key: 0))]),
  ])
  return rows
}

@Suite struct ObjectOracleTests {
  @Test("a query finds what a look at each object finds, in the same order, or is found out")
  func naiveEvaluator() throws {
    let database = try Database.open(inMemory: "oracle of queries")
    let write = try database.beginWrite()
    let names = [
      ObjectClasses.room, ObjectClasses.address, ObjectClasses.dog, ObjectClasses.person,
      ObjectClasses.crate,
    ]
    for name in names { try write.createTable(TableSchema(name: name, columns: [])) }
    for name in names {
      for column in ObjectModel.columns(of: name, version: 1) {
        try write.addColumn(column, to: name)
      }
    }
    for (key, age) in [Int64(4), 2, 9].enumerated() {
      try write.insert(
        into: ObjectClasses.dog, key: Int64(key),
        [.int(Int64(key) + 10), .string("Rex"), .int(age), .null, .null])
    }
    try write.commit()
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    let query = ObjectQuery(text: "age > 3 SORT(age DESC)", table: ObjectClasses.dog)
    #expect(try QueryOracle.judge(query, found: [12, 10], snapshot) == nil)
    for wrong in [[], [12], [10, 12], [12, 10, 11]] {
      #expect(try QueryOracle.judge(query, found: wrong, snapshot)?.oracle == .objects, "\(wrong)")
    }
  }

  @Test("sound rows are accepted by every oracle")
  func accepted() {
    let rows = sound()
    let sight = ObjectSight(rows)
    #expect(LinkOracle.judge(rows) == nil)
    #expect(EmbeddedOracle.judge(rows) == nil)
    #expect(CollectionOracle.judge(rows) == nil)
    #expect(sight.crates[3]?.text == "{a: [1, {$dog: 1}, null]}")
    #expect(sight.places == [3: ["hall"]])
    #expect(ObjectViewOracle.judge(sight, rows) == nil)
    #expect(QueryOracle.judge([.init(age: 5, dogs: [1]), .init(age: 6, dogs: [])], sight) == nil)
    #expect(FrozenViewOracle.judge(frozen: "f", was: sight, is: sight) == nil)
    #expect(sight.people[7]?.home == ["Ulm", "hall 20 with Crate 3"])
    #expect(sight.dogs[1]?.fans == [7, 7])
  }

  @Test("a link whose row is gone is found")
  func dangling() {
    var inList = sound()
    inList.dogs[2] = nil
    #expect(LinkOracle.judge(inList)?.oracle == .objects)
    var owner = sound()
    owner.dogs[2]?.columns["owner"] = .link(5)
    #expect(LinkOracle.judge(owner)?.got.contains("the owner in row 5") == true)
    var home = sound()
    home.addresses = [:]
    #expect(LinkOracle.judge(home)?.got.contains("the home in row 4") == true)
    var chest = sound()
    chest.crates = [:]
    #expect(LinkOracle.judge(chest)?.got.contains("the chest in row 5") == true)
  }

  @Test("an embedded object without an owner, or with two, is found")
  func owners() {
    var left = sound()
    left.people[0]?.columns["home"] = .null
    #expect(EmbeddedOracle.judge(left)?.got == "the one in row 4 has 0")
    var shared = sound()
    shared.people[1] = shared.people[0]
    #expect(EmbeddedOracle.judge(shared)?.got == "the one in row 4 has 2")
    var room = sound()
    room.addresses[4]?.columns["rooms"] = .list([])
    #expect(EmbeddedOracle.judge(room)?.promised.contains("Room") == true)
  }

  @Test("a collection in a mixed value that nothing holds, or two values, is found")
  func collections() {
    var left = sound()
    left.crates[5] = nil
    #expect(CollectionOracle.judge(left)?.got == "the one in row 1 of __mixed belongs to 0")
    var inner = sound()
    inner.collections[1]?.columns["entries"] = .dictionary([])
    #expect(CollectionOracle.judge(inner)?.got == "the one in row 0 of __mixed belongs to 0")
    var shared = sound()
    shared.crates[6] = shared.crates[5]
    #expect(CollectionOracle.judge(shared)?.got == "the one in row 1 of __mixed belongs to 2")
    var gone = sound()
    gone.collections[0] = nil
    #expect(ObjectSight(gone).crates[3]?.text == "{a: the bytes 'row 0'}")
    var endless = sound()
    endless.collections[0]?.columns["items"] = .list([.typedLink(table: 8, key: 0)])
    #expect(ObjectSight(endless).crates[3]?.text.contains("row 0") == true)
  }

  @Test("an object, list, set, map or back link that reads otherwise than its row is found")
  func views() throws {
    let rows = sound()
    let changes: [(inout ObjectSight) -> Void] = [
      { $0.people[7]?.name = "Eve" }, { $0.people[7]?.dogs = [1] },
      { $0.people[7]?.nicknames = [] }, { $0.people[7]?.scores = ["go=4"] },
      { $0.people[7]?.home = nil }, { $0.dogs[1]?.fans = [7] }, { $0.dogs[1]?.owner = nil },
      { $0.people[8] = $0.people[7] }, { $0.dogs = [:] },
      { $0.crates[3] = .list([]) }, { $0.crates = [:] }, { $0.places[3] = [] },
      { $0.people[7]?.home = ["Ulm", "hall 20"] },
    ]
    for (number, change) in changes.enumerated() {
      var sight = ObjectSight(rows)
      change(&sight)
      #expect(ObjectViewOracle.judge(sight, rows)?.oracle == .objects, "change \(number)")
      let frozen = FrozenViewOracle.judge(frozen: "f", was: ObjectSight(rows), is: sight)
      #expect(frozen?.oracle == .isolation, "change \(number)")
      let live = FrozenViewOracle.judge(live: "ui", was: ObjectSight(rows), is: sight)
      #expect(live?.oracle == .isolation, "change \(number)")
      let handed = FrozenViewOracle.judge(handedOverBy: "ui", was: ObjectSight(rows), is: sight)
      #expect(handed?.oracle == .isolation, "change \(number)")
    }
  }

  @Test("a query that finds too much or too little is found")
  func queries() {
    let sight = ObjectSight(sound())
    #expect(QueryOracle.judge([.init(age: 5, dogs: [])], sight)?.oracle == .objects)
    #expect(QueryOracle.judge([.init(age: 4, dogs: [1])], sight)?.oracle == .objects)
  }

  @Test("a use on another thread that goes through, or is refused without names, is found")
  func confinement() {
    func judge(_ message: String?) -> Violation? {
      ConfinementOracle.judge("a read", owner: "ui", caller: "background", message: message)
    }
    #expect(judge("a realm of thread \"ui\" is used on thread \"background\"") == nil)
    #expect(judge(nil)?.got == "it went through")
    #expect(judge("a realm of thread \"ui\" is used elsewhere")?.oracle == .confinement)
  }

  @Test("what an observer is told gives the collection, or is found")
  func notifications() {
    func judge(_ change: NotificationOracle.Change) -> Violation? {
      NotificationOracle.judge(change, before: ["a", "b", "c"], now: ["b2", "c", "d"])
    }
    #expect(judge(.init(deletions: [0], insertions: [2], modifications: [0])) == nil)
    let wrong: [NotificationOracle.Change] = [
      .init(deletions: [0], insertions: [2], modifications: []),
      .init(deletions: [2], insertions: [2], modifications: [0]),
      .init(deletions: [], insertions: [2], modifications: [0]),
      .init(deletions: [7], insertions: [], modifications: []),
      .init(deletions: [0], insertions: [9], modifications: [0]),
      .init(deletions: [], insertions: [], modifications: [-1]),
    ]
    for change in wrong { #expect(judge(change)?.oracle == .notifications, "\(change)") }
    #expect(NotificationOracle.judge(replayed: ["a"], now: []) != nil)
  }
}
