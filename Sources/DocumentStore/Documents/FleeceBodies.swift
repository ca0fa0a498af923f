// FleeceBodies.swift: values in bodies, with the store's errors.

import Fleece

/// Values in bodies.
enum FleeceBodies {
  /// Reads the outermost value.
  static func reading<Result>(
    _ body: [UInt8], baseSizeBytes: Int = 0,
    _ use: (FleeceValue) throws(DocumentStoreError) -> Result
  ) throws(DocumentStoreError) -> Result {
    try FleeceBytes.over(body) { (view: FleeceBytes) throws(DocumentStoreError) -> Result in
      let root = try decoding { () throws(FleeceError) in
        try FleeceValue.root(of: view, baseSizeBytes: baseSizeBytes)
      }
      return try use(root)
    }
  }

  /// Turns errors of Fleece into the store's.
  static func decoding<Result>(
    _ body: () throws(FleeceError) -> Result
  ) throws(DocumentStoreError) -> Result {
    do { return try body() } catch {
      throw DocumentStoreError(.corruptRevisionData, "a body does not decode: \(error)")
    }
  }

  /// A value as separate bytes, with the same shared keys.
  static func copy(
    _ value: FleeceValue, keys: FleeceSharedKeys
  ) throws(DocumentStoreError) -> [UInt8] {
    try decoding { () throws(FleeceError) in
      var encoder = FleeceEncoder(sharedKeys: keys)
      try encoder.copy(value, keys: keys)
      return try encoder.finish()
    }
  }
}
