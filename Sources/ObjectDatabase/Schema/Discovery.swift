// Discovery.swift [U]: finds a class's persisted properties by reflection, once per class.
// Invariants: exactly the wrappers that a thread makes during discovery hold marks; a description
// never changes after it is published, so every thread may read it. No lock is held while code of
// the program runs.

import Engine
import Glibc
import Synchronization

/// What a prototype's wrapper records about its property.
@usableFromInline
@safe final class PropertyMark: @unchecked Sendable {
  // Safety: changed only by the thread that makes the prototype, before others see it.
  let shape: _PropertyShape
  /// The class of the prototype; nil for the mark of managed properties.
  var owner: ObjectBase.Type?
  /// Whether it is the second prototype's; see `Discovery.path`.
  var isSecond = false
  var index = SearchIndexMode.none
  var isPrimaryKey = false
  var originProperty: String?
  /// The position among the properties of the class.
  @safe @exclusivity(unchecked) @usableFromInline var number = -1
  var name = ""

  init(_ shape: _PropertyShape) { self.shape = shape }
}

/// An unretained reference to a mark, so a wrapper of a number needs no reference counting: making,
/// setting and freeing one only moves bytes.
@usableFromInline @safe
struct MarkReference: @unchecked Sendable {
  // Safety: a mark is never freed; a process has two for each property of each class.
  @usableFromInline let reference: Unmanaged<PropertyMark>

  /// In the wrappers of managed objects that would otherwise keep the values from before.
  static let managed = MarkReference(PropertyMark(_PropertyShape(.int)))

  init(_ mark: PropertyMark) { unsafe reference = .passRetained(mark) }

  @usableFromInline
  var mark: PropertyMark { unsafe reference.takeUnretainedValue() }

  /// The position among the properties of the class.
  @inlinable @inline(__always)
  var number: Int { unsafe reference._withUnsafeGuaranteedRef { $0.number } }
}

@usableFromInline
enum Discovery {
  /// The number of threads in discovery; wrappers check no further while it is 0.
  private static let activeCount = Atomic<Int>(0)
  /// What a thread in discovery met.
  private struct Trace {
    /// Whether a key path is followed, and no prototype made.
    let isPath: Bool
    /// The properties that the key path reached.
    var marks: [PropertyMark] = []
  }

  private static let met = Mutex<[UInt: Trace]>([:])
  private static let known = Mutex<[ObjectIdentifier: ClassInfo]>([:])

  // Safety: a prototype is only read once it is published.
  private struct Prototype: @unchecked Sendable {
    let object: ObjectBase
  }

  /// The second prototypes of classes that key paths lead to.
  private static let seconds = Mutex<[ObjectIdentifier: Prototype]>([:])

  /// Whether the wrappers that this thread makes now are a prototype's.
  @usableFromInline
  static var isActive: Bool {
    activeCount.load(ordering: .relaxed) != 0 && isThisThreadActive
  }

  @inline(never)
  private static var isThisThreadActive: Bool {
    let thread = UInt(pthread_self())
    return met.withLock { $0[thread] != nil }
  }

  /// Runs a body that makes a prototype or follows a key path in one.
  /// - Returns: The result, and the properties that were reached.
  private static func discovering<Result>(
    isPath: Bool, _ body: () -> Result
  ) -> (Result, [PropertyMark]) {
    let thread = UInt(pthread_self())
    let before = met.withLock { $0.updateValue(Trace(isPath: isPath), forKey: thread) }
    activeCount.add(1, ordering: .relaxed)
    let result = body()
    activeCount.subtract(1, ordering: .relaxed)
    let marks = met.withLock { met in
      let marks = met[thread]?.marks ?? []
      met[thread] = before
      return marks
    }
    return (result, marks)
  }

  /// The value of a prototype's property: its type's default, or what a key path goes on from.
  @usableFromInline
  @inline(never)
  static func value<Value: _Persistable>(of mark: PropertyMark) -> Value {
    let thread = UInt(pthread_self())
    let isPath = met.withLock { met in
      met[thread]?.marks.append(mark)
      return met[thread]?.isPath ?? false
    }
    return isPath ? Value._traced() : Value._default()
  }

