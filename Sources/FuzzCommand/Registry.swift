// Registry.swift: the targets of this program: all, or those of the engine, of queries, of Fleece,
// of synchronization and of documents where it was built without the lab (Package.swift,
// `fuzzesLab`).

import DocumentQueryFuzz
import EngineFuzz
import FleeceFuzz
import Fuzz
import QueryFuzz
import SyncFuzz

#if FUZZ_LAB
  import LabFuzz

  private let ofLab = FuzzTarget.ofLab
#else
  private let ofLab: [FuzzTarget] = []
#endif

extension FuzzTarget {
  /// Every target of this program; those with a planted bug come last.
  static let registered =
    ofEngine + ofQueries + ofFleece + ofSync + ofDocumentQueries + ofLab + planted
}
