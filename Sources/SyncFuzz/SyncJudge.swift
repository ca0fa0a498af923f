// SyncJudge.swift: compares a log of SyncCore with the reference.

import SyncCore
import SyncReference

/// Compares the two implementations of docs/reference/sync-merge.md.
package enum SyncJudge {
  /// The difference between a log's state and the reference's; nil when there is none.
  package static func difference(_ merger: SyncMerger) -> String? {
    if let restated = restated(merger) { return restated }
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

  /// The first stale entry that the reference restates otherwise.
  private static func restated(_ merger: SyncMerger) -> String? {
    guard merger.entries.first?.version == SyncVersion(1) else { return nil }
    for entry in merger.entries where entry.isStale && entry.refusal == nil {
      let expected = ReferenceStale.restated(entry.version.number, of: merger.entries)
      guard entry.restated == expected.operations else {
        return "version \(entry.version.number) is restated as \(entry.restated ?? []), by the "
          + "reference as \(expected.operations)"
      }
      for (number, cause) in expected.causes.enumerated() {
        guard let cause else { continue }
        let found = entry.overruled.filter { $0.operation == number }.map(\.cause)
        guard found.contains(cause) else {
          return "operation \(number) of version \(entry.version.number) is overruled as \(found),"
            + " by the reference as \(cause)"
        }
      }
    }
    return nil
  }

  private static func text(_ node: ReferenceNode?) -> String { node.map { "\($0)" } ?? "not there" }
}
