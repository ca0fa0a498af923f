// ByteAmount.swift: a number of bytes as written by users.

/// A number of bytes such as `65536`, `512M` or `16G`.
public struct ByteAmount: Hashable, Sendable, CustomStringConvertible {
  /// The number.
  public let bytes: UInt64

  private static let units: [(letter: String, shift: UInt64)] = [
    ("T", 40), ("G", 30), ("M", 20), ("K", 10),
  ]

  /// Makes an amount.
  public init(_ bytes: UInt64) { self.bytes = bytes }

  /// Parses a number with an optional suffix K, M, G or T, in units of 1,024.
  /// - Throws: `LabError` with code `.usage` for anything else, including zero.
  public init(parsing text: String, for option: String) throws(LabError) {
    let unit = Self.units.first { text.uppercased().hasSuffix($0.letter) }
    let digits = unit == nil ? text[...] : text.dropLast()
    guard let number = UInt64(digits), number > 0, digits.allSatisfy(\.isNumber),
      number <= UInt64(1 << 60) >> (unit?.shift ?? 0)
    else {
      throw .usage(
        "\(option) \(text.prefix(60)): write a number of bytes, or one with K, M, G or T, as in "
          + "16G")
    }
    bytes = number << (unit?.shift ?? 0)
  }

  /// For example `16G`.
  public var description: String {
    guard let unit = Self.units.first(where: { bytes != 0 && bytes % (1 << $0.shift) == 0 }) else {
      return "\(bytes)"
    }
    return "\(bytes >> unit.shift)\(unit.letter)"
  }
}
