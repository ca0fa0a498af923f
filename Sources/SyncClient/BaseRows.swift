// BaseRows.swift: the state of objects before the kept entries, for each object that an entry or a
// pending changeset touches. The rows of the tables have the state that the app sees; all other
// objects are unchanged. Invariants: a touched object without a row here did not exist before: it
// was created since. An object whose row key is at or above its class's mark was created since,
// too, so a transaction that only creates objects adds nothing here. An object's row is at the hash
// of its name, or in the run of rows that begins there.

import Engine
import ObjectDatabase
import SyncCore

/// Objects in their state before the kept entries.
package enum BaseRows {
  /// The old state of an object.
  package struct Base {
    /// The number of its row.
    package let number: UInt64
    package let bytes: [UInt8]

    /// The object; nil for one that was not there.
    /// - Throws: `EngineError` with code `.corrupted`.
    package func node() throws(EngineError) -> SyncNode? {
      try BaseRows.oldState(number, bytes).node(from: nil)
    }
  }

  /// The bytes of a row: an object that did not exist is stored as a deletion.
  package static func bytes(_ object: SyncObject, _ node: SyncNode?) throws(EngineError) -> [UInt8]
  {
    prefix(object) + (try OldState(object, node).encoded())
  }

  /// The prefix of an object's bytes: its name, which is compared without the rest.
  private static func prefix(_ object: SyncObject) -> [UInt8] {
    let name = object.encoded()
    return NumberBytes.bytes([UInt64(name.count)]) + name
  }

  private static func home(_ object: SyncObject) -> UInt64 {
    UInt64(truncatingIfNeeded: object.hashOfBytes) & UInt64(SyncTable.numberEnd - 1)
  }

  private static func next(_ number: UInt64) -> UInt64 {
    (number + 1) & UInt64(SyncTable.numberEnd - 1)
  }

  private static func oldState(
    _ number: UInt64, _ bytes: [UInt8]
  ) throws(EngineError) -> OldState {
    let count = try NumberBytes.numbers(bytes, count: 1)[0]
    guard count <= UInt64(bytes.count - 8) else {
      throw SyncTable.damaged("row \(number) of objects as they were has no object's name")
    }
    return try OldState(decoding: Array(bytes.dropFirst(8 + Int(count))))
  }

  /// The row of an object; nil without one.
  /// - Complexity: O(log rows).
  static func base(of object: SyncObject, _ write: WriteTransaction) throws(EngineError) -> Base? {
    var number = home(object)
    let prefix = prefix(object)
    while let bytes = try SyncTable.bytes(.base, number, write) {
      if bytes.starts(with: prefix) { return Base(number: number, bytes: bytes) }
      number = next(number)
    }
    return nil
  }

  /// Adds the row of an object that has none.
  /// - Returns: Its number.
  @discardableResult
  package static func add(
    _ object: SyncObject, _ bytes: [UInt8], _ write: WriteTransaction
  ) throws(EngineError) -> UInt64 {
    var number = home(object)
    while try SyncTable.bytes(.base, number, write) != nil { number = next(number) }
    try SyncTable.put(bytes, .base, number, write)
    return number
  }

  /// All of them.
  /// - Throws: `EngineError` with code `.corrupted`.
  package static func all(_ source: some ReadableVersion) throws(EngineError) -> [SyncObject: Base]
  {
    var found: [SyncObject: Base] = [:]
    for number in try SyncTable.numbers(.base, source) {
      let bytes = try SyncTable.bytes(.base, number, source) ?? []
      found[try oldState(number, bytes).object] = Base(number: number, bytes: bytes)
    }
    return found
  }

  /// Replaces the rows with those of the given objects.
  /// - Parameters:
  ///   - wanted: The rows' bytes.
  ///   - old: The rows that there are.
  ///   - write: The transaction.
  /// - Returns: The rows that there are then.
  /// - Throws: `EngineError`.
  @discardableResult
  package static func store(
    _ wanted: [SyncObject: [UInt8]], over old: [SyncObject: Base], _ write: WriteTransaction
  ) throws(EngineError) -> [SyncObject: Base] {
    // Rows behind one that goes may have to move: they are all written anew, in the order of keys.
    let isSame = wanted.allSatisfy { old[$0.key]?.bytes == $0.value }
    if isSame, wanted.count == old.count { return old }
    let kept = old.allSatisfy { wanted[$0.key] != nil }
    for (object, base) in old where !kept || wanted[object] != base.bytes {
      try SyncTable.remove(.base, base.number, write)
    }
    var new = kept ? old : [:]
    for object in wanted.keys.sorted() where !kept || wanted[object] != old[object]?.bytes {
      let bytes = wanted[object] ?? []
      new[object] = Base(number: try add(object, bytes, write), bytes: bytes)
    }
    return new
  }
}

/// For each class the row key from which on objects were made since.
struct ClassMarks {
  private let write: WriteTransaction
  /// Those that were read, with the marks that are stored.
  private var marks: [String: (stored: Int64, moved: Int64)] = [:]

  init(_ write: WriteTransaction) { self.write = write }

  /// The stored mark of a class; zero for one that is new.
  static func stored(
    of table: String, _ source: some ReadableVersion
  ) throws(EngineError) -> Int64 {
    let number = UInt64(try source.tableID(of: table))
    guard let bytes = try SyncTable.bytes(.mark, number, source) else { return 0 }
    return Int64(bitPattern: try NumberBytes.numbers(bytes, count: 1)[0])
  }

  /// The mark of a class, as far as it was moved.
  mutating func mark(of table: String) throws(EngineError) -> Int64 {
    if let known = marks[table] { return known.moved }
    let stored = try Self.stored(of: table, write)
    marks[table] = (stored, stored)
    return stored
  }

  /// Moves a class's mark, so that the object of a row was there before.
  mutating func move(behind key: Int64, _ described: FileClass) throws(EngineError) {
    let table = described.table.name
    if try mark(of: table) <= key { marks[table]?.moved = key + 1 }
  }

  /// Moves a class's mark, so that all of its objects were there before.
  mutating func moveToEnd(_ described: FileClass) throws(EngineError) {
    guard !described.isEmbedded else { return }
    let table = described.table.name
    _ = try mark(of: table)
    marks[table]?.moved = try RecordedClass.nextKey(of: table, write)
  }

  /// The number of the first changeset whose old states in a page count: an agent has stored rows
  /// for those before it, with the state at the log's start.
  static func oldStatesFrom(_ source: some ReadableVersion) throws(EngineError) -> UInt64 {
    guard let bytes = try SyncTable.bytes(.mark, 0, source) else { return 0 }
    return try NumberBytes.numbers(bytes, count: 1)[0]
  }

  /// Stores that number; no class's table has the number 0.
  static func storeOldStates(from number: UInt64, _ write: WriteTransaction) throws(EngineError) {
    guard try oldStatesFrom(write) != number else { return }
    try SyncTable.put(NumberBytes.bytes([number]), .mark, 0, write)
  }

  /// Writes those that moved.
  func store() throws(EngineError) {
    for (table, mark) in marks.sorted(by: { $0.key < $1.key }) where mark.moved != mark.stored {
      try SyncTable.put(
        NumberBytes.bytes([UInt64(bitPattern: mark.moved)]), .mark,
        UInt64(try write.tableID(of: table)), write)
    }
  }
}
