// ProcessEvent.swift: what befalls a process between its commands, and the files that belong to it.
// Invariant: a limit leaves a process what it has; only what it would take further is refused.

import LabCore

/// What befalls a process between two of its commands.
package enum ProcessEvent: Sendable, Hashable, Codable {
  /// A signal that lets nothing of it run any more.
  case kill
  /// It ends by itself, and closes nothing.
  case exit
  /// It stands still, with all that it holds.
  case stop
  /// It goes on after a stop.
  case resume
  /// From now on it gets no more of a resource than this.
  case limit(ProcessLimit)
}

/// A resource of a process that can run out.
package enum LimitedResource: String, Sendable, Hashable, Codable, CaseIterable {
  /// Descriptors beyond those that are open.
  case descriptors
  /// Bytes of the largest file that it may write (`RLIMIT_FSIZE`).
  case fileBytes
  /// Bytes of address space beyond those in use (`RLIMIT_AS`).
  case memoryBytes
}

/// A bound of a resource.
package struct ProcessLimit: Sendable, Hashable, Codable {
  /// What is bounded.
  package var resource: LimitedResource
  /// How much there is; nil lifts the bound.
  package var count: UInt64?

  /// Makes a bound.
  package init(_ resource: LimitedResource, count: UInt64?) {
    self.resource = resource
    self.count = count
  }
}

/// What befalls a file of the database, from outside of every process that uses it.
package enum FileEvent: Sendable, Hashable, Codable {
  /// Its name is removed; who has it open keeps it.
  case remove(DatabasePart)
  /// Its bytes are written over, or it is made with such bytes when it is not there.
  case overwrite(DatabasePart, with: FileFilling)
  /// It loses what is behind so many bytes; a shorter one stays as it is.
  case cut(DatabasePart, toBytes: UInt64)
}

/// A file that belongs to a database.
package enum DatabasePart: String, Sendable, Hashable, Codable, CaseIterable {
  /// The data.
  case database
  /// The shared memory.
  case lock
  /// The FIFO.
  case note

  /// Its name in the worker's directory.
  package var fileName: String {
    switch self {
    case .database: DatabaseFile.name
    case .lock: DatabaseFile.name + ".lock"
    case .note: DatabaseFile.name + ".note"
    }
  }
}

/// Bytes that a file is written over with.
package enum FileFilling: String, Sendable, Hashable, Codable, CaseIterable {
  case zeros
  case ones
  /// Drawn from the run's seed.
  case random

  /// Bytes of this kind.
  package func bytes(count: Int, seed: Seed) -> [UInt8] {
    switch self {
    case .zeros: return [UInt8](repeating: 0, count: count)
    case .ones: return [UInt8](repeating: 0xff, count: count)
    case .random:
      var generator = PRNG(seed)
      return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }
  }
}
