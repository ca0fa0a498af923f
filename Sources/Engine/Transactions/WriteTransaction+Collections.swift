// WriteTransaction+Collections.swift: changes collections in place. An edit copies the leaf of the
// row and, for a collection that is a tree, one leaf and the nodes above it; the rest of the
// collection does not move.

extension WriteTransaction {
  /// Changes a collection and stores it in its row.
  ///
  /// `body` checks everything before its first change, so an error about a value or index leaves
  /// the transaction unchanged.
  private func edit<Result>(
    _ path: CollectionPath, _ kinds: [CollectionKind],
    _ body: (inout CollectionContent, MutableTable, Int) throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    let table = try table(path.table)
    let column = try path.column(in: table.schema, kinds)
    var result: Result?
    try remembering { () throws(EngineError) in
      var linkChanges: [LinkChange] = []
      try table.tree.modify(path.key) { leaf, row throws(EngineError) in
        var content = try CollectionContent(leaf.columns[column], at: row, writer)
        result = try body(&content, table, column)
        linkChanges = content.linkChanges
        try content.store(in: &leaf.columns[column], at: row, writer)
      }
      try table.reindex(path.key, column, linkChanges)
    }
    guard let result else { preconditionFailure("the row was there") }
    return result
  }

  /// Adds an element at the end of a list.
  /// - Throws: As `count(of:)`, and `.valueTooLarge`.
  /// - Complexity: O(log elements) nodes.
  public func append(_ value: Value, to path: CollectionPath) throws(EngineError) {
    try checkLink(value, in: path)
    try edit(path, [.list]) { content, table, column throws(EngineError) in
      try table.checkElement(value, column: column)
      try content.insert(key: nil, value, at: content.count, writer)
    }
  }

  /// Adds an element to a list before the one at an index.
  /// - Parameters:
  ///   - value: The element.
  ///   - index: At most the count.
  ///   - path: The list.
  /// - Throws: As `append`, and `.indexOutOfRange`.
  /// - Complexity: O(log elements) nodes.
  public func insert(
    _ value: Value, at index: Int, in path: CollectionPath
  ) throws(EngineError) {
    try checkLink(value, in: path)
    try edit(path, [.list]) { content, table, column throws(EngineError) in
      try table.checkElement(value, column: column)
      try path.checkIndex(index, count: content.count + 1)
      try content.insert(key: nil, value, at: index, writer)
    }
  }

  /// Replaces an element of a list.
  /// - Throws: As `append`, and `.indexOutOfRange`.
  /// - Complexity: O(log elements) nodes.
  public func replace(
    at index: Int, with value: Value, in path: CollectionPath
  ) throws(EngineError) {
    try checkLink(value, in: path)
    try edit(path, [.list]) { content, table, column throws(EngineError) in
      try table.checkElement(value, column: column)
      try path.checkIndex(index, count: content.count)
      try content.replace(at: index, with: value, writer)
    }
  }

  /// Removes an element of a list.
  /// - Throws: As `count(of:)`, and `.indexOutOfRange`.
  /// - Complexity: O(log elements) nodes.
  public func remove(at index: Int, from path: CollectionPath) throws(EngineError) {
    try edit(path, [.list]) { content, _, _ throws(EngineError) in
      try path.checkIndex(index, count: content.count)
      try content.remove(at: index, writer)
    }
  }

  /// Adds a value to a set.
  /// - Returns: Whether it was not there.
  /// - Throws: As `append`.
  /// - Complexity: O(log elements) nodes.
  @discardableResult
  public func insert(_ value: Value, into path: CollectionPath) throws(EngineError) -> Bool {
    try checkLink(value, in: path)
    return try edit(path, [.set]) { content, table, column throws(EngineError) in
      try table.checkElement(value, column: column)
      let (index, isThere) = try content.position(of: value)
      if !isThere { try content.insert(key: nil, value, at: index, writer) }
      return !isThere
    }
  }

  /// Removes a value from a set.
  /// - Returns: Whether it was there.
  /// - Throws: As `count(of:)`.
  /// - Complexity: O(log elements) nodes.
  @discardableResult
  public func remove(_ value: Value, from path: CollectionPath) throws(EngineError) -> Bool {
    try edit(path, [.set]) { content, _, _ throws(EngineError) in
      let (index, isThere) = try content.position(of: value)
      if isThere { try content.remove(at: index, writer) }
      return isThere
    }
  }

  /// Sets the value of a key of a dictionary, replacing any old one.
  /// - Throws: As `append`.
  /// - Complexity: O(log entries) nodes.
  public func set(
    _ value: Value, forKey key: String, in path: CollectionPath
  ) throws(EngineError) {
    try checkLink(value, in: path)
    try edit(path, [.dictionary]) { content, table, column throws(EngineError) in
      try table.checkSize(key.utf8.count, column: column)
      try table.checkElement(value, column: column)
      let (index, isThere) = try content.position(ofKey: key)
      if isThere {
        try content.replace(at: index, with: value, writer)
      } else {
        try content.insert(key: key, value, at: index, writer)
      }
    }
  }

  /// Removes a key and its value from a dictionary.
  /// - Returns: Whether it was there.
  /// - Throws: As `count(of:)`.
  /// - Complexity: O(log entries) nodes.
  @discardableResult
  public func removeValue(
    forKey key: String, from path: CollectionPath
  ) throws(EngineError) -> Bool {
    try edit(path, [.dictionary]) { content, _, _ throws(EngineError) in
      let (index, isThere) = try content.position(ofKey: key)
      if isThere { try content.remove(at: index, writer) }
      return isThere
    }
  }

  /// Removes all elements of a collection.
  /// - Throws: As `count(of:)`.
  /// - Complexity: O(nodes of the collection), which are read to be released.
  public func removeAll(from path: CollectionPath) throws(EngineError) {
    let table = try table(path.table)
    let column = try path.column(in: table.schema, CollectionKind.any)
    try remembering { () throws(EngineError) in
      let old = table.indexes[column] == nil ? nil : try table.tree.value(path.key, column)
      if let old { try table.reindex(path.key, column, old: old, new: nil) }
      try table.tree.modify(path.key) { leaf, row throws(EngineError) in
        try leaf.columns[column].dropExternal(at: row, writer)
        leaf.columns[column].replace([], isExternal: false, at: row)
      }
    }
  }
}
