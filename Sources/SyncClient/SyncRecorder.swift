// SyncRecorder.swift: records a realm's transactions as changesets (docs/reference/sync-client.md).
// Invariants (I12): the old version plus the recorded operations is the new version; the changeset
// is stored in the transaction that it describes. The content of an embedded object is recorded as
// a whole when it is put in its place, and afterwards its changes; before that it belongs to no
// object.

import Engine
import ObjectDatabase
import SyncCore

/// A row of a table.
private struct RowPlace: Equatable {
  let table: String
  let key: Int64
}

/// What operations of a transaction are about.
private enum TouchedPart {
  /// Of a row of a class.
  case properties(TouchedProperties, row: Int64, FileClass)
  case whole

  var properties: TouchedProperties {
    if case .properties(let properties, _, _) = self { properties } else { .whole }
  }
}

/// A property that a transaction sets.
private struct SetProperty {
  let field: SyncField
  let value: SyncValue
  let position: Int
  let row: Int64
  let described: FileClass

  var part: TouchedPart {
    let properties = TouchedProperties(position)
    return properties.isWhole ? .whole : .properties(properties, row: row, described)
  }
}

/// Records the transactions of one realm.
final class SyncRecorder: ChangeRecorder {
  /// The wall clock in milliseconds since 1970.
  private let now: @Sendable () -> UInt64
  /// Of how many touched objects the memory is kept for the next transaction.
  private static let touchedMax = 16
  @safe @exclusivity(unchecked) private var write: WriteTransaction?
  private var database: Database?
  private var known: FileClasses?
  @safe @exclusivity(unchecked) private var schemaStamp: UInt64 = 0
  /// The class of the row reported last.
  @safe @exclusivity(unchecked) private var recent: FileClass?
  @safe @exclusivity(unchecked) var operations = RecordedOperations()
  /// The only change of the transaction so far, which is not among the operations then: most
  /// transactions are of this kind.
  private var only: SetProperty?
  /// The operations of old states.
  private var oldOperations = RecordedOperations()
  /// The objects that were there, or may have been, and that operations are about.
  private var touched: [SyncObject: TouchedPart] = [:]
  /// The object of the last operation, when it is touched as a whole.
  private var lastTouched: SyncObject?
  private var kept = KeptStates()
  /// The version that has the classes, the identity and the page that are known here.
  private var knownVersion: Version?
  /// Whether the open transaction began with that version, or has looked at them.
  private var isCurrent = false
  private var knownIdentity: (bytes: [UInt8], identity: SyncIdentity)?
  /// The page of the current or last transaction; another one may have replaced it.
  private var page: PendingPage?
  /// The object of the row looked up last.
  private var lastRow: (place: RowPlace, object: SyncObject)?
  /// Collections being assigned, each with its old value.
  private var assignments: [(place: CollectionPath, old: Value)] = []

  /// Whether the transaction has changed nothing so far.
  var isEmpty: Bool { operations.count == 0 && only == nil }

  init(now: @escaping @Sendable () -> UInt64) { self.now = now }

  // MARK: the transaction

  func begin(_ write: WriteTransaction, of database: Database) throws(EngineError) {
    self.write = write
    self.database = database
    schemaStamp = write.schemaStamp
    isCurrent = knownVersion.map { $0.next == write.nextVersion } ?? false
    if !isCurrent, let known, !known.fit(write) { forgetClasses() }
  }

  func end(_ version: Version?) {
    knownVersion = isCurrent ? version : nil
    write = nil
    database = nil
    lastRow = nil
    only = nil
    if !assignments.isEmpty { assignments = [] }
    guard operations.count > 0 else { return }
    touched.removeAll(keepingCapacity: touched.count < Self.touchedMax)
    lastTouched = nil
    operations.removeAll()
  }

