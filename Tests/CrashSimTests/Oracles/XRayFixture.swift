// XRayFixture.swift: images of every kind for the tests of the X-ray, and a way to change a node
// and make every checksum fit again, up to the root slot.

import Engine
import Testing

@testable import Oracles

/// What the engine says of an image.
struct EngineSight: Equatable {
  var version: UInt64?
  var contentHash: UInt64?
  var fault: String?
  var wasCreated = false

  init(_ bytes: [UInt8], backend: ImageBackend = ImageBackend(), key: [UInt8]? = nil) {
    backend.load(bytes)
    do throws(EngineError) {
      var options = Database.Options()
      options.encryptionKey = key
      let database = try Database.open(backend: backend, options: options)
      version = database.version.rawValue
      wasCreated = backend.changeCount > 0
      try database.verify()
      let snapshot = try database.snapshot()
      contentHash = try snapshot.contentHash()
      snapshot.release()
      try database.close()
    } catch {
      fault = "\(error)"
    }
  }

  /// What the oracle is given.
  var recovered: RecoveredState {
    var seen = RecoveredState()
    seen.version = version
    seen.contentHash = contentHash
    seen.wasCreated = wasCreated
    seen.damage = fault
    return seen
  }
}

/// An image whose nodes can be changed by somebody who knows the checksum.
struct SealedImage {
  var bytes: [UInt8]
  let xray: XRay

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    xray = XRay(bytes)
  }

  func number(_ offset: Int, _ count: Int = 8) -> UInt64 {
    bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func set(_ offset: Int, _ number: UInt64, _ count: Int = 8) {
    for place in 0..<count {
      bytes[offset + place] = UInt8(truncatingIfNeeded: number >> UInt64(8 * place))
    }
  }

  /// Makes the checksums right of the node that was changed, and of everything above it.
  mutating func seal(_ ref: Int) {
    let old = bytes[ref..<ref + 8]
    let size = min(max(Int(number(ref + 24, 4)), 48), bytes.count - ref)
    let sum = XRayBytes.checksum(of: Array(bytes[ref + 8..<ref + size]))
    var link = [UInt8](repeating: 0, count: 8)
    for place in 0..<8 { link[place] = UInt8(truncatingIfNeeded: ref >> (8 * place)) }
    link += old
    set(ref, sum)
    for parent in xray.nodes where Int(parent.refBytes) != ref {
      let start = Int(parent.refBytes)
      for place in start + 48..<max(start + parent.sizeBytes - 15, start + 48)
      where bytes[place] == link[0] && bytes[place + 1] == link[1]
        && bytes[place..<place + 16].elementsEqual(link)
      {
        set(place + 8, sum)
        seal(start)
        return
      }
    }
    sealSlot(sum)
  }

  /// The same for nodes that several others lead to, as the fresh ones of a commit of one sync.
  mutating func sealAll() {
    var isSealed = false
    while !isSealed {
      isSealed = true
      for node in xray.nodes {
        let ref = Int(node.refBytes)
        let old = Array(bytes[ref..<ref + 8])
        let sum = XRayBytes.checksum(of: Array(bytes[ref + 8..<ref + node.sizeBytes]))
        if number(ref) == sum { continue }
        isSealed = false
        set(ref, sum)
        let link = (0..<8).map { UInt8(truncatingIfNeeded: ref >> (8 * $0)) } + old
        for parent in xray.nodes {
          let start = Int(parent.refBytes)
          for place in start + 48..<max(start + parent.sizeBytes - 15, start + 48)
          where bytes[place..<place + 16].elementsEqual(link) { set(place + 8, sum) }
        }
        if node.kind == .group { sealSlot(sum) }
      }
    }
  }

  private mutating func sealSlot(_ sum: UInt64) {
    guard let version = xray.chosen?.version else { return }
    for copy in 0..<2 {
      let at = 4096 * (1 + Int(version % 2)) + 2048 * copy
      set(at + 32, sum)
      set(at, XRayBytes.checksum(of: Array(bytes[at + 8..<at + 96])))
    }
  }

  /// The first node of a kind.
  func ref(of kind: XRay.Kind) throws -> Int {
    Int(try #require(xray.nodes.first { $0.kind == kind }).refBytes)
  }
}

/// Databases with a column of every type and collection.
enum XRayFixture {
  private static let plain: [ColumnType] = [
    .int, .string, .bool, .float, .double, .binary, .date, .objectId, .uuid, .decimal128, .mixed,
  ]
  private static let indexed: [ColumnType] = [
    .int, .string, .bool, .binary, .date, .objectId, .uuid,
  ]

  static let schema: TableSchema = {
    var columns = [ColumnSchema(name: "link", type: .link, target: "Dog")]
    for type in plain {
      columns.append(
        ColumnSchema(name: "\(type)", type: type, isIndexed: indexed.contains(type)))
      if type != .mixed {
        columns.append(
          ColumnSchema(
            name: "\(type)?", type: type, isOptional: true, isIndexed: indexed.contains(type)))
      }
      for kind in [CollectionKind.list, .set, .dictionary] {
        columns.append(
          ColumnSchema(
            name: "\(kind) of \(type)", type: type, isOptional: type == .mixed || kind == .set,
            collection: kind))
      }
    }
    for kind in [CollectionKind.list, .set, .dictionary] {
      columns.append(
        ColumnSchema(name: "\(kind) of links", type: .link, collection: kind, target: "Dog"))
    }
    columns.append(ColumnSchema(name: "unique", type: .date, isUnique: true))
    return TableSchema(name: "Everything", columns: columns)
  }()

  static func value(_ type: ColumnType, _ number: Int) -> Value {
    switch type {
    case .int: .int(Int64(number) &* 0x1e37_79b9_7f4a_7c15 >> Int64(number % 60))
    case .string: .string(text(number))
    case .bool: .bool(number % 3 == 0)
    case .float: .float(Float(number - 20) / 7)
    case .double: .double(Double(20 - number) * 1e100)
    case .binary: .binary(Array(text(number).utf8.reversed()))
    case .date where number % 7 == 0:
      .date(sinceReferenceDate: [0.1, -1e-20, .nan, -.infinity, 4e18, 7e5 / 997][number / 7 % 6])
    case .date: .date(seconds: Int64(number - 30) / 3, nanoseconds: Int64(number % 1000))
    case .objectId:
      ObjectId(bytes: (0..<12).map { UInt8(number % 200 + $0) }).map { .objectId($0) } ?? .null
    case .uuid:
      UUIDBytes(bytes: (0..<16).map { UInt8(number % 100 ^ $0) }).map { .uuid($0) } ?? .null
    case .decimal128: .decimal128(Decimal128(high: 7, low: UInt64(number)))
    case .link: .link(Int64(number % 20))
    case .mixed:
      switch number % 13 {
      case 0: .null
      case 1: .typedLink(table: 7, key: Int64(-number))
      default: value(plain[number % 10], number)
      }
    }
  }

  private static func text(_ number: Int) -> String {
    String(repeating: "té\(number) ", count: number % 17 == 0 ? 200 : number % 5)
  }

  static func row(_ key: Int) -> [Value] {
    schema.columns.enumerated().map { place, column in
      let seed = (key + 5) * 31 + place
      if column.isUnique { return .date(seconds: Int64(seed / 2), nanoseconds: Int64(seed % 2)) }
      let count = (key + 5) % 8 == 3 ? 150 : seed % 4
      switch column.collection {
      case .none:
        return column.isOptional && seed % 3 == 0 ? .null : value(column.type, seed)
      case .list: return .list((0..<count).map { value(column.type, seed + $0 / 2) })
      case .set:
        let null: [Value] = column.isOptional && seed % 2 == 0 ? [.null] : []
        return Value.set(null + (0..<count).map { value(column.type, seed + $0) }).canonical
      case .dictionary:
        return .dictionary(
          (0..<count).map {
            DictionaryEntry(key: "key \(seed + $0)", value: value(column.type, seed + $0))
          }
        ).canonical
      }
    }
  }

  /// Creates the tables and puts rows.
  static func fill(_ database: Database, keys: Range<Int>) throws {
    let write = try database.beginWrite()
    try write.createTable(
      TableSchema(name: "Dog", columns: [ColumnSchema(name: "name", type: .string)]))
    try write.createTable(schema)
    for key in 0..<20 {
      try write.insert(into: "Dog", key: Int64(key), [.string("dog \(key)")])
    }
    for key in keys { try write.insert(into: "Everything", key: Int64(key), row(key)) }
    try write.commit()
  }

  /// Images after each step of a life: commits, new and removed columns and tables, deletes, pins.
  static func life(_ commitProtocol: CommitProtocol) throws -> [[UInt8]] {
    let backend = ImageBackend()
    var options = Database.Options()
    options.commitProtocol = commitProtocol
    let database = try Database.open(backend: backend, options: options)
    var images = [backend.bytes]
    func step(_ body: (WriteTransaction) throws -> Void) throws {
      let write = try database.beginWrite()
      try body(write)
      try write.commit()
      images.append(backend.bytes)
    }
    try fill(database, keys: -5..<20)
    images.append(backend.bytes)
    try step { write in
      for key in stride(from: -5, to: 20, by: 3) {
        try write.delete(from: "Everything", key: Int64(key))
      }
    }
    try step { try $0.addColumn(ColumnSchema(name: "new", type: .int), to: "Everything") }
    try step {
      try $0.addColumn(ColumnSchema(name: "new?", type: .uuid, isOptional: true), to: "Everything")
      try $0.addColumn(
        ColumnSchema(name: "news", type: .string, collection: .list), to: "Everything")
      try $0.removeColumn("list of string", from: "Everything")
      try $0.removeColumn("int", from: "Everything")
      try $0.renameColumn("bool", in: "Everything", to: "truth")
    }
    try step { try $0.delete(from: "Dog", key: 7) }
    try step { write in
      try write.createTable(
        TableSchema(
          name: "Cat",
          columns: [
            ColumnSchema(name: "lives", type: .int, isIndexed: true),
            ColumnSchema(name: "names", type: .string, collection: .list),
            ColumnSchema(name: "words", type: .string, isFullText: true),
          ]))
      for key in 0..<2000 {
        let names = (0..<(key == 5 ? 3000 : 0)).map { Value.string("name \($0)") }
        try write.insert(
          into: "Cat", key: Int64(key * 7),
          [.int(Int64(key * key)), .list(names), .string("Cat \(key % 50) of \(key)")])
      }
    }
    try step { try $0.removeTable("Everything") }
    // So many pending spans that the free list needs segments.
    var snapshots: [Snapshot] = []
    for round in 0..<120 {
      snapshots.append(try database.snapshot())
      let write = try database.beginWrite()
      try write.delete(from: "Cat", key: Int64(round * 7))
      try write.commit()
    }
    images.append(backend.bytes)
    for snapshot in snapshots { snapshot.release() }
    try step { try $0.delete(from: "Cat", key: 7 * 1999) }
    try database.close()
    return images
  }

  /// A database of few sectors with all that a structure has: inner nodes, indexes, a free list.
  static func small() throws -> [UInt8] {
    let backend = ImageBackend()
    let database = try Database.open(backend: backend)
    let write = try database.beginWrite()
    try write.createTable(
      TableSchema(
        name: "T",
        columns: [
          ColumnSchema(name: "i", type: .int, isIndexed: true),
          ColumnSchema(name: "s", type: .string, isOptional: true, isIndexed: true),
          ColumnSchema(name: "l", type: .link, collection: .list, target: "T"),
          ColumnSchema(name: "m", type: .mixed, collection: .dictionary),
        ]))
    for key in 0..<60 {
      let text = String(repeating: "s\(key)", count: key == 7 ? 300 : 20)
      try write.insert(
        into: "T", key: Int64(key),
        [
          .int(Int64(key * key)), key % 5 == 0 ? .null : .string(text),
          .list(key < 3 ? [] : [.link(Int64(key / 2)), .link(1), .link(1)]),
          .dictionary(
            (0..<(key == 9 ? 200 : 1)).map {
              DictionaryEntry(key: "k\($0)", value: .int(Int64($0 * key)))
            }),
        ])
    }
    try write.commit()
    for round in 0..<2 {
      let next = try database.beginWrite()
      for key in 0..<4 { try next.delete(from: "T", key: Int64(50 - round * 5 - key)) }
      try next.commit()
    }
    try database.close()
    return backend.bytes
  }
}
