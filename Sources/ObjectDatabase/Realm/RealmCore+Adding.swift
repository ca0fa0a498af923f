// RealmCore+Adding.swift: adds and deletes the rows of objects. An added object's row is written
// first, with its plain values; links to other objects follow after every row exists, from a list
// instead of by recursion, so that a chain of a million objects needs no deep stack. Consecutive
// objects of one class without links and collections are added in batches (ObjectBatch.swift).

import Engine

/// The state of the current add.
struct Adding {
  /// The policy for an existing primary key; applies to linked objects, too.
  var policy = Realm.UpdatePolicy.error
  var isActive = false
  /// Properties that lead to other objects, to be written.
  var open: [(wrapper: any PersistedProperty, row: _Row, isUpdate: Bool)] = []
  /// The class of the object that was added last; nil after anything else.
  var lastType: ObjectBase.Type?
  /// Rows that the transaction does not have yet.
  var batch: ObjectBatch?
}

extension _RealmCore {
  // MARK: adding

  /// The key of an object that something is to link to; an unmanaged one is added.
  func link(to object: ObjectBase) -> Int64 {
    guard let access = object.tableAccess else { return add(object, adding.policy) }
    guard access.core === self else {
      Misuse.stop(
        "an object of \(access.name) belongs to another realm; use realm.create(value:), or thaw() "
          + "it if it is frozen")
    }
    guard !access.info.isEmbedded else {
      Misuse.stop(
        "an embedded object of \(access.name) has its owner already; make another with the same "
          + "values")
    }
    guard !object.isInvalidated else { access.gone(object.rowKey) }
    return object.rowKey
  }

  /// Adds an unmanaged object and everything that it leads to.
  /// - Returns: The key; of the row that has the primary key already, if it does.
  func add(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) -> Int64 {
    checkWritable()
    if !adding.isActive, let key = addToBatch(object, policy) { return key }
    let access = access(to: Swift.type(of: object))
    let isOuter = !adding.isActive
    if isOuter {
      adding.isActive = true
      adding.policy = policy
    }
    let key = place(object, access)
    guard isOuter else { return key }
    while let next = adding.open.popLast() {
      if next.isUpdate, adding.policy == .modified, updateEmbedded(next.wrapper, next.row) {
        continue
      }
      next.wrapper.write(to: next.row, isUpdate: next.isUpdate)
    }
    adding = Adding()
    adding.lastType = access.info.type
    return key
  }

  private func place(_ object: ObjectBase, _ access: _TableAccess) -> Int64 {
    let info = access.info
    let fields = info.fields
    var key: Int64 = 0
    var (isPlaced, isUpdate) = (false, false)
    change { write throws(EngineError) in
      if let number = info.primaryKey, let value = fields[number].plainValue(of: object),
        let existing = try write.firstKey(
          in: info.name, column: info.properties[number].columnName, equalTo: value)
      {
        key = existing
        guard adding.policy != .error else { throw Self.duplicate(info, number, value) }
        (isPlaced, isUpdate) = (true, true)
        try update(existing, info, object, write)
        return
      }
      key = try nextKey(of: info.name, write)
      let row = try plainRow(info, object, write)
      try write.insert(into: info.name, key: key, row)
      if let recorder {
        try recorder.didInsert(key, into: info.name, row, isDefault: defaults(info, object, write))
      }
      isPlaced = true
    }
    guard isPlaced else { return key }
    becomeManaged(object, access, key, isUpdate: isUpdate)
    return key
  }

  /// Makes an object that of a row, and notes what else is to be written.
  private func becomeManaged(
    _ object: ObjectBase, _ access: _TableAccess, _ key: Int64, isUpdate: Bool
  ) {
    let info = access.info
    let fields = info.fields
    object.tableAccess = access
    object.rowKey = key
    for number in fields.indices.reversed() {
      let property = info.properties[number]
      guard property.type != .linkingObjects else { continue }
      if property.isCollection || property.type == .object || property.type == .any {
        let wrapper = fields[number].wrapper(of: object)
        guard property.isCollection || wrapper.plainValue == nil else { continue }
        let row = _Row(access: access, key: key, property: number)
        adding.open.append((wrapper, row, isUpdate))
        fields[number].place.becomeManaged(object)
      }
    }
    if info.isEncodable { info.markManaged(object) }
  }

  /// Gives the embedded object that a row has the values of an unmanaged one, which then stands for
  /// that row.
  /// - Returns: False when there is none, or no embedded object is set; nothing was done then.
  private func updateEmbedded(_ wrapper: any PersistedProperty, _ row: _Row) -> Bool {
    guard embeddedTarget(row.access.info, row.property) != nil,
      !row.access.info.properties[row.property].isCollection,
      let object = DynamicValue.unwrapped(wrapper.anyValue) as? EmbeddedObject,
      object.tableAccess == nil, case .link(let key) = row.value
    else { return false }
    let access = access(to: Swift.type(of: object))
    change { write throws(EngineError) in try update(key, access.info, object, write) }
    becomeManaged(object, access, key, isUpdate: true)
    return true
  }

  static func duplicate(_ info: ClassInfo, _ number: Int, _ value: Value) -> EngineError {
    EngineError(
      code: .duplicateValue,
      message: "an object of \(info.name) with the primary key \(info.properties[number].name) = "
        + "\(DynamicValue.text(of: value)) already exists; add it with update: .modified or "
        + ".all to change that one")
  }

