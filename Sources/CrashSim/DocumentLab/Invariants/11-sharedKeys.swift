// 11-sharedKeys.swift: invariant 11: keys are numbers of the list, wherever they can be.

import FleeceReference
import Workload

enum SharedKeysInvariant: DocumentInvariant {
  static let promise = DocumentPromise.sharedKeys

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    let keys = evidence.sight.keys
    if Set(keys).count != keys.count { problems.append("the list has a key twice") }
    for store in evidence.sight.stores {
      for row in store.rows {
        guard let body = row.body, case .success(let value) = NaiveReader.read(body) else {
          continue
        }
        for key in PlainText.keys(in: value) {
          if let problem = problem(of: key, keys) {
            problems.append("\(store.name) '\(row.key)' \(problem)")
          }
        }
      }
    }
    return problems
  }

  private static func problem(of key: ReferenceValue.Key, _ keys: [String]) -> String? {
    switch key {
    case .shared(let number):
      return number < keys.count ? nil : "has key \(number), and the list \(keys.count) keys"
    case .text(let bytes):
      let text = String(decoding: bytes, as: UTF8.self)
      return keys.contains(text) ? "has '\(text)' as a text, and the list has it" : nil
    }
  }
}
