// GoldenFiles.swift: databases of each format version that stay in the repository, so that no later
// engine can lose the way to read them. `make golden` writes those of the engine's own version;
// it is run once for a version, never to make a test pass.

import Testing

@testable import Engine

/// A database file in the repository.
struct GoldenFile: Sendable, CustomTestStringConvertible {
  let name: String
  let contentHash: UInt64
  let version: UInt64
  let rows: UInt64
  var isEncrypted = false

  var testDescription: String { name }

  static let folder =
    #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined() + "/Golden"

  func bytes() throws -> [UInt8] { try fileBytes(Self.folder + "/" + name) }

  var options: Database.Options {
    isEncrypted ? EncryptedFixtures.options(SeededEntropy(99)) : Database.Options()
  }
}

/// How the files were made.
enum GoldenRecipe: String, CaseIterable {
  case empty
  case twoPhase = "two-phase"
  case oneSync = "one-sync"
  case pinned
  case copy
  case encrypted
  case patched
  case edits

  var name: String { "format-\(FormatVersion.current.rawValue)-\(rawValue).realm" }

  /// Writes the file.
  func make(in folder: String) throws {
    let path = folder + "/" + name
    var options = self == .encrypted ? EncryptedFixtures.options() : Database.Options()
    if self == .oneSync { options.commitProtocol = .checksummed }
    options.isShared = false
    // Small commits would hold too little for patches.
    options.editsInSlots = self != .patched
    let database =
      self == .copy
      ? try Database.open(backend: TestBackend()) : try Database.open(path: path, options: options)
    if self != .empty { try Everything.fill(database, rows: 6, dogs: 300) }
    if self == .pinned { try pin(database) }
    if self == .patched { try patch(database) }
    if self == .edits { try edit(database) }
    if self == .copy { try database.writeCopy(to: path, encryptionKey: nil) }
    try database.close()
  }

  /// Small commits: edits in the slot, of several nodes.
  private func edit(_ database: Database) throws {
    for round in 0..<5 {
      let write = try database.beginWrite()
      for key in [3, 200] {
        try write.upsert(
          into: "Dog", key: Int64(key), [.int(Int64(50 + round)), .string("dog number \(key)")])
      }
      try write.commit()
    }
    #expect(database.state.withLock { $0.current.slot.hasEdits })
  }

  /// Leaves whose rows changed while snapshots held them.
  private func patch(_ database: Database) throws {
    var snapshots: [Snapshot] = []
    for round in 0..<30 {
      snapshots.append(try database.snapshot())
      let write = try database.beginWrite()
      for key in 0..<1200 where round < 2 || key % 60 == round {
        try write.upsert(into: "Dog", key: Int64(key), Fixtures.dog(1_000_000 + key + round))
      }
      try write.commit()
    }
    #expect(database.state.withLock { $0.current.group.patchedLeafCount } > 1)
    for snapshot in snapshots { snapshot.release() }
  }

  /// More pending spans than one node of the free list holds.
  private func pin(_ database: Database) throws {
    var snapshots: [Snapshot] = []
    for round in 0..<70 {
      snapshots.append(try database.snapshot())
      let write = try database.beginWrite()
      try write.upsert(into: "Dog", key: 3, Fixtures.dog(round))
      try write.commit()
    }
    for snapshot in snapshots { snapshot.release() }
  }
}
