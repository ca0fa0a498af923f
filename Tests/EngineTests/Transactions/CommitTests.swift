// CommitTests.swift: which calls a commit makes, and what failing calls leave behind.

import Testing

@testable import Engine

@Suite("Commit")
struct CommitTests {
  @Test("a commit of nodes is writes, a sync, one root slot, a sync")
  func twoSyncs() throws {
    var options = Database.Options()
    options.editsInSlots = false
    var test = try TestDatabase(options: options)
    try test.put(0..<100)
    try test.put(0..<100)
    for round in 0..<20 {
      test.backend.clearLog()
      try test.put([round])
      let names = test.backend.log.map(\.name)
      #expect(names.first == "nodes")
      #expect(names.filter { $0 != "nodes" } == ["sync", "slot", "sync"])
      #expect(Array(names.suffix(3)) == ["sync", "slot", "sync"])
    }
    try test.check()
  }

  @Test("a commit that grows the file allocates before it writes, and has two syncs all the same")
  func growth() throws {
    var test = try TestDatabase()
    test.backend.clearLog()
    try test.put(0..<20_000)
    let names = test.backend.log.map(\.name)
    #expect(names.first == "allocate")
    #expect(names.filter { $0 != "nodes" } == ["allocate", "sync", "slot", "sync"])
    try test.check()
  }

  @Test("the slot of the current root is never written")
  func otherSlot() throws {
    var test = try TestDatabase()
    for round in 0..<6 {
      let current = Int(test.database.version.rawValue % 2)
      test.backend.clearLog()
      try test.put([round])
      for case .write(let offset, _) in test.backend.log {
        #expect(offset != Layout.slotOffsetsBytes[current] && offset != 0)
      }
    }
    try test.check()
  }

  @Test("a failed sync poisons the handle, and a reopen goes on", arguments: [0, 1])
  func poisoned(_ sync: Int) throws {
    var test = try TestDatabase()
    try test.put(0..<50)
    let snapshot = try test.database.snapshot()
    let version = test.database.version
    test.backend.failingSync = sync
    let write = try test.database.beginWrite()
    try write.insert(into: "Dog", key: 1000, Fixtures.dog(1))
    #expect(errorCode { try write.commit() } == .io)
    test.backend.failingSync = nil
    #expect(test.database.version == version)
    #expect(errorCode { try test.database.beginWrite() } == .poisoned)
    #expect(try snapshot.contentHash() == TestDatabase.hash(test.model))
    #expect(try snapshot.row(in: "Dog", key: 7) == Fixtures.dog(7))
    snapshot.release()
    try test.check()
    try test.database.close()

    var again = try TestDatabase(TestBackend(test.backend.bytes))
    again.model = test.model
    if sync == 1 { again.model[1000] = Fixtures.dog(1) }
    try again.check()
    try again.put([2000])
    try again.check()
  }

  @Test("a failed write of a node leaves the handle usable, of the slot poisons it")
  func failedWrites() throws {
    var test = try TestDatabase()
    try test.put(0..<50)
    try test.put(0..<50)
    test.backend.clearLog()
    try test.put([1])
    let writes = test.backend.log.filter { $0.name != "sync" }
    let slotWrite = writes.firstIndex { $0.name == "slot" }
    test.backend.failingWrite = 0
    let write = try test.database.beginWrite()
    try write.delete(from: "Dog", key: 3)
    #expect(errorCode { try write.commit() } == .io)
    test.backend.failingWrite = nil
    try test.check()
    try test.put([4])
    try test.check()
    test.backend.failingWrite = slotWrite
    let last = try test.database.beginWrite()
    try last.upsert(into: "Dog", key: 1, Fixtures.dog(9))
    #expect(errorCode { try last.commit() } == .io)
    #expect(errorCode { try test.database.beginWrite() } == .poisoned)
    try test.check()
  }

  @Test("a full disk is an error that leaves the old version and the handle")
  func noSpace() throws {
    var test = try TestDatabase()
    try test.put(0..<50)
    let size = test.backend.bytes.count
    test.backend.capacityBytes = size
    let write = try test.database.beginWrite()
    for key in 0..<20_000 { try write.upsert(into: "Dog", key: Int64(key), Fixtures.dog(key)) }
    #expect(errorCode { try write.commit() } == .noSpace)
    #expect(test.backend.bytes.count == size)
    try test.check()
    try test.put([7], round: 3)
    try test.check()
    test.backend.capacityBytes = .max
    try test.put(0..<20_000)
    try test.check()
  }

  @Test("a disk with room for the commit but not for growth is used to the end")
  func exactGrowth() throws {
    var test = try TestDatabase()
    let size = test.backend.bytes.count
    test.backend.capacityBytes = size + 8192
    var commits = 0
    while errorCode({ try test.put([commits]) }) == nil, commits < 1000 {
      commits += 1
      if commits % 50 == 0 { try test.put(1000 * commits..<1000 * commits + 300) }
    }
    test.model[Int64(commits)] = nil
    #expect(test.backend.bytes.count > size)
    try test.database.verify()
  }

  @Test("what is not committed is not there")
  func cancel() throws {
    var test = try TestDatabase()
    try test.put(0..<10)
    let write = try test.database.beginWrite()
    try write.delete(from: "Dog", key: 3)
    #expect(errorCode { try test.database.beginWrite() } == .busy)
    write.cancel()
    #expect(errorCode { try write.commit() } == .closed)
    do { _ = try test.database.beginWrite() }
    try test.check()
    try test.put([11])
    try test.check()
  }

  @Test("wrong tables, columns and names are errors that change nothing")
  func callerErrors() throws {
    var test = try TestDatabase()
    try test.put(0..<3)
    let write = try test.database.beginWrite()
    #expect(errorCode { try write.insert(into: "Cat", key: 1, []) } == .noSuchTable)
    #expect(errorCode { try write.insert(into: "Dog", key: 9, [.int(1)]) } == .schemaMismatch)
    #expect(
      errorCode { try write.insert(into: "Dog", key: 9, [.string(""), .int(1)]) }
        == .schemaMismatch)
    #expect(errorCode { try write.createTable(Fixtures.dogs) } == .tableExists)
    #expect(
      errorCode { try write.createTable(TableSchema(name: "", columns: [])) } == .schemaMismatch)
    let twice = [ColumnSchema(name: "a", type: .int), ColumnSchema(name: "a", type: .int)]
    #expect(
      errorCode { try write.createTable(TableSchema(name: "T", columns: twice)) }
        == .schemaMismatch)
    try write.createTable(TableSchema(name: "Keys", columns: []))
    try write.insert(into: "Keys", key: .min, [])
    try write.insert(into: "Keys", key: .max, [])
    try write.commit()
    let snapshot = try test.database.snapshot()
    #expect(snapshot.tables.map(\.name) == ["Dog", "Keys"])
    #expect(try snapshot.row(in: "Keys", key: .min) == [])
    #expect(try snapshot.count(of: "Keys") == 2)
    snapshot.release()
    #expect(errorCode { try snapshot.contentHash() } == .closed)
    #expect(try test.database.verify().rows == 5)
  }
}
