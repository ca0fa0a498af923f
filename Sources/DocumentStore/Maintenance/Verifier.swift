// Verifier.swift: checks a data file against the rules that SQLite cannot know.

import Fleece

extension DataFile {
  /// Checks everything in the file, as of one commit.
  ///
  /// Nothing is changed. SQLite checks the words of full-text indexes as a write, so this is
  /// skipped for files open for reading only, and waits for other writers.
  /// - Returns: The problems, and the parts that could not be checked.
  /// - Throws: `DocumentStoreError` when the file cannot be read at all.
  /// - Complexity: O(bytes).
  public func verify() throws -> Verification {
    var verifier = try read { snapshot in
      var verifier = Verifier(snapshot: snapshot)
      try verifier.run()
      return verifier
    }
    checkWords(&verifier)
    return verifier.found
  }
}

/// The check of a snapshot.
struct Verifier {
  let snapshot: Snapshot
  var found = Verification()
  /// Blobs that were checked: whether each exists and is intact.
  var blobs: [BlobDigest: Bool] = [:]
  /// Whether the file says that its documents have version vectors.
  var hasVectors = false
  /// Full-text tables, for SQLite's check of their words.
  var fullTextTables: [String] = []
  var connection: Connection { snapshot.connection }

  mutating func run() throws(DocumentStoreError) {
    try checkPages()
    try checkLayout()
    for name in try snapshot.keyStores() where name.isCollection {
      do throws(DocumentStoreError) {
        guard let store = try snapshot.keyStore(name) else { continue }
        try checkTables(store)
        try checkRecords(store)
      } catch {
        found.add(.integrity, store: name, error.message)
      }
    }
    try checkIndexes()
  }

  /// SQLite's own check; the quick one where an index needs a missing function.
  private mutating func checkPages() throws(DocumentStoreError) {
    for check in ["integrity_check", "quick_check"] {
      do {
        let lines = try connection.texts("PRAGMA \(check)(100)")
        for line in lines where line != "ok" { found.add(.integrity, line) }
        return
      } catch {
        guard error.code == .unsupported else {
          found.add(.integrity, error.message)
          return
        }
        found.unchecked.append("\(check): \(error.message)")
      }
    }
  }

  /// Tables and columns that belong to the format number.
  private mutating func checkLayout() throws(DocumentStoreError) {
    let version = try connection.number("PRAGMA user_version") ?? 0
    try expect(["name", "lastSeq"], in: "kvmeta", when: true)
    try expect(["purgeCnt"], in: "kvmeta", when: version >= Schema.withPurgeCount)
    try checkCounters()
    let records: Set = ["key", "sequence", "flags", "version", "body"]
    for name in Set(try snapshot.keyStores()).union([.defaultCollection, .info]).sorted() {
      try expect(records, in: name.table, when: true)
      try expect(["extra"], in: name.table, when: version >= Schema.withExtra)
      try expect(["expiration"], in: name.table, when: version >= Schema.withExpirations)
      guard name.isCollection else {
        try checkSequences(of: identifier(name.table), in: name)
        continue
      }
      try expect(
        records.union(["extra"]), in: name.deadTable, when: version >= Schema.withDeadTables)
    }
    for key in [StoreInfo.Key.publicUUID, .privateUUID] {
      let size = try StoreInfo(connection: connection).body(key)?.count ?? 0
      if size != 16 { found.add(.layout, "\(key.rawValue) has \(size) bytes instead of 16") }
    }
    do { hasVectors = try snapshot.versioning() == .vectors } catch {
      found.add(.layout, error.message)
    }
  }

  /// Counters are integers, and can be counted on.
  private mutating func checkCounters() throws(DocumentStoreError) {
    guard try Schema.columns("kvmeta", on: connection).contains("lastSeq") else { return }
    let columns = try connection.hasPurgeCounts() ? ["lastSeq", "purgeCnt"] : ["lastSeq"]
    for column in columns {
      let names = try connection.texts(
        "SELECT name FROM kvmeta WHERE typeof(\(column)) <> 'integer' OR \(column) < 0 "
          + "OR \(column) = \(Int64.max) LIMIT 10")
      for name in names { found.add(.layout, "\(column) of \(quoted(name)) in kvmeta is no count") }
    }
  }

