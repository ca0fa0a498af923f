// Discovery.swift: finds a class's persisted properties by reflection, once per class.
// Invariants: a wrapper that a thread makes while it discovers holds a mark, while it makes an
// object of values a box, and else neither; a description never changes once it is published, so
// every thread may read it. No lock is held while code of the program runs.

import Engine
import Glibc
import Synchronization

/// What a prototype's wrapper knows of its property.
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
  /// What a thread is making.
  enum Mode {
    /// A prototype; the names are those of the properties that a key path met.
    case prototype(met: [String])
    /// An object whose values are set by name.
    case boxes
  }

  /// How many threads are making something; wrappers look no further while it is 0.
  private static let activeCount = Atomic<Int>(0)
  private static let modes = Mutex<[UInt: Mode]>([:])
  private static let known = Mutex<[ObjectIdentifier: ClassInfo]>([:])

  /// What the wrappers are that this thread makes now; nil: ordinary ones.
  @inline(__always)
  static var mode: Mode? {
    activeCount.load(ordering: .relaxed) == 0 ? nil : currentMode
  }

  @inline(never)
  private static var currentMode: Mode? {
    let thread = UInt(pthread_self())
    return modes.withLock { $0[thread] }
  }

  /// Begins to make wrappers of a mode.
  /// - Returns: The mode before, to be given to `leave`.
  static func enter(_ mode: Mode) -> Mode? {
    let thread = UInt(pthread_self())
    activeCount.add(1, ordering: .relaxed)
    return modes.withLock { $0.updateValue(mode, forKey: thread) }
  }

  /// Goes back to the mode before.
  /// - Returns: The mode that ended.
  @discardableResult
  static func leave(_ before: Mode?) -> Mode? {
    let thread = UInt(pthread_self())
    activeCount.subtract(1, ordering: .relaxed)
    return modes.withLock { modes in
      let ended = modes[thread]
      modes[thread] = before
      return ended
    }
  }

  /// Runs a body in a mode.
  private static func making<Result>(_ mode: Mode, _ body: () -> Result) -> (Result, Mode?) {
    let before = enter(mode)
    let result = body()
    return (result, leave(before))
  }

  /// A key path led to a wrapper of a prototype.
  static func note(_ mark: PropertyMark) {
    let thread = UInt(pthread_self())
    let name = mark.name
    modes.withLock { modes in
      guard case .prototype(let met) = modes[thread] else { return }
      modes[thread] = .prototype(met: met + [name])
    }
  }

  /// The description of a class; found at the first call.
  /// - Throws: `Realm.Error` with code `.unsupportedClass`, naming class and property.
  static func info(for type: ObjectBase.Type) throws(Realm.Error) -> ClassInfo {
    let id = ObjectIdentifier(type)
    if let info = known.withLock({ $0[id] }) { return info }
    let (prototype, _) = making(.prototype(met: [])) { type.init() }
    let made = try ClassInfo(type, prototype: prototype)
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
    let (_, mode) = making(.prototype(met: [])) { _ = prototype[keyPath: keyPath] }
    guard case .prototype(let met) = mode, met.count == 1 else { return nil }
    return met[0]
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
