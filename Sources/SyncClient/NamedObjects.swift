// NamedObjects.swift: the objects that operations are about, and those that they lead to.
// Invariant: a replay of the operations needs no other object.

import Engine
import ObjectDatabase
import SyncCore

/// The objects that operations name.
package struct NamedObjects {
  /// The objects of operations.
  package private(set) var touched: Set<SyncObject> = []
  /// These objects, and those that they link to.
  package private(set) var all: Set<SyncObject> = []
  private var deleted: Set<SyncObject> = []

  package init() {}

  /// Adds those of an entry; a refused one has no effect, and may name anything.
  package mutating func add(_ entry: SyncEntry) {
    guard entry.refusal == nil else { return }
    add(entry.changeset.operations)
    for operation in (entry.resolved ?? []) + (entry.restated ?? []) { add(operation.operation) }
  }

  package mutating func add(_ operations: [SyncOperation]) {
    for operation in operations { add(operation) }
  }

  private mutating func add(_ operation: SyncOperation) {
    touched.insert(operation.object)
    all.insert(operation.object)
    switch operation {
    case .create: break
    case .delete(let object): deleted.insert(object)
    case .change(_, let change):
      for case .link(let target) in change.values { all.insert(target) }
    }
  }

  /// Adds the objects that link to deleted ones.
  package mutating func addLinkers(_ reader: RowReader<WriteTransaction>) throws(EngineError) {
    for object in deleted.sorted() {
      guard let (key, described) = try reader.row(of: object) else { continue }
      for link in described.linkers {
        let rows = try reader.source.backlinks(
          to: key, in: described.table.name, from: link.table, column: link.column)
        let linker = try reader.classes.named(link.table)
        for row in rows {
          guard let way = try reader.way(to: row.key, linker, passes: { _ in true }) else {
            continue
          }
          all.insert(way.object)
        }
      }
    }
  }
}
