// main.swift: the peer of states/process: judges the database of one directory, once, and ends.
//   judge-state FILE TABLE COLUMN:TYPE… -- VERSION:HASH:HASH-WITH-SENTINEL…
// The same judgement as EngineCheck's: open, version, verify, content hash, one more commit,
// verify, open again, content hash. No Foundation, so that a process starts as fast as Swift lets
// it.

import Engine
import Glibc

private struct Allowed {
  let version: UInt64
  let contentHash: UInt64
  let hashWithSentinel: UInt64

  init?(_ text: String) {
    let parts = text.split(separator: ":").compactMap { UInt64($0) }
    guard parts.count == 3 else { return nil }
    (version, contentHash, hashWithSentinel) = (parts[0], parts[1], parts[2])
  }
}

private func judge(
  _ path: String, _ table: TableSchema, _ allowed: [Allowed]
) throws(EngineError) -> Bool {
  var options = Database.Options()
  options.createsMissing = false
  let database = try Database.open(path: path, options: options)
  let version = database.version.rawValue
  try database.verify()
  let snapshot = try database.snapshot()
  let contentHash = try snapshot.contentHash()
  snapshot.release()
  try database.close()
  let state = allowed.first { $0.version == version && $0.contentHash == contentHash }
  guard let state else { return false }

  let used = try Database.open(path: path, options: options)
  let transaction = try used.beginWrite()
  do throws(EngineError) {
    try transaction.createTable(table)
  } catch { guard error.code == .tableExists else { throw error } }
  let values = table.columns.map { $0.type == .int ? Value.int(0) : Value.string("") }
  try transaction.insert(into: table.name, key: .max, values)
  let committed = try transaction.commit().rawValue
  try used.verify()
  try used.close()

  let reopened = try Database.open(path: path, options: options)
  let last = try reopened.snapshot()
  let lastHash = try last.contentHash()
  last.release()
  try reopened.close()
  return committed == version + 1 && last.version.rawValue == committed
    && lastHash == state.hashWithSentinel
}

private func column(_ text: String) -> ColumnSchema {
  let parts = text.split(separator: ":")
  return ColumnSchema(name: String(parts[0]), type: parts.last == "int" ? .int : .string)
}

private let arguments = CommandLine.arguments
guard arguments.count > 4, let end = arguments.firstIndex(of: "--") else { exit(2) }
private let schema = TableSchema(
  name: arguments[2], columns: arguments[3..<end].map { column($0) })
private let outcomes = arguments[(end + 1)...].compactMap { Allowed($0) }
do throws(EngineError) {
  exit(try judge(arguments[1], schema, outcomes) ? 0 : 1)
} catch {
  print(error)
  exit(1)
}
