// BundleDocuments.swift: the documents of a bundle as lines of JSON. A document that does not
// decode has an error in its line, and the next ones follow.

import DocumentStore
import Foundation

/// The documents of a bundle.
package enum BundleDocuments {
  /// Passes documents on as lines of JSON, in the order of collections and IDs.
  /// - Parameters:
  ///   - path: The bundle; it is only read.
  ///   - collection: The collection, `SCOPE.NAME` or `NAME`; nil for all.
  ///   - limit: The most documents; nil for all.
  ///   - line: Called with each line.
  /// - Returns: Whether all of them decode.
  /// - Throws: `InspectionFailure`, also for a collection that does not exist.
  /// - Complexity: O(bytes).
  package static func lines(
    path: String, collection: String? = nil, limit: Int? = nil, _ line: (String) -> Void
  ) throws(InspectionFailure) -> Bool {
    let copy = try BundleCopy(of: path)
    do {
      let file = try BundleInspection.opened(copy)
      defer { try? file.close() }
      return try file.read { snapshot in
        try lines(snapshot, try wanted(collection, snapshot), limit, line)
      }
    } catch let failure as InspectionFailure {
      throw failure
    } catch {
      throw .usage(BundleInspection.text(of: error).replacing(copy.path, with: path))
    }
  }

  /// The collections, the default one first, and then by name.
  static func collections(_ snapshot: Snapshot) throws -> [CollectionName] {
    try snapshot.collections().sorted { first, second in
      if (first == .default) != (second == .default) { return first == .default }
      return first.description < second.description
    }
  }

  private static func wanted(_ text: String?, _ snapshot: Snapshot) throws -> [CollectionName] {
    let all = try collections(snapshot)
    guard let text else { return all }
    let found = all.filter {
      $0.description == text || $0.name == text && $0.scope == CollectionName.defaultName
    }
    guard found.isEmpty else { return found }
    let names = all.map(\.description).joined(separator: ", ")
    throw InspectionFailure.usage(
      "there is no collection \(BundleInspection.clean(text)); there are \(names)")
  }

  private static func lines(
    _ snapshot: Snapshot, _ names: [CollectionName], _ limit: Int?, _ line: (String) -> Void
  ) throws -> Bool {
    var (left, isWhole) = (limit ?? Int.max, true)
    for name in names where left > 0 {
      try snapshot.collection(name).enumerate { record in
        guard left > 0 else { return false }
        left -= 1
        var text =
          "{\"collection\":\(quoted(name.description)),\"id\":\(quoted(record.key)),"
          + "\"sequence\":\(record.sequence),\"flags\":\(record.flags.rawValue)"
        if let time = record.expirationMilliseconds { text += ",\"expiration\":\(time)" }
        do {
          let (revision, body) = try contents(of: record, snapshot)
          text += ",\"revision\":\(quoted(revision)),\"body\":\(body)"
        } catch {
          isWhole = false
          text += ",\"error\":\(quoted(BundleInspection.text(of: error)))"
        }
        line(text + "}")
        return true
      }
    }
    return isWhole
  }

  private static func contents(
    of record: Record, _ snapshot: Snapshot
  ) throws -> (revision: String, body: String) {
    if record.version.first == 0 {
      let vector = try VersionVector(stored: record.version)
      return (vector.description, try snapshot.json(of: record.body ?? [0x70, 0]))
    }
    let revision = try RevisionID(stored: record.version)
    // In files of 2.x the body is in the tree.
    let body = record.extra == nil ? try TreeDocument(record).current?.body : record.body
    return (revision.description, try snapshot.json(of: body ?? [0x70, 0]))
  }

  private static func quoted(_ text: String) -> String { QueryValue.text(text).json ?? "null" }
}
