// SyncTargets.swift: the fuzz targets of synchronization.

import Fuzz
import SyncCore

extension FuzzTarget {
  /// The targets of synchronization.
  package static let ofSync = [
    SyncCodecTarget.target, SyncMessageTarget.target, SyncMergeTarget.target,
  ]
}
