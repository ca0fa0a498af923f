// DoorChoice.swift: the two ways by which a workload reaches the faulty file tree.

/// Which door scenarios go through.
package enum DoorChoice: String, Codable, CaseIterable, Sendable, Hashable {
  /// A FUSE mount and a worker process.
  case fuse
  /// The tree as the engine's storage, in the lab's own process.
  case inProcess = "in-process"
}
