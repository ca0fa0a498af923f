// MutableKeyPairTree+Remove.swift: taking pairs out.

extension MutableKeyPairTree {
  /// Takes a pair out, or counts it once less.
  /// - Returns: Whether it was there.
  @discardableResult
  func remove(_ pair: KeyPair) throws(EngineError) -> Bool { try remove(pair, all: false) }

  /// Takes a pair out, however often it is there.
  /// - Returns: Whether it was there.
  @discardableResult
  func removeAll(_ pair: KeyPair) throws(EngineError) -> Bool { try remove(pair, all: true) }

  private func remove(_ pair: KeyPair, all: Bool) throws(EngineError) -> Bool {
    try remove(at: KeyPosition(pair), writer) { leaf, _ in
      let index = leaf.firstIndex(notBelow: pair)
      guard index < leaf.count, leaf[index] == pair else { return false }
      let multiplicity = leaf.multiplicity(index)
      if multiplicity > 1, !all {
        leaf.setMultiplicity(multiplicity - 1, at: index)
      } else {
        leaf.remove(at: index)
        if pairCount > 0 { pairCount -= 1 }
      }
      return true
    }
  }
}
