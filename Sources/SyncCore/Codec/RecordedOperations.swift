// RecordedOperations.swift: the operations of a transaction, encoded as they are made: a million of
// them take no more memory than their stored bytes. Invariant: `changeset` returns the same bytes
// as `SyncChangeset.encoded` for the same operations.

/// Operations of a changeset to be, in their order.
package struct RecordedOperations: Sendable {
  var writer = OperationWriter()
  /// How many there are.
  package internal(set) var count = 0
  /// The row that was begun last.
  var row: RecordedRow?
  /// Whether the last operation belongs to a row, so that the writer does not have it.
  var isInRow = false

  /// None.
  package init() {}

  /// Adds one.
  /// - Complexity: O(its bytes).
  package mutating func append(_ operation: SyncOperation) {
    if isInRow { endRow() }
    writer.append(operation)
    count += 1
  }

  /// Forgets all of them; the memory of a few is used again.
  package mutating func removeAll() {
    writer.removeAll()
    count = 0
    row = nil
    isInRow = false
  }

  /// The object of the row that was begun last, when nothing else was added since; nil otherwise.
  package var openRow: SyncObject? {
    isInRow ? row.map { SyncObject($0.type, $0.key) } : nil
  }

  /// Encodes the changeset with these operations.
  /// - Parameter header: The other fields of the changeset; its operations are ignored.
  /// - Returns: The bytes: those before the operations, and the operations', which are not copied.
  /// - Throws: `limit` for more than `SyncLimits` allows, which no server would take.
  /// - Complexity: O(bytes of header and names).
  package func changeset(
    _ header: SyncChangeset
  ) throws(SyncError) -> (head: [UInt8], body: [UInt8]) {
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
    let (head, body) = (bytes.bytes, writer.body.bytes)
    try Self.checkSize(head.count + body.count)
    return (head, body)
  }

  fileprivate static func checkSize(_ count: Int) throws(SyncError) {
    guard count <= SyncLimits.changesetBytesMax else {
      throw SyncError(.limit, "a transaction of \(count) bytes > \(SyncLimits.changesetBytesMax)")
    }
  }
}

extension SyncField {
  /// Encodes a changeset that sets this property, which is one of the object itself, and does
  /// nothing else.
  /// - Parameters:
  ///   - value: The value, which is not a link.
  ///   - header: The other fields of the changeset; its operations are ignored.
  /// - Returns: The same bytes as `RecordedOperations` for the operation.
  /// - Throws: `limit`, as `RecordedOperations`.
  /// - Complexity: O(bytes).
  package func changeset(
    setting value: SyncValue, _ header: SyncChangeset
  ) throws(SyncError) -> [UInt8] {
    precondition(steps.isEmpty, "a property of an embedded object")
    var bytes = ByteWriter()
    bytes.reserve(128)
    bytes.append(SyncCoding.changesetFormat)
    SyncCoding.append(header, to: &bytes)
    let hasOneName = object.type == property
    bytes.append(count: hasOneName ? 1 : 2)
    bytes.append(text: object.type)
    if !hasOneName { bytes.append(text: property) }
    // One operation, of kind 2; the class has the name 0.
    bytes.append(count: 1)
    bytes.append(2 as UInt8)
    bytes.append(count: 0)
    bytes.append(key: object.key)
    bytes.append(count: 0)
    bytes.append(count: hasOneName ? 0 : 1)
    bytes.append(value: value, names: nil)
    try RecordedOperations.checkSize(bytes.bytes.count)
    return bytes.bytes
  }
}

extension SyncObject {
  /// Its bytes, the names in full.
  ///
  /// Different objects have different bytes.
  package func encoded() -> [UInt8] {
    var bytes = ByteWriter()
    var names: NameTable?
    bytes.append(object: self, in: &names)
    return bytes.bytes
  }

  /// The hash of its bytes.
  package var hashOfBytes: UInt128 {
    var hash = SyncHash()
    hash.append(encoded())
    return hash.finish()
  }
}
