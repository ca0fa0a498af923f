// NonceTests.swift: no two sealed nodes ever have one nonce under one key, and the test sees it
// when they have.

import Testing

@testable import Engine

@Suite("Nonces")
struct NonceTests {
  private struct Nonce: Hashable {
    let fileSalt: [UInt8]
    let sessionSalt: [UInt8]
    let counter: [UInt8]
  }

  /// The nonces of every sealed node in a log, those written over later included.
  private static func nonces(_ log: [TestOperation], fileSalt: [UInt8]) -> [Nonce] {
    var found: [Nonce] = []
    for case .write(let offset, let bytes) in log where offset >= Layout.headerSizeBytes {
      var start = 0
      while start < bytes.count {
        let sectors = Int(bytes[start + SealField.sectors]) | Int(bytes[start + 17]) << 8
        found.append(
          Nonce(
            fileSalt: fileSalt, sessionSalt: Array(bytes[start + 20..<start + 36]),
            counter: Array(bytes[start + 36..<start + 48])))
        start += max(1, sectors) * 4096
      }
    }
    return found
  }

  /// Sessions that crash, fail and begin again from older images, so that versions are written
  /// again and again.
  private static func run(_ entropy: (Int) -> SeededEntropy) throws -> [Nonce] {
    var random = TestRandom(77)
    var image: [UInt8] = []
    var found: [Nonce] = []
    for session in 0..<40 {
      let backend = TestBackend(image)
      let options = EncryptedFixtures.options(entropy(session))
      let database = try Database.open(backend: backend, options: options)
      for round in 0..<1 + random.below(6) {
        let write = try database.beginWrite()
        if write.tables.isEmpty { try write.createTable(Fixtures.dogs) }
        for _ in 0..<1 + random.below(300) {
          let key = random.below(2000)
          try write.upsert(into: "Dog", key: Int64(key), Fixtures.dog(key + round))
        }
        if random.below(4) == 0 { backend.failingWrite = random.below(3) }
        if random.below(6) == 0 { backend.failingSync = random.below(2) }
        _ = try? write.commit()
        backend.failingWrite = nil
        if backend.failingSync != nil { break }
      }
      found += nonces(backend.log, fileSalt: Array(backend.bytes[40..<56]))
      // A crash: the next session finds what was there, or what an earlier one left.
      if session == 0 || random.below(3) > 0 { image = backend.bytes }
    }
    return found
  }

  @Test("nonces are unique over sessions, failed commits and versions written again")
  func unique() throws {
    let entropy = SeededEntropy(9)
    let nonces = try Self.run { _ in entropy }
    #expect(nonces.count > 500)
    #expect(Set(nonces).count == nonces.count)
    #expect(Set(nonces.map(\.sessionSalt)).count > 30)
  }

  @Test("a source that repeats itself from session to session is noticed by this test")
  func repeatedSalt() throws {
    let nonces = try Self.run { _ in SeededEntropy(9) }
    #expect(Set(nonces).count < nonces.count)
  }

  @Test("the kernel's source gives different salts")
  func systemEntropy() throws {
    let salts = try (0..<100).map { _ in try Salt(from: .system) }
    #expect(Set(salts).count == 100)
    #expect(!salts.contains(.none))
  }

  @Test("a source that fails is an error, and the database goes on")
  func failingEntropy() throws {
    var options = EncryptedFixtures.options()
    let backend = TestBackend()
    _ = try TestDatabase(backend, options: options)
    options.entropy = EntropySource { _ throws(EngineError) in
      throw EngineError(code: .io, message: "planted", isInjected: true)
    }
    let database = try Database.open(backend: TestBackend(backend.bytes), options: options)
    let write = try database.beginWrite()
    try write.insert(into: "Dog", key: 1, Fixtures.dog(1))
    #expect(errorCode { try write.commit() } == .io)
    #expect(try database.verify().rows == 0)
    #expect(errorCode { try database.beginWrite().cancel() } == nil)
    #expect(errorCode { try Database.open(backend: TestBackend(), options: options) } == .io)
  }
}
