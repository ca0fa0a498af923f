// BodyFunctions.swift: the functions that find values in bodies, which the triggers and indexes of
// the real library use.

import Fleece

/// The SQL functions over bodies.
enum BodyFunctions {
  static let all: [SQLFunction] = [
    SQLFunction(name: "fl_value", argumentCount: 2, body: value),
    SQLFunction(name: "fl_root", argumentCount: 1, body: root),
    SQLFunction(name: "fl_nested_value", argumentCount: 2, body: nestedValue),
    SQLFunction(name: "fl_unnested_value", argumentCount: 1, body: unnestedValue),
    SQLFunction(name: "fl_unnested_value", argumentCount: 2, body: unnestedValue),
    SQLFunction(name: "fl_exists", argumentCount: 2, body: exists),
    SQLFunction(name: "fl_count", argumentCount: 2, body: count),
    SQLFunction(name: "fl_fts_value", argumentCount: 2, body: fullTextValue),
    SQLFunction(name: "fl_blob", argumentCount: 2, body: blob),
    SQLFunction(name: "fl_version", argumentCount: 1, body: version),
    SQLFunction(name: "fl_null", argumentCount: 0) { $0.resultNull() },
    SQLFunction(name: "fl_bool", argumentCount: 1) { $0.result($0.integer(0) != 0) },
    SQLFunction(name: "array_of", argumentCount: -1, body: array),
    SQLFunction(name: "dict_of", argumentCount: -1, body: dict),
  ]

  private static func value(_ call: FunctionCall) throws {
    try call.withProperty { value in try call.result(value) }
  }

  /// The body itself, without the surrounding bytes of 2.x.
  private static func root(_ call: FunctionCall) throws {
    guard call.kind(0) == .blob, let body = RevisionTree.currentBody(of: call.bytes(0)),
      body.count > 0
    else { return call.resultMissing() }
    call.result(blob: body)
  }

  /// A value inside a value that is a separate Fleece blob.
  private static func nestedValue(_ call: FunctionCall) throws {
    let view = call.bytes(0)
    guard call.kind(0) == .blob, view.count > 0 else { return call.resultMissing() }
    let root = try FleeceValue.root(of: view)
    try call.result(try call.path(1).value(in: root, keys: call.state.keys))
  }

  /// A value of the table of an array or predictive index, or one inside it.
  private static func unnestedValue(_ call: FunctionCall) throws {
    if call.kind(0) == .blob {
      try call.count == 1 ? root(call) : value(call)
    } else if call.count == 1 {
      call.result(argument: 0)
    } else {
      call.resultMissing()
    }
  }

  private static func exists(_ call: FunctionCall) throws {
    try call.withProperty { value in call.result(value != nil) }
  }

  /// How many items of an array are not null, or pairs a dict has.
  private static func count(_ call: FunctionCall) throws {
    try call.withProperty { value in
      if let dict = value?.dict { return call.result(Int64(dict.count)) }
      guard let array = value?.array else { return call.resultMissing() }
      var count: Int64 = 0
      for index in 0..<array.count {
        if let item = try array.value(at: index), item.kind != .null { count += 1 }
      }
      call.result(count)
    }
  }

  private static func fullTextValue(_ call: FunctionCall) throws {
    try call.withProperty { value in
      guard let value else { return call.resultMissing() }
      if let text = value.textBytes { return call.result(text: text) }
      FleeceBytes.over(try FullText.text(of: value)) { (view: FleeceBytes) in
        call.result(text: view)
      }
    }
  }

  /// The contents of the blob that a dict names; missing when it is not there.
  private static func blob(_ call: FunctionCall) throws {
    try call.withProperty { value in
      call.resultMissing()
      let keys = call.state.keys
      guard let text = try value?.dict?.value(for: "digest", in: keys)?.text,
        let digest = BlobDigest(text), let contents = try? call.state.blobs.contents(digest)
      else { return }
      FleeceBytes.over(contents) { (view: FleeceBytes) in
        call.result(blob: view, subtype: SQLSubtype.bytes)
      }
    }
  }

  /// A revision's ID as a text.
  private static func version(_ call: FunctionCall) throws {
    let bytes = call.bytes(0).array
    let text: String?
    if VersionVector.isVector(bytes) {
      text = (try? VersionVector(stored: bytes))?.description
    } else {
      text = (try? RevisionID(stored: bytes))?.description
    }
    guard let text else { return call.resultMissing() }
    FleeceBytes.over(text) { (view: FleeceBytes) in call.result(text: view) }
  }

  private static func array(_ call: FunctionCall) throws {
    var encoder = FleeceEncoder()
    try encoder.beginArray()
    for index in 0..<call.count { _ = try call.write(argument: index, to: &encoder) }
    try encoder.endArray()
    try encoder.finish { (view: FleeceBytes) in call.result(blob: view) }
  }

  private static func dict(_ call: FunctionCall) throws {
    guard call.count % 2 == 0 else {
      return call.result(error: "dict_of has \(call.count) arguments; it takes keys and values")
    }
    var encoder = FleeceEncoder()
    try encoder.beginDict()
    for index in stride(from: 0, to: call.count, by: 2) {
      guard call.kind(index) == .text else {
        return call.result(error: "argument \(index) of dict_of is not text; it must be a key")
      }
      let key = call.bytes(index).text
      _ = try call.write(argument: index + 1, key: key, to: &encoder)
    }
    try encoder.endDict()
    try encoder.finish { (view: FleeceBytes) in call.result(blob: view) }
  }
}