  /// The values of a new row, in the order of the table's columns.
  private func plainRow(
    _ info: ClassInfo, _ object: ObjectBase, _ write: WriteTransaction
  ) throws(EngineError) -> [Value] {
    let schema = try write.schema(of: info.name)
    let order = access(info).propertyOrder(schema)
    var row: [Value] = []
    row.reserveCapacity(order.count)
    for (column, number) in order.enumerated() {
      guard number >= 0, !info.properties[number].isCollection else {
        row.append(DynamicValue.empty(schema.columns[column]))
        continue
      }
      row.append(info.fields[number].plainValue(of: object) ?? .null)
    }
    return row
  }

  /// For each column whether an object has only the default value.
  private func defaults(
    _ info: ClassInfo, _ object: ObjectBase, _ write: WriteTransaction
  ) throws(EngineError) -> [Bool] {
    access(info).propertyOrder(try write.schema(of: info.name)).map { number in
      number < 0 || !info.fields[number].place.isSet(in: object)
    }
  }

  /// Updates an existing row with the values of an object.
  private func update(
    _ key: Int64, _ info: ClassInfo, _ object: ObjectBase, _ write: WriteTransaction
  ) throws(EngineError) {
    for (number, property) in info.properties.enumerated()
    where !property.isPrimaryKey && !property.isCollection && property.type != .linkingObjects {
      guard let value = info.fields[number].plainValue(of: object) else { continue }
      let column = property.columnName
      // A value that is the same is written by `.all` only.
      if adding.policy == .modified,
        try write.value(in: info.name, key: key, column: column) == value
      {
        continue
      }
      if let embedded = embeddedTarget(info, number) {
        let old = try write.value(in: info.name, key: key, column: column) ?? .null
        try write.set(value, in: info.name, key: key, column: column)
        try recorder?.didSet(value, CollectionPath(table: info.name, key: key, column: column))
        for child in old.linkedKeys { try release(child, of: embedded, write) }
        continue
      }
      let old =
        property.type == .any && MixedCollections.are(in: write)
        ? try write.value(in: info.name, key: key, column: column) : nil
      try write.set(value, in: info.name, key: key, column: column)
      try recorder?.didSet(value, CollectionPath(table: info.name, key: key, column: column))
      if let old { try MixedCollections.release([old], write) }
    }
  }

  // MARK: deleting

  /// Deletes a row, and the embedded objects and collections of mixed values that it owns, at any
  /// depth.
  ///
  /// In a forged file two rows may own one embedded object, or an object may own itself: deleted
  /// rows are skipped, so this ends.
  func deleteRow(
    _ key: Int64, of info: ClassInfo, _ write: WriteTransaction
  ) throws(EngineError) {
    var open = [(key: key, info: info)]
    while let (key, info) = open.popLast() {
      guard try write.contains(key: key, in: info.name) else { continue }
      var children: [(key: Int64, info: ClassInfo)] = []
      var mixed: [Value] = []
      for number in info.properties.indices {
        let embedded = embeddedTarget(info, number)
        guard
          embedded != nil
            || info.properties[number].type == .any && MixedCollections.are(in: write)
        else { continue }
        let column = info.properties[number].columnName
        // A migration block renames columns of classes that were described before it ran.
        if isMigrating {
          let columns = try write.schema(of: info.name).columns
          guard columns.contains(where: { $0.name == column }) else { continue }
        }
        let value = try write.value(in: info.name, key: key, column: column) ?? .null
        guard let embedded else {
          mixed.append(value)
          continue
        }
        for child in value.linkedKeys { children.append((child, embedded)) }
      }
      try recorder?.willDelete(key, from: info.name)
      try write.delete(from: info.name, key: key)
      if !mixed.isEmpty { try MixedCollections.release(mixed, write) }
      for child in children where try !isOwned(child.key, child.info, write) { open.append(child) }
    }
  }

  /// Deletes an embedded object that its owner released.
  func release(
    _ key: Int64, of info: ClassInfo, _ write: WriteTransaction
  ) throws(EngineError) {
    if try !isOwned(key, info, write) { try deleteRow(key, of: info, write) }
  }

  /// Whether an embedded object released by an owner has another one, which is possible only in a
  /// migration, where it may have been an independent object before.
  private func isOwned(
    _ key: Int64, _ info: ClassInfo, _ write: WriteTransaction
  ) throws(EngineError) -> Bool {
    guard isMigrating, try write.contains(key: key, in: info.name) else { return false }
    return try OwnerColumns(of: info.name, write).count(key, write) > 0
  }

  /// Deletes the row of an object; the object is invalidated.
  func delete(_ object: ObjectBase) {
    checkWritable()
    guard let access = object.tableAccess, access.core === self else {
      Misuse.stop("an object can be deleted in its own realm only, and an unmanaged one has none")
    }
    guard !object.isInvalidated else { access.gone(object.rowKey) }
    delete([object.rowKey], access)
  }

  /// Deletes rows; those already deleted with their owner are skipped.
  func delete(_ keys: [Int64], _ access: _TableAccess) {
    change { write throws(EngineError) in
      for key in keys where try write.contains(key: key, in: access.name) {
        try deleteRow(key, of: access.info, write)
      }
    }
  }

  /// Deletes all objects of all classes that the realm knows or the file holds.
  func deleteAll() {
    change { write throws(EngineError) in
      for table in write.tables
      where !table.name.hasPrefix(ClassInfo.reservedPrefix)
        || table.name == MixedCollections.tableName
      {
        for key in try write.keys(of: table.name) {
          try recorder?.willDelete(key, from: table.name)
          try write.delete(from: table.name, key: key)
        }
      }
    }
  }
}
