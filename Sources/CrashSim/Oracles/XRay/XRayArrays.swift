// XRayArrays.swift: the arrays of a leaf: descriptors, packed numbers and bytes.
// Invariant: an array lies inside its node, and `ends` ascend up to the number of bytes; both are
// checked before anything is read from them.

/// Numbers of one width above a base.
struct XRayPacked {
  let bytes: XRayBytes
  let base: UInt64
  let width: Int

  subscript(_ place: Int) -> UInt64 {
    get throws(XRayFault) {
      switch width {
      case 0: return base
      case 64: return base &+ (try bytes.number(place * 8, UInt64.self))
      case 32: return base &+ UInt64(try bytes.number(place * 4, UInt32.self))
      case 16: return base &+ UInt64(try bytes.number(place * 2, UInt16.self))
      case 8: return base &+ UInt64(try bytes.number(place, UInt8.self))
      default:
        let bit = place * width
        let byte = try bytes.number(bit / 8, UInt8.self)
        return base &+ UInt64(byte >> UInt8(bit % 8) & (1 << UInt8(width) - 1))
      }
    }
  }
}

/// The arrays of one column.
struct XRayColumnArrays {
  let type: XRayType
  let collection: XRayCollection
  let isOptional: Bool
  /// The numbers, or the ends of entries; nil when the leaf does not have the column.
  var numbers: XRayPacked?
  /// Nanoseconds, or the flags of entries stored outside.
  var second: XRayPacked?
  var bytes = XRayBytes.none
  var nulls: XRayPacked?

  init(type: XRayType, collection: XRayCollection = .none, isOptional: Bool) {
    self.type = type
    self.collection = collection
    self.isOptional = isOptional
  }

  /// Kinds of the arrays, in their order.
  var kinds: [UInt8] {
    let hasEntries = collection != .none || type == .mixed
    var kinds: [UInt8] =
      switch type {
      case _ where hasEntries: [3, 4, 5]
      case .int, .link: [2]
      case .bool: [7]
      case .float: [8]
      case .double: [9]
      case .date: [10, 11]
      case .objectId: [12]
      case .uuid, .decimal128: [13]
      case .string, .binary, .mixed: [3, 4, 5]
      }
    if isOptional, !hasEntries { kinds.append(6) }
    return kinds
  }

  /// Bytes of entry `place`, and whether they are a link to their location.
  func entry(_ place: Int) throws(XRayFault) -> (bytes: XRayBytes, isOutside: Bool) {
    guard let ends = numbers, let flags = second else { return (.none, false) }
    let start = place == 0 ? 0 : Int(truncatingIfNeeded: try ends[place - 1])
    let end = Int(truncatingIfNeeded: try ends[place])
    guard start >= 0, end >= start else { throw XRayFault("end \(end) after \(start)") }
    return (try bytes.part(at: start, count: end - start), try flags[place] == 1)
  }
}

/// The arrays of a node.
struct XRayArrays {
  private struct Descriptor {
    let base: UInt64
    let offset: Int
    let width: Int
    let kind: UInt8
    let column: UInt16

    /// Size of the array; an array without bytes may be anywhere in the node.
    func sizeBytes(elements: Int) -> Int {
      let hasBytes = [5, 12, 13].contains(kind)
      return hasBytes ? Int(clamping: base) : (elements * width + 7) / 8
    }
  }

  private let node: XRayNode
  private let descriptors: [Descriptor]

  init(_ node: XRayNode) throws(XRayFault) {
    self.node = node
    guard (1...513).contains(node.secondCount) else {
      throw XRayFault("array descriptors=\(node.secondCount)")
    }
    var found: [Descriptor] = []
    // After the descriptors, and each array after the previous one.
    var end = XRayNode.headerBytes + 16 * node.secondCount
    for place in 0..<node.secondCount {
      let at = XRayNode.headerBytes + 16 * place
      let descriptor = Descriptor(
        base: try node.bytes.number(at), offset: Int(try node.bytes.number(at + 8, UInt32.self)),
        width: Int(try node.bytes.number(at + 12, UInt8.self)),
        kind: try node.bytes.number(at + 13), column: try node.bytes.number(at + 14))
      let size = descriptor.sizeBytes(elements: node.count)
      let isInside =
        descriptor.offset <= node.bytes.count && size <= node.bytes.count - descriptor.offset
      guard descriptor.offset % 8 == 0, isInside, size == 0 || descriptor.offset >= end,
        [0, 1, 2, 4, 8, 16, 32, 64].contains(descriptor.width),
        found.last.map({ $0.column <= descriptor.column }) ?? true
      else {
        throw XRayFault(
          "descriptor \(place): offset=\(descriptor.offset) width=\(descriptor.width) "
            + "column=\(descriptor.column)")
      }
      found.append(descriptor)
      if size > 0 { end = descriptor.offset + size }
    }
    descriptors = found
  }

