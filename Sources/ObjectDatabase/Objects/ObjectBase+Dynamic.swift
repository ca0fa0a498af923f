// ObjectBase+Dynamic.swift: properties by name. A name that the class has not stops the process; a
// value that does not fit makes the write transaction fail.

import Engine

extension ObjectBase {
  /// A property by its name in the class.
  public final subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }

  /// The value of a property by its name in the class; collections as arrays and dictionaries.
  public final func value(forKey key: String) -> Any? {
    let number = propertyNumber(key)
    guard let access = tableAccess else {
      return DynamicValue.flattened(classInfo.fields[number].wrapper(of: self).anyValue)
    }
    let property = access.info.properties[number]
    guard property.type != .linkingObjects else { return nil }
    return DynamicValue.any(
      access.value(rowKey, number), property, access.core, isDynamic: access.info.isDynamic)
  }

  /// Changes a property of a managed object by its name in the class.
  ///
  /// An unmanaged object has no schema to check the value against: set its property, or use
  /// `realm.create(_:value:)`.
  public final func setValue(_ value: Any?, forKey key: String) {
    let number = propertyNumber(key)
    guard let access = tableAccess else {
      Misuse.stop(
        "\(classInfo.name).\(key) is set by name, and the object is unmanaged; add it first")
    }
    access.checkAssignable(number)
    access.core.set(value, rowKey, access, number, depth: 0)
  }

  private func propertyNumber(_ key: String) -> Int {
    guard let number = classInfo.number(of: key) else {
      Misuse.stop(
        "class \(classInfo.name) has no property \"\(key)\"; it has "
          + classInfo.properties.map(\.name).joined(separator: ", "))
    }
    return number
  }
}

extension _RealmCore {
  /// Values nested deeper than this are rejected: they come from untrusted sources.
  private static let depthMax = 100

  private func misfit(_ any: Any?, _ access: _TableAccess, _ number: Int) {
    let text = String(describing: DynamicValue.flattened(any) ?? "nil").prefix(60)
    fail(
      Realm.Error(
        .invalidValue,
        "\(access.name).\(access.info.properties[number]) cannot hold \(text)"))
  }

  /// Makes a row of values by name, or in the order of the properties, or of another object.
  /// - Returns: The key; nil when the transaction failed, now or before.
  func create(
    _ access: _TableAccess, _ value: Any, _ policy: Realm.UpdatePolicy, depth: Int = 0
  ) -> Int64? {
    checkWritable()
    guard firstFailure == nil else { return nil }
    guard depth <= Self.depthMax else {
      fail(Realm.Error(.invalidValue, "values of \(access.name) are nested deeper than 100"))
      return nil
    }
    guard var given = values(value, access) else { return nil }
    let defaults = access.info.type.init()
    if policy != .error, let number = access.info.primaryKey, !access.info.isDynamic {
      // Without a key the values refer to the object with the default key.
      let name = access.info.properties[number].name
      if given[name] == nil {
        given[name] = .some(access.info.fields[number].wrapper(of: defaults).anyValue)
      }
    }
    var key: Int64 = 0
    var isNew = true
    change { write throws(EngineError) in
      let columns = try write.schema(of: access.name).columns
      if let (existing, number, value) = try self.existing(given, access, write) {
        guard policy != .error else { throw Self.duplicate(access.info, number, value) }
        key = existing
        isNew = false
        return
      }
      var row: [Value] = []
      for column in columns {
        row.append(initial(column, given, defaults, access))
      }
      key = try nextKey(of: access.name, write)
      try write.insert(into: access.name, key: key, row)
      if let recorder {
        let isDefault = access.propertyOrder(try write.schema(of: access.name)).map { number in
          number < 0 || given[access.info.properties[number].name] == nil
        }
        try recorder.didInsert(key, into: access.name, row, isDefault: isDefault)
      }
    }
    guard firstFailure == nil else { return nil }
    for (number, property) in access.info.properties.enumerated() {
      guard let any = given[property.name], property.type != .linkingObjects,
        !property.isPrimaryKey
      else { continue }
      let isWritten =
        isNew && !property.isCollection && property.type != .object && property.type != .any
      if !isWritten { set(any, key, access, number, policy, depth: depth + 1) }
    }
    return firstFailure == nil ? key : nil
  }

  /// The values by property name; nil when there is an error, which is noted.
  private func values(_ value: Any, _ access: _TableAccess) -> [String: Any?]? {
    let info = access.info
    switch value {
    case let values as [String: Any?]:
      if let unknown = values.keys.sorted().first(where: { info.number(of: $0) == nil }) {
        fail(Realm.Error(.invalidValue, "class \(info.name) has no property \"\(unknown)\""))
        return nil
      }
      return values
    case let object as ObjectBase:
      var values: [String: Any?] = [:]
      for property in object.classInfo.properties
      where property.type != .linkingObjects && info.number(of: property.name) != nil {
        values[property.name] = .some(object.value(forKey: property.name))
      }
      return values
    case let list as [Any?] where list.count <= info.properties.count:
      return Dictionary(
        zip(info.properties.map(\.name), list), uniquingKeysWith: { first, _ in first })
    default:
      fail(
        Realm.Error(
          .invalidValue,
          "an object of \(info.name) is made of a dictionary, an array of at most "
            + "\(info.properties.count) values or an object, not of \(Swift.type(of: value))"))
      return nil
    }
  }