  /// Whether this thread follows a key path.
  static var isTracing: Bool {
    guard activeCount.load(ordering: .relaxed) != 0 else { return false }
    let thread = UInt(pthread_self())
    return met.withLock { $0[thread]?.isPath ?? false }
  }

  /// The object that a key path goes on from: of the two prototypes of the class the other than the
  /// one that it came from, or a plain object where the class has none.
  static func tracer(of type: ObjectBase.Type) -> ObjectBase {
    guard let info = try? info(for: type) else { return type.init() }
    let thread = UInt(pthread_self())
    let isFromSecond = met.withLock { $0[thread]?.marks.last?.isSecond ?? false }
    return isFromSecond ? info.prototype : second(of: info)
  }

  private static func second(of info: ClassInfo) -> ObjectBase {
    let id = ObjectIdentifier(info.type)
    if let known = seconds.withLock({ $0[id] }) { return known.object }
    let (object, _) = discovering(isPath: false) { info.type.init() }
    for (number, field) in info.fields.enumerated() {
      guard let mark = field.wrapper(of: object).mark else { continue }
      mark.name = field.name
      mark.number = number
      mark.owner = info.type
      mark.isSecond = true
    }
    let made = Prototype(object: object)
    return seconds.withLock { seconds in
      if let known = seconds[id] { return known }
      seconds[id] = made
      return made
    }.object
  }

  /// The description of a class; discovered at the first call.
  /// - Throws: `Realm.Error` with code `.unsupportedClass`, naming class and property.
  static func info(for type: ObjectBase.Type) throws(Realm.Error) -> ClassInfo {
    let id = ObjectIdentifier(type)
    if let info = known.withLock({ $0[id] }) { return info }
    let (prototype, _) = discovering(isPath: false) { type.init() }
    let made = try ClassInfo(type, prototype: prototype)
    return known.withLock { known in
      if let info = known[id] { return info }
      known[id] = made
      return made
    }
  }

  /// The names of the properties on a key path: one of the class, or one reached through links and
  /// elements of collections; nil when the key path leads to anything else.
  ///
  /// Prototypes alternate along the path, so that a computed property which reads several
  /// properties of one object is not taken for a path.
  static func path<Root: ObjectBase>(
    of keyPath: PartialKeyPath<Root>, in info: ClassInfo
  ) -> [String]? {
    path(in: info) { (prototype: Root) in
      _ = prototype[keyPath: keyPath]
      return type(of: keyPath).valueType
    }
  }

  /// The names of the properties that a body reads of a prototype, each of the object that the one
  /// before leads to; nil when it reads others.
  /// - Parameters:
  ///   - info: The class.
  ///   - endsAnywhere: Whether the body may make something else of the last property.
  ///   - body: Reads a prototype; returns the type of what it made.
  /// - Returns: The names.
  static func path<Root: ObjectBase>(
    in info: ClassInfo, endsAnywhere: Bool = false, _ body: (Root) -> Any.Type
  ) -> [String]? {
    guard let prototype = info.prototype as? Root else { return nil }
    let (valueType, marks) = discovering(isPath: true) { body(prototype) }
    guard let last = marks.last else { return nil }
    var owner: ObjectBase.Type? = info.type
    for (index, mark) in marks.enumerated() {
      guard mark.owner == owner, mark.isSecond == !index.isMultiple(of: 2) else { return nil }
      owner = mark.shape.target
    }
    // What only begins with a property, as `\.name.count`, is no path.
    let value = valueType as? any _Persistable.Type
    guard endsAnywhere || value?._shape.type == last.shape.type else { return nil }
    return marks.map(\.name)
  }

  /// The name of the property of the class itself that a key path leads to, or nil.
  static func name<Root: ObjectBase>(
    of keyPath: PartialKeyPath<Root>, in info: ClassInfo
  ) -> String? {
    guard let path = path(of: keyPath, in: info), path.count == 1 else { return nil }
    return path[0]
  }
}

extension Misuse {
  /// Runs code that fails only because of an error in the program.
  static func unthrowingRealm<Result>(
    _ body: () throws(Realm.Error) -> Result
  ) -> Result {
    do throws(Realm.Error) { return try body() } catch { stop("\(error)") }
  }
}