  func willCommit(_ write: WriteTransaction) throws(EngineError) {
    if write.schemaStamp != schemaStamp { forgetClasses() }
    guard !isEmpty else { return }
    let identity = try identity(write)
    let last = try PendingRows.last(write, known: page, isNewest: isCurrent)
    page = nil
    let clock = max(last?.stamp ?? .zero, identity.clock)
    guard let stamp = SyncStamp.next(now: now(), after: clock) else {
      throw EngineError(code: .limit, message: "no later stamp is left")
    }
    let header = SyncChangeset(
      client: identity.client, sequence: max(last?.number ?? 0, identity.lastSequence) + 1,
      base: identity.confirmed, stamp: stamp, operations: [])
    let changeset: (head: [UInt8], body: [UInt8])
    do throws(SyncError) {
      changeset =
        if let only { (try only.field.changeset(setting: only.value, header), []) } else {
          try operations.changeset(header)
        }
    } catch {
      throw EngineError(code: .limit, message: error.message)
    }
    kept.begin(isCurrent ? nil : identity, isLastThere: last?.isKnown ?? false)
    let olds = try oldStates(write)
    let item = PendingPage.Item(
      head: changeset.head, body: changeset.body,
      olds: olds.map(\.bytes).filter { $0.count <= PendingRows.oldBytesMax })
    page = try PendingRows.add(item, header, behind: consume last, write)
    for (old, bytes) in olds where page == nil || bytes.count > PendingRows.oldBytesMax {
      try BaseRows.add(old.object, BaseRows.bytes(old.object, try nodeBefore(old.object)), write)
    }
    isCurrent = true
  }

  /// The file's identity; it is not read again while its bytes are the same.
  private func identity(_ write: WriteTransaction) throws(EngineError) -> SyncIdentity {
    if isCurrent, let knownIdentity { return knownIdentity.identity }
    let bytes = try SyncTable.bytes(.identity, 0, write)
    if let known = knownIdentity, known.bytes == bytes { return known.identity }
    let identity = try SyncIdentity(write)
    knownIdentity = bytes.map { ($0, identity) }
    page = nil
    return identity
  }

  /// The old state of what was not touched since the kept entries, as far as it has no row yet; as
  /// far as this recorder knows, it is in no page either.
  private func oldStates(
    _ write: WriteTransaction
  ) throws(EngineError) -> [(state: OldState, bytes: [UInt8])] {
    var parts: [(object: SyncObject, part: TouchedPart)] = []
    func add(_ object: SyncObject, _ part: TouchedPart) {
      if kept.properties(of: object).isSuperset(of: part.properties) { return }
      parts.append((object, part))
    }
    if let only {
      let place = KeptStates.Place(described: only.described, row: only.row)
      if kept.properties(of: place).isSuperset(of: only.part.properties) { return [] }
      add(only.field.object, only.part)
      kept.add(place, only.part.properties)
    }
    for (object, part) in touched { add(object, part) }
    guard !parts.isEmpty, let database else { return [] }
    if parts.count > 1 { parts.sort { $0.object < $1.object } }
    var olds: [(state: OldState, bytes: [UInt8])] = []
    let before = RowReader(source: try database.snapshot(), classes: try reader().classes)
    for (object, part) in parts {
      guard try BaseRows.base(of: object, write) == nil,
        let old = try oldState(of: object, part, before, write)
      else {
        kept.add(object, .whole)
        continue
      }
      olds.append((old, try old.encoded(&oldOperations)))
    }
    return olds
  }

  /// An object as it was before the transaction.
  private func nodeBefore(_ object: SyncObject) throws(EngineError) -> SyncNode? {
    guard let database else { return nil }
    let before = RowReader(source: try database.snapshot(), classes: try reader().classes)
    return try before.node(of: object)
  }

  /// The old state of an object, or of properties that have none yet; nil for an object that was
  /// made since the marks moved.
  private func oldState(
    of object: SyncObject, _ part: TouchedPart, _ before: RowReader<Snapshot>,
    _ write: WriteTransaction
  ) throws(EngineError) -> OldState? {
    guard case .properties(let touched, let key, let described) = part else {
      guard let (key, described) = try before.row(of: object),
        key < (try mark(of: described.table.name, write))
      else { return nil }
      kept.add(object, .whole)
      return OldState(object, try before.node(of: object, key, described))
    }
    guard key < (try mark(of: described.table.name, write)) else { return nil }
    let missing = touched.subtracting(kept.properties(of: object))
    var values: [(name: SyncText, value: SyncValue)] = []
    for (position, column) in described.table.columns.enumerated()
    where missing.contains(position) {
      guard
        let value = try before.source.value(
          in: described.table.name, key: key, column: column.name)
      else { return nil }
      values.append((described.names[position], try before.value(value, column)))
    }
    kept.add(object, missing)
    return OldState(object, values)
  }

  /// The stored mark of a class.
  private func mark(of table: String, _ write: WriteTransaction) throws(EngineError) -> Int64 {
    if let known = kept.marks[table] { return known }
    let mark = try ClassMarks.stored(of: table, write)
    kept.marks[table] = mark
    return mark
  }

  private func forgetClasses() {
    known = nil
    recent = nil
    kept = KeptStates()
  }

