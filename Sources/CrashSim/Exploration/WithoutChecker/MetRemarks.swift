// MetRemarks.swift: warnings and notes as states are judged, each counted once for its words.
// Invariant: what comes out does not depend on the order in which states were judged.

import Findings
import Synchronization

/// Collects warnings and notes from all checkers.
final class MetRemarks: Sendable {
  /// One kind of remark.
  struct Kind: Sendable {
    let level: String
    var text: String
    var firstOrdinal: Int
    var count: Int
  }

  private let kinds = Mutex<[String: Kind]>([:])

  /// Notes what was said of a state; from any thread.
  func note(_ result: CheckResult, of ordinal: Int) {
    let remarks = result.remarks
    if remarks.isEmpty { return }
    kinds.withLock { kinds in
      for (level, text) in remarks {
        let key = "\(level): \(text.withNumbersReplaced)"
        var kind =
          kinds[key] ?? Kind(level: level, text: text, firstOrdinal: ordinal, count: 0)
        kind.count += 1
        if ordinal <= kind.firstOrdinal {
          kind.firstOrdinal = ordinal
          kind.text = text
        }
        kinds[key] = kind
      }
    }
  }

  /// The kinds in the order of their first states, warnings first.
  var all: [Kind] {
    kinds.withLock { kinds in
      kinds.sorted { a, b in
        let (left, right) = (a.value, b.value)
        if left.level != right.level { return left.level > right.level }
        return (left.firstOrdinal, a.key) < (right.firstOrdinal, b.key)
      }.map(\.value)
    }
  }
}
