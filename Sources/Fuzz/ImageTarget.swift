// ImageTarget.swift: bytes → a whole image → open, verify, hash, read, write.
// The input edits a small valid image: three bytes are an offset and a value. Then the checksums of
// the path from the slot to the leaves are made right again, so that the edit gets past them.

import Engine

enum ImageTarget {
  static func run(_ input: [UInt8]) {
    var image = base
    var offset = 0
    while offset + 3 <= input.count {
      let position = Int(input[offset]) << 8 | Int(input[offset + 1])
      image[position % image.count] = input[offset + 2]
      offset += 3
    }
    ImageSeal.seal(&image)
    exercise(image)
  }

  /// Everything a caller can do with an image that may be damaged.
  private static func exercise(_ image: [UInt8]) {
    let backend = FuzzBackend(image)
    guard let mapping = try? backend.map() else { return }
    _ = FileInspection.inspect(mapping)
    guard let database = try? Database.open(backend: backend) else { return }
    _ = try? database.verify()
    if let snapshot = try? database.snapshot() {
      _ = try? snapshot.contentHash()
      for table in snapshot.tables {
        _ = try? snapshot.row(in: table.name, key: 7)
        try? snapshot.forEach(in: table.name) { (_, _) throws(EngineError) in }
      }
    }
    guard let write = try? database.beginWrite() else { return }
    for table in write.tables {
      let values = table.columns.map { column -> Value in
        column.type == .int ? .int(1) : .string("x")
      }
      for key: Int64 in 0..<8 {
        try? write.upsert(into: table.name, key: key, values)
        try? write.delete(from: table.name, key: key * 3)
      }
    }
    _ = try? write.commit()
    _ = database.statistics()
  }

  /// Two tables, one with a tree of two levels and a long string.
  private static let base: [UInt8] = {
    let backend = FuzzBackend([])
    do {
      let database = try Database.open(backend: backend)
      let write = try database.beginWrite()
      let columns = [
        ColumnSchema(name: "n", type: .int), ColumnSchema(name: "s", type: .string),
      ]
      try write.createTable(TableSchema(name: "A", columns: columns))
      try write.createTable(TableSchema(name: "B", columns: []))
      try write.insert(into: "B", key: 1, [])
      for key in 0..<900 {
        try write.insert(
          into: "A", key: Int64(key), [.int(Int64(key * 7)), .string("name \(key)")])
      }
      try write.insert(
        into: "A", key: 2000, [.int(1), .string(String(repeating: "long", count: 200))])
      try write.commit()
      let next = try database.beginWrite()
      try next.delete(from: "A", key: 5)
      try next.commit()
      try database.verify()
    } catch { preconditionFailure("the base image: \(error)") }
    return backend.bytes
  }()
}
