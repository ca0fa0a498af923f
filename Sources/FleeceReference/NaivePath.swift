// NaivePath.swift: walks over trees, the plain way: from the first pair to the last.

import Fleece

extension ReferenceValue {
  /// The possible targets of a path, nil for none: several where a dict has a duplicate key.
  package func values(
    at components: ArraySlice<FleecePath.Component>, keys: [String]
  ) -> [ReferenceValue?] {
    guard let component = components.first else { return [self] }
    let rest = components.dropFirst()
    switch (self, component) {
    case (.array(let items), .index(let index)):
      let place = index < 0 ? items.count + index : index
      return items.indices.contains(place) ? items[place].values(at: rest, keys: keys) : [nil]
    case (.dict(let pairs), .key(let key)):
      // A key in the table is searched only as a number, unless the dict has none.
      let number = pairs.first?.key.isNumber == true ? keys.firstIndex(of: key) : nil
      let wanted = number.map { Key.shared($0) } ?? .text(Array(key.utf8))
      let found = pairs.filter { $0.key == wanted }
      return found.isEmpty ? [nil] : found.flatMap { $0.value.values(at: rest, keys: keys) }
    default: return [nil]
    }
  }
}

extension ReferenceValue.Key {
  /// Whether it is written as a number.
  fileprivate var isNumber: Bool {
    if case .shared = self { true } else { false }
  }
}
