// ReplaceableElements.swift: one value for every element of a list or set, as `setValue` with the
// key `self` has it.

/// A collection all of whose elements can be replaced by one value.
protocol ReplaceableElements {
  /// Replaces every element; a value that does not fit stops the process.
  func replaceAll(with value: Any?)
}

extension RealmCollectionValue {
  fileprivate static func fitting(_ value: Any?) -> Self {
    guard let element = _fromAny(value) else {
      let text = String(describing: DynamicValue.flattened(value) ?? "nil").prefix(60)
      Misuse.stop("a collection of \(Self.self) cannot hold \(text)")
    }
    return element
  }
}

extension List: ReplaceableElements {
  func replaceAll(with value: Any?) {
    let element = Element.fitting(value)
    for index in 0..<count { replace(index: index, object: element) }
  }
}

extension MutableSet: ReplaceableElements {
  func replaceAll(with value: Any?) {
    guard !isEmpty else { return }
    let element = Element.fitting(value)
    removeAll()
    insert(element)
  }
}
