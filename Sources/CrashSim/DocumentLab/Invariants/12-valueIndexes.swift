// 12-valueIndexes.swift: invariant 12: questions that an index answers are answered right.

import Workload

enum ValueIndexesInvariant: DocumentInvariant {
  static let promise = DocumentPromise.valueIndexes

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    for index in evidence.sight.indexes where index.kind == .value {
      guard let store = evidence.store(of: index), let property = evidence.property(of: index)
      else { continue }
      var expected: [DocumentValue: [String]] = [.text("lab-absent"): []]
      for (row, body) in evidence.bodies(store) {
        guard let value = body[property] else { continue }
        switch value {
        case .integer, .text: expected[value, default: []].append(row.key)
        default: break
        }
      }
      for (value, ids) in expected {
        let found = try evidence.file.read { snapshot in
          try DocumentQueries.ids(
            where: property, equals: value, in: store.collection, snapshot)
        }
        guard found.sorted() != ids.sorted() else { continue }
        problems.append(
          "index \(index.name) finds \(found.sorted()) for \(value.json), "
            + "and the documents are \(ids.sorted())")
      }
    }
    return problems.sorted()
  }
}
