// KeyRotationTests.swift: copies under another key, in the clear and back, and encrypted databases
// that are compacted.

import Testing

@testable import Engine

@Suite("Copies under another key")
struct KeyRotationTests {
  private func options(_ key: [UInt8]?) -> Database.Options {
    guard let key else { return Database.Options() }
    return EncryptedFixtures.options(
      SeededEntropy(UInt64(key[0]) + 5), key: key, cacheBytes: 1 << 20)
  }

  @Test(
    "from each key to each", arguments: [nil, EncryptedFixtures.key],
    [nil, EncryptedFixtures.key, EncryptedFixtures.otherKey])
  func rotates(from old: [UInt8]?, to new: [UInt8]?) throws {
    try withTemporaryFolder { folder in
      let database = try Database.open(path: folder + "/a.realm", options: options(old))
      try Everything.fill(database, rows: 64)
      let content = try Content(database)
      let copy = folder + "/b"
      try database.writeCopy(to: copy, encryptionKey: new)
      #expect(try Content(path: copy, options(new)) == content)
      #expect(try Content(database) == content)
      try database.close()
      // The copy can be written to, and it is what it should be: sealed, with a salt of its own.
      let other = try Database.open(path: copy, options: options(new))
      let write = try other.beginWrite()
      try write.insert(into: "Dog", key: -1, Fixtures.dog(1))
      try write.commit()
      #expect(try Content(other).rows == content.rows + 1)
      try other.close()
      let bytes = try fileBytes(copy)
      #expect(bytes.contains(text: "dog number 3") == (new == nil))
      if old != nil, new != nil {
        let salt = try fileBytes(folder + "/a.realm")[40..<56]
        #expect(bytes[40..<56] != salt && bytes[40..<56].contains { $0 != 0 })
      }
      let wrong = new == nil ? EncryptedFixtures.key : EncryptedFixtures.key.map { $0 ^ 1 }
      let expected: EngineError.Code = new == nil ? .notEncrypted : .wrongKey
      #expect(errorCode { try Database.open(path: copy, options: options(wrong)) } == expected)
    }
  }

  @Test("compaction keeps the key, and every read of it is in a section")
  func compacts() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let database = try Database.open(path: path, options: options(EncryptedFixtures.key))
      try Everything.fill(database)
      let content = try Content(database)
      let before = fileSizeBytes(path)
      let cache = try EncryptedFixtures.cache(database)
      #expect(try database.compact())
      #expect(cache.unguardedLoads == 0)
      #expect(try Content(database) == content)
      #expect(fileSizeBytes(path) < before * 3 / 4)
      let write = try database.beginWrite()
      try write.delete(from: "Dog", key: 0)
      try write.commit()
      let changed = try Content(database)
      try database.close()
      #expect(try Content(path: path, options(EncryptedFixtures.key)) == changed)
      #expect(errorCode { try Database.open(path: path) } == .keyNeeded)
    }
  }

  @Test("a full leaf in the clear does not spill into a third sector when it is sealed")
  func fitsSeal() throws {
    try withTemporaryFolder { folder in
      let database = try Database.open(path: folder + "/a.realm")
      let write = try database.beginWrite()
      try write.createTable(Fixtures.dogs)
      for key in 0..<20_000 { try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key)) }
      try write.commit()
      try database.writeCopy(to: folder + "/plain", encryptionKey: nil)
      try database.writeCopy(to: folder + "/sealed", encryptionKey: EncryptedFixtures.key)
      let plain = fileSizeBytes(folder + "/plain")
      #expect(fileSizeBytes(folder + "/sealed") < plain + plain / 25)
    }
  }

  @Test("a copy of an encrypted file stays within the cache, whatever a row leads to")
  func staysInCache() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let table = TableSchema(
        name: "Text", columns: [ColumnSchema(name: "pages", type: .string, collection: .list)])
      let first = try Database.open(path: path, options: options(EncryptedFixtures.key))
      let write = try first.beginWrite()
      try write.createTable(table)
      for key in 0..<3 {
        let pages = (0..<60).map { Value.string(String(repeating: "\($0 + key) ", count: 15_000)) }
        try write.insert(into: "Text", key: Int64(key), [.list(pages)])
      }
      try write.commit()
      let content = try Content(first)
      try first.close()
      // The leaf that leads to all this is given up before it is needed again.
      let database = try Database.open(path: path, options: options(EncryptedFixtures.key))
      try database.writeCopy(to: folder + "/b", encryptionKey: nil)
      let cache = try EncryptedFixtures.cache(database)
      #expect(cache.peakBytes < 2 << 20 && cache.unguardedLoads == 0)
      #expect(fileSizeBytes(path) > 7 << 20)
      try database.close()
      #expect(try Content(path: folder + "/b") == content)
    }
  }

  @Test("a key of another size is refused before anything is made")
  func keyIsInvalid() throws {
    try withTemporaryFolder { folder in
      let database = try Database.open(path: folder + "/a.realm")
      for size in [0, 63, 65] {
        let key = [UInt8](repeating: 1, count: size)
        #expect(
          errorCode { try database.writeCopy(to: folder + "/b", encryptionKey: key) }
            == .invalidKey)
      }
      #expect(fileNames(in: folder).filter { $0.hasPrefix("b") } == [])
      try database.close()
    }
  }

  @Test("a damaged node of an encrypted file ends the copy")
  func refusesDamage() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let database = try Database.open(path: path, options: options(EncryptedFixtures.key))
      try Everything.fill(database, rows: 32)
      let content = try Content(database)
      let (offset, _) = try EncryptedFixtures.root(database, table: 1)
      let bytes = try fileBytes(path)
      try overwrite(path, [bytes[offset + 500] ^ 1], at: offset + 500)
      #expect(errorCode { try database.compact() } == .corrupted)
      #expect(
        errorCode { try database.writeCopy(to: folder + "/b", encryptionKey: nil) } == .corrupted)
      #expect(fileNames(in: folder).filter { $0.hasPrefix("b") || $0.hasSuffix("ing") } == [])
      try overwrite(path, [bytes[offset + 500]], at: offset + 500)
      #expect(try database.compact())
      #expect(try Content(database) == content)
      try database.close()
    }
  }
}
