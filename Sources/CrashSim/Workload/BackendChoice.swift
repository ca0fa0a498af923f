// BackendChoice.swift: the two ways in which a workload accesses the faulty file tree.

/// The backend of a scenario.
package enum BackendChoice: String, Codable, CaseIterable, Sendable, Hashable {
  /// A FUSE mount and a worker process.
  case fuse
  /// The tree as the engine's storage, in Faultline's own process.
  case inProcess = "in-process"
}
