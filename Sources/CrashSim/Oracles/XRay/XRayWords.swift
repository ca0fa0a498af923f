// XRayWords.swift: the words of a text and their images in a full-text index, and the leaves of
// such an index; written from docs/reference/file-format.md, with Foundation's sets of characters
// and decomposition, and numbers as texts of bits.

import Foundation

/// Words of texts.
enum XRayWords {
  /// The images of the words of a text, each once, ascending.
  static func images(_ text: String) -> [UInt64] {
    let words = text.unicodeScalars.split { !isPart($0) }
    let folded = words.map { fold(String(String.UnicodeScalarView($0))) }
    return Set(folded.filter { !$0.isEmpty }.map(image)).sorted()
  }

  private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    guard CharacterSet.alphanumerics.contains(scalar), let age = scalar.properties.age else {
      return false
    }
    // Marks that enclose a letter are in that set, and in no word.
    return age.major < 16 && scalar.properties.generalCategory != .enclosingMark
  }

  private static func fold(_ word: String) -> String {
    var kept = String.UnicodeScalarView()
    for scalar in word.decomposedStringWithCanonicalMapping.unicodeScalars
    where scalar.properties.canonicalCombiningClass.rawValue == 0 {
      kept.append(scalar)
    }
    let upper = kept.map(\.properties.uppercaseMapping).joined()
    return upper.unicodeScalars.map(\.properties.lowercaseMapping).joined()
  }

  private static func bits(_ number: UInt32, _ count: Int) -> String {
    let digits = String(number, radix: 2)
    return String(repeating: "0", count: count - digits.count) + digits
  }

  private static func code(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "a"..."z": bits(scalar.value - 96, 5)
    case "0"..."9": bits(108 + scalar.value - 48, 7)
    case "\u{80}"..."\u{87f}": bits(30, 5) + bits(scalar.value - 0x80, 11)
    default: bits(31, 5) + bits(scalar.value, 21)
    }
  }

  private static func image(_ word: String) -> UInt64 {
    var text = ""
    for scalar in word.unicodeScalars {
      let code = code(scalar)
      if text.count + code.count > 63 {
        text += String(repeating: "0", count: 63 - text.count) + "1"
        break
      }
      text += code
    }
    return UInt64(text + String(repeating: "0", count: 64 - text.count), radix: 2) ?? 0
  }
}

extension XRayReader {
  /// The pairs of a leaf of words, in its order.
  static func words(_ node: XRayNode) throws(XRayFault) -> [XRayGathered.Pair] {
    let runs = node.secondCount
    let start = XRayNode.headerBytes + 10 * runs
    guard runs > 0, start <= node.bytes.count else {
      throw XRayFault("runs=\(runs) in \(node.bytes.count) bytes")
    }
    var pairs: [XRayGathered.Pair] = []
    var place = start
    for run in 0..<runs {
      let image: UInt64 = try node.bytes.number(XRayNode.headerBytes + 8 * run)
      let end: UInt16 = try node.bytes.number(XRayNode.headerBytes + 8 * runs + 2 * run)
      var key: Int64?
      while place < start + Int(end) {
        let number = try varint(node.bytes, &place)
        if let last = key {
          let (next, overflow) = last.addingReportingOverflow(1)
          guard !overflow, number <= UInt64(bitPattern: Int64.max &- next) else {
            throw XRayFault("run \(run): a key beyond the last one")
          }
          key = Int64(bitPattern: UInt64(bitPattern: next) &+ number)
        } else {
          key = number & 1 == 0 ? Int64(number / 2) : -1 - Int64(number / 2)
        }
        pairs.append(.init(image: image, key: key ?? 0, count: 1))
      }
      guard key != nil, place == start + Int(end) else {
        throw XRayFault("run \(run) ends at \(end), its keys at \(place - start)")
      }
    }
    guard place == node.bytes.count, pairs.count == node.count else {
      throw XRayFault("pairs=\(pairs.count) of \(node.count), bytes=\(place)")
    }
    return pairs
  }

  private static func varint(
    _ bytes: XRayBytes, _ place: inout Int
  ) throws(XRayFault) -> UInt64 {
    var groups: [UInt8] = []
    while true {
      let byte: UInt8 = try bytes.number(place)
      place += 1
      groups.append(byte & 0x7f)
      if byte < 0x80 { break }
    }
    guard groups.count == 1 || groups.last != 0, groups.count < 10 || groups.last == 1,
      groups.count <= 10
    else { throw XRayFault("a number of \(groups.count) bytes") }
    return groups.reversed().reduce(0) { $0 << 7 | UInt64($1) }
  }
}
