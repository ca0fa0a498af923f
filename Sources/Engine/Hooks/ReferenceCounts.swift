// ReferenceCounts.swift [U]: the one call of the Swift runtime that modules above the engine need.

import CSystem

/// How often Swift objects are referred to.
package enum ReferenceCounts {
  /// Counts one more strong reference to an object, without an atomic operation.
  /// - Parameter object: The address of an object that no other thread can reach; the caller owns
  ///   the new reference.
  @unsafe package static func retainUnshared(_ object: UnsafeMutableRawPointer) {
    unsafe csystem_retain_unshared(object)
  }
}
