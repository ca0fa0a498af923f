// KeyStore+Enumeration.swift: records in an order.

extension KeyStore {
  /// The records of an enumeration, and their order.
  public struct Enumeration: Sendable {
    /// The order.
    public enum Order: Sendable {
      /// By key, byte by byte.
      case key
      /// By sequence.
      case sequence
    }

    /// The order.
    public var order = Order.key
    /// Whether the order is descending.
    public var isDescending = false
    /// Whether tombstones are among them.
    public var includesDeleted = false
    /// Only those with flags, all of these.
    public var flags: RecordFlags = []
    /// Only those with higher sequences.
    public var sinceSequence: Int64 = 0
    /// Only those with this key or later ones in key order.
    public var firstKey: String?
    /// Most records.
    public var countMax: Int?
    /// The content to read of each.
    public var content = Content.whole

    /// All live records by key.
    public init() {}

    /// Records that changed after a sequence, tombstones among them, in the order of the changes.
    /// - Parameter sequence: The sequence.
    /// - Returns: The options.
    public static func changes(since sequence: Int64) -> Enumeration {
      var enumeration = Enumeration()
      enumeration.order = .sequence
      enumeration.includesDeleted = true
      enumeration.sinceSequence = sequence
      return enumeration
    }
  }

  /// Passes records on, one after the other.
  /// - Parameters:
  ///   - enumeration: The records, and their order.
  ///   - body: Is given each; it ends the enumeration by returning false.
  /// - Throws: What `body` throws, and `DocumentStoreError`.
  /// - Complexity: O(records); by sequence O(records · log records) while the file has no index for
  ///   it, which the next write transaction creates.
  public func enumerate(
    _ enumeration: Enumeration = Enumeration(), _ body: (Record) throws -> Bool
  ) throws {
    snapshot.check()
    if enumeration.order == .sequence { try wantSequences() }
    let statement = try connection.statement(sql(enumeration))
    defer { statement.reset() }
    try bind(enumeration, to: statement)
    while try statement.step() {
      guard try body(Record(statement)) else { return }
    }
  }

  /// The records of an enumeration.
  /// - Parameter enumeration: The records, and their order.
  /// - Returns: All of them.
  /// - Throws: `DocumentStoreError`.
  /// - Complexity: As `enumerate`, and memory for all.
  public func records(
    _ enumeration: Enumeration = Enumeration()
  ) throws(DocumentStoreError) -> [Record] {
    var records: [Record] = []
    do {
      try enumerate(enumeration) {
        records.append($0)
        return true
      }
    } catch {
      throw SQLFailure.error(error, connection.context)
    }
    return records
  }

  private func sql(_ enumeration: Enumeration) -> String {
    var conditions: [String] = []
    if enumeration.sinceSequence > 0 { conditions.append("sequence > ?1") }
    if enumeration.firstKey != nil { conditions.append("key >= ?2") }
    if !enumeration.flags.isEmpty {
      conditions.append("flags & \(enumeration.flags.rawValue) = \(enumeration.flags.rawValue)")
    }
    var tables = [state.live]
    if enumeration.includesDeleted {
      if let dead = state.dead { tables.append(dead) }
    } else {
      conditions.append("flags & 1 = 0")
    }
    let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    let selects = tables.map { table in
      let columns =
        enumeration.content == .whole
        ? table.columns
        : "key, sequence, flags, version, NULL, NULL, "
          + (table.hasExpiration ? "expiration" : "NULL")
      return "SELECT \(columns) FROM \(identifier(table.name))\(condition)"
    }
    let order = enumeration.order == .key ? "1" : "2"
    return selects.joined(separator: " UNION ALL ")
      + " ORDER BY \(order)\(enumeration.isDescending ? " DESC" : "")"
      + (enumeration.countMax == nil ? "" : " LIMIT ?3")
  }

  private func bind(
    _ enumeration: Enumeration, to statement: SQLStatement
  ) throws(DocumentStoreError) {
    if enumeration.sinceSequence > 0 { statement.bind(enumeration.sinceSequence, at: 1) }
    if let key = enumeration.firstKey { try statement.bind(key, at: 2) }
    if let most = enumeration.countMax { statement.bind(Int64(max(0, most)), at: 3) }
  }
}
