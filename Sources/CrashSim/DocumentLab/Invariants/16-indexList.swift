// 16-indexList.swift: invariant 16: the list of indexes and the objects of SQLite agree.

import Foundation
import Workload

enum IndexListInvariant: DocumentInvariant {
  static let promise = DocumentPromise.indexList

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    let objects = evidence.sight.objects
    var triggers: [String: Int] = [:]
    for object in objects where object.type == "trigger" {
      guard let end = object.name.range(of: "::", options: .backwards) else { continue }
      triggers[String(object.name[..<end.lowerBound]), default: 0] += 1
    }
    var owned: Set<String> = []
    for index in evidence.sight.indexes {
      if evidence.store(of: index)?.hasLive != true {
        problems.append("index \(index.name) is of \(index.store), which is not there")
      }
      if index.kind != .fullText, !has("index", index.name, objects) {
        problems.append("index \(index.name) is listed, and SQLite has no such index")
      }
      guard index.kind != .value, let table = evidence.sight.table(of: index) else { continue }
      owned.insert(table)
      if !has("table", table, objects) {
        problems.append("index \(index.name) is listed, and its table \(table) is not there")
      } else if triggers[table] != 4 {
        problems.append("index \(index.name) has \(triggers[table] ?? 0) triggers instead of 4")
      }
    }
    for owner in triggers.keys.sorted() where !owned.contains(owner) {
      problems.append("triggers of \(owner) are there, and no index is listed")
    }
    let names = Set(evidence.sight.indexes.map(\.name))
    for object in objects where object.type == "index" && !names.contains(object.name) {
      let isOwn = object.name.hasPrefix("kv_") || object.name.hasPrefix("sqlite_")
      if !isOwn, !object.table.contains("::") {
        problems.append("SQLite has index \(object.name), which is not listed")
      }
    }
    return problems
  }

  private static func has(
    _ type: String, _ name: String, _ objects: [DocumentSight.SchemaObject]
  ) -> Bool {
    objects.contains { $0.type == type && $0.name == name }
  }
}
