// Discovery.swift: finds a class's persisted properties by reflection, once per class.
// Invariants: one thread at a time discovers; a wrapper that this thread makes meanwhile holds a
// mark, and no other; once published a description never changes, so every thread may read it.

import Engine
import Glibc
import Synchronization

/// What a prototype's wrapper knows of its property.
@usableFromInline
final class PropertyMark {
  let shape: _PropertyShape
  var isIndexed = false
  var isPrimaryKey = false
  var originProperty: String?
  /// The position among the properties of the class.
  var number = -1
  var name = ""

  init(_ shape: _PropertyShape) { self.shape = shape }
}

enum Discovery {
  /// The thread that is making a prototype or follows a key path in one; 0: none.
  private static let thread = Atomic<UInt>(0)
  /// Held by the thread that discovers.
  private static let turn = Mutex<Void>(())
  private static let known = Mutex<[ObjectIdentifier: ClassInfo]>([:])

  /// The properties that a key path met.
  private static let trail = Mutex<[String]>([])

  /// Whether the wrappers that this thread makes now are a prototype's.
  @inline(__always)
  static var isActive: Bool {
    let discovering = thread.load(ordering: .relaxed)
    return discovering != 0 && discovering == UInt(pthread_self())
  }

  /// A key path led to a wrapper of a prototype.
  static func note(_ mark: PropertyMark) {
    guard isActive else { return }
    let name = mark.name
    trail.withLock { $0.append(name) }
  }

  private static func discovering<Result>(
    _ body: () throws(Realm.Error) -> sending Result
  ) throws(Realm.Error) -> sending Result {
    try turn.withLock { _ throws(Realm.Error) in
      thread.store(UInt(pthread_self()), ordering: .relaxed)
      defer { thread.store(0, ordering: .relaxed) }
      return try body()
    }
  }

  /// The description of a class; found at the first call.
  /// - Throws: `Realm.Error` with code `.unsupportedClass`, naming class and property.
  static func info(for type: ObjectBase.Type) throws(Realm.Error) -> ClassInfo {
    let id = ObjectIdentifier(type)
    if let info = known.withLock({ $0[id] }) { return info }
    let made = try discovering { () throws(Realm.Error) in
      try ClassInfo(type, prototype: type.init())
    }
    return known.withLock { known in
      if let info = known[id] { return info }
      known[id] = made
      return made
    }
  }

  /// The name of the property that a key path leads to, or nil when it leads to none directly.
  static func name<Root: ObjectBase, Value>(
    of keyPath: KeyPath<Root, Value>, in info: ClassInfo
  ) -> String? {
    guard let prototype = info.prototype as? Root else { return nil }
    return Misuse.unthrowingRealm { () throws(Realm.Error) in
      try discovering { () throws(Realm.Error) in
        trail.withLock { $0 = [] }
        _ = prototype[keyPath: keyPath]
        let names = trail.withLock { $0 }
        return names.count == 1 ? names[0] : nil
      }
    }
  }
}

extension Misuse {
  /// Runs what only a wrong program makes fail.
  static func unthrowingRealm<Result>(
    _ body: () throws(Realm.Error) -> Result
  ) -> Result {
    do throws(Realm.Error) { return try body() } catch { stop("\(error)") }
  }
}
