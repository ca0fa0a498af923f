// EncryptedIndexTests.swift: indexes and collections of an encrypted file, with a small cache; no
// view of a node outside of a read section.

import Testing

@testable import Engine

@Suite("Encrypted indexes")
struct EncryptedIndexTests {
  @Test("lookups, backlinks and collection reads all run in read sections")
  func againstModel() throws {
    var random = TestRandom(4)
    let options = EncryptedFixtures.options(cacheBytes: 1 << 20)
    var test = try IndexedDatabase(options: options)
    for _ in 0..<8 {
      let write = try test.database.beginWrite()
      for _ in 0..<60 { try test.change(write, &random) }
      try test.compare(write)
      try write.commit()
      try test.check()
      try readCollections(test)
    }
    let write = try test.database.beginWrite()
    try write.removeIndex(from: "name", in: "Person")
    try write.addIndex(to: "name", in: "Person")
    try test.compare(write)
    try write.commit()
    try test.check()
    #expect(try EncryptedFixtures.cache(test.database).unguardedLoads == 0)
    var again = try IndexedDatabase(TestBackend(test.backend.bytes), options: options)
    again.model = test.model
    try readCollections(again)
    try again.check()
    #expect(try EncryptedFixtures.cache(again.database).unguardedLoads == 0)
  }

  /// Every collection by every call there is, in a snapshot and in a transaction.
  private func readCollections(_ test: IndexedDatabase) throws {
    let snapshot = try test.database.snapshot()
    defer { snapshot.release() }
    let write = try test.database.beginWrite()
    defer { write.cancel() }
    for (key, row) in test.model["Dog"]!.sorted(by: { $0.key < $1.key }) {
      for column in 1...3 {
        let name = IndexedDatabase.dogs.columns[column].name
        let path = CollectionPath(table: "Dog", key: key, column: name)
        let count = IndexedDatabase.count(row[column])
        #expect(try snapshot.count(of: path) == count)
        #expect(try write.count(of: path) == count)
        #expect(try snapshot.value(in: "Dog", key: key, column: name) == row[column])
        #expect(try write.value(in: "Dog", key: key, column: name) == row[column])
        var (first, second) = (0, 0)
        try snapshot.forEach(in: path) { _, _ in first += 1 }
        try write.forEach(in: path) { _, _ in second += 1 }
        #expect(first == count && second == count)
        guard count > 0 else { continue }
        let last = try snapshot.element(at: count - 1, of: path)
        #expect(try write.element(at: count - 1, of: path) == last)
        switch row[column] {
        case .set:
          #expect(try snapshot.contains(last, in: path))
          #expect(try write.contains(last, in: path))
        case .dictionary(let entries):
          #expect(try snapshot.value(forKey: entries[0].key, in: path) == entries[0].value)
          #expect(try write.value(forKey: entries[0].key, in: path) == entries[0].value)
        default: break
        }
      }
    }
  }
}
