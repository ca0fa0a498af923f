// LabInvariant.swift: what is judged, and when.

import Workload

/// One invariant.
struct LabInvariant: Sendable {
  let promise: SyncPromise
  /// Judges a world: what is wrong, or nil.
  let judge: @Sendable (LabWorld) throws -> String?

  init(_ promise: SyncPromise, _ judge: @escaping @Sendable (LabWorld) throws -> String?) {
    self.promise = promise
    self.judge = judge
  }
}

/// When each is judged.
enum LabInvariants {
  /// After every step.
  static let always: [LabInvariant] = [.ownWrites, .atomic, .monotonic, .once]
  /// When a node has come back.
  static let afterCrash: [LabInvariant] = [.durableAck, .digest]
  /// When nothing is on its way.
  static let atRest: [LabInvariant] = [
    .converge, .digest, .durableAck, .once, .noLoss, .epoch, .clone, .quiet,
  ]
}
