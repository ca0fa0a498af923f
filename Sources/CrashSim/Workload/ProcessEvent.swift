// ProcessEvent.swift: events of a process between its commands, and the files of a database.
// Invariant: a limit leaves a process what it has; only further allocations fail.

import LabCore

/// An event of a process between two of its commands.
package enum ProcessEvent: Sendable, Hashable, Codable {
  /// SIGKILL, after which none of its code runs.
  case kill
  /// It ends by itself, without closing.
  case exit
  /// It is stopped, and keeps all that it holds.
  case stop
  /// It continues after a stop.
  case resume
  /// From now on it gets at most this much of a resource.
  case limit(ProcessLimit)
}

/// A resource of a process that can run out.
package enum LimitedResource: String, Sendable, Hashable, Codable, CaseIterable {
  /// Descriptors in addition to the open ones.
  case descriptors
  /// Size limit of the files that it may write (`RLIMIT_FSIZE`).
  case fileBytes
  /// Bytes of address space in addition to those in use (`RLIMIT_AS`).
  case memoryBytes
}

/// A limit of a resource.
package struct ProcessLimit: Sendable, Hashable, Codable {
  /// The resource.
  package var resource: LimitedResource
  /// The amount; nil removes the limit.
  package var count: UInt64?

  /// Makes a limit.
  package init(_ resource: LimitedResource, count: UInt64?) {
    self.resource = resource
    self.count = count
  }
}

/// An event of a database file, caused from outside of the processes that use it.
package enum FileEvent: Sendable, Hashable, Codable {
  /// Its name is removed; processes that have it open keep it.
  case remove(DatabasePart)
  /// Its bytes are overwritten, or it is created with such bytes if it does not exist.
  case overwrite(DatabasePart, with: FileFilling)
  /// It is cut after this many bytes; a shorter one is not changed.
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

/// Bytes with which a file is overwritten.
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
