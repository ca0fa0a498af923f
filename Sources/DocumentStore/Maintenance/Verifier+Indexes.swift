// Verifier+Indexes.swift: checks that indexes have their SQL objects, and their tables the rows
// that follow from the documents. SQLite's own check compares value indexes, and those over the
// tables of arrays and predictions, with their rows. Not checked: leftovers of deleted collections,
// which the real library never removes.

import Fleece

extension Verifier {
  mutating func checkIndexes() throws(DocumentStoreError) {
    let indexes: [IndexInfo]
    do {
      indexes = try connection.indexes(where: nil)
      guard !indexes.isEmpty else { return try checkOrphans([]) }
      for name in try connection.texts("SELECT name FROM indexes WHERE typeof(type) <> 'integer'") {
        found.add(.indexes, "the type of index \(quoted(name)) is no integer")
      }
    } catch {
      found.add(.indexes, error.message)
      return
    }
    for index in indexes where try Schema.has(index.keyStore.table, on: connection) {
      do { try check(index) } catch {
        found.add(
          .indexContents, store: index.keyStore, "index \(quoted(index.name)): \(error.message)")
      }
    }
    // The triggers of vectors call what this store does not have.
    let vectors = Set(indexes.filter { $0.kind == .vector }.map(\.keyStore))
    for store in Set(indexes.map(\.keyStore)).subtracting(vectors).sorted() {
      try checkTriggers(of: store)
    }
    try checkOrphans(indexes)
  }

  /// Has changes of a table explained, and makes none: SQLite reads the texts of triggers only when
  /// it prepares such a change, and its own check never does.
  private mutating func checkTriggers(of store: KeyStoreName) throws(DocumentStoreError) {
    guard try Schema.has(store.table, on: connection) else { return }
    let table = identifier(store.table)
    for change in [
      "INSERT INTO \(table) DEFAULT VALUES", "UPDATE \(table) SET body = body, flags = flags",
      "DELETE FROM \(table)",
    ] {
      // A step prepares a kept statement again, if the schema changed.
      do { _ = try connection.number("EXPLAIN \(change)") } catch {
        found.add(.indexes, store: store, "no document can be changed: \(error.message)")
      }
    }
  }

  private mutating func check(_ index: IndexInfo) throws(DocumentStoreError) {
    func add(_ message: String) {
      found.add(.indexes, store: index.keyStore, "index \(quoted(index.name)) \(message)")
    }
    if index.kind == .vector {
      found.unchecked.append("index \(quoted(index.name)) of vectors")
      return
    }
    if index.kind == .value || index.kind == .array, try connection.sql(of: index.name) == nil {
      add("has no index in SQL")
    }
    guard let table = index.table else { return }
    guard try Schema.has(table, on: connection) else { return add("lacks table \(quoted(table))") }
    for plan in try tables(of: index) {
      for trigger in plan.triggers {
        guard let sql = try connection.sql(of: trigger.name) else {
          add("lacks trigger \(quoted(trigger.name))")
          continue
        }
        // Tables of arrays with these names are of 3.2.1 or later, whose texts are known. A damaged
        // text may run all the same, and misses later changes.
        if index.kind == .array, !trigger.sql.isEmpty, sql != trigger.sql {
          add("has another text in trigger \(quoted(trigger.name))")
        }
      }
      try compare(index, plan)
    }
    if index.kind == .fullText {
      fullTextTables.append(table)
      try checkWordTables(table, of: index)
    }
  }

