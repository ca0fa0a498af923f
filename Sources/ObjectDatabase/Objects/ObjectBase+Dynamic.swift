// ObjectBase+Dynamic.swift: properties by name. A name that the class has not stops the process; a
// value that does not fit makes the write transaction fail, or stops the process if the object is
// unmanaged.

import Engine

extension ObjectBase {
  /// A property by its name in the class.
  public final subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }

  /// The value of a property by its name in the class.
  ///
  /// A collection is a list, set or map, and one of a dynamic object an array or a dictionary.
  /// `self` is the object.
  public final func value(forKey key: String) -> Any? {
    if key == "self" { return self }
    let number = propertyNumber(key)
    guard let access = tableAccess else {
      // Stored, so that what is changed through it is the object's.
      let field = classInfo.fields[number]
      if classInfo.properties[number].isCollection { field.materialize(in: self) }
      return DynamicValue.flattened(field.wrapper(of: self).anyValue)
    }
    let property = access.info.properties[number]
    if !access.info.isDynamic, property.isCollection || property.type == .linkingObjects {
      return access.info.fields[number].read(_Row(access: access, key: rowKey, property: number))
    }
    guard property.type != .linkingObjects else { return nil }
    return DynamicValue.any(
      access.value(rowKey, number), property, access.core, isDynamic: access.info.isDynamic)
  }

  /// The value of a property of the object, or of one reached through links: `owner.name`.
  ///
  /// Of a collection on the way the values of all elements, as an array.
  public final func value(forKeyPath keyPath: String) -> Any? {
    guard let dot = keyPath.firstIndex(of: ".") else { return value(forKey: keyPath) }
    let rest = String(keyPath[keyPath.index(after: dot)...])
    switch value(forKey: String(keyPath[..<dot])) {
    case let object as ObjectBase: return object.value(forKeyPath: rest)
    case let elements as any KeyPathReadable: return elements._anyValue(forKeyPath: rest)
    case let elements as [Any?]:
      return elements.map { ($0 as? ObjectBase)?.value(forKeyPath: rest) }
    default: return nil
    }
  }

  /// Changes a property by its name in the class.
  ///
  /// A value that does not fit makes the transaction fail, and stops the process if the object is
  /// unmanaged.
  public final func setValue(_ value: Any?, forKey key: String) {
    let number = propertyNumber(key)
    guard let access = tableAccess else {
      guard classInfo.fields[number].set(value, of: self) else {
        let text = String(describing: DynamicValue.flattened(value) ?? "nil").prefix(60)
        Misuse.stop("\(classInfo.name).\(classInfo.properties[number].words) cannot hold \(text)")
      }
      return
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

/// A collection on a path of names.
protocol KeyPathReadable {
  func _anyValue(forKeyPath keyPath: String) -> Any?
}

extension List: KeyPathReadable {}
extension MutableSet: KeyPathReadable {}
extension LinkingObjects: KeyPathReadable {}

extension ObjectBase {
  /// A list of objects by its name in the class; see `DynamicObject`.
  public final func dynamicList(_ propertyName: String) -> List<DynamicObject> {
    List(_row: dynamicRow(propertyName, .list))
  }

  /// A set of objects by its name in the class.
  public final func dynamicMutableSet(_ propertyName: String) -> MutableSet<DynamicObject> {
    MutableSet(_row: dynamicRow(propertyName, .set))
  }

  /// A map of objects by its name in the class.
  public final func dynamicMap<Key>(_ propertyName: String) -> Map<Key, DynamicObject?> {
    Map(_row: dynamicRow(propertyName, .dictionary))
  }

  private func dynamicRow(_ name: String, _ collection: CollectionKind) -> _Row {
    guard let access = tableAccess else {
      Misuse.stop("\(classInfo.name).\(name) is read by name as objects; add the object first")
    }
    let dynamic = access.core.dynamicAccess(named: access.name) ?? access
    guard let number = dynamic.info.number(of: name),
      dynamic.info.properties[number].collection == collection
    else { Misuse.stop("\(access.name).\(name) is not a \(collection)") }
    return _Row(access: dynamic, key: rowKey, property: number)
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
        "\(access.name).\(access.info.properties[number].words) cannot hold \(text)"))
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
    guard var given = GivenValues(DynamicValue.unwrapped(value) ?? value, access.info) else {
      fail(Realm.Error(.invalidValue, GivenValues.problem(value, access.info)))
      return nil
    }
    let defaults = access.info.type.init()
    if policy != .error, let number = access.info.primaryKey, !access.info.isDynamic {
      // Without a key the values refer to the object with the default key.
      let name = access.info.properties[number].name
      if given[name] == nil {
        given.set(access.info.fields[number].wrapper(of: defaults).anyValue, for: name)
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

  /// The object that has the primary key already, with the key's property and value.
  private func existing(
    _ given: GivenValues, _ access: _TableAccess, _ write: WriteTransaction
  ) throws(EngineError) -> (key: Int64, property: Int, value: Value)? {
    guard let number = access.info.primaryKey, let any = given[access.info.properties[number].name],
      let value = plain(any, access, number)
    else { return nil }
    let column = access.info.properties[number].columnName
    let key = try write.firstKey(in: access.name, column: column, equalTo: value)
    return key.map { ($0, number, value) }
  }

  private func initial(
    _ column: ColumnSchema, _ given: GivenValues, _ defaults: ObjectBase,
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
      if policy == .modified, let any, update(embedded: any, key, access, number, depth) { return }
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

  /// Gives the embedded object that a property holds the values of another.
  /// - Returns: False when there is none, or the values are no object's; nothing was done then.
  private func update(
    embedded any: Any, _ key: Int64, _ access: _TableAccess, _ number: Int, _ depth: Int
  ) -> Bool {
    guard let target = embeddedTarget(access.info, number),
      let own = self.access(named: target.name), depth <= Self.depthMax,
      case .link(let child) = access.value(key, number),
      let given = GivenValues(any, own.info)
    else { return false }
    for (number, property) in own.info.properties.enumerated() {
      guard let value = given[property.name], property.type != .linkingObjects else { continue }
      set(value, child, own, number, .modified, depth: depth + 1)
    }
    return true
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
    if property.type == .any, let value = AnyRealmValue(any: flat as Any),
      property.collection != .set || !value.isCollection
    {
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
