// IndexPowerCutTests.swift: after a crash at any operation the indexes agree with the rows.

import Testing

@testable import Engine

@Suite("Power cuts with indexes")
struct IndexPowerCutTests {
  /// The rows of each version, and the length of the log when it was acked.
  private struct Promise {
    var models: [UInt64: [String: [Int64: [Value]]]] = [:]
    var acks: [(logCount: Int, version: UInt64)] = []
  }

  private static func run(
    _ bug: PlantedBug, rounds: Int
  ) throws -> (log: [TestOperation], start: [UInt8], promise: Promise) {
    var random = TestRandom(5)
    var test = try IndexedDatabase()
    test.backend.bug = bug
    let start = test.backend.bytes
    test.backend.clearLog()
    test.backend.isBugActive = true
    var promise = Promise()
    promise.models[test.database.version.rawValue] = test.model
    promise.acks.append((0, test.database.version.rawValue))
    for _ in 0..<rounds {
      let write = try test.database.beginWrite()
      for _ in 0..<25 { try test.change(write, &random) }
      try write.commit()
      promise.models[test.database.version.rawValue] = test.model
      promise.acks.append((test.backend.log.count, test.database.version.rawValue))
    }
    return (test.backend.log, start, promise)
  }

  /// The broken promises, as text; stops at the fifth.
  private static func explore(
    _ log: [TestOperation], _ start: [UInt8], _ promise: Promise
  ) -> (states: Int, findings: [String]) {
    var random = TestRandom(9)
    var cut = PowerCut(start)
    var states = 0
    var findings: [String] = []
    for point in 0...log.count where findings.count < 5 {
      if point > 0 { cut.apply(log[point - 1]) }
      let acked = promise.acks.last { $0.logCount <= point }?.version ?? 0
      for image in cut.images(mixtures: 4, random: &random) {
        states += 1
        do {
          let database = try Database.open(backend: TestBackend(image))
          let version = database.version.rawValue
          guard version == acked || version == acked + 1, let model = promise.models[version] else {
            findings.append("operation \(point): version \(version), acked \(acked)")
            continue
          }
          try database.verify()
          if let finding = try compare(database, model, &random) {
            findings.append("operation \(point), version \(version): \(finding)")
          }
        } catch { findings.append("operation \(point): \(error)") }
      }
    }
    return (states, findings)
  }

  /// Rows, and a few lookups through every index, against the model.
  private static func compare(
    _ database: Database, _ model: [String: [Int64: [Value]]], _ random: inout TestRandom
  ) throws -> String? {
    let snapshot = try database.snapshot()
    for schema in IndexedDatabase.schemas {
      var rows: [Int64: [Value]] = [:]
      try snapshot.forEach(in: schema.name) { key, values in rows[key] = values }
      guard rows == model[schema.name] else { return "other rows in \(schema.name)" }
      let keys = rows.keys.sorted()
      guard !keys.isEmpty else { continue }
      for (column, item) in schema.columns.enumerated()
      where item.isSearched && item.collection == .none {
        let value = rows[keys[random.below(keys.count)]]![column]
        if item.type == .link, value == .null { continue }
        let expected = keys.filter { rows[$0]![column] == value }
        let found = try snapshot.keys(in: schema.name, column: item.name, equalTo: value)
        guard found == expected else { return "\(schema.name).\(item.name) \(value): \(found)" }
      }
      guard schema.name == "Person" else { continue }
      let search = WordSearch("w\(random.below(10))")
      let found = try snapshot.keys(in: "Person", column: "note", matching: search)
      let expected = keys.filter { key in
        if case .string(let text) = rows[key]![8] { search.matches(text) } else { false }
      }
      guard found == expected else { return "Person.note \(search): \(found)" }
    }
    return nil
  }

  @Test("after a crash at any operation every index says what the rows say")
  func crashAnywhere() throws {
    let (log, start, promise) = try Self.run(.none, rounds: 5)
    let (states, findings) = Self.explore(log, start, promise)
    #expect(findings == [])
    #expect(states > 500)
    print("power cuts with indexes: \(states) crash states over \(log.count) operations")
  }

  @Test(
    "the crash test catches a missing sync and a slot written too early",
    arguments: [PlantedBug.firstSyncMissing, .secondSyncMissing, .slotBeforeNodes])
  func plantedBugs(_ bug: PlantedBug) throws {
    let (log, start, promise) = try Self.run(bug, rounds: 3)
    #expect(!Self.explore(log, start, promise).findings.isEmpty)
  }
}
