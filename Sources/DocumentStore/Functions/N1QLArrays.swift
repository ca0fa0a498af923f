// N1QLArrays.swift: functions of arrays. As with the real library, a value that is not an array has
// no items for `array_length`, `array_sum` and `array_avg`, and `array_avg` divides by the count of
// all items. `array_max` of numbers below 0 is the largest of them (the real library's is not).

import Fleece

/// Functions of arrays.
enum N1QLArrays {
  static let all: [SQLFunction] = [
    SQLFunction(name: "array_avg", argumentCount: 1) { call in
      let (sum, count) = try sum(call)
      call.result(finite: count == 0 ? 0 : sum / Double(count))
    },
    SQLFunction(name: "array_sum", argumentCount: 1) { $0.result(finite: try sum($0).sum) },
    SQLFunction(name: "array_length", argumentCount: 1) { call in
      call.result(Int64(try call.array(0)?.count ?? 0))
    },
    SQLFunction(name: "array_count", argumentCount: 1, body: count),
    SQLFunction(name: "array_ifnull", argumentCount: 1, body: firstValue),
    SQLFunction(name: "array_max", argumentCount: 1) { try extreme($0) { $0 > $1 } },
    SQLFunction(name: "array_min", argumentCount: 1) { try extreme($0) { $0 < $1 } },
    SQLFunction(name: "array_contains", argumentCount: 2, body: contains),
    SQLFunction(name: "fl_contains", argumentCount: 3, body: documentContains),
  ]

  private static func sum(_ call: FunctionCall) throws -> (sum: Double, count: Int) {
    guard let array = try call.array(0) else { return (0, 0) }
    var sum = 0.0
    for index in 0..<array.count {
      guard let item = try array.value(at: index) else { break }
      sum += item.double ?? (item.boolean == true ? 1 : 0)
    }
    return (sum, array.count)
  }

  private static func count(_ call: FunctionCall) throws {
    guard call.kind(0) == .blob, !call.isNull(0) else { return call.resultMissing() }
    let root = try FleeceValue.root(of: call.bytes(0))
    if let dict = root.dict { return call.result(Int64(dict.count)) }
    guard let array = root.array else { return call.resultMissing() }
    var count: Int64 = 0
    for index in 0..<array.count {
      if let item = try array.value(at: index), item.kind != .null { count += 1 }
    }
    call.result(count)
  }

  private static func firstValue(_ call: FunctionCall) throws {
    guard let array = try call.array(0) else { return call.resultNull() }
    for index in 0..<array.count {
      guard let item = try array.value(at: index), item.kind != .null else { continue }
      return try call.result(item)
    }
    call.resultNull()
  }

  private static func extreme(
    _ call: FunctionCall, _ isBetter: (Double, Double) -> Bool
  ) throws {
    guard let array = try call.array(0) else { return call.resultNull() }
    var best: Double?
    for index in 0..<array.count {
      guard let number = try array.value(at: index)?.double else { continue }
      if let found = best, !isBetter(number, found) { continue }
      best = number
    }
    if let best { call.result(finite: best) } else { call.resultNull() }
  }

  private static func contains(_ call: FunctionCall) throws {
    guard call.kind(0) != .null else { return call.resultMissing() }
    guard let array = try call.array(0) else { return call.resultNull() }
    guard call.kind(1) != .null else { return call.resultMissing() }
    guard !call.isNull(1) else { return call.resultNull() }
    for index in 0..<array.count {
      if let item = try array.value(at: index), try call.isEqual(1, item) {
        return call.result(true)
      }
    }
    call.result(false)
  }

  /// Whether an array or a dict in a document has a value.
  private static func documentContains(_ call: FunctionCall) throws {
    // Without a path it is a value, of which a scalar is not an empty document.
    if call.kind(1) == .null, call.kind(0) != .blob || call.bytes(0).count == 0 {
      return call.resultNull()
    }
    try call.withProperty { value in
      guard let value, value.kind == .array || value.kind == .dict else {
        return call.resultNull()
      }
      guard call.kind(2) != .null else { return call.resultMissing() }
      if let array = value.array {
        for index in 0..<array.count {
          if let item = try array.value(at: index), try call.isEqual(2, item) {
            return call.result(true)
          }
        }
      } else if let dict = value.dict {
        for index in 0..<dict.count where try call.isEqual(2, dict.value(at: index)) {
          return call.result(true)
        }
      }
      call.result(false)
    }
  }
}

extension FunctionCall {
  /// An argument's items; nil for a value that is not an array.
  func array(_ index: Int) throws -> FleeceArray? {
    guard kind(index) == .blob, bytes(index).count > 0, subtype(index) != SQLSubtype.bytes else {
      return nil
    }
    return try FleeceValue.root(of: bytes(index)).array
  }

  /// Whether an argument is a value of a document.
  ///
  /// Booleans count as numbers.
  func isEqual(_ index: Int, _ value: FleeceValue) throws -> Bool {
    switch (kind(index), value.kind) {
    case (.integer, .integer):
      value.integer == integer(index)
        || value.integer == nil && value.unsignedInteger == UInt64(bitPattern: integer(index))
    case (.integer, .boolean): (value.boolean == true ? 1 : 0) == integer(index)
    case (.integer, .real): value.double.map { SQLOrder.isEqual(integer(index), $0) } ?? false
    case (.real, .integer): value.integer.map { SQLOrder.isEqual($0, real(index)) } ?? false
    case (.real, .boolean): (value.boolean == true ? 1 : 0) == real(index)
    case (.real, .real): value.double == real(index)
    case (.text, .text): value.textBytes?.array == bytes(index).array
    case (.blob, .null): isNull(index)
    case (.blob, .array), (.blob, .dict), (.blob, .data):
      try isEqual(blob: bytes(index), value)
    default: false
    }
  }

  /// Whether a Fleece blob equals a value of a document.
  private func isEqual(blob: FleeceBytes, _ value: FleeceValue) throws -> Bool {
    guard blob.count > 0 else { return false }
    var encoder = FleeceEncoder()
    try encoder.copy(value, keys: state.keys)
    let copy = try encoder.finish()
    if copy == blob.array { return true }
    guard value.kind != .data, let other = try? FleeceValue.root(of: blob),
      other.kind == value.kind
    else { return false }
    // A copy has its values in the order that its source has its pairs in: that of the numbers of
    // shared keys in a body, that of texts in a copy. A copy of a copy depends on the value alone.
    return try Self.copyOfCopy(other, state.keys) == Self.copyOfCopy(value, state.keys)
  }

  private static func copyOfCopy(_ value: FleeceValue, _ keys: FleeceSharedKeys) throws -> [UInt8] {
    var encoder = FleeceEncoder()
    try encoder.copy(value, keys: keys)
    return try FleeceBytes.over(try encoder.finish()) { (copy: FleeceBytes) in
      try encoder.copy(FleeceValue.root(of: copy))
      return try encoder.finish()
    }
  }
}
