// RecordedOperations.swift: the operations of a transaction, as bytes from the moment that each is
// made: a million of them take no more memory than what is stored in the end.
// Invariant: `changeset` gives the bytes that `SyncChangeset.encoded` has for the same operations.

/// Operations of a changeset to be, in their order.
package struct RecordedOperations: Sendable {
  private var writer = OperationWriter()
  /// How many there are.
  package private(set) var count = 0

  /// None.
  package init() {}

  /// Bytes that they take, without names and header.
  package var sizeBytes: Int { writer.body.bytes.count }

  /// Adds one.
  /// - Complexity: O(its bytes).
  package mutating func append(_ operation: SyncOperation) {
    writer.append(operation)
    count += 1
  }

  /// Adds the creation of an object and the values that it begins with: what `append` does with an
  /// operation for each, without making them.
  /// - Parameters:
  ///   - object: The object.
  ///   - names: Its properties, at least one.
  ///   - numbers: Their numbers among the names of these operations; kept here between rows of one
  ///     class, and empty before the first.
  ///   - value: For each property, by its position: whether its value is a default, and the value;
  ///     nil for one that is left out.
  package mutating func appendRow(
    _ object: SyncObject, names: [SyncText], numbers: inout [Int],
    _ value: (Int) -> (isDefault: Bool, value: RecordedValue)?
  ) {
    append(.create(object))
    if numbers.isEmpty { numbers = Array(repeating: -1, count: names.count) }
    var last: Int?
    for position in names.indices {
      guard let (isDefault, value) = value(position) else { continue }
      if numbers[position] < 0 { numbers[position] = writer.number(of: names[position]) }
      writer.appendSet(isDefault: isDefault, name: numbers[position]) { value.append(to: &$0) }
      count += 1
      last = position
    }
    if let last { writer.setField(SyncField(object, [], names[last])) }
  }

  /// Encodes the changeset with these operations.
  /// - Parameter header: All else that the changeset says; its operations do not count.
  /// - Returns: The bytes.
  /// - Throws: `limit` for more than `SyncLimits` allows, which no server would take.
  /// - Complexity: O(bytes).
  package func changeset(_ header: SyncChangeset) throws(SyncError) -> [UInt8] {
    guard count <= SyncLimits.operationsMax else {
      throw SyncError(
        .limit, "a transaction of \(count) operations > \(SyncLimits.operationsMax)")
    }
    var bytes = ByteWriter()
    bytes.append(SyncCoding.changesetFormat)
    SyncCoding.append(header, to: &bytes)
    bytes.append(count: writer.nameTable.count)
    for name in writer.nameTable { bytes.append(text: name) }
    bytes.append(count: count)
    bytes.append(writer.body.bytes)
    guard bytes.bytes.count <= SyncLimits.changesetBytesMax else {
      throw SyncError(
        .limit,
        "a transaction of \(bytes.bytes.count) bytes > \(SyncLimits.changesetBytesMax)")
    }
    return bytes.bytes
  }
}

extension SyncObject {
  /// Its bytes, the names in full.
  ///
  /// Different objects have different ones.
  package func encoded() -> [UInt8] {
    var bytes = ByteWriter()
    var names: NameTable?
    bytes.append(object: self, in: &names)
    return bytes.bytes
  }
}

/// A value of a new row, as whoever has it has it.
package enum RecordedValue {
  /// An integer.
  case int(Int64)
  /// A text, as UTF-8 when it is written.
  case text(String)
  /// Any value that is no link.
  case other(SyncValue)

  @inline(__always)
  fileprivate func append(to bytes: inout ByteWriter) {
    switch self {
    case .int(let number):
      bytes.append(3 as UInt8)
      bytes.append(signed: number)
    case .text(let text):
      bytes.append(6 as UInt8)
      bytes.append(count: text.utf8.count)
      bytes.append(utf8: text)
    case .other(let value): bytes.append(value: value, names: nil)
    }
  }
}
