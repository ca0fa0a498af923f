// RecordedOperations+Rows.swift: records new objects with their initial values, without
// intermediate operations: for bulk transactions. Invariant: the bytes are those of the operations
// create, set and setDefault.

/// An object that is being made.
struct RecordedRow: Sendable {
  let type: SyncText
  /// The number of its class among the names.
  let typeNumber: Int
  let names: [SyncText]
  /// The number of each property among the names; -1 before its first use.
  var numbers: [Int]
  var key: SyncKey
  /// The property set last; -1 before the first.
  var last = -1
}

extension RecordedOperations {
  /// Adds the creation of an object, whose values follow.
  /// - Parameters:
  ///   - key: Its primary key.
  ///   - type: Its class.
  ///   - names: The properties of the class.
  package mutating func beginRow(_ key: SyncKey, of type: SyncText, _ names: [SyncText]) {
    append(.create(SyncObject(type, key)))
    if row?.type != type {
      row = RecordedRow(
        type: type, typeNumber: writer.number(of: type), names: names,
        numbers: Array(repeating: -1, count: names.count), key: key)
    }
    row?.key = key
    row?.last = -1
    isInRow = true
  }

  /// Adds the set of a property of the row that was begun, or of its default.
  /// - Parameters:
  ///   - value: The value, which is not a link.
  ///   - position: The position of the property's name.
  ///   - isDefault: Whether it is a default.
  package mutating func add(_ value: SyncValue, _ position: Int, isDefault: Bool) {
    guard isInRow, let begun = row else {
      preconditionFailure("a value follows the row that was begun last")
    }
    if begun.numbers[position] < 0 {
      row?.numbers[position] = writer.number(of: begun.names[position])
    }
    writer.body.append(lead(of: position, isDefault: isDefault))
    writer.body.append(value: value, names: nil)
    count += 1
    row?.last = position
  }

  /// The bytes before the key of a row like the one that was begun last, with another key; none
  /// without such a row.
  package var rowLead: [UInt8] {
    guard isInRow, let row else { return [] }
    var bytes = ByteWriter()
    bytes.append(0 as UInt8)
    bytes.append(count: row.typeNumber)
    return bytes.bytes
  }

  /// The bytes before a value of the row that was begun last.
  /// - Parameters:
  ///   - position: The position of the property's name.
  ///   - isDefault: Whether it is a default.
  /// - Returns: The bytes; none for a property that the row has no value of.
  package func lead(of position: Int, isDefault: Bool) -> [UInt8] {
    guard isInRow, let row, row.numbers[position] >= 0 else { return [] }
    var bytes = ByteWriter()
    bytes.append(isDefault ? 0x83 : 0x82)
    bytes.append(0 as UInt8)
    bytes.append(count: row.numbers[position])
    return bytes.bytes
  }

  /// Adds rows with values of the same properties in the same order as the one that was begun last.
  /// - Parameters:
  ///   - bytes: The rows, each with the leads of its parts.
  ///   - operations: How many operations they are.
  ///   - lastKey: The key of the last one.
  package mutating func append(rows bytes: [UInt8], _ operations: Int, lastKey: SyncKey) {
    precondition(isInRow, "rows follow one of their class")
    writer.body.append(bytes)
    count += operations
    row?.key = lastKey
  }

  /// Lets the writer continue after a row.
  mutating func endRow() {
    isInRow = false
    guard let row else { return }
    let object = SyncObject(row.type, row.key)
    writer.goOn(
      behind: object, row.last < 0 ? nil : SyncField(object, [], row.names[row.last]))
  }
}

extension SyncKey {
  /// Its bytes, which begin with its type.
  package func encoded() -> [UInt8] {
    var bytes = ByteWriter()
    bytes.append(key: self)
    return bytes.bytes
  }
}

extension SyncValue {
  /// The bytes of a value that is not a link, which begin with its type.
  package func encoded() -> [UInt8] {
    var bytes = ByteWriter()
    bytes.append(value: self, names: nil)
    return bytes.bytes
  }
}
