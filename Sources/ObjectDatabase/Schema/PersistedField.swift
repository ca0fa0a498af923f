// PersistedField.swift [U]: the wrappers of an object by their offset in it, from the runtime's
// description of the class. Adding an object reads all its wrappers, which Mirror would copy one by
// one into boxes. Invariant: a field belongs to the class that it was listed for, and is used on
// its objects only.

import Engine
@_spi(Reflection) import Swift

/// A wrapper in the objects of a class.
struct PersistedField: @unchecked Sendable {
  // Safety: metatypes and numbers only.
  let name: String
  let place: Place

  /// The offset and type of a wrapper; copying this counts no references.
  struct Place {
    fileprivate let offsetBytes: Int
    fileprivate let kind: Kind
    fileprivate let wrapper: any PersistedProperty.Type

    /// For a column without a property.
    static var nowhere: Place {
      Place(offsetBytes: 0, kind: .nowhere, wrapper: Persisted<Int>.self)
    }
  }

  /// The types that are read in place, without a call through the wrapper's type.
  fileprivate enum Kind {
    case int
    case double
    case string
    case bool
    case other
    case nowhere
  }

  private init(name: String, offsetBytes: Int, wrapper: any PersistedProperty.Type) {
    self.name = name
    let kind: Kind =
      switch wrapper {
      case is Persisted<Int>.Type: .int
      case is Persisted<Double>.Type: .double
      case is Persisted<String>.Type: .string
      case is Persisted<Bool>.Type: .bool
      default: .other
      }
    place = Place(offsetBytes: offsetBytes, kind: kind, wrapper: wrapper)
  }

  /// The stored properties of a class, those of base classes first.
  /// - Returns: The persisted ones, and the number of others.
  static func all(of type: ObjectBase.Type) -> (fields: [PersistedField], otherCount: Int) {
    let isClass: UInt32 = 1
    var fields: [PersistedField] = []
    var otherCount = 0
    // Safety: the runtime's names are C strings that exist as long as the process.
    _ = unsafe _forEachField(of: type, options: _EachFieldOptions(rawValue: isClass)) {
      name, offset, fieldType, _ in
      if let wrapper = fieldType as? any PersistedProperty.Type {
        let label = unsafe String(cString: name)
        fields.append(
          PersistedField(
            name: String(label.hasPrefix("_") ? label.dropFirst() : label[...]),
            offsetBytes: offset, wrapper: wrapper))
      } else {
        otherCount += 1
      }
      return true
    }
    return (fields, otherCount)
  }

  /// The wrapper of an object.
  func wrapper(of object: ObjectBase) -> any PersistedProperty {
    object.completeValues()
    return unsafe place.reading(object) { unsafe place.wrapper.copy(at: $0) }
  }

  /// The property's value for a new row; nil when it is written after all rows exist.
  func plainValue(of object: ObjectBase) -> PlainEngineValue? {
    object.completeValues()
    return unsafe place.reading(object) { unsafe place.wrapper.plainValue(at: $0) }
  }

  /// Stores the default in an unmanaged object where nothing was set.
  func materialize(in object: ObjectBase) {
    object.completeValues()
    unsafe place.reading(object) { unsafe place.wrapper.materialize(at: $0) }
  }

  /// The value of a row, in the property's own type.
  func read(_ row: _Row) -> Any { place.wrapper.read(row) }

  /// Sets the property of an unmanaged object; false when the value does not fit.
  func set(_ any: Any?, of object: ObjectBase) -> Bool {
    unsafe place.reading(object) { unsafe place.wrapper.set(any, at: $0) }
  }
}

extension PersistedField.Place {
  @inline(__always)
  fileprivate func reading<Result>(
    _ object: ObjectBase, _ body: (UnsafeMutableRawPointer) -> Result
  ) -> Result {
    withExtendedLifetime(object) {
      // Safety: the object has the class of the offset, and is retained during the call.
      unsafe body(Unmanaged.passUnretained(object).toOpaque() + offsetBytes)
    }
  }

  /// Sets a property that is read in place in a row of a batch.
  /// - Returns: False for a property of another type; nothing was set then.
  @inline(__always)
  func append(from object: ObjectBase, to row: inout RowBuilder) throws(EngineError) -> Bool {
    switch kind {
    case .int: try row.append(Int64(stored(Int.self, in: object) ?? 0))
    case .double: try row.append(stored(Double.self, in: object) ?? 0)
    case .string: try row.append(stored(String.self, in: object) ?? "")
    case .bool: try row.append(stored(Bool.self, in: object) ?? false)
    case .other, .nowhere: return false
    }
    return true
  }

