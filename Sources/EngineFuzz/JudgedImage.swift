// JudgedImage.swift: the guarantees for an image that may be damaged. Invariants checked: an image
// that passes `verify` is read in full without an error, accepts a commit that leaves its content
// unchanged, and passes again afterwards, also for the next opener.

import Engine
import Fuzz

enum JudgedImage {
  /// Opens, verifies, reads, changes and opens again.
  static func judge(_ image: [UInt8], key: [UInt8]? = nil) -> FuzzOutcome {
    let backend = FuzzBackend(image)
    var options = Database.Options()
    options.encryptionKey = key
    guard let database = try? Database.open(backend: backend, options: options) else {
      return .refused
    }
    guard (try? database.verify()) != nil else {
      // Damage detected late must still be reported as an error: no operation may trap.
      _ = MutantExercise.run(image, key: key, choice: image.count & 3)
      return .refused
    }
    do throws(EngineError) {
      if let wrong = try readAll(database) { return .finding(wrong) }
      let hash = try contentHash(database)
      let older = try database.snapshot()
      defer { older.release() }
      guard commit(database) else { return .accepted }
      let newer = try database.snapshot()
      let changes = try newer.changes(since: older)
      newer.release()
      older.release()
      guard changes.tables.count == 1, changes[newTable]?.insertions == Array(0..<20) else {
        return .finding("a commit of one new table changed \(changes.tables.map(\.name))")
      }
      _ = try database.verify()
      try database.close()
      let again = try Database.open(backend: FuzzBackend(backend.bytes), options: options)
      _ = try again.verify()
      let write = try again.beginWrite()
      try write.removeTable(newTable)
      try write.commit()
      guard try contentHash(again) == hash else {
        return .finding("a commit changed what it did not touch")
      }
      return .accepted
    } catch { return .finding("verified, and then: \(error)") }
  }

  private static let newTable = "made by the fuzzer"

  /// Whether a commit was possible: limits of the format may forbid one.
  private static func commit(_ database: Database) -> Bool {
    guard let write = try? database.beginWrite() else { return false }
    defer { write.cancel() }
    do throws(EngineError) {
      try write.createTable(
        TableSchema(name: newTable, columns: [ColumnSchema(name: "s", type: .string)]))
      for key in 0..<20 {
        let text = String(repeating: "x", count: 700)
        try write.insert(into: newTable, key: Int64(key), [.string(text)])
      }
      try write.commit()
      return true
    } catch { return false }
  }

  private static func contentHash(_ database: Database) throws(EngineError) -> UInt64 {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    return try snapshot.contentHash()
  }

  private static func readAll(_ database: Database) throws(EngineError) -> String? {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    for table in snapshot.tables {
      var keys: [Int64] = []
      try snapshot.forEach(in: table.name) { key, _ throws(EngineError) in keys.append(key) }
      guard try snapshot.count(of: table.name) == keys.count else {
        return "\(table.name) says \(try snapshot.count(of: table.name)) rows, has \(keys.count)"
      }
      for key in [keys.first, keys.last].compactMap({ $0 }) {
        guard try snapshot.row(in: table.name, key: key) != nil else {
          return "row \(key) of \(table.name) is met on a walk and not found by its key"
        }
      }
    }
    return nil
  }
}
