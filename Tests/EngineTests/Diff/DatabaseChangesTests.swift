// DatabaseChangesTests.swift: what differs between two versions, against reading both in full, and
// what finding it costs.

import Testing

@testable import Engine

@Suite("Changes between versions")
struct DatabaseChangesTests {
  // MARK: against the naive comparison

  @Test(
    "random histories: every version differs from earlier ones as reading both in full says",
    arguments: [1, 2, 3, 4])
  func histories(seed: UInt64) throws {
    var history = try DiffHistory(seed)
    var random = TestRandom(seed + 100)
    var versions: [(snapshot: Snapshot, content: NaiveContent)] = []
    var modifications = 0
    for index in 0..<20 {
      let newer = try history.database.snapshot()
      let content = try NaiveContent(newer)
      versions.append((newer, content))
      for older in [max(0, index - 1), random.below(index + 1)] {
        let found = try newer.changes(since: versions[older].snapshot)
        let expected = NaiveDiff.changes(from: versions[older].content, to: content)
        #expect(found == expected, "seed \(seed): version \(older) to \(index)")
        modifications += found.tables.reduce(0) { $0 + $1.modifications.count }
      }
      try history.commit()
    }
    #expect(modifications > 50)
    for version in versions { version.snapshot.release() }
    try history.database.verify()
  }

  @Test("an encrypted database with a small cache differs the same way")
  func encrypted() throws {
    var options = EncryptedFixtures.options()
    options.pageCacheBytesMax = 1 << 20
    var history = try DiffHistory(9, options: options)
    var snapshots = [try history.database.snapshot()]
    for _ in 0..<6 {
      try history.commit()
      snapshots.append(try history.database.snapshot())
    }
    for (older, newer) in zip(snapshots, snapshots.dropFirst()) {
      #expect(try newer.changes(since: older) == NaiveDiff.changes(from: older, to: newer))
    }
  }

  /// The sentinel: a comparison that passes over a subtree that differs does not go unnoticed.
  @Test("passing over subtrees by their place alone is found by the naive comparison")
  func skippedSubtree() throws {
    var test = try TestDatabase()
    try test.put(0..<20_000)
    let older = try test.database.snapshot()
    try test.put([5, 9999, 19_999], round: 1)
    let newer = try test.database.snapshot()
    let expected = try NaiveDiff.changes(from: older, to: newer)
    #expect(expected["Dog"]?.modifications.map(\.key) == [5, 9999, 19_999])
    #expect(try newer.compare(with: older).changes == expected)
    // Wrong once: the first pair of leaves that differ is taken for one node.
    let root = newer.state.group.tables[0].root
    var isArmed = true
    let wrong = try newer.compare(with: older) { mine, other in
      if mine != other, other != root, isArmed {
        isArmed = false
        return true
      }
      return mine == other
    }
    #expect(!isArmed && wrong.changes != expected)
  }

  // MARK: what it costs

  @Test("a thousand changed rows of a hundred thousand touch as many leaves, and no others")
  func proportional() throws {
    var test = try TestDatabase()
    try test.put(0..<100_000)
    let older = try test.database.snapshot()
    var random = TestRandom(11)
    var keys: Set<Int> = []
    while keys.count < 1000 { keys.insert(random.below(100_000)) }
    let write = try test.database.beginWrite()
    for key in keys.sorted() {
      var row = Fixtures.dog(key)
      row[0] = .int(1000)
      try write.update(in: "Dog", key: Int64(key), row)
    }
    try write.commit()
    let newer = try test.database.snapshot()
    let (changes, nodeCount) = try newer.compare(with: older)
    let dogs = try #require(changes["Dog"])
    #expect(dogs.modifications.map(\.key) == keys.sorted().map { Int64($0) })
    #expect(dogs.modifications.allSatisfy { $0.columns == ["age"] && $0.changes("age") })
    #expect(dogs.insertions.isEmpty && dogs.deletions.isEmpty)
    let changed = try changedNodes(from: older, to: newer)
    #expect(nodeCount == changed.older + changed.newer)
  }