  /// The value for an object's row; nil for a property of a type that is not read in place.
  func value(in object: ObjectBase) -> PlainEngineValue? {
    switch kind {
    case .int: .int(Int64(stored(Int.self, in: object) ?? 0))
    case .double: .double(stored(Double.self, in: object) ?? 0)
    case .string: .string(stored(String.self, in: object) ?? "")
    case .bool: .bool(stored(Bool.self, in: object) ?? false)
    case .other, .nowhere: nil
    }
  }

  /// Adds the value for an object's row to those for a recorder, if the property is read in place.
  /// - Returns: False for a property of another type; nothing was added then.
  @inline(__always)
  func record(_ object: ObjectBase, _ column: Int, _ rows: RecordedRows) -> Bool {
    switch kind {
    case .int:
      let value = stored(Int.self, in: object)
      rows.add(int: Int64(value ?? 0), to: column, isDefault: value == nil)
    case .double:
      let value = stored(Double.self, in: object)
      rows.add(double: value ?? 0, to: column, isDefault: value == nil)
    case .string:
      let value = stored(String.self, in: object)
      rows.add(text: value ?? "", to: column, isDefault: value == nil)
    case .bool:
      let value = stored(Bool.self, in: object)
      rows.add(bool: value ?? false, to: column, isDefault: value == nil)
    case .other, .nowhere: return false
    }
    return true
  }

  /// Begins a row for a recorder with its primary key, if that is read in place.
  /// - Returns: False for a property of another type; nothing was begun then.
  @inline(__always)
  func beginRow(_ object: ObjectBase, _ rows: RecordedRows) -> Bool {
    switch kind {
    case .int: rows.beginRow(int: Int64(stored(Int.self, in: object) ?? 0))
    case .string: rows.beginRow(text: stored(String.self, in: object) ?? "")
    case .double, .bool, .other, .nowhere: return false
    }
    return true
  }

  /// Sets a property that is read in place to a value of exactly its type.
  /// - Returns: False for any other value or property; nothing was set then.
  func set(exactly any: Any, in object: ObjectBase) -> Bool {
    switch kind {
    case .int: set(Int.self, to: any, in: object)
    case .double: set(Double.self, to: any, in: object)
    case .string: set(String.self, to: any, in: object)
    case .bool: set(Bool.self, to: any, in: object)
    case .other, .nowhere: false
    }
  }

  @inline(__always)
  private func set<Value: _Persistable>(
    _ type: Value.Type, to any: Any, in object: ObjectBase
  ) -> Bool {
    // The comparison excludes values that only cast to the type, such as a number of JSON.
    guard Swift.type(of: any) == type, let value = any as? Value else { return false }
    unsafe reading(object) { place in
      unsafe place.assumingMemoryBound(to: Persisted<Value>.self).pointee.storage = .value(value)
    }
    return true
  }

  /// Whether the property has a type that is not read in place.
  var isOther: Bool { kind == .other }

  /// Whether the property of an unmanaged object was set, or has its own default.
  @inline(__always)
  func isSet(in object: ObjectBase) -> Bool {
    switch kind {
    case .int: stored(Int.self, in: object) != nil
    case .double: stored(Double.self, in: object) != nil
    case .string: stored(String.self, in: object) != nil
    case .bool: stored(Bool.self, in: object) != nil
    case .other: unsafe reading(object) { unsafe wrapper.isSet(at: $0) }
    case .nowhere: false
    }
  }

  /// Clears the value in an unmanaged object, as if the property had never been set.
  @inline(__always)
  func clear(_ object: ObjectBase) {
    switch kind {
    case .int: clear(Int.self, in: object)
    case .double: clear(Double.self, in: object)
    case .string: clear(String.self, in: object)
    case .bool: clear(Bool.self, in: object)
    case .other: unsafe reading(object) { unsafe wrapper.clear(at: $0) }
    case .nowhere: break
    }
  }

  /// Drops the value that an object had before it became managed: its links would keep what they
  /// lead to, and encoding it would give old values.
  func becomeManaged(_ object: ObjectBase) {
    unsafe reading(object) { unsafe wrapper.becomeManaged(at: $0) }
  }