  /// A class; that of the previous call is returned without a search.
  func described(_ table: String) throws(EngineError) -> FileClass {
    if let recent, recent.table.name == table, write?.schemaStamp == schemaStamp { return recent }
    let found = try reader().classes.named(table)
    recent = found
    return found
  }

  /// The rows of the open transaction.
  func reader() throws(EngineError) -> RowReader<WriteTransaction> {
    guard let write else {
      throw EngineError(code: .closed, message: "no transaction is recorded")
    }
    if write.schemaStamp != schemaStamp {
      forgetClasses()
      schemaStamp = write.schemaStamp
    }
    if let known { return RowReader(source: write, classes: known) }
    let classes = try FileClasses(write)
    known = classes
    return RowReader(source: write, classes: classes)
  }

  /// Adds what was the only change to the operations, since another one follows.
  private func addOnly() {
    guard let first = only else { return }
    only = nil
    operations.append(.change(first.field, .set(first.value)))
    touched[first.field.object] = first.part
    if case .whole = first.part { lastTouched = first.field.object }
  }

  func tell(_ operation: SyncOperation) {
    addOnly()
    let object = operation.object
    if !isLastTouched(object) {
      touched[object] = .whole
      lastTouched = object
    }
    operations.append(operation)
  }

  /// Whether the last operation was about an object that was touched as a whole, or made: one that
  /// is made did not exist, or its deletion was recorded.
  private func isLastTouched(_ object: SyncObject) -> Bool {
    if let made = operations.openRow { lastTouched = made }
    return object == lastTouched
  }

  /// The same for a property of which the old value is enough.
  private func tell(
    _ change: SyncChange, of field: SyncField, _ column: ColumnSchema, _ place: CollectionPath
  ) throws(EngineError) {
    guard field.steps.isEmpty, column.target == nil else { return tell(.change(field, change)) }
    addOnly()
    let isLast = isLastTouched(field.object)
    operations.append(.change(field, change))
    guard !isLast else { return }
    let described = try described(place.table)
    var properties = TouchedProperties(try described.position(of: place.column))
    switch touched[field.object] {
    case .properties(let others, _, let same) where same === described:
      properties = properties.union(others)
    case nil: break
    default: properties = .whole
    }
    guard !properties.isWhole else {
      touched[field.object] = .whole
      lastTouched = field.object
      return
    }
    touched[field.object] = .properties(properties, row: place.key, described)
  }

  /// A property, as synchronization names it, with its column; nil when it belongs to no object, or
  /// to a collection that is recorded as a whole.
  func field(
    _ place: CollectionPath, _ reader: RowReader<WriteTransaction>
  ) throws(EngineError) -> (field: SyncField, column: ColumnSchema)? {
    let isAssigned = { (place: CollectionPath) in
      !self.assignments.isEmpty && self.assignments.contains { $0.place == place }
    }
    if isAssigned(place) { return nil }
    let described = try described(place.table)
    let position = try described.position(of: place.column)
    let column = described.table.columns[position]
    guard described.isEmbedded else {
      return (
        SyncField(try object(place, described, reader), [], described.names[position]), column
      )
    }
    guard let way = try reader.way(to: place.key, described, passes: { !isAssigned($0) }) else {
      return nil
    }
    return (SyncField(way.object, way.steps, described.names[position]), column)
  }

  /// The object of a row: it never changes for a row.
  private func object(
    _ place: CollectionPath, _ described: FileClass, _ reader: RowReader<WriteTransaction>
  ) throws(EngineError) -> SyncObject {
    let row = RowPlace(table: place.table, key: place.key)
    if let lastRow, lastRow.place == row { return lastRow.object }
    let object = try reader.object(place.key, described)
    lastRow = (row, object)
    return object
  }

  // MARK: objects

  func didInsert(
    _ key: Int64, into table: String, _ values: [Value], isDefault: [Bool]
  ) throws(EngineError) {
    let described = try described(table)
    guard !described.isEmbedded else { return }
    guard let column = described.primaryKey, let id = SyncKey(values[column]) else {
      throw RowReader<WriteTransaction>.noPrimaryKey(described)
    }
    addOnly()
    operations.beginRow(id, of: described.name, described.names)
    for (position, value) in values.enumerated() where position != column {
      switch value {
      // A collection is empty.
      case .list, .set, .dictionary: continue
      default: operations.add(SyncValue(value) ?? .null, position, isDefault: isDefault[position])
      }
    }
  }

