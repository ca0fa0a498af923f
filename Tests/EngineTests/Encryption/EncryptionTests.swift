// EncryptionTests.swift: encrypted databases do what plain ones do, show nothing, ask for a key.

import Testing

@testable import Engine

@Suite("Encryption")
struct EncryptionTests {
  private static let options = EncryptedFixtures.options()

  private static func content(
    _ bytes: [UInt8], _ options: Database.Options
  ) throws -> (Version, UInt64) {
    let database = try Database.open(backend: TestBackend(bytes), options: options)
    try database.verify()
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    return (database.version, try snapshot.contentHash())
  }

  private static func firstIndex(of text: String, in bytes: [UInt8]) -> Int? {
    let pattern = Array(text.utf8)
    return bytes.indices.dropLast(pattern.count).first { start in
      bytes[start] == pattern[0] && bytes[start..<start + pattern.count].elementsEqual(pattern)
    }
  }

  @Test("an encrypted database does what a plain one does, and has the same content")
  func sameAsPlain() throws {
    var random = TestRandom(31)
    var plain = try TestDatabase()
    var sealed = try TestDatabase(options: Self.options)
    for round in 0..<12 {
      let keys = (0..<200).map { _ in random.below(3000) }
      try plain.put(keys, round: round)
      try sealed.put(keys, round: round)
      for database in [plain.database, sealed.database] {
        let write = try database.beginWrite()
        for key in Set(keys).sorted().prefix(60) {
          try write.delete(from: "Dog", key: Int64(key))
        }
        let long = String(repeating: "long \(round) ", count: 300 * round)
        try write.upsert(into: "Dog", key: 10_000, [.int(1), .string(long)])
        #expect(try write.row(in: "Dog", key: 10_000)?[1] == .string(long))
        try write.commit()
      }
      let snapshots = try (plain.database.snapshot(), sealed.database.snapshot())
      #expect(try snapshots.0.contentHash() == snapshots.1.contentHash())
      snapshots.0.release()
      snapshots.1.release()
      #expect(try plain.database.verify().rows == sealed.database.verify().rows)
    }
    let expected = try Self.content(plain.backend.bytes, .init())
    let found = try Self.content(sealed.backend.bytes, Self.options)
    #expect(found == expected)
    #expect(try EncryptedFixtures.cache(sealed.database).unguardedLoads == 0)
  }

  @Test("nothing of names and values is in the file, nor in any write")
  func showsNothing() throws {
    let secrets = ["Dog", "dog number 17", "long secret of many bytes", "name"]
    for isEncrypted in [false, true] {
      var test = try TestDatabase(options: isEncrypted ? Self.options : .init())
      try test.put(0..<300)
      let write = try test.database.beginWrite()
      let long = String(repeating: "long secret of many bytes ", count: 1000)
      try write.insert(into: "Dog", key: 1000, [.int(1), .string(long)])
      try write.commit()
      for secret in secrets {
        let found = Self.firstIndex(of: secret, in: test.backend.bytes)
        #expect((found == nil) == isEncrypted, "\(secret) at \(found ?? -1)")
        // The log has every write in full, so also what later ones wrote over.
        let written = test.backend.log.contains { operation in
          guard case .write(_, let bytes) = operation else { return false }
          return Self.firstIndex(of: secret, in: bytes) != nil
        }
        #expect(written != isEncrypted, "\(secret)")
      }
      try test.database.verify()
    }
  }

  @Test("two files with one content and one key have no sector in common")
  func salted() throws {
    let entropy = SeededEntropy(5)
    let images = try (0..<2).map { _ in
      var test = try TestDatabase(options: EncryptedFixtures.options(entropy))
      try test.put(0..<500)
      try test.check()
      return test.backend.bytes
    }
    for start in stride(from: 0, to: images[0].count, by: 4096) {
      let sectors = images.map { $0[start..<start + 4096] }
      let isUnused = sectors.allSatisfy { $0.allSatisfy { $0 == 0 } }
      #expect(isUnused || sectors[0] != sectors[1], "sector \(start / 4096)")
    }
  }

  @Test("the wrong key, no key, a needless key and a short key are errors of their own")
  func keys() throws {
    var test = try TestDatabase(options: Self.options)
    try test.put(0..<50)
    let bytes = test.backend.bytes
    let other = EncryptedFixtures.options(key: EncryptedFixtures.otherKey)
    #expect(errorCode { try Self.content(bytes, other) } == .wrongKey)
    #expect(errorCode { try Self.content(bytes, .init()) } == .keyNeeded)
    let plain = try TestDatabase().backend.bytes
    #expect(errorCode { try Self.content(plain, other) } == .notEncrypted)
    // Each half of the key counts.
    for index in [0, 31, 32, 63] {
      var key = EncryptedFixtures.key
      key[index] ^= 1
      let options = EncryptedFixtures.options(key: key)
      #expect(errorCode { try Self.content(bytes, options) } == .wrongKey)
    }
    for count in [0, 32, 63, 65] {
      let options = EncryptedFixtures.options(key: [UInt8](repeating: 1, count: count))
      do {
        _ = try Database.open(backend: TestBackend(bytes), options: options)
        Issue.record("a key of \(count) bytes was taken")
      } catch {
        #expect(error.code == .invalidKey)
        #expect(error.message.contains("\(count) bytes"))
        #expect(error.message.contains("64"))
      }
    }
    try test.check()
  }