  /// Sequences of a table, or of a query, occur once.
  private mutating func checkSequences(
    of rows: String, in store: KeyStoreName
  ) throws(DocumentStoreError) {
    let twice = try connection.texts(
      "SELECT sequence FROM \(rows) WHERE sequence IS NOT NULL GROUP BY sequence "
        + "HAVING count(*) > 1 LIMIT 10")
    for sequence in twice {
      found.add(.sequences, store: store, "sequence \(sequence) occurs twice")
    }
  }

  private mutating func expect(
    _ columns: Set<String>, in table: String, when applies: Bool
  ) throws(DocumentStoreError) {
    guard applies else { return }
    let missing = columns.subtracting(try Schema.columns(table, on: connection)).sorted()
    guard !missing.isEmpty else { return }
    found.add(.layout, "table \(quoted(table)) lacks \(missing.joined(separator: ", "))")
  }

  /// Checks a collection's two tables against each other and the counters.
  private mutating func checkTables(_ store: KeyStore) throws(DocumentStoreError) {
    let tables = store.tables.map { "SELECT key, sequence FROM \(identifier($0.name))" }
    let all = "(" + tables.joined(separator: " UNION ALL ") + ")"
    let last = try store.lastSequence()
    if let highest = try connection.number("SELECT max(sequence) FROM \(all)"), highest > last {
      found.add(
        .lastSequence, store: store.name, "sequence \(highest) > \(last), the last one")
    }
    try checkSequences(of: all, in: store.name)
    let homes = try connection.texts(
      "SELECT key FROM \(all) GROUP BY key HAVING count(*) > 1 LIMIT 10")
    for key in homes {
      found.add(.home, store: store.name, key: key, "it is live and dead")
    }
  }

  private mutating func checkRecords(_ store: KeyStore) throws(DocumentStoreError) {
    for table in store.tables {
      try checkTypes(of: table.name, in: store.name)
      let statement = try connection.statement(
        "SELECT \(table.columns) FROM \(identifier(table.name)) ORDER BY key")
      defer { statement.reset() }
      while try statement.step() {
        let record = Record(statement)
        found.recordCount += 1
        checkHead(record, in: table, of: store.name)
        checkContents(record, of: store.name)
      }
    }
  }

  /// SQLite takes any value in any column, and gives another one when it is read as a number.
  private mutating func checkTypes(
    of table: String, in store: KeyStoreName
  ) throws(DocumentStoreError) {
    let keys = try connection.texts(
      "SELECT hex(key) FROM \(identifier(table)) WHERE typeof(key) <> 'text' LIMIT 10")
    for key in keys { found.add(.ids, store: store, "key x'\(key)' is no text") }
    let numbers: Set = ["sequence", "flags", "expiration"]
    for column in try Schema.columns(table, on: connection).intersection(numbers).sorted() {
      let keys = try connection.texts(
        "SELECT key FROM \(identifier(table)) "
          + "WHERE typeof(\(column)) NOT IN ('integer', 'null') LIMIT 10")
      for key in keys { found.add(.layout, store: store, key: key, "\(column) is no integer") }
    }
  }

  private mutating func checkHead(
    _ record: Record, in table: RecordTable, of store: KeyStoreName
  ) {
    func add(_ rule: Verification.Rule, _ message: String) {
      found.add(rule, store: store, key: record.key, message)
    }
    do { try DocumentRules.check(id: record.key) } catch { add(.ids, error.message) }
    if record.sequence < 1 { add(.sequences, "sequence \(record.sequence) < 1") }
    let isDead = record.flags.contains(.deleted)
    if table.isDead, !isDead { add(.home, "a live record lies among the dead") }
    if !table.isDead, isDead, store != .defaultCollection {
      add(.home, "a tombstone lies among live records")
    }
    if record.subsequence < 0 { add(.flags, "subsequence \(record.subsequence) < 0") }
    let unknown = record.flags.subtracting(.known)
    if !unknown.isEmpty { add(.flags, "unknown flags \(unknown.rawValue)") }
    if let time = record.expirationMilliseconds, time <= 0 {
      add(.expiration, "it expires at \(time)")
    }
  }
}
