// GoldenFile.swift: the golden pairs of Tests/FleeceTests/Golden, row by row.

import Foundation
import TestFiles

/// A table of golden pairs: texts between tabs, a row each line, the names of the columns first.
enum GoldenFile {
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().appending(path: "Golden")

  /// The rows of a table, which may be compressed.
  static func rows(_ name: String) throws -> [[String]] {
    let url = folder.appending(path: name)
    let data = try PackedFile.contents(url)
    return String(decoding: data, as: UTF8.self).split(separator: "\n").dropFirst().map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
  }
}

extension [UInt8] {
  /// Bytes of hexadecimal digits; nil for other texts.
  init?(hex text: String) {
    var (bytes, high) = ([UInt8](), UInt8?.none)
    for letter in text {
      guard let digit = letter.hexDigitValue.map({ UInt8($0) }) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    guard high == nil else { return nil }
    self = bytes
  }

  /// The bytes as hexadecimal digits.
  var hex: String { map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}
