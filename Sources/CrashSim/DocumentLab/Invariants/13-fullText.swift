// 13-fullText.swift: invariant 13: full-text indexes have the words of the documents.

import Workload

enum FullTextInvariant: DocumentInvariant {
  static let promise = DocumentPromise.fullText

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    for index in evidence.sight.indexes where index.kind == .fullText {
      guard let store = evidence.store(of: index), let property = evidence.property(of: index)
      else { continue }
      let bodies = evidence.bodies(store)
      let numbers = bodies.map(\.row.number).sorted()
      let rows = evidence.sight.wordRows[index.name] ?? []
      if rows != numbers {
        problems.append("index \(index.name) has rows \(rows), and the documents are \(numbers)")
      }
      var expected: [String: Set<String>] = ["lababsent": []]
      for (row, body) in bodies {
        guard case .text(let text)? = body[property] else { continue }
        for word in PlainText.words(text) { expected[word, default: []].insert(row.key) }
      }
      for (word, ids) in expected {
        let found = try evidence.file.read { snapshot in
          try DocumentQueries.ids(
            matching: word, of: index.name, in: store.collection, snapshot)
        }
        guard Set(found) != ids else { continue }
        problems.append(
          "index \(index.name) finds \(found.sorted()) for '\(word)', "
            + "and the documents are \(ids.sorted())")
      }
    }
    return problems.sorted()
  }
}
