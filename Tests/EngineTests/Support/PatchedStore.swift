// PatchedStore.swift: a database whose leaves are held by snapshots, with a model beside it.

import Testing

@testable import Engine

/// A table of people, its model, and the snapshots that are held with what each of them saw.
struct PatchedStore {
  struct Pin {
    let snapshot: Snapshot
    let contentHash: UInt64
    let people: [Int64: [Value]]
  }

  /// Small commits that are edits in the slot would hold too little for patches.
  static var writingNodes: Database.Options {
    var options = Database.Options()
    options.editsInSlots = false
    return options
  }

  let backend: TestBackend
  let database: Database
  var people: [Int64: [Value]] = [:]
  var pins: [Pin] = []
  var random: TestRandom

  init(
    rows: Int, seed: UInt64 = 1, options: Database.Options = PatchedStore.writingNodes,
    person: (Int, inout TestRandom) -> [Value] = GrowthWorkload.person
  ) throws {
    backend = TestBackend()
    backend.logs = false
    random = TestRandom(seed)
    database = try Database.open(backend: backend, options: options)
    let write = try database.beginWrite()
    try write.createTable(GrowthWorkload.people)
    for key in 0..<rows {
      people[Int64(key)] = person(key, &random)
      try write.insert(into: "Person", key: Int64(key), people[Int64(key)] ?? [])
    }
    try write.commit()
  }

  /// Adds another table, which the model does not know.
  func add(_ schema: TableSchema, rows: Int, _ row: (Int) -> [Value]) throws {
    let write = try database.beginWrite()
    try write.createTable(schema)
    for key in 0..<rows { try write.insert(into: schema.name, key: Int64(key), row(key)) }
    try write.commit()
  }

  var state: VersionState { database.state.withLock { $0.current } }
  var patchedLeafCount: Int { state.group.patchedLeafCount }

  /// Changes one value of a row, so that its leaf keeps its size.
  mutating func changeScore(of key: Int64) throws {
    let write = try database.beginWrite()
    try change(key, write)
    try write.commit()
  }

  private mutating func change(_ key: Int64, _ write: WriteTransaction) throws {
    guard var person = people[key] else { return }
    person[1] = .int(Int64(truncatingIfNeeded: random.next() | 1 << 62))
    people[key] = person
    try write.update(in: "Person", key: key, person)
  }

  /// Holds the newest version.
  mutating func pin() throws {
    let snapshot = try database.snapshot()
    pins.append(
      Pin(snapshot: snapshot, contentHash: try snapshot.contentHash(), people: people))
  }

  mutating func releasePins() {
    for pin in pins { pin.snapshot.release() }
    pins = []
  }

  /// Changes every sixteenth row.
  mutating func changeEveryLeaf() throws {
    let write = try database.beginWrite()
    for key in people.keys.sorted() where key % 16 == 0 { try change(key, write) }
    try write.commit()
  }

  /// Commits until many leaves have patches: all leaves change under a pin and again under another.
  mutating func patch(rounds: Int) throws {
    for _ in 0..<2 {
      try pin()
      try changeEveryLeaf()
    }
    for _ in 0..<rounds {
      try pin()
      try changeScore(of: Int64(random.below(people.count)))
    }
  }

  /// Everything is as the model says, for the newest version and every pinned one.
  func check(_ location: SourceLocation = #_sourceLocation) throws {
    try check(database, people, location)
    for pin in pins {
      #expect(try pin.snapshot.contentHash() == pin.contentHash, sourceLocation: location)
      var verifier = Verifier(pin.snapshot.state)
      for table in pin.snapshot.state.group.tables { try verifier.verify(table) }
    }
  }

  /// The same of another handle.
  func check(
    _ database: Database, _ people: [Int64: [Value]],
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    #expect(
      try database.verify().rows == UInt64(people.count), sourceLocation: location)
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    var hasher = ContentHasher()
    hasher.beginTable(GrowthWorkload.people)
    for (key, person) in people { hasher.combine(key: key, person) }
    #expect(try snapshot.contentHash() == hasher.finalize(), sourceLocation: location)
    for key in people.keys.sorted().prefix(50) {
      #expect(try snapshot.row(in: "Person", key: key) == people[key], sourceLocation: location)
    }
  }
}
