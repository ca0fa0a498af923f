// Timestamp.swift: a time with the resolution of file times.

/// A time as stored in file times.
public struct Timestamp: Hashable, Sendable {
  /// Seconds since 1970, negative before it.
  public var seconds: Int64
  /// Nanoseconds since that second.
  public var nanoseconds: Int64

  /// Makes a time.
  public init(seconds: Int64 = 0, nanoseconds: Int64 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}

extension Timestamp {
  /// Seconds with nine digits after the point, for example `-2.500000000` for two and a half
  /// seconds before 1970.
  package var secondsText: String {
    let isBefore = seconds < 0 && nanoseconds > 0
    let whole = isBefore ? seconds + 1 : seconds
    let rest = isBefore ? 1_000_000_000 - nanoseconds : nanoseconds
    let digits = String(rest)
    let sign = isBefore && whole == 0 ? "-" : ""
    return "\(sign)\(whole).\(String(repeating: "0", count: max(0, 9 - digits.count)))\(digits)"
  }

  /// Reads what `secondsText` writes; nil for anything else.
  package init?(seconds text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count == 9,
      parts[1].utf8.allSatisfy({ (48...57).contains($0) }),
      let whole = Int64(parts[0]), let rest = Int64(parts[1])
    else { return nil }
    let isBefore = parts[0].hasPrefix("-")
    if isBefore, rest > 0 {
      guard whole > Int64.min else { return nil }
      self.init(seconds: whole - 1, nanoseconds: 1_000_000_000 - rest)
    } else {
      self.init(seconds: whole, nanoseconds: rest)
    }
    guard secondsText == text else { return nil }
  }
}
