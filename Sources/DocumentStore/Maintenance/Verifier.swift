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
    for name in [KeyStoreName.defaultCollection, .info] {
      try expect(["key", "body"], in: name.table, when: true)
    }
    for name in try snapshot.keyStores() {
      try expect(["extra"], in: name.table, when: version >= Schema.withExtra)
      try expect(["expiration"], in: name.table, when: version >= Schema.withExpirations)
      guard name.isCollection else { continue }
      try expect(["extra"], in: name.deadTable, when: version >= Schema.withDeadTables)
    }
    for key in [StoreInfo.Key.publicUUID, .privateUUID] {
      let size = try StoreInfo(connection: connection).body(key)?.count ?? 0
      if size != 16 { found.add(.layout, "\(key.rawValue) has \(size) bytes instead of 16") }
    }
    do { _ = try snapshot.versioning() } catch { found.add(.layout, error.message) }
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
    let twice = try connection.texts(
      "SELECT sequence FROM \(all) WHERE sequence IS NOT NULL GROUP BY sequence "
        + "HAVING count(*) > 1 LIMIT 10")
    for sequence in twice {
      found.add(.sequences, store: store.name, "sequence \(sequence) occurs twice")
    }
    let homes = try connection.texts(
      "SELECT key FROM \(all) GROUP BY key HAVING count(*) > 1 LIMIT 10")
    for key in homes {
      found.add(.home, store: store.name, key: key, "it is live and dead")
    }
    let counters = try store.state.loadedCounters(on: connection)
    if counters.purgeCount < 0 || counters.deadPurgeCount ?? 0 < 0 {
      found.add(.layout, store: store.name, "a count of purges is negative")
    }
  }

  private mutating func checkRecords(_ store: KeyStore) throws(DocumentStoreError) {
    for table in store.tables {
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

  private mutating func checkHead(
    _ record: Record, in table: RecordTable, of store: KeyStoreName
  ) {
    func add(_ rule: Verification.Rule, _ message: String) {
      found.add(rule, store: store, key: record.key, message)
    }
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
