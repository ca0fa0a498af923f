// Item+Fleece.swift: values read from Fleece and written to it. Damaged bytes are an error.

import DocumentStore
import Fleece

/// A dict of Fleece that is read on demand.
struct FleeceSource: Sendable {
  let bytes: [UInt8]
  let keys: FleeceSharedKeys
  /// Where blobs are read.
  let file: DataFile?

  /// The value of a key; nil when there is none.
  func item(_ key: String) throws(FleeceError) -> Item? {
    try FleeceDocument(bytes).withRoot { (root) throws(FleeceError) in
      guard let value = try root.dict?.value(for: key, in: keys) else { return nil }
      return try Item(value, keys: keys, file: file)
    }
  }

  /// All pairs.
  func items() throws(FleeceError) -> [String: Item] {
    try FleeceDocument(bytes).withRoot { (root) throws(FleeceError) in
      guard let dict = root.dict else { return [:] }
      return try Item.pairs(of: dict, keys: keys, file: file, depth: 0)
    }
  }
}

extension Item {
  /// Reads a value.
  init(
    _ value: FleeceValue, keys: FleeceSharedKeys, file: DataFile?, depth: Int = 0
  ) throws(FleeceError) {
    switch value.kind {
    case .null, .undefined: self = .null
    case .boolean: self = .boolean(value.boolean ?? false)
    case .integer:
      self = value.integer.map { .integer($0) } ?? .unsigned(value.unsignedInteger ?? 0)
    case .real:
      if !value.isDouble, let float = value.float {
        self = .float(float)
      } else {
        self = .double(value.double ?? 0)
      }
    case .text: self = .text(value.text ?? "")
    case .data: self = .data(value.data?.array ?? [])
    case .array:
      guard depth < Self.depthMax, let array = value.array else {
        self = .null
        return
      }
      var items: [Item] = []
      for index in 0..<array.count {
        guard let item = try array.value(at: index) else { break }
        items.append(try Item(item, keys: keys, file: file, depth: depth + 1))
      }
      self = .array(ArrayContents(items))
    case .dict:
      guard depth < Self.depthMax, let dict = value.dict else {
        self = .null
        return
      }
      let pairs = try Self.pairs(of: dict, keys: keys, file: file, depth: depth + 1)
      if let blob = Blob(stored: pairs, file: file) {
        self = .blob(blob)
      } else {
        self = .dictionary(DictionaryContents(pairs))
      }
    }
  }

  static func pairs(
    of dict: FleeceDict, keys: FleeceSharedKeys, file: DataFile?, depth: Int
  ) throws(FleeceError) -> [String: Item] {
    var pairs = [String: Item](minimumCapacity: dict.count)
    for index in 0..<dict.count {
      let key: String
      switch try dict.key(at: index) {
      case .text(let text): key = text.text
      case .shared(let number):
        // A key that is not in the table cannot be named: the same as no pair.
        guard let known = keys.key(of: number) else { continue }
        key = known
      }
      pairs[key] = try Item(
        try dict.value(at: index), keys: keys, file: file, depth: depth)
    }
    return pairs
  }

  /// Writes the value.
  func write(to encoder: inout FleeceEncoder) throws(FleeceError) {
    switch self {
    case .null: encoder.null()
    case .boolean(let value): encoder.boolean(value)
    case .integer(let value): try encoder.integer(value)
    case .unsigned(let value): try encoder.unsignedInteger(value)
    case .float(let value): try encoder.float(value)
    case .double(let value): try encoder.double(value)
    case .text(let value): try encoder.text(value)
    case .data(let bytes): try encoder.data(bytes)
    case .blob(let blob): try Self.write(blob.stored, to: &encoder)
    case .array(let contents):
      // The encoder's bound on depth ends objects that contain themselves.
      try encoder.beginArray()
      for item in contents.items() { try item.write(to: &encoder) }
      try encoder.endArray()
    case .dictionary(let contents): try contents.write(to: &encoder)
    }
  }

  static func write(
    _ pairs: [String: Item], to encoder: inout FleeceEncoder
  ) throws(FleeceError) {
    try encoder.beginDict()
    for (key, item) in pairs.sorted(by: { $0.key < $1.key }) {
      try encoder.key(key)
      try item.write(to: &encoder)
    }
    try encoder.endDict()
  }

  /// The value as JSON; `null` for what does not encode.
  var json: String {
    do throws(FleeceError) {
      var encoder = FleeceEncoder()
      try write(to: &encoder)
      return try FleeceDocument(try encoder.finish()).withRoot { (root) throws(FleeceError) in
        try root.json()
      }
    } catch {
      return "null"
    }
  }
}
