// XRayDates.swift: dates that nanoseconds cannot express, as defined in
// docs/reference/file-format.md.

/// Parts of a second.
enum XRayDates {
  private static let reference: Int64 = 978_307_200

  /// A date with a part of a second that is in nanoseconds or, from 10^9 up, a fine date's.
  static func date(_ seconds: Int64, _ rest: Int64) throws(XRayFault) -> XRayValue {
    if (0..<1_000_000_000).contains(rest) { return .date(seconds, rest) }
    let time = time(seconds, rest)
    let isRight =
      if time.isNaN {
        seconds == .min && time.magnitude.bitPattern == 0x7ff8 << 48
      } else if time.magnitude < 0x1p23 {
        // Multiples of 2^-23 have nanoseconds.
        Int64(time.rounded(.down)) + reference == seconds
          && (time * 0x1p23).rounded() != time * 0x1p23
      } else {
        time.magnitude >= 0x1p62 && seconds == (time < 0 ? .min : .max)
          && Int64(exactly: time).map { $0.addingReportingOverflow(reference).overflow } ?? true
      }
    guard rest > 0, isRight else { throw XRayFault("nanoseconds=\(rest)") }
    return .date(seconds, rest)
  }

  /// Seconds since 2001.
  private static func time(_ seconds: Int64, _ rest: Int64) -> Double {
    if rest >= 1_000_000_000 {
      let magnitude = Double(bitPattern: UInt64(bitPattern: rest) ^ 0x7ffc << 48)
      return seconds < reference ? -magnitude : magnitude
    }
    if (seconds - 970_000_000).magnitude > 20_000_000 { return Double(seconds) - Double(reference) }
    // The nearest multiple of 2^-23.
    let fraction = (Double(rest) / 1e9 * 0x1p23).rounded(.toNearestOrEven) / 0x1p23
    return Double(seconds - reference) + fraction
  }

  /// Whether a part precedes another one in the same second.
  static func precedes(_ left: Int64, _ right: Int64, in seconds: Int64) -> Bool {
    let (isFine, otherIsFine) = (left >= 1_000_000_000, right >= 1_000_000_000)
    guard isFine || otherIsFine else { return left < right }
    let (time, other) = (time(seconds, left), time(seconds, right))
    if time.isNaN || other.isNaN { return time.isNaN && !other.isNaN }
    return time == other ? !isFine && otherIsFine : time < other
  }
}
