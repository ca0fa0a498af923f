// SyncJudge.swift: compares a log of SyncCore with the reference.

import SyncCore
import SyncReference

/// Compares the two implementations of docs/reference/sync-merge.md.
package enum SyncJudge {
  /// The difference between a log's state and the reference's; nil when there is none.
  package static func difference(_ merger: SyncMerger) -> String? {
    var reference = ReferenceMerge()
    for entry in merger.entries { reference.take(entry) }
    let expected = reference.objects
    let found = merger.state.objects.mapValues { ReferenceNode($0) }
    for object in Set(expected.keys).union(found.keys).sorted()
    where expected[object] != found[object] {
      return "\(object.type) \(object.key) is \(text(found[object])), by the reference "
        + text(expected[object])
    }
    let digest = ReferenceDigest.digest(expected)
    guard digest == merger.state.digest else {
      return "the digest is \(merger.state.digest), by the reference \(digest)"
    }
    return nil
  }

  private static func text(_ node: ReferenceNode?) -> String { node.map { "\($0)" } ?? "not there" }
}
