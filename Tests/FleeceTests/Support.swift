// Support.swift: what the tests of Fleece share: drawn numbers, and short ways to read and write.

import Fleece
import FleeceReference

/// Short ways.
enum Short {
  /// Reads the outermost value of bytes.
  static func reading<Result>(
    _ bytes: [UInt8], _ body: (FleeceValue) throws(FleeceError) -> Result
  ) throws(FleeceError) -> Result {
    try FleeceDocument(bytes).withRoot(body)
  }

  /// The bytes as JSON.
  static func json(
    _ bytes: [UInt8], _ keys: FleeceSharedKeys = FleeceSharedKeys()
  ) throws(FleeceError) -> String {
    try reading(bytes) { (root) throws(FleeceError) in try root.json(keys: keys) }
  }

  /// What an encoder makes of some calls.
  static func bytes(
    _ calls: (inout FleeceEncoder) throws(FleeceError) -> Void
  ) throws(FleeceError) -> [UInt8] {
    var encoder = FleeceEncoder()
    try calls(&encoder)
    return try encoder.finish()
  }

  /// A table of keys.
  static func keys(_ texts: [String]) -> FleeceSharedKeys {
    var keys = FleeceSharedKeys()
    for text in texts { _ = keys.numberAdding(text) }
    return keys
  }

  /// The error of a call, if it has one.
  static func error(_ body: () throws(FleeceError) -> Void) -> FleeceError? {
    do throws(FleeceError) { try body() } catch { return error }
    return nil
  }
}
