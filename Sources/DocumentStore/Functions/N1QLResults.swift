// N1QLResults.swift: wraps each column of a result. When SQLite sorts or groups rows, it loses the
// distinction of null, booleans and integers from 2⁶³ on from other values: so a result has them as
// Fleece blobs, as with the real library.

import Fleece

/// The functions around columns of results.
enum N1QLResults {
  static let all = [
    SQLFunction(name: "fl_result", argumentCount: 1, body: result),
    SQLFunction(name: "fl_boolean_result", argumentCount: 1, body: boolean),
  ]

  private static func result(_ call: FunctionCall) throws {
    switch (call.kind(0), call.subtype(0)) {
    case (.integer, SQLSubtype.boolean): write(call.integer(0) != 0, call)
    case (.integer, SQLSubtype.unsigned) where call.integer(0) < 0:
      var encoder = FleeceEncoder()
      try encoder.unsignedInteger(UInt64(bitPattern: call.integer(0)))
      try encoder.finish { (view: FleeceBytes) in call.result(blob: view) }
    case (.blob, SQLSubtype.bytes):
      var encoder = FleeceEncoder()
      try encoder.data(call.bytes(0))
      try encoder.finish { (view: FleeceBytes) in call.result(blob: view) }
    case (.blob, _) where call.isNull(0): write([0x30, 0], call)
    default: call.result(argument: 0)
    }
  }

  private static func boolean(_ call: FunctionCall) {
    switch call.kind(0) {
    case .null: call.resultMissing()
    case .blob where call.isNull(0): write([0x30, 0], call)
    default: write(call.integer(0) != 0, call)
    }
  }

  private static func write(_ value: Bool, _ call: FunctionCall) {
    write([value ? 0x38 : 0x34, 0], call)
  }

  private static func write(_ bytes: [UInt8], _ call: FunctionCall) {
    FleeceBytes.over(bytes) { (view: FleeceBytes) in call.result(blob: view) }
  }
}