  func willDelete(_ key: Int64, from table: String) throws(EngineError) {
    let reader = try reader()
    let described = try reader.classes.named(table)
    for link in described.linkers {
      let rows = try reader.source.backlinks(
        to: key, in: table, from: link.table, column: link.column)
      for row in rows {
        let place = CollectionPath(table: link.table, key: row.key, column: link.column)
        if link.table == table, row.key == key { continue }
        guard let (field, _) = try field(place, reader) else { continue }
        if !described.isEmbedded, field.object == (try reader.object(key, described)) { continue }
        try tellErasures(of: key, place, link.kind, field, described, reader)
      }
    }
    if !described.isEmbedded { tell(.delete(try reader.object(key, described))) }
  }

  /// Records the links that are removed with a row: a delete has no implicit effects on other
  /// machines.
  private func tellErasures(
    of key: Int64, _ place: CollectionPath, _ kind: CollectionKind, _ field: SyncField,
    _ described: FileClass, _ reader: RowReader<WriteTransaction>
  ) throws(EngineError) {
    switch kind {
    case .none: tell(.change(field, .set(.null)))
    case .list:
      for index in try reader.positions(of: key, in: place).reversed() {
        tell(.change(field, .listErase(at: index, count: 1)))
      }
    case .set: tell(.change(field, .setErase(.link(try reader.object(key, described)))))
    case .dictionary:
      for entry in try reader.entries(with: key, in: place) {
        tell(.change(field, .dictionarySet(entry, .null)))
      }
    }
  }

  // MARK: values

  func didSet(_ value: Value, _ place: CollectionPath) throws(EngineError) {
    let reader = try reader()
    guard let (field, column) = try field(place, reader) else { return }
    try tell(.set(try reader.value(value, column)), of: field, column, place)
    try reader.inner(value, column, field, .value) { tell($0) }
  }

  func didSet(
    _ value: Value, at column: Int, of key: Int64, _ rows: RowWriter
  ) throws(EngineError) -> Bool {
    guard isEmpty else { return false }
    let described = try described(rows.name)
    guard !described.isEmbedded, let primaryKey = described.primaryKey,
      described.table.columns[column].target == nil, let plain = SyncValue(value),
      let id = try rows.value(key, primaryKey), let id = SyncKey(id)
    else { return false }
    only = SetProperty(
      field: SyncField(SyncObject(described.name, id), [], described.names[column]), value: plain,
      position: column, row: key, described: described)
    return true
  }

  func didIncrement(_ place: CollectionPath, by amount: Int64) throws(EngineError) {
    guard let (field, column) = try field(place, try reader()) else { return }
    try tell(.increment(amount), of: field, column, place)
  }

  // MARK: assignments

  func willAssign(_ place: CollectionPath) throws(EngineError) {
    let old = try reader().source.value(in: place.table, key: place.key, column: place.column)
    assignments.append((place, old ?? .null))
  }

  func didAssign(_ place: CollectionPath) throws(EngineError) {
    guard let (_, old) = assignments.popLast() else { return }
    let reader = try reader()
    guard let (field, column) = try field(place, reader),
      let new = try reader.source.value(in: place.table, key: place.key, column: place.column)
    else { return }
    switch (old, new) {
    case (_, .list(let values)):
      tell(.change(field, .listAssign(try reader.elements(values, column))))
      try reader.inner(values, column, field) { tell($0) }
    case (.set(let before), .set(let values)):
      let kept = Set(values)
      for member in before where !kept.contains(member) {
        tell(.change(field, .setErase(try reader.value(member, column))))
      }
      for member in values { tell(.change(field, .setInsert(try reader.value(member, column)))) }
    case (.dictionary(let before), .dictionary(let entries)):
      let kept = Set(entries.map { SyncText($0.key) })
      for name in before.map({ SyncText($0.key) }) where !kept.contains(name) {
        tell(.change(field, .dictionaryRemove(name)))
      }
      for entry in entries {
        try tellEntry(SyncText(entry.key), entry.value, field, column, reader)
      }
    default: throw SyncTable.damaged("\(place) holds another kind of value than its column")
    }
  }

  func tellEntry(
    _ name: SyncText, _ value: Value, _ field: SyncField, _ column: ColumnSchema,
    _ reader: RowReader<WriteTransaction>
  ) throws(EngineError) {
    tell(.change(field, .dictionarySet(name, try reader.value(value, column))))
    try reader.inner(value, column, field, .entry(name)) { tell($0) }
  }
}
