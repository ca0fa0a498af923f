// Verifier+Words.swift: checks the tables in which SQLite keeps the words of a full-text index.
// SQLite's own check compares words with texts; it passes tables that later reads and changes
// find malformed (fts3Int.h, "Terminology" and the comments on %_segdir have their form).

import Fleece

extension Verifier {
  /// Checks the form of a full-text index's tables.
  /// - Throws: `DocumentStoreError` when a table cannot be read.
  /// - Complexity: O(rows).
  mutating func checkWordTables(
    _ table: String, of index: IndexInfo
  ) throws(DocumentStoreError) {
    guard try checkWordColumns(table, of: index) else { return }
    func name(_ suffix: String) -> String { identifier(table + suffix) }
    let (content, sizes) = (name("_content"), name("_docsize"))
    let (segments, blocks, totals) = (name("_segdir"), name("_segments"), name("_stat"))
    for (more, less, what) in [(content, sizes, "no size"), (sizes, content, "only a size")] {
      let rows = try connection.texts(
        "SELECT docid FROM \(more) EXCEPT SELECT docid FROM \(less) LIMIT 5")
      for row in rows { add(index, "has \(what) of row \(row)") }
    }
    try report(
      index, "has a size that is no blob, row",
      "SELECT docid FROM \(sizes) WHERE typeof(size) <> 'blob'")
    let known = "SELECT 1 FROM \(totals) WHERE id = 0 AND typeof(value) = 'blob'"
    if try connection.number("SELECT 1 FROM \(content) LIMIT 1") != nil,
      try connection.number(known) == nil
    {
      add(index, "has no totals")
    }
    // A segment is one block in its row, or blocks from the first to the last leaf, and above them.
    let end = "CAST(end_block AS INTEGER)"
    try report(
      index, "has a segment that is none, level",
      """
      SELECT level FROM \(segments) WHERE typeof(level) <> 'integer' OR typeof(idx) <> 'integer'
      OR typeof(start_block) <> 'integer' OR typeof(leaves_end_block) <> 'integer'
      OR typeof(end_block) NOT IN ('integer', 'text') OR typeof(root) <> 'blob' OR start_block < 0
      OR leaves_end_block < start_block OR \(end) < leaves_end_block
      OR start_block = 0 AND \(end) <> 0
      """)
    try report(
      index, "lacks blocks of a segment, level",
      """
      SELECT level FROM \(segments) WHERE start_block > 0 AND leaves_end_block - start_block + 1 <>
      (SELECT count(*) FROM \(blocks) WHERE blockid BETWEEN start_block AND leaves_end_block
      AND typeof(block) = 'blob')
      """)
  }

  /// - Returns: Whether the tables have their columns.
  private mutating func checkWordColumns(
    _ table: String, of index: IndexInfo
  ) throws(DocumentStoreError) -> Bool {
    let texts = try columns(table).enumerated().map { "c\($0.offset)\($0.element)" }
    var isWhole = true
    for (suffix, wanted) in [
      ("_content", ["docid"] + texts), ("_segments", ["blockid", "block"]),
      ("_segdir", ["level", "idx", "start_block", "leaves_end_block", "end_block", "root"]),
      ("_docsize", ["docid", "size"]), ("_stat", ["id", "value"]),
    ] {
      let present = try columns(table + suffix)
      guard present != wanted else { continue }
      isWhole = false
      add(index, "has columns \(present) in \(quoted(table + suffix)) instead of \(wanted)")
    }
    return isWhole
  }

  private func columns(_ table: String) throws(DocumentStoreError) -> [String] {
    try connection.texts("SELECT name FROM pragma_table_info(\(literal(table))) ORDER BY cid")
  }

  /// Adds a problem for each row that is found, five at most.
  private mutating func report(
    _ index: IndexInfo, _ what: String, _ sql: String
  ) throws(DocumentStoreError) {
    for row in try connection.texts("\(sql) LIMIT 5") { add(index, "\(what) \(row)") }
  }

  private mutating func add(_ index: IndexInfo, _ message: String) {
    found.add(.indexContents, store: index.keyStore, "index \(quoted(index.name)) \(message)")
  }
}
