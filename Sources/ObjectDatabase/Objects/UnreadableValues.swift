// UnreadableValues.swift [U]: what happens when the file holds a value that the program's type has
// not: a case that a newer program gave an enumeration, a number of more bits.
// Invariants: nothing is written after such a read, because the open transaction fails; outside of
// one and of `reading` it stops the process. So whoever goes on with the default that a getter
// gives in its place hears of it before anything depends on it.

import Engine

/// What a block could not read; one thread uses it, while the block runs.
private final class Unreadable: @unchecked Sendable {
  // Safety: reached by the task or thread that runs the block only.
  var first: Realm.Error?
  /// The realms that it met such values in.
  var cores: [_RealmCore] = []
  /// Whether a write transaction was open already: the block's error is not the transaction's then.
  let isInWrite: Bool

  init(isInWrite: Bool) { self.isInWrite = isInWrite }

  @TaskLocal static var current: Unreadable?
}

extension Realm {
  /// Runs a block that reads, and throws when it met a value that the program's types cannot hold.
  ///
  /// A newer program may have given an enumeration another case, or an integer more bits. A getter
  /// cannot throw: in the block it gives the type's default in the place of such a value, and the
  /// call throws when the block ends. Outside of it, and of a write transaction (which fails), the
  /// process is stopped. `object["name"]` gives the raw value, and a property of an optional
  /// enumeration is nil.
  /// - Parameter block: Reads objects of this realm, or any that the calling thread may use.
  /// - Returns: What the block returns, made of nothing but stored values.
  /// - Throws: What the block throws, or `Realm.Error` with code `.invalidValue`, which names
  ///   class, property and value.
  public func reading<Result>(_ block: () throws -> Result) throws -> Result {
    let unreadable = Unreadable(isInWrite: core.openWrite != nil)
    // What results made of defaults and kept is not to be seen later.
    defer { for core in unreadable.cores where !core.isFrozen { core.noteChange() } }
    let result = try Unreadable.$current.withValue(unreadable) { try block() }
    if let error = unreadable.first { throw error }
    return result
  }
}

extension _RealmCore {
  /// Runs what the module itself reads where it can tell of an error.
  /// - Returns: What was read, made of defaults where there is an error.
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
