// LinkingObjects.swift: the objects that link to an object, found through the index that the engine
// keeps for every column of links.

import Engine

/// The objects that link to an object through one of their properties.
public struct LinkingObjects<Element: ObjectBase>: RealmCollection {
  /// Nil for an unmanaged object, which has no incoming links.
  let content: Elements?

  /// Makes one without elements.
  public init() { content = nil }

  init(_ content: Elements) { self.content = content }

  /// For this module.
  public var _elements: _ElementsBox? { content.map { _ElementsBox(elements: $0) } }

  /// The realm; nil for an unmanaged object.
  public var realm: Realm? { content.map { Realm($0.core) } }
  /// Whether the object was deleted, or the realm invalidated.
  public var isInvalidated: Bool { content?.isInvalidated ?? false }
  /// Whether the realm is frozen.
  public var isFrozen: Bool { content?.core.isFrozen ?? false }
  /// How many links there are; an object with two counts twice.
  public var count: Int { content?.count ?? 0 }

  /// The object at a position; one out of bounds stops the process.
  public subscript(position: Int) -> Element {
    guard let content else {
      if Discovery.isTracing { return Element._traced() }
      Misuse.stop("index \(position) is out of bounds; the count is 0")
    }
    return Results<Element>(content)[position]
  }

  /// A loop over the present elements.
  public func makeIterator() -> AnyIterator<Element> {
    guard let content else { return AnyIterator { nil } }
    return AnyIterator(RealmIterator(content))
  }
}

extension LinkingObjects: _Persistable {
  /// No column, only a view.
  public static var _shape: _PropertyShape { _PropertyShape(.linkingObjects, target: Element.self) }

  /// Without elements.
  public static func _default() -> LinkingObjects { LinkingObjects() }

  /// None: it cannot be set.
  public static func _fromAny(_ any: Any?) -> LinkingObjects? { nil }

  /// The objects that link to a row.
  public static func _read(_ row: _Row) -> LinkingObjects {
    let property = row.access.info.properties[row.property]
    let origin = row.core.access(to: Element.self)
    guard let name = property.linkOriginPropertyName, let number = origin.info.number(of: name)
    else {
      Misuse.stop("\(row.access.name).\(property.words) has no property that it is the origin of")
    }
    return LinkingObjects(
      Elements(.backlinks(row.access, key: row.key, origin: origin, property: number)))
  }

  /// Does nothing: it cannot be set.
  public static func _write(_ value: LinkingObjects, to row: _Row) {}

  /// Null; there is no column.
  public var _plainValue: Value? { .null }
}
