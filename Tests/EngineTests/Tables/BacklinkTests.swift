// BacklinkTests.swift: who links to a row, and what becomes of links when it goes.

import Testing

@testable import Engine

@Suite("Backlinks")
struct BacklinkTests {
  private static func row(
    _ owner: Int64? = nil, friends: [Int64] = [], walkers: [Int64] = [],
    roles: [(String, Int64)] = []
  ) -> [Value] {
    [
      owner.map { .link($0) } ?? .null, .list(friends.map { .link($0) }),
      .set(walkers.map { .link($0) }),
      .dictionary(roles.map { DictionaryEntry(key: $0.0, value: .link($0.1)) }),
    ]
  }

  private static func made() throws -> (IndexedDatabase, WriteTransaction) {
    let test = try IndexedDatabase()
    let write = try test.database.beginWrite()
    var random = TestRandom(1)
    for key in 1...4 {
      try write.insert(
        into: "Person", key: Int64(key), IndexedDatabase.person(Int64(key), &random))
    }
    return (test, write)
  }

  @Test("deleting a row clears the links to it, and nothing else")
  func delete() throws {
    let (test, write) = try Self.made()
    try write.insert(
      into: "Dog", key: 1, Self.row(1, walkers: [1, 2], roles: [("a", 1), ("b", 2)]))
    try write.insert(into: "Dog", key: 2, Self.row(1, friends: [1, 2, 1, 1]))
    try write.insert(into: "Dog", key: 3, Self.row(2, friends: [3, 1, 3], roles: [("a", 2)]))
    let links = try write.backlinks(to: 1, in: "Dog", from: "Dog", column: "friends")
    #expect(links == [Backlink(key: 2, count: 3), Backlink(key: 3, count: 1)])
    #expect(try write.backlinkCount(to: 1, in: "Dog", from: "Dog", column: "friends") == 4)
    try write.commit()
    try test.database.verify()
    let again = try test.database.beginWrite()
    try again.delete(from: "Person", key: 1)
    let first = try #require(try again.row(in: "Dog", key: 1))
    #expect(first[0] == .null)
    #expect(first[2] == .set([.link(2)]))
    let roles = [
      DictionaryEntry(key: "a", value: .null), DictionaryEntry(key: "b", value: .link(2)),
    ]
    #expect(first[3] == .dictionary(roles))
    #expect(try again.row(in: "Dog", key: 3) == Self.row(2, friends: [3, 1, 3], roles: [("a", 2)]))
    try again.delete(from: "Dog", key: 1)
    #expect(try again.row(in: "Dog", key: 2)?[1] == .list([.link(2)]))
    #expect(try again.row(in: "Dog", key: 3)?[1] == .list([.link(3), .link(3)]))
    // A row that links to itself goes like any other.
    try again.delete(from: "Dog", key: 3)
    try again.commit()
    try test.database.verify()
    let snapshot = try test.database.snapshot()
    #expect(try snapshot.count(of: "Dog") == 1)
    #expect(try snapshot.backlinks(to: 1, in: "Person", from: "Dog", column: "owner") == [])
  }

  @Test("a link to a row that is not there is refused wherever it stands, and changes nothing")
  func missingTarget() throws {
    let (test, write) = try Self.made()
    try write.insert(into: "Dog", key: 1, Self.row(1, friends: [], roles: [("a", 1)]))
    try write.update(in: "Dog", key: 1, Self.row(1, friends: [1], roles: [("a", 1)]))
    let before = try write.row(in: "Dog", key: 1)
    let wrong = [
      Self.row(9), Self.row(friends: [1, 9]), Self.row(walkers: [9]), Self.row(roles: [("a", 9)]),
      // Itself is only there for the row that is being written.
      Self.row(friends: [3]),
    ]
    for values in wrong {
      #expect(errorCode { try write.insert(into: "Dog", key: 2, values) } == .keyNotFound)
      #expect(errorCode { try write.upsert(into: "Dog", key: 1, values) } == .keyNotFound)
    }
    func path(_ column: String) -> CollectionPath {
      CollectionPath(table: "Dog", key: 1, column: column)
    }
    #expect(errorCode { try write.append(.link(9), to: path("friends")) } == .keyNotFound)
    #expect(errorCode { try write.insert(.link(9), at: 0, in: path("friends")) } == .keyNotFound)
    #expect(
      errorCode { try write.replace(at: 0, with: .link(9), in: path("friends")) } == .keyNotFound)
    #expect(errorCode { try write.insert(.link(9), into: path("walkers")) } == .keyNotFound)
    #expect(errorCode { try write.set(.link(9), forKey: "b", in: path("roles")) } == .keyNotFound)
    #expect(try write.row(in: "Dog", key: 1) == before)
    #expect(try write.count(of: "Dog") == 1)
    try write.insert(into: "Dog", key: 3, Self.row(friends: [3, 1]))
    try write.commit()
    try test.database.verify()
  }

  @Test("a long list of links loses those to a deleted row")
  func longList() throws {
    let count = TableSize.rows(100_000)
    let left = count / 1000 * 999
    let (test, write) = try Self.made()
    for key in 1...3 { try write.insert(into: "Dog", key: Int64(key), Self.row()) }
    let friends = (0..<count).map { $0 % 1000 == 7 ? 2 : Int64(1) }
    try write.insert(into: "Dog", key: 4, Self.row(friends: friends))
    try write.commit()
    try test.database.verify()
    let again = try test.database.beginWrite()
    #expect(try again.backlinkCount(to: 1, in: "Dog", from: "Dog", column: "friends") == left)
    try again.delete(from: "Dog", key: 2)
    try again.commit()
    try test.database.verify()
    let snapshot = try test.database.snapshot()
    let path = CollectionPath(table: "Dog", key: 4, column: "friends")
    #expect(try snapshot.count(of: path) == left)
    let links = try snapshot.backlinks(to: 1, in: "Dog", from: "Dog", column: "friends")
    #expect(links == [Backlink(key: 4, count: left)])
  }
}
