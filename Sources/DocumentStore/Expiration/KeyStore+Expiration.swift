// KeyStore+Expiration.swift: when records expire, and the purge of those that have.
// Times are milliseconds since 1970. An expired record stays visible until it is purged, as with
// the real library. The purge leaves no tombstone, takes no sequence and counts no purge.

extension KeyStore {
  /// Sets when a record expires, live or dead; neither sequence nor subsequence change.
  /// - Parameters:
  ///   - milliseconds: Milliseconds since 1970; nil or 0 for never.
  ///   - key: The record's key.
  /// - Returns: Whether there is such a record.
  /// - Throws: `DocumentStoreError` with code `.invalidParameter` for a negative time, and for key
  ///   stores that are not a collection.
  /// - Complexity: O(log records).
  @discardableResult
  public func setExpiration(
    _ milliseconds: Int64?, of key: String
  ) throws(DocumentStoreError) -> Bool {
    try checkWriting()
    guard name.isCollection else {
      throw DocumentStoreError(.invalidParameter, "records of \(name) do not expire")
    }
    guard milliseconds ?? 0 >= 0 else {
      throw DocumentStoreError(
        .invalidParameter,
        "\(quoted(key)): expiration \(milliseconds ?? 0) < 0; count milliseconds from 1970")
    }
    for table in tables {
      let statement = try connection.statement(
        "UPDATE \(identifier(table.name)) SET expiration = ? WHERE key = ?")
      defer { statement.reset() }
      statement.bind(milliseconds == 0 ? nil : milliseconds, at: 1)
      try statement.bind(key, at: 2)
      try statement.run()
      if connection.changes > 0 { return true }
    }
    return false
  }

  /// When the first of the records expires, in milliseconds since 1970; nil when none does.
  /// - Throws: `DocumentStoreError`.
  /// - Complexity: O(log records).
  public func nextExpiration() throws(DocumentStoreError) -> Int64? {
    snapshot.check()
    var next: Int64?
    for table in tables where table.hasExpiration {
      let sql =
        "SELECT min(expiration) FROM \(identifier(table.name)) WHERE expiration IS NOT NULL"
      guard let first = try connection.number(sql) else { continue }
      next = min(next ?? first, first)
    }
    return next
  }

  /// Removes all records, live and dead, that have expired.
  /// - Parameter nowMilliseconds: The time, in milliseconds since 1970.
  /// - Returns: Their keys, in order.
  /// - Throws: `DocumentStoreError`.
  /// - Complexity: O(expired · log records).
  @discardableResult
  public func purgeExpired(nowMilliseconds: Int64) throws(DocumentStoreError) -> [String] {
    try checkWriting()
    guard name.isCollection else { return [] }
    var keys: [String] = []
    for table in tables where table.hasExpiration {
      let condition = "FROM \(identifier(table.name)) WHERE expiration <= ?"
      let select = try connection.statement("SELECT key \(condition)")
      defer { select.reset() }
      select.bind(nowMilliseconds, at: 1)
      let countBefore = keys.count
      while try select.step() { keys.append(select.text(0)) }
      guard keys.count > countBefore else { continue }
      let delete = try connection.statement("DELETE \(condition)")
      defer { delete.reset() }
      delete.bind(nowMilliseconds, at: 1)
      try delete.run()
    }
    return keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
