// BackendChoice.swift: the two ways by which a workload reaches the faulty file tree.

/// Which backend scenarios go through.
package enum BackendChoice: String, Codable, CaseIterable, Sendable, Hashable {
  /// A FUSE mount and a worker process.
  case fuse
  /// The tree as the engine's storage, in the lab's own process.
  case inProcess = "in-process"
}
