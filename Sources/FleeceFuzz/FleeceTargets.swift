// FleeceTargets.swift: the fuzz targets of the bytes of documents; each is held against the second
// reader (Sources/FleeceReference), which shares no code with the module Fleece.

import Fuzz

extension FuzzTarget {
  /// The targets of Fleece.
  package static let ofFleece = [
    FleeceBytesTarget.target, FleeceValuesTarget.target, FleeceJSONTarget.target,
  ]
}