  /// The object that has the primary key already, with the key's property and value.
  private func existing(
    _ given: [String: Any?], _ access: _TableAccess, _ write: WriteTransaction
  ) throws(EngineError) -> (key: Int64, property: Int, value: Value)? {
    guard let number = access.info.primaryKey, let any = given[access.info.properties[number].name],
      let value = plain(any, access, number)
    else { return nil }
    let column = access.info.properties[number].columnName
    let key = try write.firstKey(in: access.name, column: column, equalTo: value)
    return key.map { ($0, number, value) }
  }

  private func initial(
    _ column: ColumnSchema, _ given: [String: Any?], _ defaults: ObjectBase,
    _ access: _TableAccess
  ) -> Value {
    guard let number = access.info.properties.firstIndex(where: { $0.columnName == column.name }),
      column.collection == .none, column.type != .link
    else { return DynamicValue.empty(column) }
    let property = access.info.properties[number]
    guard let any = given[property.name] else {
      if defaults is DynamicObject { return DynamicValue.empty(column) }
      return access.info.fields[number].plainValue(of: defaults) ?? DynamicValue.empty(column)
    }
    // A mixed value may be an object, which needs a row: it is written with the links.
    if property.type == .any { return .null }
    if let value = plain(any, access, number) { return value }
    misfit(any, access, number)
    return DynamicValue.empty(column)
  }

  /// The engine's value for one that is not a link; nil when the property's type cannot represent
  /// it, even if its column could.
  func plain(_ any: Any?, _ access: _TableAccess, _ number: Int) -> Value? {
    guard let value = DynamicValue.plain(any, access.info.properties[number]),
      access.info.fits(value, number, self)
    else { return nil }
    return value
  }

  /// Changes a property to a value of any type; nil empties a collection.
  func set(
    _ any: Any?, _ key: Int64, _ access: _TableAccess, _ number: Int,
    _ policy: Realm.UpdatePolicy = .error, depth: Int
  ) {
    let property = access.info.properties[number]
    let any = DynamicValue.flattened(any)
    switch property.collection {
    case .none:
      guard let value = element(any, access, number, policy, depth) else { return }
      access.set(value, key, number)
    case .list, .set:
      let any = any ?? [Any]()
      guard let sequence = any as? any Sequence, !(any is String), !(any is [String: Any]) else {
        misfit(any, access, number)
        return
      }
      var values: [Value] = []
      for case let item as Any? in sequence {
        guard let value = element(item, access, number, policy, depth) else { return }
        values.append(value)
      }
      access.set(property.isArray ? .list(values) : .set(values), key, number)
    case .dictionary:
      let any = any ?? [String: Any?]()
      guard let entries = any as? [String: Any?] ?? (any as? any MapEntries)?.anyEntries else {
        misfit(any, access, number)
        return
      }
      var values: [DictionaryEntry] = []
      for (name, item) in entries.sorted(by: { $0.key < $1.key }) {
        guard let value = element(item, access, number, policy, depth) else { return }
        values.append(DictionaryEntry(key: name, value: value))
      }
      access.set(.dictionary(values), key, number)
    }
  }

  /// The key of an object that a value leads to; an unmanaged one is added as the value's owner is.
  private func link(to object: ObjectBase, _ policy: Realm.UpdatePolicy) -> Int64 {
    object.tableAccess == nil ? add(object, policy) : link(to: object)
  }

  /// One value, or one element; nil when there is an error, which is noted.
  private func element(
    _ any: Any?, _ access: _TableAccess, _ number: Int, _ policy: Realm.UpdatePolicy, _ depth: Int
  ) -> Value? {
    let property = access.info.properties[number]
    let flat = DynamicValue.flattened(any)
    if property.type == .any, let value = AnyRealmValue(any: flat as Any) {
      if case .object(let object) = value { _ = link(to: object, policy) }
      return value._engineValue(in: self)
    }
    guard property.type == .object else {
      if let value = plain(flat, access, number) { return value }
      misfit(any, access, number)
      return nil
    }
    guard let flat else {
      if property.collection == .none || property.isOptional { return .null }
      misfit(any, access, number)
      return nil
    }
    guard let name = property.objectClassName,
      let target = self.access(named: name)
        ?? (access.info.isDynamic ? dynamicAccess(named: name) : nil)
    else {
      misfit(any, access, number)
      return nil
    }
    if let object = flat as? ObjectBase, object.classInfo.name == name,
      object.tableAccess.map({ $0.core === self }) ?? true, !target.info.isEmbedded
    {
      return .link(link(to: object, policy))
    }
    return create(target, flat, policy, depth: depth).map { .link($0) }
  }
}
