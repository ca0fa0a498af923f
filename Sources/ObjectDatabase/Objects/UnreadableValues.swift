// UnreadableValues.swift [U]: what happens when the file holds a value that the program's type
// cannot represent: a case that a newer program added to an enumeration, or a number of more bits.
// Invariants: nothing is written after such a read, because the open transaction fails; outside of
// a transaction and of `reading` it stops the process. So code that continues with the default
// returned by a getter gets the error before anything depends on the default.

import Engine

/// The values that a block could not read; used by one thread, while the block runs.
private final class Unreadable: @unchecked Sendable {
  // Safety: reached by the task or thread that runs the block only.
  var first: Realm.Error?
  /// The realms that have such values.
  var cores: [_RealmCore] = []
  /// Whether a write transaction was open already: the block's error is not the transaction's then.
  let isInWrite: Bool

  init(isInWrite: Bool) { self.isInWrite = isInWrite }

  @TaskLocal static var current: Unreadable?
}

extension Realm {
  /// Runs a block that reads, and throws if it read a value that the program's types cannot hold.
  ///
  /// A newer program may have added a case to an enumeration, or widened an integer. A getter
  /// cannot throw: in the block it returns the type's default in place of such a value, and the
  /// call throws when the block ends. Outside of it, and of a write transaction (which fails), the
  /// process is stopped. `object["name"]` returns the raw value, and a property of an optional
  /// enumeration is nil.
  /// - Parameter block: Reads objects of this realm, or any that the calling thread may use.
  /// - Returns: The result of the block, computed only from stored values.
  /// - Throws: What the block throws, or `Realm.Error` with code `.invalidValue`, which names
  ///   class, property and value.
  public func reading<Result>(_ block: () throws -> Result) throws -> Result {
    let unreadable = Unreadable(isInWrite: core.openWrite != nil)
    // Cached results computed from defaults must not be used later.
    defer { for core in unreadable.cores where !core.isFrozen { core.noteChange() } }
    let result = try Unreadable.$current.withValue(unreadable) { try block() }
    if let error = unreadable.first { throw error }
    return result
  }
}

extension _RealmCore {
  /// Runs reads of the module itself where it can report an error.
  /// - Returns: The value read, with defaults if there is an error.
  func catchingMisfits<Result>(_ body: () -> Result) -> (result: Result, error: Realm.Error?) {
    // An open transaction is not the one to fail.
    let unreadable = Unreadable(isInWrite: true)
    let result = Unreadable.$current.withValue(unreadable) { body() }
    for core in unreadable.cores where !core.isFrozen { core.noteChange() }
    return (result, unreadable.first)
  }

  /// Reports a value that is not of the program's type.
  func misfit(_ value: Value, _ type: Any.Type, _ row: _Row?) {
    misfit(value, type, place: row?.name)
  }

  /// Reports a value that is not of the program's type.
  /// - Parameters:
  ///   - value: The value.
  ///   - type: The program's type.
  ///   - place: The class and the property in words.
  func misfit(_ value: Value, _ type: Any.Type, place: String?) {
    let error = Realm.Error(
      .invalidValue,
      "\(place ?? "a collection") holds \(DynamicValue.text(of: value)) in the file, and "
        + "\(type) has no such value; read it in realm.reading { }, which throws, or migrate it")
    let current = Unreadable.current
    if let current {
      if current.first == nil { current.first = error }
      if !current.cores.contains(where: { $0 === self }) { current.cores.append(self) }
    }
    let isWriting = !isFrozen && openWrite != nil
    if isWriting, current?.isInWrite != true { fail(error) }
    if current == nil, !isWriting { Misuse.stop(error.message) }
  }
}
