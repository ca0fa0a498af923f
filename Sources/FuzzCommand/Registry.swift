// Registry.swift: the targets of this program: all, or only those of the engine, of queries, of
// Fleece and of synchronization if it was built without Faultline (Package.swift, `fuzzesLab`).

import EngineFuzz
import FleeceFuzz
import Fuzz
import QueryFuzz
import SyncFuzz

#if FUZZ_LAB
  import LabFuzz

  private let targetsOfLab = FuzzTarget.withLab
#else
  private let targetsOfLab: [FuzzTarget] = []
#endif

extension FuzzTarget {
  /// Every target of this program, those with a planted bug last.
  static let registered = ofEngine + ofQueries + ofFleece + ofSync + targetsOfLab + planted
}
