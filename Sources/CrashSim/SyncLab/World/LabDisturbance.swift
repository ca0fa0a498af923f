// LabDisturbance.swift: what disturbs a run of the lab's world, and what is seen of it.

import FaultFS
import LabCore
import Recording
import Workload

/// A broken invariant.
package struct LabBreach: Error, Hashable, Sendable, CustomStringConvertible {
  /// Which one.
  package let promise: SyncPromise
  /// What was seen.
  package let text: String

  init(_ promise: SyncPromise, _ text: String) {
    self.promise = promise
    self.text = text
  }

  /// For example `sync: noLoss: …`.
  package var description: String { "sync: \(promise.name): \(text)" }
}

/// What disturbs a run.
package enum LabDisturbance {
  /// Power fails at a place, and this is left of the node's files. No further step is done.
  case cut(LabPlace, TreeImage)
  /// A fault of a node's disk, in its first life. No further step is done once it has hit.
  case fault(node: String, FaultRule)
  /// Several, with what is left of files at a place in a recording. The steps go on.
  case accidents([LabAccident], leaving: (LabPlace, Trace) throws(LabError) -> TreeImage)
}

/// One of several disturbances of a run, at most one cut in each life of a node.
package struct LabAccident: Sendable {
  /// Its kind.
  package enum Kind: Sendable {
    /// Power fails, or the process is killed, at the place.
    case cut
    /// A fault of the disk, in the life of the place.
    case fault(FaultRule)
  }

  package var place: LabPlace
  package var kind: Kind

  package init(_ place: LabPlace, _ kind: Kind) {
    self.place = place
    self.kind = kind
  }
}

/// A message in the chart of a run, when it arrives or is lost.
package struct LabMessage: Hashable, Sendable {
  /// Sender and receiver; the same node for something that happens there.
  package var from: String
  package var to: String
  package var text: String
  package var isLost = false
}
