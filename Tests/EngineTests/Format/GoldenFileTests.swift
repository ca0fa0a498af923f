// GoldenFileTests.swift: [U] every file that a released format wrote is read, and written on.

import Glibc
import Testing

@testable import Engine

@Suite("Golden files")
struct GoldenFileTests {
  /// Every file in the folder, with what it holds.
  static let files: [GoldenFile] = [
    GoldenFile(
      name: "format-2-empty.realm", contentHash: 0x1b6f_f6fc_ddb3_28f3, version: 1, rows: 0),
    GoldenFile(
      name: "format-2-two-phase.realm", contentHash: 0xf88b_ac16_7f59_d0a9, version: 3, rows: 102),
    GoldenFile(
      name: "format-2-one-sync.realm", contentHash: 0xf88b_ac16_7f59_d0a9, version: 3, rows: 102),
    GoldenFile(
      name: "format-2-pinned.realm", contentHash: 0x929f_f468_2cb7_fee4, version: 73, rows: 102),
    GoldenFile(
      name: "format-2-copy.realm", contentHash: 0xf88b_ac16_7f59_d0a9, version: 3, rows: 102),
    GoldenFile(
      name: "format-2-encrypted.realm", contentHash: 0xf88b_ac16_7f59_d0a9, version: 3, rows: 102,
      isEncrypted: true),
    GoldenFile(
      name: "format-3-empty.realm", contentHash: 0x1b6f_f6fc_ddb3_28f3, version: 1, rows: 0),
    GoldenFile(
      name: "format-3-two-phase.realm", contentHash: 0xf88b_ac16_7f59_d0a9, version: 3, rows: 102),
    GoldenFile(
      name: "format-3-one-sync.realm", contentHash: 0xf88b_ac16_7f59_d0a9, version: 3, rows: 102),
    GoldenFile(
      name: "format-3-pinned.realm", contentHash: 0x929f_f468_2cb7_fee4, version: 73, rows: 102),
    GoldenFile(
      name: "format-3-copy.realm", contentHash: 0xf88b_ac16_7f59_d0a9, version: 3, rows: 102),
    GoldenFile(
      name: "format-3-encrypted.realm", contentHash: 0xf88b_ac16_7f59_d0a9, version: 3, rows: 102,
      isEncrypted: true),
    GoldenFile(
      name: "format-3-patched.realm", contentHash: 0xc6fd_30a5_1767_1099, version: 33, rows: 1202),
    GoldenFile(
      name: "format-4-empty.realm", contentHash: 0x1b6f_f6fc_ddb3_28f3, version: 1, rows: 0),
    GoldenFile(
      name: "format-4-two-phase.realm", contentHash: 0xf88b_ac16_7f59_d0a9, version: 3, rows: 102),
    GoldenFile(
      name: "format-4-one-sync.realm", contentHash: 0xf88b_ac16_7f59_d0a9, version: 3, rows: 102),
    GoldenFile(
      name: "format-4-pinned.realm", contentHash: 0x929f_f468_2cb7_fee4, version: 73, rows: 102),
    GoldenFile(
      name: "format-4-copy.realm", contentHash: 0xf88b_ac16_7f59_d0a9, version: 3, rows: 102),
    GoldenFile(
      name: "format-4-encrypted.realm", contentHash: 0xf88b_ac16_7f59_d0a9, version: 3, rows: 102,
      isEncrypted: true),
    GoldenFile(
      name: "format-4-patched.realm", contentHash: 0xc6fd_30a5_1767_1099, version: 33, rows: 1202),
    GoldenFile(
      name: "format-4-edits-form-0.realm", contentHash: 0xd881_111e_58a1_d149, version: 8,
      rows: 103),
    GoldenFile(
      name: "format-4-edits.realm", contentHash: 0xd881_111e_58a1_d149, version: 8, rows: 103),
  ]

  @Test("each golden file holds what it held when it was written", arguments: files)
  func content(_ file: GoldenFile) throws {
    let database = try Database.open(backend: TestBackend(file.bytes()), options: file.options)
    #expect(database.version.rawValue == file.version)
    #expect(try database.verify().rows == file.rows)
    let snapshot = try database.snapshot()
    #expect(try snapshot.contentHash() == file.contentHash)
    snapshot.release()
    try database.close()
  }

  @Test("each golden file can be written on", arguments: files)
  func writing(_ file: GoldenFile) throws {
    let backend = try TestBackend(file.bytes())
    let database = try Database.open(backend: backend, options: file.options)
    let write = try database.beginWrite()
    try write.createTable(TableSchema(name: "New", columns: Fixtures.dogs.columns))
    for key in 0..<100 { try write.insert(into: "New", key: Int64(key), Fixtures.dog(key)) }
    try write.commit()
    #expect(try database.verify().rows == file.rows + 100)
    try database.close()
    let again = try Database.open(backend: backend, options: file.options)
    #expect(again.version.rawValue == file.version + 1)
    #expect(try again.verify().rows == file.rows + 100)
    try again.close()
  }

  @Test("the folder has these files and no others, and some of this engine's format")
  func folder() throws {
    if unsafe getenv("FAULTLINE_GOLDEN") != nil { try Self.write() }
    let names = fileNames(in: GoldenFile.folder).sorted()
    let known: [String] = Self.files.map(\.name).sorted()
    #expect(names == known)
    for recipe in GoldenRecipe.allCases { #expect(known.contains(recipe.name)) }
  }

  /// Writes the files of this engine's format, and prints what to put into `files`.
  private static func write() throws {
    for recipe in GoldenRecipe.allCases {
      try recipe.make(in: GoldenFile.folder)
      let file = GoldenFile(
        name: recipe.name, contentHash: 0, version: 0, rows: 0, isEncrypted: recipe == .encrypted)
      let database = try Database.open(backend: TestBackend(file.bytes()), options: file.options)
      let snapshot = try database.snapshot()
      print(
        "GoldenFile(name: \"\(file.name)\", contentHash: \(try snapshot.contentHash()), "
          + "version: \(database.version), rows: \(try database.verify().rows)),")
      snapshot.release()
    }
  }
}
