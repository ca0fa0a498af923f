// DocumentStoreTargets.swift: the fuzz targets of the document store: revision identifiers, and
// whole data files.

import Fuzz

extension FuzzTarget {
  /// The targets of the document store.
  package static let ofDocumentStore = [
    RevisionTreeTarget.target, VersionVectorTarget.target, DataFileTarget.target,
  ]
}
