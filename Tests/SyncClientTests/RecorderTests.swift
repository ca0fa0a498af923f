// RecorderTests.swift: I12: the version before with the recorded changeset is the version after;
// by the rules of the merge, and with nothing overruled, since nobody else writes.

import FoundationEssentials
import ObjectDatabase
import Requirements
import SyncClient
import SyncCore
import Testing

private class Numbered: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String
  @Persisted var ratio: Double
  @Persisted var flag = true
}

private class Named: Object {
  @Persisted var text: String
  @Persisted(primaryKey: true) var name: String
  @Persisted var bytes: Data
}

private class Nameless: Object {
  @Persisted(primaryKey: true) var name: String?
  @Persisted var number: Int?
}

private class Identified: Object {
  @Persisted(primaryKey: true) var id: UUID
  @Persisted var number: Int
}

@Suite("Recorded transactions")
struct RecorderTests {
  @Test("are what they did")
  func randomPrograms() throws {
    let lives = FullSize.isOn ? 1900 : 12
    var recorded = 0
    for seed in 0..<UInt64(lives) {
      recorded += try life(seed)
    }
    print("recorded transactions: \(recorded)")
    #expect(recorded > 40 * lives)
  }

  /// Rows of a batch are encoded where they are added, in a buffer of 64 KiB that grows.
  @Test("have every key, text and number of a batch")
  func batches() throws {
    let types: [ObjectBase.Type] = [Numbered.self, Named.self, Nameless.self, Identified.self]
    let file = try TestFile("batches", types: types)
    let realm = try file.realm()
    let texts = [
      "", "a", String(repeating: "ü", count: 60), String(repeating: "b", count: 100_000),
    ]
    let numbers = [0, -1, 63, 64, -65, 8_192, .max, .min]
    try realm.write {
      for (index, number) in numbers.enumerated() {
        let row = Numbered()
        row.id = number
        if index != 3 { row.text = texts[index % 4] }
        if index != 4 { row.ratio = -1 / Double(index) }
        if index != 5 { row.flag = index.isMultiple(of: 2) }
        realm.add(row)
      }
      for text in texts {
        let row = Named()
        row.name = text
        row.text = text
        row.bytes = Data([1, 2])
        realm.add(row)
      }
      for name in [nil, "a", "b"] {
        let row = Nameless()
        row.name = name
        row.number = name?.count
        realm.add(row)
      }
      for number: UInt8 in 0..<4 {
        let row = Identified()
        row.id = UUID(uuid: (number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
        row.number = Int(number)
        realm.add(row)
      }
      // Most of these rows fill the buffer.
      for id in 0..<2_000 {
        let row = Numbered()
        row.id = 100 + id
        row.text = "row \(id)"
        realm.add(row)
      }
      // An operation on the object of the last row does not name it again.
      realm.objects(Numbered.self).filter { $0.id == 2_099 }.first?.ratio = 2
    }
    let pending = try file.pending()
    try #require(pending.count == 1)
    #expect(pending[0].operations.count == 2_008 * 4 + 4 * 3 + 3 * 2 + 4 * 2 + 1)
    let defaults = pending[0].operations.filter { operation in
      if case .change(_, .setDefault) = operation { true } else { false }
    }
    // Of rows 3 and 4, and of the many; a value in the class counts as one that was set.
    #expect(defaults.count == 2 + 2_000)
    var merger = SyncMerger()
    #expect(try merger.accept(pending[0]).overruled.isEmpty)
    #expect(merger.state == (try file.state()))
  }

  /// - Returns: How many transactions were recorded.
  private func life(_ seed: UInt64) throws -> Int {
    let file = try TestFile("recorder \(seed)")
    let realm = try file.realm()
    var program = RandomProgram(seed, realm)
    var merger = SyncMerger()
    var count = 0
    for number in 0..<64 {
      realm.beginWrite()
      for _ in 0...program.below(4) { program.change() }
      if program.chance(10) {
        realm.cancelWrite()
      } else {
        try realm.commitUnlessRefused()
      }
      let pending = try file.pending()
      try #require(pending.count == count || pending.count == count + 1)
      if pending.count > count {
        count += 1
        let entry = try merger.accept(pending[count - 1])
        try #require(
          entry.overruled.isEmpty, "seed \(seed), transaction \(number): \(entry.overruled)")
      }
      let state = try file.state()
      if state != merger.state {
        Issue.record(
          """
          seed \(seed), transaction \(number): \(pending.last?.operations ?? [])
          \(Self.difference(merger.state, state))
          """)
        return count
      }
    }
    return count
  }

  static func difference(_ left: SyncState, _ right: SyncState) -> String {
    Set(left.objects.keys).union(right.objects.keys).sorted().compactMap { object in
      let (one, other) = (left.objects[object], right.objects[object])
      guard one != other else { return nil }
      let names = Set((one?.fields ?? [:]).keys).union((other?.fields ?? [:]).keys).sorted()
      return names.filter { one?[$0] != other?[$0] }.map { name in
        "\(object.type) \(object.key).\(name): replayed "
          + (one.map { "\($0[name])" } ?? "none") + ", in the file "
          + (other.map { "\($0[name])" } ?? "none")
      }.joined(separator: "\n")
    }.joined(separator: "\n")
  }
}
