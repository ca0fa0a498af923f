// ChangeRecorder.swift: who learns of every change of a realm's rows, with what was meant by it:
// which element moved, what was a default, what one assignment was. The storage layer below knows
// rows only. Nobody is called where a file needs no recorder; then each change costs one question
// for nil.
// Invariants: every change of a row of a class is told, in the order in which it happens, in the
// transaction that makes it; what a recorder adds to the transaction is committed with it, or not
// at all. Rows of a realm that migrates are told to nobody: files that need a recorder are never
// migrated by a block.

import Engine

/// One element or entry of a collection that changed.
package enum RecordedChange {
  /// An element was put into a list, before the one at an index.
  case insert(Value, at: Int)
  /// An element was added at a list's end.
  case append(Value)
  /// An element of a list got another value.
  case replace(at: Int, with: Value)
  /// An element of a list went.
  case remove(at: Int)
  /// An element of a list went elsewhere; `to` is its index afterwards.
  case move(from: Int, to: Int)
  /// Two elements of a list changed places.
  case swap(Int, Int)
  /// A set got a member.
  case insertMember(Value)
  /// A set lost a member.
  case removeMember(Value)
  /// A key of a map got a value.
  case setEntry(String, Value)
  /// A key of a map went, with its value.
  case removeEntry(String)
}

/// Learns of the changes of one realm.
///
/// An error that it throws keeps the transaction from committing. It belongs to the realm's owner,
/// and must not change rows of classes.
package protocol ChangeRecorder: AnyObject {
  /// A write transaction of a database is open, and nothing of it has happened yet.
  func begin(_ write: WriteTransaction, of database: Database) throws(EngineError)
  /// A row is there that was not, or is in a batch that the transaction gets before anything else.
  ///
  /// Its collections are empty, and lead nowhere; the rows may not be asked.
  /// - Parameters:
  ///   - key: Its key.
  ///   - table: Its table.
  ///   - values: What it holds, in the order of the columns.
  ///   - isDefault: For each column whether nobody chose its value.
  /// - Throws: What keeps the transaction from committing.
  func didInsert(
    _ key: Int64, into table: String, _ values: [Value], isDefault: [Bool]
  ) throws(EngineError)
  /// Begins a new row of a batch, as `didInsert` tells of one: its values follow, but the key's.
  /// - Parameters:
  ///   - table: Its table.
  ///   - key: Its primary key; nil without one.
  /// - Throws: What keeps the transaction from committing.
  func beginRow(of table: String, key: Value?) throws(EngineError)
  /// The row's value in a column; each column once, and not that of the primary key.
  func add(_ value: Value, to column: Int, isDefault: Bool)
  /// The same for the types that most values have.
  func add(int: Int64, to column: Int, isDefault: Bool)
  func add(double: Double, to column: Int, isDefault: Bool)
  func add(bool: Bool, to column: Int, isDefault: Bool)
  func add(text: String, to column: Int, isDefault: Bool)
  /// A row is about to go, and with it the links to it.
  func willDelete(_ key: Int64, from table: String) throws(EngineError)
  /// A property that is not a collection has a value.
  func didSet(_ value: Value, _ place: CollectionPath) throws(EngineError)
  /// An integer property has grown by a number.
  func didIncrement(_ place: CollectionPath, by amount: Int64) throws(EngineError)
  /// A collection has changed.
  func didChange(_ change: RecordedChange, _ place: CollectionPath) throws(EngineError)
  /// A collection is about to lose all that is in it.
  func willClear(_ place: CollectionPath) throws(EngineError)
  /// A collection is about to get other elements in the place of its own, one by one.
  func willAssign(_ place: CollectionPath) throws(EngineError)
  /// It has them.
  func didAssign(_ place: CollectionPath) throws(EngineError)
  /// The transaction is about to be committed: the last moment to add to it.
  func willCommit(_ write: WriteTransaction) throws(EngineError)
  /// The transaction is over, committed or not.
  func end()
}

/// What makes recorders, for the realms of a configuration.
package struct ChangeRecording: Sendable {
  /// A table that no class can have: a file that has it is written by realms with a recorder only.
  package static let markTable = "__sync"

  /// Makes a recorder for one realm.
  package let makeRecorder: @Sendable () -> any ChangeRecorder
  /// Takes out of a transaction what a copy of the file must not have.
  package let prepareCopy: @Sendable (WriteTransaction) throws(EngineError) -> Void

  /// What makes recorders.
  /// - Parameters:
  ///   - makeRecorder: Makes one for a realm.
  ///   - prepareCopy: Takes out of a transaction, which is never committed, what a copy of the file
  ///     must not have.
  package init(
    makeRecorder: @escaping @Sendable () -> any ChangeRecorder,
    prepareCopy: @escaping @Sendable (WriteTransaction) throws(EngineError) -> Void
  ) {
    self.makeRecorder = makeRecorder
    self.prepareCopy = prepareCopy
  }
}
