// RealmCore+Dynamic.swift: access to classes by name, with dynamic objects, whose properties are
// accessed by name only: classes of the program and those that only the file has. Invariant: an
// object linked from a dynamic one is dynamic, too.

import Engine

extension ClassInfo {
  /// Whether its objects know their properties by name only.
  var isDynamic: Bool { type == DynamicObject.self }
}

extension _RealmCore {
  /// The access to the rows of a class by its name, as dynamic objects; nil when neither program
  /// nor file has the class, or when the realm has only dynamic objects.
  func dynamicAccess(named name: String) -> _TableAccess? {
    let (own, known) = classes.withLock { ($0.infos[name], $0.dynamicTable(name)) }
    if let known { return _TableAccess(self, known) }
    // A migration's classes are dynamic themselves.
    if let own, own.isDynamic { return nil }
    checkThread()
    let info = own.map { ClassInfo(dynamic: $0) } ?? classInFile(name) ?? unusedClass(name)
    guard let info else { return nil }
    let table = TableCursor(self, info)
    classes.withLock { $0.keep(dynamic: table) }
    return _TableAccess(self, table)
  }

  /// A class that the program does not have, as the file describes it.
  private func classInFile(_ name: String) -> ClassInfo? {
    guard !name.hasPrefix(ClassInfo.reservedPrefix) else { return nil }
    return Misuse.unthrowingRealm { () throws(Realm.Error) -> ClassInfo? in
      let file = try translating { () throws(EngineError) -> FileSchema in
        try FileSchema(try currentVersion())
      }
      return file.classes[name].map {
        ClassInfo(
          $0.table, primaryKey: $0.record.primaryKey, isEmbedded: $0.record.isEmbedded)
      }
    }
  }

  /// A class of the program that the realm has not met yet; it joins.
  private func unusedClass(_ name: String) -> ClassInfo? {
    guard configuration.objectTypes == nil,
      let info = ProcessClasses.all.first(where: { $0.name == name })
    else { return nil }
    _ = access(info)
    return classes.withLock { $0.infos[name] }.map { ClassInfo(dynamic: $0) }
  }

  /// The way to a class that must be there.
  fileprivate func requiredDynamicAccess(_ name: String) -> _TableAccess {
    guard let access = dynamicAccess(named: name) else {
      Misuse.stop(
        "neither the program nor the file has a class \(name); the program has "
          + classes.withLock { $0.infos.keys.sorted() }.joined(separator: ", "))
    }
    return access
  }
}

extension Realm {
  /// All objects of a class by its name, which need not be in the program.
  ///
  /// A name that neither the program nor the file has stops the process.
  /// - Parameter typeName: The name of the class.
  /// - Returns: The objects, with their properties by name.
  public func dynamicObjects(_ typeName: String) -> Results<DynamicObject> {
    core.checkThread()
    return Results(Elements(.table(core.requiredDynamicAccess(typeName))))
  }

  /// The object of a class by its name and the primary key, or nil.
  /// - Parameters:
  ///   - typeName: The name of the class.
  ///   - key: The primary key.
  /// - Returns: The object, with its properties by name.
  /// - Complexity: O(log objects).
  public func dynamicObject(ofType typeName: String, forPrimaryKey key: Any) -> DynamicObject? {
    core.checkThread()
    let access = core.requiredDynamicAccess(typeName)
    guard let number = access.info.primaryKey else {
      Misuse.stop("class \(typeName) has no primary key; declare one")
    }
    guard let value = DynamicValue.plain(key, access.info.properties[number]) else {
      Misuse.stop(
        "the primary key \(typeName).\(access.info.properties[number].words) is asked for \(key)")
    }
    return access.firstKey(number, equalTo: value).map {
      DynamicObject._cast(access.makeObject($0))
    }
  }

  /// Creates an object of a class by its name, from values.
  ///
  /// Properties without a value get the default of the program's class; for a class that only the
  /// file has, zero, empty or nil.
  /// - Parameters:
  ///   - typeName: The name of the class.
  ///   - value: Values by property name, or all in the order of the properties, or an object.
  ///   - update: What to do when the primary key exists already.
  /// - Returns: The managed object; an unmanaged one when the transaction failed.
  @discardableResult
  public func dynamicCreate(
    _ typeName: String, value: Any = [String: Any](), update: UpdatePolicy = .error
  ) -> DynamicObject {
    core.checkWritable()
    let access = core.requiredDynamicAccess(typeName)
    let maker = core.access(named: typeName) ?? access
    guard let key = core.create(maker, value, update) else { return DynamicObject() }
    return DynamicObject._cast(access.makeObject(key))
  }
}
