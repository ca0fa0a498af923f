// 17-expiration.swift: invariant 17: a purge of what is due removes all of it and nothing else.

import Workload

/// Without a change: the times are times, and those that documents were given.
enum ExpirationTimesInvariant: DocumentInvariant {
  static let promise = DocumentPromise.expiration

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    var problems: [String] = []
    for store in evidence.sight.stores {
      for row in store.rows {
        if let time = row.expiration, time <= 0 {
          problems.append("\(store.name) '\(row.key)' expires at \(time)")
          continue
        }
        // A time that the document never had, or none where it always had one.
        let known = evidence.candidates.compactMap { commit in
          evidence.plan.states[commit].document(row.key, store.collection)
        }
        guard !known.isEmpty, !known.contains(where: { $0.expiration == row.expiration }) else {
          continue
        }
        let text = row.expiration.map(String.init) ?? "never"
        problems.append("\(store.name) '\(row.key)' expires \(text), which nobody said")
      }
    }
    return problems
  }
}

/// With a change: a purge.
enum ExpirationInvariant: DocumentInvariant {
  static let promise = DocumentPromise.expiration

  static func problems(_ evidence: DocumentEvidence) throws -> [String] {
    let times = evidence.sight.stores.flatMap(\.rows).compactMap(\.expiration)
    // The middle of the times, so that some stay.
    guard let now = times.sorted().dropFirst(times.count / 2).first else { return [] }
    var problems: [String] = []
    let before = try DocumentSight(bundle: evidence.file.path)
    try evidence.file.purgeExpired(nowMilliseconds: now)
    let after = try DocumentSight(bundle: evidence.file.path)
    for (old, new) in zip(before.stores, after.stores) {
      let kept = old.rows.filter { $0.expiration ?? .max > now }.map(\.key).sorted()
      let found = new.rows.map(\.key).sorted()
      if found != kept {
        problems.append("\(old.name): after a purge at \(now) there are \(found), not \(kept)")
      }
      if old.last != new.last || old.purges != new.purges || old.deadPurges != new.deadPurges {
        problems.append("\(old.name): a purge of what expired changed the counters")
      }
    }
    return problems
  }
}
