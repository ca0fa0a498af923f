// Discovery.swift [U]: finds a class's persisted properties by reflection, once per class.
// Invariants: exactly the wrappers that a thread makes during discovery hold marks; a description
// never changes after it is published, so every thread may read it. No lock is held while code of
// the program runs.

import Engine
import Glibc
import Synchronization

/// What a prototype's wrapper records about its property.
@usableFromInline
final class PropertyMark {
  let shape: _PropertyShape
  var isIndexed = false
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
struct MarkReference {
  // Safety: a mark is never freed; a process has one for each property of each class.
  @usableFromInline let reference: Unmanaged<PropertyMark>

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
  /// The properties that key paths reached, by the thread in discovery.
  private static let met = Mutex<[UInt: [String]]>([:])
  private static let known = Mutex<[ObjectIdentifier: ClassInfo]>([:])

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
  private static func discovering<Result>(_ body: () -> Result) -> (Result, [String]) {
    let thread = UInt(pthread_self())
    let before = met.withLock { $0.updateValue([], forKey: thread) }
    activeCount.add(1, ordering: .relaxed)
    let result = body()
    activeCount.subtract(1, ordering: .relaxed)
    let names = met.withLock { met in
      let names = met[thread] ?? []
      met[thread] = before
      return names
    }
    return (result, names)
  }

  /// A key path led to a wrapper of a prototype.
  @usableFromInline
  static func note(_ mark: PropertyMark) {
    let thread = UInt(pthread_self())
    let name = mark.name
    met.withLock { $0[thread]?.append(name) }
  }

  /// The description of a class; discovered at the first call.
  /// - Throws: `Realm.Error` with code `.unsupportedClass`, naming class and property.
  static func info(for type: ObjectBase.Type) throws(Realm.Error) -> ClassInfo {
    let id = ObjectIdentifier(type)
    if let info = known.withLock({ $0[id] }) { return info }
    let (prototype, _) = discovering { type.init() }
    let made = try ClassInfo(type, prototype: prototype)
    return known.withLock { known in
      if let info = known[id] { return info }
      known[id] = made
      return made
    }
  }

  /// The name of the property that a key path leads to, or nil when it leads to none directly.
  static func name<Root: ObjectBase>(
    of keyPath: PartialKeyPath<Root>, in info: ClassInfo
  ) -> String? {
    guard let prototype = info.prototype as? Root else { return nil }
    let (_, names) = discovering { _ = prototype[keyPath: keyPath] }
    return names.count == 1 ? names[0] : nil
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
