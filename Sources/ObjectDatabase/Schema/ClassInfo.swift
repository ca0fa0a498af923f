// ClassInfo.swift [U]: the description of a class: its properties in order, base class first, and
// the prototype through which key paths are resolved. Invariants: immutable after creation; the
// prototype is never passed to callers and never becomes managed; names and column names are
// unique; at most one primary key.

import Engine

/// A class stored in the database.
@safe final class ClassInfo: @unchecked Sendable {
  // Safety: after initialization the prototype is only read, so any thread may use it.
  let prototype: ObjectBase
  let type: ObjectBase.Type
  let name: String
  let isEmbedded: Bool
  let properties: [Property]
  /// The classes that properties lead to or come from, by property.
  let targets: [ObjectBase.Type?]
  /// The types that have fewer values than their columns, by property.
  let narrow: [(any RealmCollectionValue.Type)?]
  let primaryKey: Int?
  /// Where the wrappers are in an object, by property; none of a class that only the file knows.
  let fields: [PersistedField]
  private let numbers: [String: Int]
  /// Whether objects of the class have no state besides their row: all stored properties are
  /// persisted, so an object without references can be reused for another row.
  let isNothingButRow: Bool
  /// Whether objects can be encoded: a managed one then holds marks, so that no defaults are taken
  /// for its values.
  let isEncodable: Bool