  @Test("ten rows at one end of a hundred thousand touch a few nodes")
  func few() throws {
    var test = try TestDatabase()
    try test.put(0..<100_000)
    var older = try test.database.snapshot()
    // Updates of one leaf, new rows behind the last, rows gone from the middle, a split.
    let steps: [(Database) throws -> Void] = [
      { database in
        let write = try database.beginWrite()
        for key in 0..<10 { try write.update(in: "Dog", key: Int64(key), Fixtures.dog(key + 1)) }
        try write.commit()
      },
      { database in
        let write = try database.beginWrite()
        for key in 100_000..<100_010 {
          try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key))
        }
        try write.commit()
      },
      { database in
        let write = try database.beginWrite()
        for key in 50_000..<50_010 { try write.delete(from: "Dog", key: Int64(key)) }
        try write.commit()
      },
      { database in
        let write = try database.beginWrite()
        for key in -2000..<0 { try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(-key)) }
        try write.commit()
      },
    ]
    for (index, step) in steps.enumerated() {
      try step(test.database)
      let newer = try test.database.snapshot()
      let (changes, nodeCount) = try newer.compare(with: older)
      let dogs = try #require(changes["Dog"])
      let rows = dogs.insertions.count + dogs.deletions.count + dogs.modifications.count
      #expect(rows == (index == 3 ? 2000 : 10))
      #expect(nodeCount <= 12 + rows / 50, "step \(index) read \(nodeCount) nodes")
      older.release()
      older = newer
    }
  }

  /// Nodes that only one of the two versions has, by walking all of both.
  private func changedNodes(
    from older: Snapshot, to newer: Snapshot
  ) throws -> (older: Int, newer: Int) {
    func links(_ snapshot: Snapshot) throws -> Set<NodeLink> {
      let table = snapshot.state.group.tables[0]
      var (links, ahead) = (Set<NodeLink>(), [(table.root, table.level)])
      while let (link, level) = ahead.popLast() {
        links.insert(link)
        guard level > 0 else { continue }
        let inner = try InnerView(
          snapshot.state.reader.node(link, kind: .inner, level: level, newest: snapshot.version))
        ahead += (0..<inner.childCount).map { (inner.link($0), level - 1) }
      }
      return links
    }
    let (before, after) = (try links(older), try links(newer))
    return (before.subtracting(after).count, after.subtracting(before).count)
  }

  @Test("one element of a long list is found without reading the list")
  func longList() throws {
    let database = try Database.open(backend: TestBackend())
    let path = CollectionPath(table: "T", key: 1, column: "list")
    var write = try database.beginWrite()
    try write.createTable(
      TableSchema(
        name: "T", columns: [ColumnSchema(name: "list", type: .string, collection: .list)]))
    try write.insert(
      into: "T", key: 1, [.list((0..<50_000).map { .string("element number \($0)") })])
    try write.commit()
    let older = try database.snapshot()
    write = try database.beginWrite()
    try write.replace(at: 33_333, with: .string("element number 3333x"), in: path)
    try write.commit()
    let changed = try database.snapshot()
    let (changes, nodeCount) = try changed.compare(with: older)
    #expect(changes["T"]?.modifications.map(\.columns) == [["list"]])
    #expect(nodeCount <= 10)
    // The same element again: other nodes, the same content.
    write = try database.beginWrite()
    try write.replace(at: 33_333, with: .string("element number 33333"), in: path)
    try write.commit()
    let back = try database.snapshot()
    #expect(try back.changes(since: older).isEmpty)
    #expect(try !back.changes(since: changed).isEmpty)
  }

  @Test("nodes that only moved are no change")
  func moved() throws {
    var test = try TestDatabase()
    func wide(_ key: Int) -> [Value] {
      [.int(Int64(key)), .string(String(repeating: "w", count: 500))]
    }
    var write = try test.database.beginWrite()
    for key in 0..<6000 { try write.insert(into: "Dog", key: Int64(key), wide(key)) }
    try write.commit()
    write = try test.database.beginWrite()
    for key in 0..<5600 { try write.delete(from: "Dog", key: Int64(key)) }
    try write.commit()
    // Commits take nodes along that stand far behind; each changes one row only.
    var movedCount = 0
    for round in 0..<40 {
      let older = try test.database.snapshot()
      try test.put([round])
      let newer = try test.database.snapshot()
      let (changes, nodeCount) = try newer.compare(with: older)
      let dogs = try #require(changes["Dog"])
      #expect(dogs.insertions == [Int64(round)])
      #expect(dogs.deletions.isEmpty && dogs.modifications.isEmpty)
      if nodeCount > 12 { movedCount += nodeCount }
      older.release()
      newer.release()
    }
    #expect(movedCount > 40, "no commit moved nodes: the test shows nothing")
  }

  // MARK: borders

  @Test("a version and itself, and two empty ones, do not differ")
  func same() throws {
    let test = try TestDatabase()
    let first = try test.database.snapshot()
    let second = try test.database.snapshot()
    let (changes, nodeCount) = try first.compare(with: second)
    #expect(changes.isEmpty && nodeCount == 0)
    #expect(changes.olderVersion == changes.newerVersion)
  }

  @Test("tables and columns that come, go or are renamed are reported by name")
  func schemas() throws {
    let test = try TestDatabase()
    var write = try test.database.beginWrite()
    for key in 0..<3 { try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key)) }
    try write.commit()
    let older = try test.database.snapshot()
    write = try test.database.beginWrite()
    try write.renameColumn("age", in: "Dog", to: "years")
    try write.addColumn(ColumnSchema(name: "colour", type: .string), to: "Dog")
    try write.update(in: "Dog", key: 1, [.int(1), .string("dog number 1"), .string("brown")])
    try write.removeColumn("name", from: "Dog")
    try write.renameTable("Dog", to: "Hound")
    try write.createTable(Fixtures.dogs)
    try write.insert(into: "Dog", key: 9, Fixtures.dog(9))
    try write.commit()
    let newer = try test.database.snapshot()
    let changes = try newer.changes(since: older)
    #expect(changes.addedTables == ["Dog"] && changes.removedTables.isEmpty)
    let hound = try #require(changes["Hound"])
    #expect(hound.formerName == "Dog" && hound.addedColumns == ["colour"])
    #expect(hound.removedColumns == ["name"])
    #expect(hound.renamedColumns == [TableChanges.Rename(from: "age", to: "years")])
    #expect(hound.modifications.map(\.key) == [1])
    #expect(hound.modifications.first?.columns == ["colour"])
    #expect(changes["Dog"]?.isAdded == true && changes["Dog"]?.insertions == [9])
    write = try test.database.beginWrite()
    try write.removeTable("Dog")
    try write.commit()
    let last = try test.database.snapshot().changes(since: newer)
    #expect(last.removedTables == ["Dog"] && last["Dog"] == nil)
    #expect(last.tables.last?.isRemoved == true && last.tables.last?.deletions == [9])
  }

  @Test("snapshots of two databases, or in the wrong order, or released, are refused")
  func refusals() throws {
    var (one, other) = (try TestDatabase(), try TestDatabase())
    let (first, second) = (try one.database.snapshot(), try other.database.snapshot())
    #expect(errorCode { try first.changes(since: second) } == .notComparable)
    try one.put([1])
    let later = try one.database.snapshot()
    #expect(errorCode { try first.changes(since: later) } == .notComparable)
    second.release()
    #expect(errorCode { try first.changes(since: second) } == .closed)
    first.release()
    #expect(errorCode { try first.changes(since: first) } == .closed)
  }

  @Test("two handles of one file are one database")
  func twoHandles() throws {
    try withTemporaryFolder { folder in
      let one = try Database.open(path: folder + "/a.realm")
      let write = try one.beginWrite()
      try write.createTable(Fixtures.dogs)
      try write.insert(into: "Dog", key: 1, Fixtures.dog(1))
      try write.commit()
      let older = try one.snapshot()
      let two = try Database.open(path: folder + "/a.realm")
      let change = try two.beginWrite()
      try change.insert(into: "Dog", key: 2, Fixtures.dog(2))
      try change.commit()
      let newer = try two.snapshot()
      #expect(try newer.changes(since: older)["Dog"]?.insertions == [2])
      older.release()
      newer.release()
      try one.close()
      try two.close()
    }
  }
}
