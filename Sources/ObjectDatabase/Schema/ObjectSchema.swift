// ObjectSchema.swift: the classes of a realm, for inspection by callers.

/// A class and its properties.
public struct ObjectSchema: Hashable, Sendable, CustomStringConvertible {
  /// The name of the class.
  public let className: String
  /// The properties, those of base classes first.
  public let properties: [Property]
  /// Whether its objects are embedded in others.
  public let isEmbedded: Bool

  init(_ info: ClassInfo) {
    className = info.name
    properties = info.properties
    isEmbedded = info.isEmbedded
  }

  /// The property that is the primary key.
  public var primaryKeyProperty: Property? { properties.first { $0.isPrimaryKey } }

  /// The property of a name.
  public subscript(name: String) -> Property? { properties.first { $0.name == name } }

  /// Class and properties, in RealmSwift's layout.
  public var description: String {
    let inner = properties.map { property in
      property.description.split(separator: "\n").map { "\t\($0)\n" }.joined()
    }
    return "\(className) {\n\(inner.joined())}"
  }
}

/// The classes of a realm.
public struct Schema: Hashable, Sendable, CustomStringConvertible {
  /// The classes, by name ascending.
  public let objectSchema: [ObjectSchema]

  /// The class of a name.
  public subscript(className: String) -> ObjectSchema? {
    objectSchema.first { $0.className == className }
  }

  /// All classes, in RealmSwift's layout.
  public var description: String {
    let inner = objectSchema.map { schema in
      schema.description.split(separator: "\n").map { "\t\($0)\n" }.joined()
    }
    return "Schema {\n\(inner.joined())}"
  }
}
