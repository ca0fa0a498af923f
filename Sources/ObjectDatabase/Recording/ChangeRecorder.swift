// ChangeRecorder.swift: receives every change of a realm's rows, with its intent: which element
// moved, which value was a default, which changes form one assignment. The storage layer below
// knows rows only. A file without a recorder costs one check for nil per change. Invariants: every
// change of a row of a class is reported, in order, in the transaction that makes it; changes that
// a recorder adds to the transaction are committed with it, or not at all. Rows of a migrating
// realm are not reported: files that need a recorder are never migrated by a block.

import Engine

/// One element or entry of a collection that changed.
package enum RecordedChange {
  /// An element was inserted into a list, before the one at an index.
  case insert(Value, at: Int)
  /// An element was added at a list's end.
  case append(Value)
  /// An element of a list was replaced.
  case replace(at: Int, with: Value)
  /// An element was removed from a list.
  case remove(at: Int)
  /// An element of a list was moved; `to` is its index afterwards.
  case move(from: Int, to: Int)
  /// Two elements of a list changed places.
  case swap(Int, Int)
  /// A member was inserted into a set.
  case insertMember(Value)
  /// A set lost a member.
  case removeMember(Value)
  /// The value of a map's key was set.
  case setEntry(String, Value)
  /// A key was removed from a map, with its value.
  case removeEntry(String)
}

/// Receives the changes of one realm.
///
/// An error that it throws prevents the transaction from committing. It belongs to the realm's
/// owner, and must not change rows of classes.
package protocol ChangeRecorder: AnyObject {
  /// Called when a write transaction of a database has begun, before its first change.
  func begin(_ write: WriteTransaction, of database: Database) throws(EngineError)
  /// Called when a row was inserted, or is in a batch that is inserted before any other access.
  ///
  /// Its collections are empty and unusable; the rows must not be read.
  /// - Parameters:
  ///   - key: Its key.
  ///   - table: Its table.
  ///   - values: The row's values, in the order of the columns.
  ///   - isDefault: For each column whether its value is a default.
  /// - Throws: The error that prevents the transaction from committing.
  func didInsert(
    _ key: Int64, into table: String, _ values: [Value], isDefault: [Bool]
  ) throws(EngineError)
  /// The form of more rows of a batch, all of a class without collections and links to objects.
  ///
  /// Called after `didInsert` with the first one.
  /// - Parameter table: Their table.
  /// - Returns: The form.
  /// - Throws: The error that prevents the transaction from committing.
  func rowForm(of table: String) throws(EngineError) -> RecordedRowForm
  /// The bytes of a primary key in rows of that form, that of its type included.
  /// - Parameters:
  ///   - key: The key; nil when the class has none.
  ///   - table: The class's table.
  /// - Returns: The bytes.
  /// - Throws: The error that prevents the transaction from committing.
  func encoded(key: Value?, of table: String) throws(EngineError) -> [UInt8]
  /// The bytes of another value in such a row.
  func encoded(_ value: Value) -> [UInt8]
  /// Called with rows of the batch, at once behind those before them.
  /// - Parameters:
  ///   - rows: Their bytes.
  ///   - table: Their table.
  ///   - rowCount: Their number.
  ///   - valueCount: The number of their values, keys apart.
  ///   - lastKey: The primary key of the last one.
  func didInsert(
    rows: [UInt8], into table: String, _ rowCount: Int, valueCount: Int, lastKey: Value)
  /// A row is about to go, and with it the links to it.
  func willDelete(_ key: Int64, from table: String) throws(EngineError)
  /// A property that is not a collection has a value.
  func didSet(_ value: Value, _ place: CollectionPath) throws(EngineError)
  /// The same by the position of a column, which needs no names.
  /// - Returns: False when it needs them; nothing was recorded then.
  func didSet(
    _ value: Value, at column: Int, of key: Int64, _ rows: RowWriter
  ) throws(EngineError) -> Bool
  /// An integer property has grown by a number.
  func didIncrement(_ place: CollectionPath, by amount: Int64) throws(EngineError)
  /// A collection has changed.
  func didChange(_ change: RecordedChange, _ place: CollectionPath) throws(EngineError)
  /// A collection is about to lose all that is in it.
  func willClear(_ place: CollectionPath) throws(EngineError)
  /// Called before the elements of a collection are replaced one by one.
  func willAssign(_ place: CollectionPath) throws(EngineError)
  /// Called after the replacement.
  func didAssign(_ place: CollectionPath) throws(EngineError)
  /// The transaction is about to be committed: the last moment to add to it.
  func willCommit(_ write: WriteTransaction) throws(EngineError)
  /// The transaction is over.
  /// - Parameter version: The version that it made; nil when it was not committed, or by others.
  func end(_ version: Version?)
}

/// The factory of recorders for the realms of a configuration.
package struct ChangeRecording: Sendable {
  /// A table that no class can have: a file that has it is written only by realms with a recorder.
  package static let markTable = "__sync"

  /// Makes a recorder for one realm.
  package let makeRecorder: @Sendable () -> any ChangeRecorder
  /// Removes from a transaction the content that a copy of the file must not have.
  package let prepareCopy: @Sendable (WriteTransaction) throws(EngineError) -> Void

  /// The function that makes recorders.
  /// - Parameters:
  ///   - makeRecorder: Makes one for a realm.
  ///   - prepareCopy: Removes from a transaction, which is never committed, the content that a copy
  ///     of the file must not have.
  package init(
    makeRecorder: @escaping @Sendable () -> any ChangeRecorder,
    prepareCopy: @escaping @Sendable (WriteTransaction) throws(EngineError) -> Void
  ) {
    self.makeRecorder = makeRecorder
    self.prepareCopy = prepareCopy
  }
}