  @Test("strings of 16 MiB go and come back, whatever the cache's bound")
  func longestStrings() throws {
    let options = EncryptedFixtures.options(cacheBytes: 1 << 20)
    let test = try TestDatabase(options: options)
    let long = String(repeating: "0123456789abcdef", count: 1 << 20)
    let write = try test.database.beginWrite()
    try write.insert(into: "Dog", key: 1, [.int(1), .string(long)])
    try write.insert(into: "Dog", key: 2, [.int(2), .string("s")])
    try write.commit()
    let again = try Database.open(backend: TestBackend(test.backend.bytes), options: options)
    let snapshot = try again.snapshot()
    #expect(try snapshot.row(in: "Dog", key: 1) == [.int(1), .string(long)])
    let cache = try EncryptedFixtures.cache(again)
    #expect(cache.peakBytes > 16 << 20)
    // One operation exceeded the bound by what it read; its end gave the memory back.
    #expect(cache.residentBytes <= 1 << 20)
    snapshot.release()
    try again.verify()
    #expect(cache.residentBytes <= 1 << 20)
    #expect(cache.unguardedLoads == 0)
  }

  @Test("a file by path: created, locked with the reason, opened again")
  func byPath() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/secret.realm"
      let database = try Database.open(path: path, options: Self.options)
      let write = try database.beginWrite()
      try write.createTable(Fixtures.dogs)
      try write.insert(into: "Dog", key: 1, Fixtures.dog(1))
      try write.commit()
      do {
        _ = try Database.open(path: path, options: Self.options)
        Issue.record("a second handle was given")
      } catch let error as EngineError {
        #expect(error.code == .locked)
        #expect(error.message.contains("encrypted"))
      }
      #expect(errorCode { try Database.open(path: path) } == .locked)
      let report = try FileInspection.inspect(path: path)
      #expect(report.isEncrypted)
      #expect(report.corruption == nil)
      #expect(report.tables.isEmpty)
      #expect(report.slots.count == 2)
      try database.close()
      #expect(errorCode { try Database.open(path: path) } == .keyNeeded)
      let again = try Database.open(path: path, options: Self.options)
      #expect(try again.verify().rows == 1)
      try again.close()
      let whole = try FileInspection.inspect(path: path, key: EncryptedFixtures.key)
      #expect(whole.corruption == nil)
      #expect(whole.tables.map(\.rows) == [1])
      #expect(!whole.spaceMap.contains { $0.use == .unaccounted })
      let wrong = try FileInspection.inspect(path: path, key: EncryptedFixtures.otherKey)
      #expect(wrong.corruption?.code == .wrongKey)
    }
  }

  @Test("an encrypted file that grows keeps its cache, and old snapshots go on")
  func growth() throws {
    var test = try TestDatabase(options: Self.options)
    try test.put(0..<100)
    let old = try test.database.snapshot()
    let hash = try old.contentHash()
    for round in 0..<5 { try test.put(round * 5000..<round * 5000 + 5000) }
    try test.check()
    let loads = try EncryptedFixtures.cache(test.database).loads
    try test.check()
    #expect(try EncryptedFixtures.cache(test.database).loads == loads, "all of it is in memory")
    #expect(try old.contentHash() == hash)
    #expect(try old.row(in: "Dog", key: 7) == Fixtures.dog(7))
    old.release()
  }

  @Test("a leaf and its seal take the sectors that a plain leaf takes")
  func leafSize() throws {
    var plain = try TestDatabase()
    var sealed = try TestDatabase(options: Self.options)
    try plain.put(0..<20_000)
    try sealed.put(0..<20_000)
    let sizes = try [plain, sealed].map { try $0.database.verify().reachableBytes }
    #expect(Double(sizes[1]) < 1.03 * Double(sizes[0]))
    #expect(NodeRoom.sealed.childCountMax == 166)
    #expect(NodeRoom.plain.childCountMax == Layout.childCountMax)
    let inner = InnerView.sizeBytes(childCount: NodeRoom.sealed.childCountMax)
    #expect(NodeRoom.sealed.sectors(inner) == 1)
    #expect(NodeRoom.sealed.sectors(InnerView.sizeBytes(childCount: 167)) == 2)
  }

  @Test("an interrupted creation of an encrypted file is begun again")
  func interruptedCreation() throws {
    let backend = TestBackend()
    _ = try Database.open(backend: backend, options: Self.options)
    // Step 3 torn: slot and top are whole, the file header is half there.
    var torn = backend.bytes
    for index in 20..<4096 { torn[index] = 0xee }
    let database = try Database.open(backend: TestBackend(torn), options: Self.options)
    #expect(try database.verify().version == .first)
    // With a commit, or with anything anywhere else, it is damage.
    var test = try TestDatabase(options: Self.options)
    try test.put(0..<3)
    var damaged = test.backend.bytes
    for index in 20..<4096 { damaged[index] = 0xee }
    #expect(errorCode { try Self.content(damaged, Self.options) } == .corrupted)
    torn[60_000] = 1
    #expect(errorCode { try Self.content(torn, Self.options) } == .corrupted)
  }
}
