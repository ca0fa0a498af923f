// FullText.swift: the text of a value for full-text indexes, as in the real library. Values are
// separated by a space, and a collection is a value without text: so ["a", "b"] is " a b". All
// items of a collection come before those of nested collections, of which the last one is visited
// first.

import Fleece

/// The text of values.
enum FullText {
  /// The text of a value and of everything in it.
  /// - Throws: `FleeceError` with code `.damaged`; `DocumentStoreError` when collections that many
  ///   pointers lead to would become more than 64 times as large as the document, plus 1 KiB.
  /// - Complexity: O(bytes).
  static func text(of root: FleeceValue) throws -> [UInt8] {
    var (text, waiting) = ([UInt8](), [FleeceValue]())
    var stepsLeft = root.documentSizeBytes * 64 + 1024
    try append(root, to: &text, &waiting, &stepsLeft)
    while let collection = waiting.popLast() {
      if let array = collection.array {
        for index in 0..<array.count {
          guard let item = try array.value(at: index) else { break }
          text.append(UInt8(ascii: " "))
          try append(item, to: &text, &waiting, &stepsLeft)
        }
      } else if let dict = collection.dict {
        for index in 0..<dict.count {
          text.append(UInt8(ascii: " "))
          try append(try dict.value(at: index), to: &text, &waiting, &stepsLeft)
        }
      }
    }
    return text
  }

  private static func append(
    _ value: FleeceValue, to text: inout [UInt8], _ waiting: inout [FleeceValue],
    _ stepsLeft: inout Int
  ) throws {
    let before = text.count
    switch value.kind {
    case .null, .undefined, .data: break
    case .boolean: text.append(UInt8(ascii: value.boolean == true ? "T" : "F"))
    case .integer, .real: text += try value.jsonBytes()
    case .text: if let bytes = value.textBytes { text += bytes.array }
    case .array, .dict: waiting.append(value)
    }
    stepsLeft -= 2 + text.count - before
    guard stepsLeft >= 0 else {
      throw DocumentStoreError(
        .corruptRevisionData,
        "a body of \(value.documentSizeBytes) bytes has more text than 64 times as much")
    }
  }
}