  /// - Throws: `Realm.Error` with code `.unsupportedClass`, naming class and property.
  init(_ type: ObjectBase.Type, prototype: ObjectBase) throws(Realm.Error) {
    self.type = type
    self.prototype = prototype
    name = type.className()
    isEmbedded = type is EmbeddedObject.Type
    isEncodable = type is any Encodable.Type
    let mapping = type.propertiesMapping()
    var properties: [Property] = []
    var targets: [ObjectBase.Type?] = []
    var narrow: [(any RealmCollectionValue.Type)?] = []
    let (fields, otherCount) = PersistedField.all(of: type)
    self.fields = fields
    isNothingButRow = otherCount == PersistedField.all(of: ObjectBase.self).otherCount
    for field in fields {
      guard let mark = field.wrapper(of: prototype).mark else {
        preconditionFailure("the wrappers of a prototype hold marks")
      }
      mark.name = field.name
      mark.number = properties.count
      mark.owner = type
      properties.append(Self.property(mark, type, mapping))
      targets.append(mark.shape.target)
      narrow.append(mark.shape.narrow)
    }
    self.properties = properties
    self.targets = targets
    self.narrow = narrow
    primaryKey = properties.firstIndex { $0.isPrimaryKey }
    numbers = Dictionary(
      properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    for key in mapping.keys.sorted() where numbers[key] == nil {
      throw unsupported(key, "is in propertiesMapping() and is not a persisted property")
    }
    try check()
  }

  /// A class known only from the file, or one in the form of the file during a migration.
  /// - Parameters:
  ///   - schema: The table.
  ///   - primaryKey: The name of its primary key.
  ///   - isEmbedded: Whether its objects are owned by others.
  ///   - own: The program's class, which knows the valid values of its properties.
  init(_ schema: TableSchema, primaryKey: String?, isEmbedded: Bool, own: ClassInfo? = nil) {
    type = DynamicObject.self
    prototype = DynamicObject()
    name = schema.name
    self.isEmbedded = isEmbedded
    isNothingButRow = true
    isEncodable = false
    fields = []
    properties = schema.columns.map { column in
      var property = Property(column, isPrimaryKey: column.name == primaryKey)
      let named = own?.properties.first { $0.columnName == column.name }
      property.name = named?.name ?? property.name
      return property
    }
    targets = schema.columns.map { _ in nil }
    narrow = schema.columns.map { column in
      own?.properties.firstIndex { $0.columnName == column.name }.flatMap { own?.narrow[$0] }
    }
    self.primaryKey = properties.firstIndex { $0.isPrimaryKey }
    // By their names in the class, and those that no other property has there also by the file's.
    numbers = Dictionary(
      properties.enumerated().map { ($1.name, $0) }
        + properties.enumerated().map { ($1.columnName, $0) },
      uniquingKeysWith: { first, _ in first })
  }

  /// A class of the program whose objects are dynamic.
  init(dynamic info: ClassInfo) {
    type = DynamicObject.self
    prototype = DynamicObject()
    name = info.name
    isEmbedded = info.isEmbedded
    isNothingButRow = true
    isEncodable = false
    fields = []
    properties = info.properties
    targets = info.targets
    narrow = info.narrow
    primaryKey = info.primaryKey
    numbers = info.numbers
  }

  /// Marks all properties of a managed object, so that encoding it throws.
  @inline(never)
  func markManaged(_ object: ObjectBase) {
    for field in fields { field.place.becomeManaged(object) }
  }

  /// The position of a property.
  func number(of name: String) -> Int? { numbers[name] }

  private static func property(
    _ mark: PropertyMark, _ type: ObjectBase.Type, _ mapping: [String: String]
  ) -> Property {
    var property = Property(
      name: mark.name, columnName: mapping[mark.name] ?? mark.name, type: mark.shape.type)
    property.collection = mark.shape.collection
    let isElement = mark.shape.collection == .list || mark.shape.collection == .set
    property.isOptional = mark.shape.isOptional || mark.shape.isStoredAsObject && !isElement
    // The engine has no index of mixed values: they are found by a scan.
    let isMixed = mark.shape.type == .any && mark.shape.collection == .none
    let isIndexed = mark.index == .general || type.indexedProperties().contains(mark.name)
    property.isIndexed = isIndexed && !isMixed
    property.isFullText = mark.index == .fullText
    property.isPrimaryKey = mark.isPrimaryKey || type.primaryKey() == mark.name
    property.objectClassName = mark.shape.target?.className()
    property.linkOriginPropertyName = mark.originProperty
    return property
  }

  // MARK: checks

  private func unsupported(_ property: String, _ reason: String) -> Realm.Error {
    Realm.Error(.unsupportedClass, "\(name).\(property) \(reason)")
  }

  private static let keyTypes: [PropertyType] = [.int, .string, .objectId, .uuid]
  private static let indexTypes: [PropertyType] = [
    .int, .string, .bool, .data, .date, .objectId, .uuid,
  ]
  static let reservedPrefix = "__"

  private func check() throws(Realm.Error) {
    guard !name.hasPrefix(Self.reservedPrefix), (1...255).contains(name.utf8.count) else {
      throw Realm.Error(
        .unsupportedClass,
        "the class name \"\(name)\" is not possible: use 1 to 255 bytes, not beginning with "
          + Self.reservedPrefix)
    }
    var columns: Set<String> = []
    for (number, property) in properties.enumerated() {
      try check(property, number)
      guard columns.insert(property.columnName).inserted else {
        throw unsupported(
          property.name, "has the name \(property.columnName) in the file, as another property has")
      }
    }
    let keys = properties.filter(\.isPrimaryKey)
    if keys.count > 1 {
      throw unsupported(keys[1].name, "is a second primary key beside \(keys[0].name)")
    }
    if isEmbedded, let key = keys.first {
      throw unsupported(key.name, "is a primary key, which an embedded object cannot have")
    }
  }

  private func check(_ property: Property, _ number: Int) throws(Realm.Error) {
    if property.isPrimaryKey,
      property.isCollection || !Self.keyTypes.contains(property.type)
    {
      throw unsupported(
        property.name,
        "is a primary key of type \(property.typeText); use Int, String, ObjectId or UUID")
    }
    if property.isIndexed, property.isCollection || !Self.indexTypes.contains(property.type) {
      throw unsupported(
        property.name,
        "is indexed and of type \(property.typeText); use one of "
          + Self.indexTypes.map(\.rawValue).joined(separator: ", "))
    }
    if property.isFullText {
      guard property.type == .string, !property.isCollection else {
        throw unsupported(
          property.name,
          "has a full-text index and is of type \(property.typeText); use String or String?")
      }
      guard !property.isPrimaryKey, !property.isIndexed else {
        throw unsupported(
          property.name,
          "has a full-text index, and is indexed by its value or the primary key; a property has "
            + "one index")
      }
    }
    switch (property.type, property.collection, property.isOptional) {
    case (.object, .none, false):
      throw unsupported(
        property.name, "is a link that is not optional; write \(property.typeText)?")
    case (.object, .list, true), (.object, .set, true):
      throw unsupported(
        property.name, "has optional links as elements; a list or set never holds nil there")
    case (.object, .dictionary, false):
      throw unsupported(
        property.name, "has links as values that are not optional; write them with a ?")
    case (.object, .set, _) where targets[number] is EmbeddedObject.Type:
      throw unsupported(property.name, "is a set of embedded objects; use a list or a map")
    case (.any, _, true):
      throw unsupported(property.name, "is an optional AnyRealmValue; it has a case none")
    default: break
    }
    try checkOrigin(property, number)
  }

  private func checkOrigin(_ property: Property, _ number: Int) throws(Realm.Error) {
    guard property.type == .linkingObjects else { return }
    guard let origin = property.linkOriginPropertyName else {
      throw unsupported(property.name, "has LinkingObjects without an originProperty")
    }
    guard !origin.isEmpty else {
      throw unsupported(property.name, "has an empty originProperty")
    }
  }

  /// Makes the checks that need the descriptions of other classes.
  /// - Throws: `Realm.Error` with code `.unsupportedClass`, naming class and property.
  func checkTargets(_ info: (ObjectBase.Type) throws(Realm.Error) -> ClassInfo)
    throws(Realm.Error)
  {
    for (number, property) in properties.enumerated() {
      guard let target = targets[number] else { continue }
      let other = try info(target)
      guard property.type == .linkingObjects else { continue }
      let originName = property.linkOriginPropertyName ?? ""
      guard let origin = other.number(of: originName) else {
        throw unsupported(
          property.name, "has the origin \(other.name).\(originName), which is not a property")
      }
      guard other.properties[origin].type == .object,
        other.properties[origin].objectClassName == name
      else {
        throw unsupported(
          property.name,
          "has the origin \(other.properties[origin].words) of \(other.name), which does not link "
            + "to \(name)")
      }
    }
  }

  /// Whether a property's type has a value, or all elements of one, that its column can hold.
  func fits(_ value: Value, _ number: Int, _ core: _RealmCore) -> Bool {
    guard let narrow = narrow[number] else { return true }
    let element = { (value: Value) in
      value == .null
        ? self.properties[number].isOptional
        : narrow._makeIfFits(from: value, in: core) != nil
    }
    return switch value {
    case .list(let values), .set(let values): values.allSatisfy(element)
    case .dictionary(let entries): entries.allSatisfy { element($0.value) }
    default: element(value)
    }
  }

  /// The engine's table for the class.
  var tableSchema: TableSchema {
    TableSchema(name: name, columns: properties.compactMap(\.column))
  }
}
