// SyncStage.swift: the parts of an offered log that a client has stored, each in a transaction of
// its own, until all are there (docs/reference/sync-client.md, section 4). Invariants: the first
// `count` parts of one log are stored; parts beyond them are of an earlier offer, and of no use;
// nothing is left once the client's log is the server's.
//   number of a row: 0 for name (lower half first), count and bytes, 1 + index for a part

import Engine
import SyncCore

/// The stored parts of an offered log.
struct SyncStage: Equatable {
  /// The log's name.
  let name: UInt128
  /// How many of its parts are stored.
  private(set) var count: UInt64
  /// The bytes of those parts.
  private(set) var countBytes: UInt64

  /// Reads how many there are; nil for none.
  init?(_ source: some ReadableVersion) throws(EngineError) {
    guard let bytes = try SyncTable.bytes(.stage, 0, source) else { return nil }
    let numbers = try NumberBytes.numbers(bytes, count: 4)
    name = UInt128(numbers[1]) << 64 | UInt128(numbers[0])
    (count, countBytes) = (numbers[2], numbers[3])
  }

  private init(name: UInt128) { (self.name, count, countBytes) = (name, 0, 0) }

  /// Whether a log of so many bytes at most can have one more part behind those that are stored.
  static func hasRoom(
    for part: SyncLogPart, upTo bytesMax: Int, _ source: some ReadableVersion
  ) throws(EngineError) -> Bool {
    guard let stage = try SyncStage(source), stage.name == part.log else { return true }
    return stage.countBytes + UInt64(part.bytes.count) <= UInt64(bytesMax)
  }

  /// How many parts of a log are stored.
  static func count(of name: UInt128, _ source: some ReadableVersion) throws(EngineError) -> UInt64
  {
    guard let stage = try SyncStage(source), stage.name == name else { return 0 }
    return stage.count
  }

  /// Adds the next part; the first one of another log replaces what is there.
  static func add(_ part: SyncLogPart, _ write: WriteTransaction) throws(EngineError) {
    var stage = SyncStage(name: part.log)
    if let known = try SyncStage(write), known.name == part.log { stage = known }
    precondition(part.index == stage.count, "parts are stored in their order")
    stage.count += 1
    stage.countBytes += UInt64(part.bytes.count)
    try SyncTable.put(part.bytes, .stage, stage.count, write)
    let name = [UInt64(truncatingIfNeeded: part.log), UInt64(truncatingIfNeeded: part.log >> 64)]
    try SyncTable.put(NumberBytes.bytes(name + [stage.count, stage.countBytes]), .stage, 0, write)
  }

  /// The bytes of the parts of a log that are stored.
  static func bytes(
    of name: UInt128, _ source: some ReadableVersion
  ) throws(EngineError) -> [UInt8] {
    var bytes: [UInt8] = []
    let count = try count(of: name, source)
    for number in 0..<count {
      guard let part = try SyncTable.bytes(.stage, number + 1, source) else {
        throw SyncTable.damaged("part \(number) of \(count) of a log is missing")
      }
      bytes += part
    }
    return bytes
  }

  /// Removes all parts.
  static func remove(_ write: WriteTransaction) throws(EngineError) {
    for number in try SyncTable.numbers(.stage, write) {
      try SyncTable.remove(.stage, number, write)
    }
  }
}
