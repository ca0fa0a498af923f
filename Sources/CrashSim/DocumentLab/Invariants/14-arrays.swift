// 14-arrays.swift: invariant 14: array indexes have the items of the documents.

import Workload

enum ArraysInvariant: DocumentInvariant {
  static let promise = DocumentPromise.arrays

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    for index in evidence.sight.indexes where index.kind == .array {
      guard let store = evidence.store(of: index), let property = evidence.property(of: index),
        let table = evidence.sight.table(of: index)
      else { continue }
      var (places, items) = ([String](), [String]())
      for (row, body) in evidence.bodies(store) {
        for (place, item) in values(body[property]).enumerated() {
          places.append("\(row.number)/\(place)")
          items.append("\"\(row.key)\"=\(item.canonical)")
        }
      }
      let rows = (evidence.sight.itemRows[table] ?? []).map { "\($0.number)/\($0.place)" }
      if rows.sorted() != places.sorted() {
        problems.append(
          "index \(index.name) has \(rows.sorted()), and the documents \(places.sorted())")
      }
      let found = try evidence.file.read { snapshot in
        try DocumentQueries.items(of: property, in: store.collection, snapshot)
      }
      if found.sorted() != items.sorted() {
        problems.append(
          "index \(index.name) gives \(found.sorted()), and the documents \(items.sorted())")
      }
    }
    return problems
  }

  /// What an array index has of a property: the values of a collection, or the value itself.
  private static func values(_ value: DocumentValue?) -> [DocumentValue] {
    switch value {
    case .array(let all)?: all
    case .dict(let pairs)?: pairs.map(\.value)
    case let value?: [value]
    case nil: []
    }
  }
}
