// FileFixture.swift: a small database in a folder, and its expected content, whatever happened to
// the files next to it.

import Engine
import Fuzz

/// A database file of three rows, to which a target adds more.
struct FileFixture {
  static let name = "a.realm"
  static let table = TableSchema(
    name: "T",
    columns: [ColumnSchema(name: "n", type: .int), ColumnSchema(name: "s", type: .string)])

  let folder: FuzzFolder
  var path: String { folder.path + "/" + Self.name }

  /// There is no crash here, so nothing is synced.
  static var options: Database.Options {
    var options = Database.Options()
    options.durability = .unsafe
    return options
  }

  init?() {
    guard let folder = FuzzFolder() else { return nil }
    self.folder = folder
  }

  static func row(_ key: Int64) -> [Value] { [.int(key &* 77), .string("row \(key)")] }

  /// Makes the database.
  func make() throws(EngineError) {
    let database = try Database.open(path: path, options: Self.options)
    let write = try database.beginWrite()
    try write.createTable(Self.table)
    for key: Int64 in 0..<3 { try write.insert(into: "T", key: key, Self.row(key)) }
    try write.commit()
    try database.close()
  }

  /// Adds a row.
  /// - Returns: Whether the commit was acked.
  static func add(_ key: Int64, to database: Database) -> Bool {
    guard let write = try? database.beginWrite(timeoutMilliseconds: 100) else { return false }
    defer { write.cancel() }
    do throws(EngineError) {
      try write.upsert(into: "T", key: key, row(key))
      try write.commit()
      return true
    } catch { return false }
  }

  /// The keys that a handle sees, or a failure if they are wrong; nil when reading throws.
  static func keys(_ database: Database) -> Result<[Int64], FuzzFailure>? {
    guard let snapshot = try? database.snapshot() else { return nil }
    defer { snapshot.release() }
    return keys(snapshot)
  }

  static func keys(_ snapshot: Snapshot) -> Result<[Int64], FuzzFailure>? {
    var keys: [Int64] = []
    var wrong: String?
    do throws(EngineError) {
      try snapshot.forEach(in: "T") { key, values throws(EngineError) in
        keys.append(key)
        if values != row(key) { wrong = "row \(key) is \(values)" }
      }
    } catch { return nil }
    return wrong.map { .failure(FuzzFailure(text: $0)) } ?? .success(keys)
  }

  /// Checks what a first opener finds after all handles are closed.
  /// - Returns: A description of the failure, or nil.
  func wrongAfterwards(acked: [Int64], maybe: [Int64]) -> String? {
    do throws(EngineError) {
      let database = try Database.open(path: path, options: Self.options)
      _ = try database.verify()
      guard case .success(let keys) = Self.keys(database) else { return "rows cannot be read" }
      try database.close()
      let missing = acked.filter { !keys.contains($0) }
      let unknown = keys.filter { !acked.contains($0) && !maybe.contains($0) }
      guard missing.isEmpty, unknown.isEmpty else {
        return "acknowledged rows \(missing) are lost, rows \(unknown) were never written"
      }
      return nil
    } catch { return "the database does not open any more: \(error)" }
  }
}
