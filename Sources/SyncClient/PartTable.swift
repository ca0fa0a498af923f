// PartTable.swift: changesets and entries by their numbers, each as bytes in parts: a value of the
// engine holds 16 MiB at most.
//   row key: number * 32 + part

import Engine
import SyncCore

/// Bytes by numbers.
struct PartTable {
  /// Changesets that are not among the server's entries.
  static let pending = PartTable(name: "__sync_pending")
  /// The server's entries that are still needed.
  static let window = PartTable(name: "__sync_window")

  private static let partsMax: Int64 = 32
  private static let partBytesMax = 8 << 20
  /// The largest number that a row key can hold.
  private static let numberMax = UInt64(Int64.max / partsMax) - 1

  let name: String

  var schema: TableSchema {
    TableSchema(
      name: name,
      columns: [
        ColumnSchema(name: "stamp", type: .int), ColumnSchema(name: "bytes", type: .binary),
      ])
  }

  /// Number and stamp of the last one; nil without any.
  /// - Complexity: O(log rows).
  func last(
    _ write: WriteTransaction
  ) throws(EngineError) -> (number: UInt64, stamp: SyncStamp)? {
    let rows = try RowWriter(write, name)
    guard let key = try rows.largestKey() else { return nil }
    guard key >= 0, case .int(let stamp) = try rows.value(key, 0) else {
      throw SyncTables.damaged("table \(name) has a row \(key)")
    }
    return (UInt64(key / Self.partsMax), SyncStamp(bits: UInt64(bitPattern: stamp)))
  }

  /// Adds one.
  func append(
    _ bytes: [UInt8], number: UInt64, stamp: SyncStamp, _ write: WriteTransaction
  ) throws(EngineError) {
    guard number <= Self.numberMax else {
      throw EngineError(code: .limit, message: "no number is left behind \(number)")
    }
    var (start, part) = (0, Int64(0))
    repeat {
      let end = min(bytes.count, start + Self.partBytesMax)
      try write.insert(
        into: name, key: Int64(number) * Self.partsMax + part,
        [
          SyncTables.value(stamp.bits),
          .binary(start == 0 && end == bytes.count ? bytes : Array(bytes[start..<end])),
        ])
      start = end
      part += 1
    } while start < bytes.count
  }

  /// All of them, in their order.
  /// - Throws: `EngineError` with code `.corrupted`.
  func all(
    _ source: some ReadableVersion
  ) throws(EngineError) -> [(number: UInt64, bytes: [UInt8])] {
    var found: [(number: UInt64, bytes: [UInt8])] = []
    for key in try source.keys(of: name) {
      guard key >= 0, case .binary(let part) = try source.value(in: name, key: key, column: "bytes")
      else { throw SyncTables.damaged("table \(name) has no bytes at \(key)") }
      let number = UInt64(key / Self.partsMax)
      if found.last?.number == number {
        found[found.count - 1].bytes += part
      } else {
        found.append((number, part))
      }
    }
    return found
  }

  /// Removes those whose number is not kept.
  func remove(
    _ write: WriteTransaction, where isRemoved: (UInt64) -> Bool
  ) throws(EngineError) {
    for key in try write.keys(of: name) where isRemoved(UInt64(key / Self.partsMax)) {
      try write.delete(from: name, key: key)
    }
  }

  /// The pending changesets of a version.
  /// - Throws: `EngineError` with code `.corrupted` for bytes that are no changeset.
  static func changesets(
    _ source: some ReadableVersion
  ) throws(EngineError) -> [SyncChangeset] {
    var found: [SyncChangeset] = []
    for (number, bytes) in try pending.all(source) {
      do throws(SyncError) { found.append(try SyncChangeset(decoding: bytes)) } catch {
        throw SyncTables.damaged("pending changeset \(number): \(error)")
      }
    }
    return found
  }

  /// The entries of a version that are kept.
  /// - Throws: `EngineError` with code `.corrupted` for bytes that are no entry.
  static func entries(_ source: some ReadableVersion) throws(EngineError) -> [SyncEntry] {
    var found: [SyncEntry] = []
    for (number, bytes) in try window.all(source) {
      do throws(SyncError) { found.append(try SyncEntry(decoding: bytes)) } catch {
        throw SyncTables.damaged("entry \(number): \(error)")
      }
    }
    return found
  }
}
