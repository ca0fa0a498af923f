// EncryptedPowerCutTests.swift: power cuts at every operation of an encrypted file: a crash is
// never taken for tampering, and never loses an acknowledged version.

import Testing

@testable import Engine

@Suite("Power cuts of encrypted files")
struct EncryptedPowerCutTests {
  private static let entropy = SeededEntropy(4)
  private static let options = EncryptedFixtures.options(entropy)

  private static func change(_ database: Database, _ round: Int) throws {
    let write = try database.beginWrite()
    if write.tables.isEmpty { try write.createTable(Fixtures.dogs) }
    for index in 0..<12 {
      let key = Int64((round * 7 + index * 13) % 60)
      try write.upsert(into: "Dog", key: key, Fixtures.dog(round * 1000 + index))
    }
    if round % 2 == 1 {
      let long = String(repeating: "long \(round) ", count: 700)
      try write.upsert(into: "Dog", key: 1000, [.int(1), .string(long)])
    }
    if round == 3 {
      for key in 2000..<3500 {
        try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key))
      }
    }
    try write.commit()
  }

  private static func content(_ database: Database) throws -> UInt64 {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    return try snapshot.contentHash()
  }

  private static func check(
    _ image: [UInt8], acked: UInt64, _ contents: [UInt64: UInt64]
  ) -> String? {
    do {
      let database = try Database.open(backend: TestBackend(image), options: options)
      let version = database.version.rawValue
      guard version == max(1, acked) || version == acked + 1 else {
        return "version \(version), acked \(acked)"
      }
      guard try content(database) == contents[version] else {
        return "version \(version) has other content"
      }
      try database.verify()
      try change(database, 1)
      try database.verify()
      return nil
    } catch { return "\(error)" }
  }

  @Test(
    "power cuts leave the acked version or the one in flight; a missing sync is noticed",
    arguments: [PlantedBug.none, .firstSyncMissing])
  func crashAnywhere(_ bug: PlantedBug) throws {
    let backend = TestBackend()
    backend.bug = bug
    let database = try Database.open(backend: backend, options: Self.options)
    var contents: [UInt64: UInt64] = [1: try Self.content(database)]
    var acks = [(logCount: backend.log.count, version: UInt64(1))]
    backend.isBugActive = true
    for round in 0..<6 {
      try Self.change(database, round)
      contents[database.version.rawValue] = try Self.content(database)
      acks.append((backend.log.count, database.version.rawValue))
    }
    try database.verify()
    var random = TestRandom(20_261)
    var cut = PowerCut()
    var states = 0
    var findings: [String] = []
    for point in 0...backend.log.count where findings.count < 10 {
      if point > 0 { cut.apply(backend.log[point - 1]) }
      let acked = acks.last { $0.logCount <= point }?.version ?? 0
      for image in cut.images(mixtures: 4, random: &random) {
        states += 1
        if let finding = Self.check(image, acked: acked, contents) {
          findings.append("crash after operation \(point): \(finding)")
        }
      }
    }
    #expect(findings.isEmpty == (bug == .none), "\(findings)")
    #expect(states > 100)
    print("encrypted power cuts: \(states) crash states over \(backend.log.count) operations")
  }
}
