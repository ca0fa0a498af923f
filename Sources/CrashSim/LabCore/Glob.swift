// Glob.swift: patterns over paths, as fault rules use them.

/// A pattern over a path: `?` and `*` stop at `/`, `**` does not; `[a-e]` and `[!a-e]` match one
/// byte of a class, other than `/`.
package struct Glob: Hashable, Sendable {
  private enum Part: Hashable {
    case byte(UInt8)
    case anyByte
    case oneOf([ClosedRange<UInt8>], isNegated: Bool)
    case anyName
    case anyPath
  }

  private let parts: [Part]
  private let isNameOnly: Bool

  package init(_ pattern: String) {
    let bytes = Array(pattern.utf8)
    var parts: [Part] = []
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "?"): parts.append(.anyByte)
      case UInt8(ascii: "["):
        if let (part, end) = Self.readClass(bytes, from: index) {
          parts.append(part)
          index = end
        } else {
          parts.append(.byte(bytes[index]))
        }
      case UInt8(ascii: "*"):
        if index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "*") {
          index += 1
          parts.append(.anyPath)
        } else {
          parts.append(.anyName)
        }
      default: parts.append(.byte(bytes[index]))
      }
      index += 1
    }
    self.parts = parts
    isNameOnly = !bytes.contains(UInt8(ascii: "/")) && !pattern.contains("**")
  }

  /// The class that begins at a bracket, and the position of its closing bracket; nil without one.
  private static func readClass(_ bytes: [UInt8], from start: Int) -> (Part, end: Int)? {
    var index = start + 1
    let isNegated =
      index < bytes.count && [UInt8(ascii: "!"), UInt8(ascii: "^")].contains(bytes[index])
    if isNegated { index += 1 }
    let first = index
    var ranges: [ClosedRange<UInt8>] = []
    while index < bytes.count {
      // A bracket in first position is a member.
      if bytes[index] == UInt8(ascii: "]"), index > first {
        return (.oneOf(ranges, isNegated: isNegated), index)
      }
      let low = bytes[index]
      let isRange =
        index + 2 < bytes.count && bytes[index + 1] == UInt8(ascii: "-")
        && bytes[index + 2] != UInt8(ascii: "]")
      let high = isRange ? bytes[index + 2] : low
      // A reversed range has no member, as in a shell.
      if low <= high { ranges.append(low...high) }
      index += isRange ? 3 : 1
    }
    return nil
  }

  /// True when a path (from the root, without a leading slash) matches.
  /// - Complexity: O(length of the pattern × length of the path); no recursion.
  package func matches(_ path: [UInt8]) -> Bool {
    let slash = UInt8(ascii: "/")
    let text = isNameOnly ? path.suffix(from: (path.lastIndex(of: slash) ?? -1) + 1) : path[...]
    // reachable[i]: the parts so far can match the first i bytes.
    var reachable = [Bool](repeating: false, count: text.count + 1)
    reachable[0] = true
    for part in parts {
      var next = [Bool](repeating: false, count: text.count + 1)
      for (count, byte) in text.enumerated() {
        switch part {
        case .byte(let wanted): next[count + 1] = reachable[count] && byte == wanted
        case .anyByte: next[count + 1] = reachable[count] && byte != slash
        case .oneOf(let ranges, let isNegated):
          next[count + 1] =
            reachable[count] && byte != slash
            && ranges.contains { $0.contains(byte) } != isNegated
        case .anyName:
          next[count] = next[count] || reachable[count]
          next[count + 1] = next[count] && byte != slash
        case .anyPath:
          next[count] = next[count] || reachable[count]
          next[count + 1] = next[count]
        }
      }
      if part == .anyName || part == .anyPath {
        next[text.count] = next[text.count] || reachable[text.count]
      }
      reachable = next
    }
    return reachable[text.count]
  }
}
