// ByteSearch.swift: [U] finds bytes in other bytes.
// Safety: the buffers live until the one call that they are passed to returns.

import Glibc

extension [UInt8] {
  /// More places where the rarest byte fits are not compared.
  private static let comparedMax = 100_000

  /// Whether some bytes are in these, one after another.
  /// - Complexity: O(bytes), and a comparison at each place of the needle's rarest byte.
  func contains(bytes: [UInt8]) -> Bool {
    guard !bytes.isEmpty else { return true }
    guard bytes.count <= count else { return false }
    let place = bytes.rarestIndex
    return unsafe withUnsafeBytes { hay in
      unsafe bytes.withUnsafeBytes { needle in
        guard let start = hay.baseAddress, let what = needle.baseAddress else { return false }
        var from = place
        let end = hay.count - (needle.count - place) + 1
        for _ in 0..<Self.comparedMax {
          guard from < end,
            let found = unsafe memchr(start + from, Int32(needle[place]), end - from)
          else { return false }
          from = unsafe UnsafeRawPointer(found) - start
          if unsafe memcmp(start + (from - place), what, needle.count) == 0 { return true }
          from += 1
        }
        return false
      }
    }
  }

  /// Where the byte is that comes least often.
  private var rarestIndex: Int {
    var counts = [Int](repeating: 0, count: 256)
    for byte in self { counts[Int(byte)] += 1 }
    return indices.min { counts[Int(self[$0])] < counts[Int(self[$1])] } ?? 0
  }

  /// The bytes as inside a text of JSON.
  var escapedAsJSON: [UInt8] {
    flatMap { byte -> [UInt8] in
      switch byte {
      case UInt8(ascii: "\n"): Array("\\n".utf8)
      case UInt8(ascii: "\t"): Array("\\t".utf8)
      case UInt8(ascii: "\r"): Array("\\r".utf8)
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
      default: [byte]
      }
    }
  }
}
