// XRayReader+Collections.swift: reads collections: encoded in a row, or as a tree of positions.

extension XRayReader {
  private static let elementCountMax = 4096

  /// The collection of a row.
  mutating func collection(
    _ place: Int, _ column: XRayColumnArrays, _ owner: XRay.Owner
  ) throws(XRayFault) -> XRayValue {
    let (bytes, isOutside) = try column.entry(place)
    var content = XRayContent(column)
    if isOutside {
      let (link, word) = try Self.outside(bytes)
      let (count, level) = (word & (1 << 56 - 1), Int(word >> 56))
      try walk(link, level: level, count: count, &content, owner)
    } else {
      var cursor = XRayCursor(bytes)
      while !cursor.isAtEnd {
        if column.collection == .dictionary {
          guard let key = try cursor.sized().text else { throw XRayFault("a key is not UTF-8") }
          content.keys.append(key)
        }
        content.elements.append(try Self.element(column, &cursor))
      }
    }
    return try content.value()
  }

  private mutating func walk(
    _ link: XRayLink, level: Int, count: UInt64, _ content: inout XRayContent, _ owner: XRay.Owner
  ) throws(XRayFault) {
    if level == 0 {
      try readLeaf(link, count: count, &content, owner)
      return
    }
    let node = try node(link, .collectionInner, level: level, owner)
    guard (1...Self.childCountMax).contains(node.count),
      node.bytes.count == XRayNode.headerBytes + node.count * 24
    else {
      throw XRayFault("children=\(node.count) in \(node.bytes.count) bytes", at: node.refBytes)
    }
    var links = XRayCursor(node.bytes, at: XRayNode.headerBytes + node.count * 8)
    var last: UInt64 = 0
    for place in 0..<node.count {
      let end = try node.bytes.number(XRayNode.headerBytes + place * 8, UInt64.self)
      guard end > last else { throw XRayFault("end \(end) after \(last)", at: node.refBytes) }
      try walk(try links.link(), level: level - 1, count: end - last, &content, owner)
      last = end
    }
    guard last == count else {
      throw XRayFault("elements=\(last), the parent says \(count)", at: node.refBytes)
    }
  }

  private mutating func readLeaf(
    _ link: XRayLink, count: UInt64, _ content: inout XRayContent, _ owner: XRay.Owner
  ) throws(XRayFault) {
    let node = try node(link, .collectionLeaf, level: 0, owner)
    guard UInt64(node.count) == count, (1...Self.elementCountMax).contains(node.count) else {
      throw XRayFault("elements=\(node.count), the parent says \(count)", at: node.refBytes)
    }
    do throws(XRayFault) {
      let arrays = try XRayArrays(node)
      let hasKeys = content.column.collection == .dictionary
      guard arrays.columnIDs == (hasKeys ? [1, 2] : [2]) else {
        throw XRayFault("column ids \(arrays.columnIDs) in the leaf of a collection")
      }
      let single = XRayColumnArrays(
        type: content.column.type, isOptional: content.column.isOptional)
      let elements = try arrays.column(2, single)
      let keyType = XRayColumnArrays(type: .string, isOptional: false)
      let keys = hasKeys ? try arrays.column(1, keyType) : keyType
      for place in 0..<node.count {
        if hasKeys, case .string(let key) = try value(place, keys, owner) {
          content.keys.append(key)
        }
        content.elements.append(try value(place, elements, owner))
      }
    } catch {
      throw XRayFault(error.message, at: error.refBytes ?? node.refBytes)
    }
  }
}

/// A collection during reading.
struct XRayContent {
  let column: XRayColumnArrays
  var keys: [String] = []
  var elements: [XRayValue] = []

  init(_ column: XRayColumnArrays) { self.column = column }

  /// The collection, if its order is valid.
  func value() throws(XRayFault) -> XRayValue {
    switch column.collection {
    case .none, .list: return .list(elements)
    case .set:
      for place in elements.indices.dropFirst() {
        guard XRayValue.precedes(elements[place - 1], elements[place]) else {
          throw XRayFault("set: element \(place) does not come after the one before it")
        }
      }
      return .set(elements)
    case .dictionary:
      for place in keys.indices.dropFirst() {
        guard XRayValue.precedes(keys[place - 1], keys[place]) else {
          throw XRayFault("dictionary: key \(place) does not come after the one before it")
        }
      }
      return .dictionary(zip(keys, elements).map { XRayEntry(key: $0, value: $1) })
    }
  }
}
