// PartRows.swift: changesets and entries by their numbers, each as bytes in parts: a value of the
// engine holds 16 MiB at most.
//   number of a row: number * 32 + part

import Engine
import SyncCore

/// Bytes by numbers.
package struct PartRows {
  /// Changesets that are not among the server's entries, except those in pages (PendingRows.swift).
  package static let pending = PartRows(kind: .pending)
  /// The server's entries that are still needed.
  package static let window = PartRows(kind: .window)

  static let partsMax: UInt64 = 32
  private static let partBytesMax = 8 << 20
  /// The last number that has a row key.
  private static let numberMax = UInt64(SyncTable.numberEnd) / partsMax - 1

  let kind: SyncTable.Kind

  /// Adds one.
  /// - Parameters:
  ///   - pieces: Its bytes, in pieces that are stored apart; empty ones are left out.
  ///   - number: Its number.
  ///   - write: The transaction.
  /// - Throws: `EngineError`, with code `.limit` for a number that no row can have.
  package func append(
    _ pieces: [[UInt8]], number: UInt64, _ write: WriteTransaction
  ) throws(EngineError) {
    try Self.checkNumber(number)
    var part: UInt64 = 0
    for bytes in pieces where !bytes.isEmpty {
      var start = 0
      repeat {
        let end = min(bytes.count, start + Self.partBytesMax)
        let isWhole = start == 0 && end == bytes.count
        try SyncTable.put(
          isWhole ? bytes : Array(bytes[start..<end]), kind, number * Self.partsMax + part, write)
        start = end
        part += 1
      } while start < bytes.count
    }
  }

  /// - Throws: `EngineError` with code `.limit` for a number that no row can have.
  static func checkNumber(_ number: UInt64) throws(EngineError) {
    guard number <= numberMax else {
      throw EngineError(code: .limit, message: "no number is left after \(number)")
    }
  }

  /// The bytes of one.
  /// - Throws: `EngineError` with code `.corrupted` for one without a beginning.
  func bytes(_ number: UInt64, _ source: some ReadableVersion) throws(EngineError) -> [UInt8] {
    guard var bytes = try SyncTable.bytes(kind, number * Self.partsMax, source) else {
      throw SyncTable.damaged("number \(number) has no beginning")
    }
    var part: UInt64 = 1
    while part < Self.partsMax,
      let more = try SyncTable.bytes(kind, number * Self.partsMax + part, source)
    {
      bytes += more
      part += 1
    }
    return bytes
  }

  /// Removes one.
  func remove(_ number: UInt64, _ write: WriteTransaction) throws(EngineError) {
    var row = number * Self.partsMax
    while try SyncTable.bytes(kind, row, write) != nil {
      try SyncTable.remove(kind, row, write)
      row += 1
    }
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
