// PhaseAnnouncer.swift: [U] a program announces the phase of its work to the faulty file system, so
// that faults can be attributed to that phase (Recording/Trace/PhaseLog.swift).
// Safety: the value is only passed to the one call.

import CSystem
import Recording
import Synchronization

/// Announces phases.
public final class PhaseAnnouncer: Sendable {
  private let announce: @Sendable (_ name: [UInt8]) -> Void
  private let isInPhase = Atomic<Bool>(false)

  /// Announces through the given function; the empty name ends the phase.
  public init(_ announce: @escaping @Sendable (_ name: [UInt8]) -> Void) {
    self.announce = announce
  }

  /// Announces to the faulty file system that a directory is on; on any other file system
  /// announcements have no effect.
  public convenience init(directory: String) {
    self.init { name in
      unsafe name.withUnsafeBytes { bytes in
        _ = unsafe csystem_set_attribute(
          directory, PhaseLog.attribute, bytes.baseAddress, bytes.count)
      }
    }
  }

  /// Begins a phase, which lasts until the next `begin` or `end()`.
  /// - Parameter phase: Its name; see `PhaseLog.name`.
  public func begin(_ phase: String) {
    isInPhase.store(true, ordering: .relaxed)
    announce(Array(phase.utf8))
  }

  /// Ends the phase, if one is under way.
  public func end() {
    guard isInPhase.exchange(false, ordering: .relaxed) else { return }
    announce([])
  }
}
