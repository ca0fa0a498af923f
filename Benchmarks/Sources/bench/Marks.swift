// Marks.swift: what each row has to reach; docs/explanation/benchmarks.md has the reasons of those
// that do not.

/// What a row has to reach.
enum Mark {
  /// At least so many times as good as the peer.
  case ratio(Double)
  /// At most so much, in the row's unit.
  case atMost(Double)

  private static let all: [String: Mark] = [
    "fs-write": .ratio(0.8), "fs-write-fsync": .ratio(0.8), "fs-create": .ratio(0.8),
    "fs-read": .ratio(0.8),
    "states/process": .ratio(100), "states-flat": .ratio(0.8),
    "checker-loop/process-python": .ratio(30), "checker-loop/process-c": .ratio(10),
    "checker-directory/anew": .ratio(1.3),
    "commit-two-phase/lmdb": .ratio(1), "commit-one-sync/sqlite-wal": .ratio(1),
    "bulk-insert/sqlite": .ratio(2), "bulk-insert/lmdb": .ratio(1), "file-size/sqlite": .ratio(1.1),
    "lookup/lmdb": .ratio(1), "count-age/lmdb": .ratio(15), "sum-score/lmdb": .ratio(15),
    "string-equal/lmdb": .ratio(5), "compact/sqlite": .ratio(2), "verify/read": .ratio(0.5),
    "growth-one-pin/lmdb": .ratio(50), "growth-pins-1000/content": .atMost(2),
    "growth-pins-100/content": .atMost(3), "growth-many-pins/content": .atMost(16),
    "scans-beside-writer/lmdb": .ratio(1),
    "objects-bulk-create/engine": .ratio(0.7), "objects-bulk-build/engine": .ratio(0.7),
    "objects-bulk-dictionary/engine": .ratio(0.2), "objects-iterate/lmdb": .ratio(0.6),
    "objects-lookup/lmdb": .ratio(0.6), "objects-write-one/lmdb": .ratio(0.95),
    "objects-and/lmdb": .ratio(3), "objects-filter-sum/sqlite": .ratio(5),
    "objects-prefix/lmdb": .ratio(5), "objects-string-equal/lmdb": .ratio(5),
    "documents-save-batch/grdb": .ratio(0.8), "documents-save-one/grdb": .ratio(0.8),
    "documents-size/grdb": .ratio(1 / 1.1), "documents-size-small/grdb": .ratio(1 / 1.1),
    "documents-size-vectors/grdb": .ratio(1 / 1.1),
  ]

  /// Marks of whole groups of rows, by the beginning of their names.
  private static let groups: [(prefix: String, mark: Mark)] = [
    ("writers-4", .ratio(1.5)), ("writers-8", .ratio(1.5)), ("fulltext-", .ratio(1)),
    ("encrypted-", .ratio(2)), ("records-", .ratio(2)), ("documents-", .ratio(1)),
  ]

  /// The mark of the row of that name, if it has one.
  static func of(_ name: String) -> Mark? {
    all[name] ?? groups.first { name.hasPrefix($0.prefix) }?.mark
  }

  /// As the table shows it.
  var text: String {
    switch self {
    case .ratio(let least): RowReport.number(least)
    case .atMost(let most): "≤ " + RowReport.number(most)
    }
  }

  /// True when a row reaches the mark, by the clock.
  func isReached(by row: Row) -> Bool {
    switch self {
    case .ratio(let least): row.ratio >= least
    case .atMost(let most): row.ours <= most
    }
  }
}
