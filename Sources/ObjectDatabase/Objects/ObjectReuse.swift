// ObjectReuse.swift [U]: whether an object can be reused for another row: nobody else may have a
// reference to it, as a weak or unowned one would see that row, too. A loop asks for each object;
// counting its reference atomically and asking the runtime for each kind of them took a fifth of
// its time. Invariant: the runtime keeps the counts of an object behind its type, in one word, and
// in a table of their own only once there was a weak reference; so an object whose word is that of
// a new one has one reference.

import Engine
import Synchronization

/// Whether an object can be reused for another row.
@usableFromInline
struct ObjectReuse {
  /// The word of an object with one reference, and none that is weak or unowned.
  private static let lone: UInt = {
    let probe = unsafe made(ObjectBase.self)
    defer { unsafe probe.release() }
    return unsafe references(probe.toOpaque())
  }()

  private let lone = Self.lone

  init() {}

  /// An object with a reference for the caller, if nobody else has one; else nil.
  ///
  /// Not inlined: in the loop itself, looking at the counts would cost a retain and a release.
  @usableFromInline
  func retained(_ last: inout ObjectBase?) -> Unmanaged<ObjectBase>? {
    guard let address = unsafe loneAddress(&last) else { return nil }
    // Without another reference no other thread can change the counts.
    unsafe ReferenceCounts.retainUnshared(address)
    return unsafe .fromOpaque(address)
  }

  /// Whether an object has no other references.
  func isSeenHereOnly(_ last: inout ObjectBase?) -> Bool { unsafe loneAddress(&last) != nil }

  /// The address of an object that has no other references; else nil.
  @inline(__always)
  private func loneAddress(_ last: inout ObjectBase?) -> UnsafeMutableRawPointer? {
    // Safety: an optional object is its address, or zeros.
    let address = unsafe withUnsafePointer(to: &last) {
      unsafe UnsafeRawPointer($0).load(as: UnsafeMutableRawPointer?.self)
    }
    guard let address = unsafe address else { return nil }
    if unsafe Self.references(address) == lone { return unsafe address }
    guard isKnownUniquelyReferenced(&last) else { return nil }
    // Safety: the caller's variable keeps the object.
    return unsafe Unmanaged<ObjectBase>.fromOpaque(address)._withUnsafeGuaranteedRef { object in
      _getWeakRetainCount(object) <= 1 && _getUnownedRetainCount(object) <= 1
    } ? address : nil
  }

  /// The word of counts of an object.
  @inline(__always)
  private static func references(_ object: UnsafeRawPointer) -> UInt {
    // Safety: every object has this word, and the caller keeps it.
    let word = unsafe object + MemoryLayout<UInt>.size
    return unsafe word.assumingMemoryBound(to: Atomic<UInt>.self).pointee.load(ordering: .acquiring)
  }

  /// Not inlined, so that the object is an allocated one, and nothing else refers to it.
  @inline(never)
  private static func made(_ type: ObjectBase.Type) -> Unmanaged<ObjectBase> {
    unsafe .passRetained(type.init())
  }
}