  /// Copies the value of another object of the class to an unmanaged object.
  func copy(to object: ObjectBase, from other: ObjectBase) {
    unsafe reading(object) { place in
      unsafe reading(other) { unsafe wrapper.copy(to: place, from: $0) }
    }
  }

  /// Sets a property that is read in place in a row of a batch, and unsets it in the object.
  /// - Returns: False for a property of another type; nothing was set then.
  @inline(__always)
  func move(from object: ObjectBase, to row: inout RowBuilder) throws(EngineError) -> Bool {
    switch kind {
    case .int: try row.append(Int64(moved(Int.self, from: object) ?? 0))
    case .double: try row.append(moved(Double.self, from: object) ?? 0)
    case .string: try row.append(moved(String.self, from: object) ?? "")
    case .bool: try row.append(moved(Bool.self, from: object) ?? false)
    case .other, .nowhere: return false
    }
    return true
  }

  @inline(__always)
  private func moved<Value: _Persistable>(_ type: Value.Type, from object: ObjectBase) -> Value? {
    unsafe reading(object) { place in
      let wrapper = unsafe place.assumingMemoryBound(to: Persisted<Value>.self)
      // Safety: the wrapper is initialized again at once.
      let storage = unsafe wrapper.move().storage
      unsafe wrapper.initialize(to: Persisted(.unset))
      guard case .value(let value) = storage else { return nil }
      return value
    }
  }

  @inline(__always)
  private func clear<Value: _Persistable>(_ type: Value.Type, in object: ObjectBase) {
    unsafe reading(object) { place in
      let wrapper = unsafe place.assumingMemoryBound(to: Persisted<Value>.self)
      unsafe wrapper.pointee.storage = .unset
    }
  }

  @inline(__always)
  private func stored<Value: _Persistable>(_ type: Value.Type, in object: ObjectBase) -> Value? {
    unsafe reading(object) { place in
      let wrapper = unsafe place.assumingMemoryBound(to: Persisted<Value>.self)
      guard case .value(let value) = unsafe wrapper.pointee.storage else { return nil }
      return value
    }
  }
}

extension Persisted {
  static func copy(at place: UnsafeMutableRawPointer) -> any PersistedProperty {
    // Safety: a field of this type is at the place.
    unsafe place.assumingMemoryBound(to: Self.self).pointee
  }

  static func plainValue(at place: UnsafeMutableRawPointer) -> PlainEngineValue? {
    // Safety: a field of this type is at the place.
    unsafe place.assumingMemoryBound(to: Self.self).pointee.plainValue
  }

  static func set(_ any: Any?, at place: UnsafeMutableRawPointer) -> Bool {
    guard let value = Value._fromAny(any) else { return false }
    // Safety: a field of this type is at the place, and no other code is using the new object.
    unsafe place.assumingMemoryBound(to: Self.self).pointee.storage = .value(value)
    return true
  }

  static func isSet(at place: UnsafeMutableRawPointer) -> Bool {
    // Safety: a field of this type is at the place.
    guard case .unset = unsafe place.assumingMemoryBound(to: Self.self).pointee.storage else {
      return true
    }
    return false
  }

  static func clear(at place: UnsafeMutableRawPointer) {
    // Safety: a field of this type is at the place.
    unsafe place.assumingMemoryBound(to: Self.self).pointee.storage = .unset
  }

  static func materialize(at place: UnsafeMutableRawPointer) {
    // Safety: a field of this type is at the place.
    let wrapper = unsafe place.assumingMemoryBound(to: Self.self)
    if case .unset = unsafe wrapper.pointee.storage {
      unsafe wrapper.pointee.storage = .value(Value._default())
    }
  }

  static func read(_ row: _Row) -> Any { Value._read(row) }

  static func becomeManaged(at place: UnsafeMutableRawPointer) {
    // Safety: a field of this type is at the place.
    unsafe place.assumingMemoryBound(to: Self.self).pointee.storage = .mark(.managed)
  }

  static func copy(to place: UnsafeMutableRawPointer, from other: UnsafeMutableRawPointer) {
    // Safety: fields of this type are at both places.
    unsafe place.assumingMemoryBound(to: Self.self).pointee =
      other.assumingMemoryBound(to: Self.self).pointee
  }
}
