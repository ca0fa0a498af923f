// KeyStore+Indexes.swift: creates an index with all of its objects, or not at all.

extension KeyStore {
  /// Makes an index, in place of the one that has its name in any collection.
  ///
  /// Does nothing if it exists already with the same SQL.
  /// - Parameter wanted: The index.
  /// - Returns: Whether it was created.
  /// - Throws: `DocumentStoreError` with code `.invalidParameter` for invalid names and
  ///   expressions, and for a name that differs from another's only in case; errors of a model. The
  ///   indexes are then unchanged.
  /// - Complexity: O(documents · log documents).
  ///
  /// Durability: with the transaction.
  @discardableResult
  public func createIndex(_ wanted: IndexSpecification) throws(DocumentStoreError) -> Bool {
    try checkWriting()
    guard name.isCollection else {
      throw DocumentStoreError(.invalidParameter, "\(name) is not a collection and has no indexes")
    }
    guard !wanted.name.isEmpty, !wanted.name.utf8.contains(where: { $0 == 0x22 || $0 == 0 }) else {
      throw DocumentStoreError(
        .invalidParameter, "no index can be named \(quoted(wanted.name)); avoid \" and no name")
    }
    let plan = try IndexPlan(wanted, for: name)
    return try connection.nesting { () throws(DocumentStoreError) in
      try connection.ensureIndexList()
      try checkCase(of: wanted.name)
      if let old = try connection.indexes(where: "name = \(literal(wanted.name))").first {
        if try isSame(old, wanted, plan) { return false }
        try connection.drop(old)
      }
      try connection.make(plan)
      try register(wanted, plan)
      return true
    }
  }

  /// SQL ignores the case of names, but the list does not.
  private func checkCase(of wanted: String) throws(DocumentStoreError) {
    let same = try connection.texts(
      "SELECT name FROM indexes WHERE lower(name) = lower(\(literal(wanted))) "
        + "AND name <> \(literal(wanted))")
    guard let other = same.first else { return }
    throw DocumentStoreError(
      .invalidParameter,
      "index \(quoted(wanted)) differs in case only from \(quoted(other)); choose another name")
  }

  /// Whether all objects of a plan exist, with its SQL.
  private func isSame(
    _ old: IndexInfo, _ wanted: IndexSpecification, _ plan: IndexPlan
  ) throws(DocumentStoreError) -> Bool {
    guard old.keyStore == name, old.kind == wanted.kind.listed,
      old.listedTable == plan.listedTable
    else { return false }
    var objects = plan.tables.flatMap { table in
      [(table.name, table.sql)] + table.triggers.map { ($0.name, $0.sql) }
    }
    if let index = plan.index { objects.append((wanted.name, index)) }
    for (name, sql) in objects where try connection.sql(of: name) != sql { return false }
    return true
  }

  private func register(
    _ wanted: IndexSpecification, _ plan: IndexPlan
  ) throws(DocumentStoreError) {
    let statement = try connection.statement(
      "INSERT INTO indexes (name, type, keyStore, expression, indexTableName) "
        + "VALUES (?, ?, ?, ?, ?)")
    defer { statement.reset() }
    try statement.bind(wanted.name, at: 1)
    statement.bind(wanted.kind.listed.rawValue, at: 2)
    try statement.bind(name.text, at: 3)
    try statement.bind(IndexInfo.Language.json.rawValue + wanted.expressions, at: 4)
    if let table = plan.listedTable { try statement.bind(table, at: 5) }
    try statement.run()
  }
}

extension IndexSpecification.Kind {
  /// The kind in the form of the list.
  var listed: IndexInfo.Kind {
    switch self {
    case .value: .value
    case .fullText: .fullText
    case .array: .array
    case .predictive: .predictive
    }
  }
}

extension WriteTransaction {
  /// Removes an index with everything that no other index needs.
  /// - Parameter name: Its name.
  /// - Returns: Whether there was one.
  /// - Throws: `DocumentStoreError` with code `.unsupported` for a vector index; the indexes are as
  ///   before then.
  /// - Complexity: O(rows of its tables).
  @discardableResult
  public func deleteIndex(_ name: String) throws(DocumentStoreError) -> Bool {
    snapshot.check()
    try connection.checkWriting()
    guard let index = try connection.indexes(where: "name = \(literal(name))").first else {
      return false
    }
    try connection.nesting { () throws(DocumentStoreError) in try connection.drop(index) }
    return true
  }
}
