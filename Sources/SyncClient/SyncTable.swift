// SyncTable.swift: the data of a synchronized file besides its objects: one table of the engine,
// with one column, so that a commit has little more to write (docs/reference/sync-client.md,
// section 3).
//   row key: 2^56 * kind + number
// Invariant: the name begins with two underscores, so no class has it, and the object database
// ignores it. A server's file has rows of the kinds client to window, server and record.

import Engine
import SyncCore

package enum SyncTable {
  /// The kind of a row.
  package enum Kind: Int64 {
    /// 0, or by index + 1: a part of a log that is not whole yet. Its keys are the smallest, since
    /// pending changesets have the largest ones.
    case stage = -1
    /// The client of the file and its progress.
    case identity = 0
    /// By the number of a class's table: the first key of objects created since.
    case mark = 1
    /// By the number of a client: its progress before the kept entries.
    case client = 2
    /// By a hash: the state of an object before those entries.
    case base = 3
    /// By version and part: an entry.
    case window = 4
    /// By sequence number and part: a changeset that is not among the entries.
    case pending = 5
    /// A server's file instead of a client's: its realm, epoch and progress.
    case server = 6
    /// By number: a client of the server.
    case record = 7
  }

  package static let name = "__sync"
  package static let schema = TableSchema(
    name: name, columns: [ColumnSchema(name: "bytes", type: .binary)])
  private static let numberBits: Int64 = 56
  /// The first number that no row can have.
  static let numberEnd: Int64 = 1 << numberBits

  package static func damaged(_ message: String) -> EngineError {
    EngineError(code: .corrupted, message: message)
  }

  /// The key of a row.
  /// - Throws: `EngineError` with code `.limit` for a number that no key can hold.
  static func key(_ kind: Kind, _ number: UInt64) throws(EngineError) -> Int64 {
    guard number < UInt64(numberEnd) else {
      throw EngineError(code: .limit, message: "\(name) has no key for number \(number)")
    }
    return kind.rawValue << numberBits | Int64(number)
  }

  /// The kind and the number of a row; nil for an unknown kind.
  static func parts(_ key: Int64) -> (kind: Kind, number: UInt64)? {
    Kind(rawValue: key >> numberBits).map { ($0, UInt64(key & (numberEnd - 1))) }
  }

  /// The numbers of the rows of a kind, ascending.
  /// - Complexity: O(rows of all kinds).
  package static func numbers(
    _ kind: Kind, _ source: some ReadableVersion
  ) throws(EngineError) -> [UInt64] {
    try source.keys(of: name).compactMap { key in
      guard let (found, number) = parts(key), found == kind else { return nil }
      return number
    }
  }

  /// The bytes of a row; nil without one.
  package static func bytes(
    _ kind: Kind, _ number: UInt64, _ source: some ReadableVersion
  ) throws(EngineError) -> [UInt8]? {
    let key = try key(kind, number)
    guard let value = try source.value(in: name, key: key, column: "bytes") else { return nil }
    guard case .binary(let bytes) = value else {
      throw damaged("row \(key) of \(name) has no bytes")
    }
    return bytes
  }

  /// Adds or replaces a row.
  package static func put(
    _ bytes: [UInt8], _ kind: Kind, _ number: UInt64, _ write: WriteTransaction
  ) throws(EngineError) {
    try write.upsert(into: name, key: try key(kind, number), [.binary(bytes)])
  }

  package static func remove(
    _ kind: Kind, _ number: UInt64, _ write: WriteTransaction
  ) throws(EngineError) {
    try write.delete(from: name, key: try key(kind, number))
  }
}

/// Numbers of 64 bits as bytes, the lowest first.
package enum NumberBytes {
  package static func bytes(_ numbers: [UInt64]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(numbers.count * 8)
    for number in numbers {
      for index in 0..<8 as Range<UInt64> {
        bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index)))
      }
    }
    return bytes
  }

  /// The first numbers of some bytes.
  /// - Throws: `EngineError` with code `.corrupted` for too few bytes.
  package static func numbers(_ bytes: [UInt8], count: Int) throws(EngineError) -> [UInt64] {
    guard bytes.count >= count * 8 else {
      throw SyncTable.damaged("\(bytes.count) bytes in the place of \(count) numbers")
    }
    return (0..<count).map { number in
      (0..<8).reduce(0) { $0 | UInt64(bytes[number * 8 + $1]) << UInt64(8 * $1) }
    }
  }
}