  /// The keys of a leaf.
  func keys() throws(XRayFault) -> XRayPacked {
    guard descriptors[0].column == 0, descriptors.count == 1 || descriptors[1].column != 0 else {
      throw XRayFault("the first array is not that of the keys")
    }
    return try packed(descriptors[0], kind: 1)
  }

  /// The arrays of an index leaf: images, keys, counts.
  func pairs() throws(XRayFault) -> (images: XRayPacked, keys: XRayPacked, counts: XRayPacked) {
    guard descriptors.count == 3, descriptors.allSatisfy({ $0.column == 0 }) else {
      throw XRayFault("array descriptors=\(descriptors.count) of an index leaf, not 3")
    }
    return (
      try packed(descriptors[0], kind: 1), try packed(descriptors[1], kind: 2),
      try packed(descriptors[2], kind: 3)
    )
  }

  /// The arrays of a table's columns; one missing in the leaf reads as null, 0 or empty.
  func columns(_ columns: [XRayColumn]) throws(XRayFault) -> [XRayColumnArrays] {
    var result: [XRayColumnArrays] = []
    for column in columns {
      var arrays = XRayColumnArrays(
        type: column.type, collection: column.collection, isOptional: column.isOptional)
      let mine = descriptors.filter { $0.column == column.id }
      if !mine.isEmpty { try fill(&arrays, mine) }
      result.append(arrays)
    }
    return result
  }

  /// The arrays of a column that must exist, in the leaf of a collection.
  func column(_ id: UInt16, _ empty: XRayColumnArrays) throws(XRayFault) -> XRayColumnArrays {
    var arrays = empty
    try fill(&arrays, descriptors.filter { $0.column == id })
    return arrays
  }

  /// Ids of the columns, ascending.
  var columnIDs: [UInt16] {
    var ids: [UInt16] = []
    for descriptor in descriptors where ids.last != descriptor.column {
      ids.append(descriptor.column)
    }
    return ids
  }

  private func fill(
    _ arrays: inout XRayColumnArrays, _ mine: [Descriptor]
  ) throws(XRayFault) {
    guard mine.map(\.kind) == arrays.kinds else {
      throw XRayFault(
        "column \(mine.first?.column ?? 0): array kinds \(mine.map(\.kind)) != \(arrays.kinds)")
    }
    for descriptor in mine {
      switch descriptor.kind {
      case 5: arrays.bytes = try bytes(descriptor, count: nil)
      case 12: arrays.bytes = try bytes(descriptor, count: 12 * node.count)
      case 13: arrays.bytes = try bytes(descriptor, count: 16 * node.count)
      case 4, 11: arrays.second = try packed(descriptor, kind: descriptor.kind)
      case 6: arrays.nulls = try packed(descriptor, kind: 6)
      default: arrays.numbers = try packed(descriptor, kind: descriptor.kind)
      }
    }
    guard arrays.kinds[0] == 3, let ends = arrays.numbers else { return }
    var last: UInt64 = 0
    for place in 0..<node.count {
      let end = try ends[place]
      guard end >= last else { throw XRayFault("end \(end) after \(last)") }
      last = end
    }
    guard last == UInt64(arrays.bytes.count) else {
      throw XRayFault("the last end is \(last), bytes=\(arrays.bytes.count)")
    }
  }

  private func packed(_ descriptor: Descriptor, kind: UInt8) throws(XRayFault) -> XRayPacked {
    let (width, base) = (descriptor.width, descriptor.base)
    let isPossible =
      switch kind {
      case 4, 6, 7: width <= 1 && base <= (width == 0 ? 1 : 0)
      case 8: (width == 32 && base == 0) || (width == 0 && base <= UInt64(UInt32.max))
      case 9: (width == 64 && base == 0) || width == 0
      default: true
      }
    guard descriptor.kind == kind, isPossible else {
      throw XRayFault("array kind=\(descriptor.kind) width=\(width) base=\(base), expected \(kind)")
    }
    let size = (node.count * width + 7) / 8
    return XRayPacked(
      bytes: try node.bytes.part(at: descriptor.offset, count: size), base: base, width: width)
  }

  private func bytes(_ descriptor: Descriptor, count: Int?) throws(XRayFault) -> XRayBytes {
    guard descriptor.width == 0, descriptor.base <= UInt64(node.bytes.count),
      count == nil || count == Int(descriptor.base)
    else {
      throw XRayFault("byte array of width=\(descriptor.width), bytes=\(descriptor.base)")
    }
    return try node.bytes.part(at: descriptor.offset, count: Int(descriptor.base))
  }
}
