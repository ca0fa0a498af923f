// 10-bodies.swift: invariant 10: bodies and trees decode and match their records.

import Workload

enum BodiesInvariant: DocumentInvariant {
  static let promise = DocumentPromise.bodies

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    for store in evidence.sight.stores {
      for row in store.rows {
        if let problem = problem(of: row, evidence.sight) {
          problems.append("\(store.name) '\(row.key)': \(problem)")
        }
      }
    }
    return problems
  }

  private static func problem(of row: DocumentSight.Row, _ sight: DocumentSight) -> String? {
    guard let extra = row.extra else { return "it has no tree" }
    let tree: PlainTree
    do throws(PlainTree.Refusal) { tree = try PlainTree(reading: extra) } catch {
      return "its tree does not decode: \(error.text)"
    }
    let first = tree.entries[0]
    if first.id != row.version { return "its version is not the first of its tree" }
    if first.isDeleted != (row.flags & 1 != 0) { return "tree and flags differ in the deletion" }
    let others = tree.entries.dropFirst().contains { $0.isLeaf && !$0.isDeleted && !$0.isClosed }
    if others != (row.flags & 2 != 0) { return "tree and flags differ in the conflict" }
    if tree.entries.contains(where: \.hasBlobs), row.flags & 4 == 0 {
      return "a revision has blobs, and its flags do not"
    }
    guard let body = row.body else { return first.isDeleted ? nil : "it has no body" }
    guard case .dict? = sight.value(body) else { return "its body does not decode as a dict" }
    return digestProblem(first, body, tree)
  }

  /// A revision's ID is the digest of its parent's ID and its body, unless it came from elsewhere.
  private static func digestProblem(
    _ entry: PlainTree.Entry, _ body: [UInt8], _ tree: PlainTree
  ) -> String? {
    let digest = Array(entry.id.suffix(20))
    guard Set(digest).count > 1 else { return nil }
    var parent = ""
    if let index = entry.parent {
      let other = tree.entries[index]
      parent = "\(other.generation)-\(PlainDigest.hex(Array(other.id.suffix(20))))"
    } else if entry.generation > 1 {
      return nil
    }
    var bytes = [UInt8(parent.utf8.count)] + Array(parent.utf8)
    bytes.append(entry.isDeleted ? 1 : 0)
    bytes += entry.isDeleted ? [0x70, 0x00] : body
    guard PlainDigest.sha1(bytes) != digest else { return nil }
    return "its revision is \(entry.generation)-\(PlainDigest.hex(digest)), and its body another"
  }
}
