// PartRows.swift: changesets and entries by their numbers, each as bytes in parts: a value of the
// engine holds 16 MiB at most.
//   number of a row: number * 32 + part

import Engine
import SyncCore

/// Bytes by numbers.
package struct PartRows {
  /// Changesets that are not among the server's entries; no rows have larger keys.
  package static let pending = PartRows(kind: .pending)
  /// The server's entries that are still needed.
  package static let window = PartRows(kind: .window)

  private static let partsMax: UInt64 = 32
  private static let partBytesMax = 8 << 20
  /// The last number that has a row key.
  private static let numberMax = UInt64(SyncTable.numberEnd) / partsMax - 1

  let kind: SyncTable.Kind

  /// Number and stamp of the last pending changeset; nil without any.
  /// - Complexity: O(log rows).
  static func lastPending(
    _ write: WriteTransaction
  ) throws(EngineError) -> (number: UInt64, stamp: SyncStamp)? {
    let rows = try RowWriter(write, SyncTable.name)
    guard let key = try rows.largestKey(), let (kind, row) = SyncTable.parts(key),
      kind == .pending
    else { return nil }
    let number = row / partsMax
    guard
      case .binary(let bytes)? = try rows.value(try SyncTable.key(.pending, number * partsMax), 0)
    else { throw SyncTable.damaged("pending changeset \(number) has no beginning") }
    do throws(SyncError) {
      return (number, try SyncChangeset(headerOf: bytes).stamp)
    } catch { throw SyncTable.damaged("pending changeset \(number): \(error)") }
  }

  /// Adds one.
  package func append(
    _ bytes: [UInt8], number: UInt64, _ write: WriteTransaction
  ) throws(EngineError) {
    guard number <= Self.numberMax else {
      throw EngineError(code: .limit, message: "no number is left after \(number)")
    }
    var (start, part) = (0, UInt64(0))
    repeat {
      let end = min(bytes.count, start + Self.partBytesMax)
      let isWhole = start == 0 && end == bytes.count
      try SyncTable.put(
        isWhole ? bytes : Array(bytes[start..<end]), kind, number * Self.partsMax + part, write)
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
    for row in try SyncTable.numbers(kind, source) {
      let part = try SyncTable.bytes(kind, row, source) ?? []
      if found.last?.number == row / Self.partsMax {
        found[found.count - 1].bytes += part
      } else {
        found.append((row / Self.partsMax, part))
      }
    }
    return found
  }

  /// Removes those whose number satisfies the condition.
  package func remove(
    _ write: WriteTransaction, where isRemoved: (UInt64) -> Bool
  ) throws(EngineError) {
    for row in try SyncTable.numbers(kind, write) where isRemoved(row / Self.partsMax) {
      try SyncTable.remove(kind, row, write)
    }
  }

  /// The pending changesets of a version.
  /// - Throws: `EngineError` with code `.corrupted` for bytes that are not a changeset.
  static func changesets(
    _ source: some ReadableVersion
  ) throws(EngineError) -> [SyncChangeset] {
    var found: [SyncChangeset] = []
    for (number, bytes) in try pending.all(source) {
      do throws(SyncError) { found.append(try SyncChangeset(decoding: bytes)) } catch {
        throw SyncTable.damaged("pending changeset \(number): \(error)")
      }
    }
    return found
  }

  /// The entries of a version that are kept.
  /// - Throws: `EngineError` with code `.corrupted` for bytes that are not an entry.
  package static func entries(_ source: some ReadableVersion) throws(EngineError) -> [SyncEntry] {
    var found: [SyncEntry] = []
    for (number, bytes) in try window.all(source) {
      do throws(SyncError) { found.append(try SyncEntry(decoding: bytes)) } catch {
        throw SyncTable.damaged("entry \(number): \(error)")
      }
    }
    return found
  }
}
