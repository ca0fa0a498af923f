// Description.swift: objects and collections as text, in RealmSwift's layout: a property or an
// element a line, what a link leads to indented below it. Invariant: it ends: links are followed
// to a depth of five, collections for a hundred elements, and a whole text has at most a few
// thousand objects.

import FoundationEssentials

/// A text of objects that lead to each other.
struct Description {
  /// How many objects are within each other.
  static let depthMax = 5
  /// How many elements of a collection are shown.
  private static let elementsMax = 100
  /// How many bytes of data are shown.
  private static let bytesMax = 24
  private static let tooDeep = "<Maximum depth exceeded>"

  /// How many more objects are shown.
  private var objectsLeft = 1000

  static func text(of object: ObjectBase, depth: Int) -> String {
    var description = Description()
    return description.object(object, depth)
  }

  static func text<Elements: RealmCollection>(of elements: Elements, identity: UInt) -> String {
    var description = Description()
    return description.elements(
      elements, "\(Swift.type(of: elements))", identity, depthMax)
  }

  static func text<Key, Value>(of map: Map<Key, Value>) -> String {
    var description = Description()
    return description.map(map, depthMax)
  }

  private mutating func object(_ object: ObjectBase, _ depth: Int) -> String {
    if object.isInvalidated { return "[invalid object]" }
    guard depth > 0, objectsLeft > 0 else { return Self.tooDeep }
    objectsLeft -= 1
    let info = object.classInfo
    var lines = "\(info.name) {\n"
    for property in info.properties where property.type != .linkingObjects {
      let text = value(object.value(forKey: property.name), depth - 1)
      lines += "\t\(property.name) = \(Self.indented(text));\n"
    }
    return lines + "}"
  }

  private mutating func value(_ any: Any?, _ depth: Int) -> String {
    switch DynamicValue.flattened(any) {
    case .none: return "(null)"
    case let object as ObjectBase: return self.object(object, depth)
    case let value as AnyRealmValue: return self.value(value.anyContent, depth)
    case let collection as any DescribedCollection: return collection.text(in: &self, depth)
    case let isTrue as Bool: return isTrue ? "1" : "0"
    case let data as Data:
      let shown = data.prefix(Self.bytesMax).map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      let dots = data.count > Self.bytesMax ? "..." : ""
      return "<\(shown.joined())\(dots) — \(data.count) total bytes>"
    case .some(let other): return "\(other)"
    }
  }

  fileprivate mutating func elements<Elements: Collection>(
    _ elements: Elements, _ name: String, _ identity: UInt, _ depth: Int
  ) -> String {
    guard depth > 0 else { return Self.tooDeep }
    var lines: [String] = []
    for element in elements.prefix(Self.elementsMax) {
      lines.append("\t[\(lines.count)] \(Self.indented(value(element, depth - 1)))")
    }
    let skipped = elements.count - lines.count
    return "\(name) <0x\(String(identity, radix: 16))> (\n" + lines.joined(separator: ",\n")
      + (skipped > 0 ? "\n\t... \(skipped) objects skipped." : "") + "\n)"
  }

  fileprivate mutating func map<Key, Value>(_ map: Map<Key, Value>, _ depth: Int) -> String {
    guard depth > 0 else { return Self.tooDeep }
    var lines: [String] = []
    for entry in map.prefix(Self.elementsMax) {
      lines.append(
        "\t[\(entry.key._keyText)]: \(Self.indented(value(entry.value, depth - 1)))")
    }
    let skipped = map.count - lines.count
    let identity = String(UInt(bitPattern: ObjectIdentifier(map)), radix: 16)
    return "Map<\(Key.self), \(Value.self)> <0x\(identity)> (\n" + lines.joined(separator: ",\n")
      + (skipped > 0 ? "\n\t... \(skipped) objects skipped." : "") + "\n)"
  }

  private static func indented(_ text: String) -> String {
    text.contains("\n")
      ? text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n\t")
      : text
  }
}

/// A collection that a property holds.
protocol DescribedCollection {
  func text(in description: inout Description, _ depth: Int) -> String
}

extension List: DescribedCollection {
  func text(in description: inout Description, _ depth: Int) -> String {
    description.elements(
      self, "List<\(Element.self)>", UInt(bitPattern: ObjectIdentifier(self)), depth)
  }
}

extension MutableSet: DescribedCollection {
  func text(in description: inout Description, _ depth: Int) -> String {
    description.elements(
      self, "MutableSet<\(Element.self)>", UInt(bitPattern: ObjectIdentifier(self)), depth)
  }
}

extension Map: DescribedCollection {
  func text(in description: inout Description, _ depth: Int) -> String {
    description.map(self, depth)
  }
}
