// Accounts.swift [U]: rows whose sum never changes, and what moves amounts between them.
// Safety: clock_gettime writes to a local.

import Engine
import Glibc
import Synchronization

enum Accounts {
  static let count = 64
  static let sumWanted: Int64 = 6400

  /// Moves an amount from one account to another, in one transaction.
  static func transfer(in database: Database, seed: UInt64) throws {
    let write = try database.beginWrite()
    let from = Int64(seed % UInt64(count))
    let to = Int64((seed / 64) % UInt64(count))
    let amount = Int64(seed / 4096 % 10)
    guard from != to, case .int(let left)? = try write.row(in: "Account", key: from)?.first,
      case .int(let right)? = try write.row(in: "Account", key: to)?.first
    else { return write.cancel() }
    try write.update(in: "Account", key: from, [.int(left - amount)])
    try write.update(in: "Account", key: to, [.int(right + amount)])
    try write.commit()
  }

  /// Adds a row to the other table, so that a test sees whether the commit happened.
  static func mark(in database: Database) throws {
    let write = try database.beginWrite()
    try write.upsert(into: "Mark", key: Int64(database.version.rawValue), [.int(1)])
    try write.commit()
  }

  static func sum(in database: Database) throws -> Int64 {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    var sum: Int64 = 0
    try snapshot.forEach(in: "Account") { _, values in
      if case .int(let balance) = values[0] { sum += balance }
    }
    return sum
  }

  static func code(_ call: () throws -> Void) -> String {
    do { try call() } catch { return (error as? EngineError)?.code.description ?? "other" }
    return "none"
  }

  static func nanoseconds() -> UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// A flag that is raised once.
final class Armed: Sendable {
  private let flag = Atomic<Bool>(false)
  var isSet: Bool { flag.load(ordering: .acquiring) }
  func set() { flag.store(true, ordering: .releasing) }
}
