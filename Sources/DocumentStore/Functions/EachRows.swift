// EachRows.swift: the rows of `fl_each(body, path)` and of `fl_each(value)`: one for each item of
// an array or value of a dict; for another value, a single row. They are numbered from 0.

import Fleece

/// The columns.
enum EachColumn: Int32 {
  case key
  case value
  case type
  case data
  case body
  case rootData
  case rootPath
}

/// The rows of one use of the table.
final class EachRows {
  let state: FunctionState
  private var bytes: [UInt8] = []
  /// The path in force, and the last one that was read: mostly the same.
  private var path: PathBox?
  private var lastPath: PathBox?
  private var lastText: [UInt8] = []
  /// Whether keys in the bytes may be numbers of the connection's table.
  private var keys = FleeceSharedKeys()
  private(set) var count = 0
  var row = 0

  init(_ state: FunctionState) { self.state = state }

  func reset() {
    (bytes, path, count, row) = ([], nil, 0, 0)
  }

  /// Takes the arguments: a body or a value, and a path in it.
  func begin(_ call: FunctionCall) throws {
    reset()
    guard call.kind(0) == .blob, call.bytes(0).count > 0 else { return try beginScalar(call) }
    guard let body = RevisionTree.currentBody(of: call.bytes(0)), body.count > 0 else { return }
    bytes = body.array
    keys = state.keys
    if call.count > 1, call.kind(1) != .null {
      let text = call.bytes(1).array
      if lastPath == nil || text != lastText {
        lastPath = PathBox(try FleecePath(parsing: String(decoding: text, as: UTF8.self)))
        lastText = text
      }
      path = lastPath
    }
    count = try withContainer { container in
      container.map { $0.array?.count ?? $0.dict?.count ?? 1 } ?? 0
    }
  }

  /// Takes a value that is not a collection, and is its only item.
  private func beginScalar(_ call: FunctionCall) throws {
    guard call.kind(0) != .null, call.count == 1 else { return }
    var encoder = FleeceEncoder()
    _ = try call.write(argument: 0, to: &encoder)
    bytes = try encoder.finish()
    count = 1
  }

  private func withContainer<Result>(
    _ use: (FleeceValue?) throws -> Result
  ) throws -> Result {
    try FleeceBytes.over(bytes) { (view: FleeceBytes) throws in
      let root = try FleeceValue.root(of: view)
      return try use(try path.map { try $0.value(in: root, keys: keys) } ?? root)
    }
  }

  func result(_ column: EachColumn, _ call: FunctionCall) throws {
    try withContainer { container in
      guard let container, row < count else { return call.resultMissing() }
      let value: FleeceValue?
      if let array = container.array {
        value = try array.value(at: row)
      } else if let dict = container.dict {
        if column == .key { return try result(key: dict.key(at: row), call) }
        value = try dict.value(at: row)
      } else {
        value = container
      }
      switch column {
      case .value: try call.result(value)
      case .type: call.result(Int64(value.map(Self.type) ?? -1))
      case .body, .data: if let value { try call.result(encoding: value) }
      case .key, .rootData, .rootPath: call.resultMissing()
      }
    }
  }

  private func result(key: FleeceDict.Key, _ call: FunctionCall) throws {
    switch key {
    case .text(let text): call.result(text: text)
    case .shared(let number):
      guard let text = keys.key(of: number) else { return call.resultMissing() }
      FleeceBytes.over(text) { (view: FleeceBytes) in call.result(text: view) }
    }
  }

  /// The real library's number of a value's kind.
  private static func type(_ value: FleeceValue) -> Int {
    switch value.kind {
    case .null, .undefined: 0
    case .boolean: 1
    case .integer, .real: 2
    case .text: 3
    case .data: 4
    case .array: 5
    case .dict: 6
    }
  }
}