  /// The tables that an index should have, with their names in this file.
  private mutating func tables(
    of index: IndexInfo
  ) throws(DocumentStoreError) -> [IndexPlan.Table] {
    let kind: IndexSpecification.Kind
    var expressions = index.expressions
    switch index.kind {
    case .array:
      guard let listed = index.listedTable, let path = IndexNames.path(ofArray: listed) else {
        throw DocumentStoreError(.corruptData, "its table's name has no path")
      }
      (kind, expressions) = (.array(path: path), "[]")
    case .predictive: kind = .predictive
    default: kind = .fullText(FullTextOptions())
    }
    guard index.kind == .array || index.language == .json && index.condition == nil else {
      found.unchecked.append("index \(quoted(index.name)), whose expressions are SQL++")
      return []
    }
    let wanted = IndexSpecification(index.name, kind, json: expressions)
    let plan = try IndexPlan(wanted, for: index.keyStore)
    guard let listed = index.listedTable, index.table == listed, index.kind == .array else {
      return plan.tables
    }
    // Before 3.2.1 there was one level, and its table had the listed name.
    return plan.tables.prefix(1).map { table in
      var old = table
      old.name = listed
      old.triggers = table.triggers.map { trigger in
        ("\(listed)::\(trigger.name.split(separator: ":").last ?? "")", "")
      }
      return old
    }
  }

  /// Compares a table with the rows computed from the documents.
  private mutating func compare(
    _ index: IndexInfo, _ plan: IndexPlan.Table
  ) throws(DocumentStoreError) {
    var (table, columns) = (plan.name, plan.columns)
    if index.kind == .fullText {
      table += "_content"
      columns = try connection.texts(
        "SELECT name FROM pragma_table_info(\(literal(table))) ORDER BY cid"
      ).map(identifier).joined(separator: ", ")
    }
    // A prediction without a result has no row.
    let isPrediction = index.kind == .predictive
    let wanted =
      isPrediction ? "SELECT * FROM (\(plan.rows)) WHERE value IS NOT NULL" : plan.rows
    let present = "SELECT \(columns) FROM \(identifier(table))"
    do {
      for (more, less, what) in [(wanted, present, "lacks"), (present, wanted, "has")] {
        let rows = try connection.texts("SELECT docid FROM (\(more) EXCEPT \(less)) LIMIT 5")
        for row in rows {
          found.add(
            .indexContents, store: index.keyStore,
            "index \(quoted(index.name)) \(what) an entry of row \(row) against its document")
        }
      }
    } catch {
      guard isPrediction, error.message.contains("no model") else { throw error }
      found.unchecked.append("index \(quoted(index.name)): \(error.message)")
    }
  }

  /// Tables and triggers of indexes that are not listed.
  private mutating func checkOrphans(_ indexes: [IndexInfo]) throws(DocumentStoreError) {
    var known: Set<String> = []
    for index in indexes {
      var next = index.listedTable
      while let table = next {
        known.formUnion([table, IndexNames.hashed(table)])
        next = index.kind == .array ? IndexNames.parent(ofArray: table) : nil
      }
    }
    let names = try connection.texts(
      "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%::%' "
        + "OR type = 'table' AND (name GLOB 'kv_*:*' "
        + "OR length(name) = 40 AND NOT name GLOB '*[^0-9a-f]*') ORDER BY name")
    for name in names where !known.contains(name) {
      let suffixes = [
        "::ins", "::del", "::upd", "::preupdate", "::postupdate", "_content", "_segments",
        "_segdir", "_docsize", "_stat",
      ]
      let owner = suffixes.first(where: name.hasSuffix).map { String(name.dropLast($0.count)) }
      if let owner, known.contains(owner) { continue }
      found.add(.indexes, "\(quoted(name)) belongs to no index")
    }
  }
}

extension DataFile {
  /// Lets SQLite compare the words of full-text indexes with their stored texts.
  func checkWords(_ verifier: inout Verifier) {
    for table in verifier.fullTextTables {
      let name = identifier(table)
      do throws(DocumentStoreError) {
        try checkWritable()
        try writer.run { () throws(DocumentStoreError) in
          try writer.execute("INSERT INTO \(name) (\(name)) VALUES ('integrity-check')")
        }
      } catch {
        if error.code == .corruptData {
          verifier.found.add(.indexContents, "words of \(quoted(table)): \(error.message)")
        } else {
          verifier.found.unchecked.append("words of \(quoted(table)): \(error.message)")
        }
      }
    }
  }
}
