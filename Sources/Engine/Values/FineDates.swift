// FineDates.swift: converts dates to the Doubles of Foundation, and back. Part of the file format.
// A date is seconds since 1970 and nanoseconds, which distinguish all Doubles of seconds since 2001
// except those within 2^23 seconds of 2001, where Doubles are closer to each other than
// nanoseconds, and those beyond 64 bits. Such a Double is a *fine date*: its seconds are rounded
// down, or the end of 64 bits, and in place of nanoseconds is a number from 10^9 up: its bits
// without the sign, which follows from the seconds, exclusive-or 7ffc000000000000. Invariants:
// every Double has its own value, except that -0 has that of 0 and all NaNs share one, before all
// others; the values ascend as the Doubles do. Near 2001, nanoseconds mean the nearest multiple of
// 2^-23 s, as programs read them before fine dates existed.

/// Between dates and Doubles.
enum FineDates {
  static let nanosecondsEnd: Int64 = 1_000_000_000
  /// Seconds from 1970 to 2001.
  private static let reference: Int64 = 978_307_200
  /// How far from 2001 Doubles are closer to each other than nanoseconds.
  private static let reach: Int64 = 1 << 23
  private static let mask: UInt64 = 0x7ffc << 48

  private static func isNear(_ seconds: Int64) -> Bool {
    (reference - reach..<reference + reach).contains(seconds)
  }

  /// The seconds since 2001 of a date; NaN for the date of no time.
  static func interval(_ seconds: Int64, _ part: Int64) -> Double {
    guard part < nanosecondsEnd else {
      let bits = UInt64(bitPattern: part) ^ mask
      return Double(bitPattern: seconds < reference ? bits | 1 << 63 : bits)
    }
    let fraction = Double(part) / Double(nanosecondsEnd)
    if isNear(seconds) { return Double(seconds) + fraction - Double(reference) }
    let (whole, overflow) = seconds.subtractingReportingOverflow(reference)
    return overflow ? Double(Int128(seconds) - Int128(reference)) : Double(whole) + fraction
  }

  /// The date of seconds since 2001.
  static func parts(_ interval: Double) -> (seconds: Int64, part: Int64) {
    guard !interval.isNaN else { return (.min, fine(.nan)) }
    let floor = interval.rounded(.down)
    guard let whole = Int64(exactly: floor) else { return end(interval) }
    let (seconds, overflow) = whole.addingReportingOverflow(reference)
    if overflow { return end(interval) }
    let nanoseconds = Int64(((interval - floor) * Double(nanosecondsEnd)).rounded())
    let near =
      nanoseconds < nanosecondsEnd ? (seconds, nanoseconds) : (seconds: seconds + 1, part: 0)
    return self.interval(near.0, near.1) == interval ? near : (seconds, fine(interval))
  }

  /// The date of a time that 64 bits of seconds do not reach.
  private static func end(_ interval: Double) -> (seconds: Int64, part: Int64) {
    let seconds: Int64 = interval < 0 ? .min : .max
    return (seconds, self.interval(seconds, 0) == interval ? 0 : fine(interval))
  }

  private static func fine(_ interval: Double) -> Int64 {
    Int64(bitPattern: interval.magnitude.bitPattern ^ mask)
  }

  /// Whether the fraction is valid: nanoseconds, or that of a fine date with these seconds.
  @inline(__always)
  static func isPart(_ part: Int64, of seconds: Int64) -> Bool {
    UInt64(bitPattern: part) < UInt64(nanosecondsEnd) || isFine(seconds, part)
  }

  private static func isFine(_ seconds: Int64, _ part: Int64) -> Bool {
    part >= nanosecondsEnd && parts(interval(seconds, part)) == (seconds, part)
  }

  /// Negative, 0 or positive as a fraction sorts before, with or after another one of the same
  /// second.
  static func order(_ left: Int64, _ right: Int64, in seconds: Int64) -> Int {
    if (left < nanosecondsEnd) == (right < nanosecondsEnd), left < nanosecondsEnd || left == right {
      return left < right ? -1 : left == right ? 0 : 1
    }
    let (first, second) = (interval(seconds, left), interval(seconds, right))
    if first.isNaN || second.isNaN { return first.isNaN ? -1 : 1 }
    if first != second { return first < second ? -1 : 1 }
    // Nanoseconds that mean the same Double sort before it.
    return left < nanosecondsEnd ? -1 : 1
  }
}

extension Value {
  /// The date with the seconds since 2001 that Foundation's `Date` holds, to the last bit.
  package static func date(sinceReferenceDate interval: Double) -> Value {
    let (seconds, part) = FineDates.parts(interval)
    return .date(seconds: seconds, nanoseconds: part)
  }

  /// The seconds since 2001 of a date's two numbers.
  package static func sinceReferenceDate(seconds: Int64, nanoseconds: Int64) -> Double {
    FineDates.interval(seconds, nanoseconds)
  }

  /// The dates before and after which none is.
  package static let firstDate = Value.date(sinceReferenceDate: .nan)
  package static let lastDate = Value.date(sinceReferenceDate: .infinity)

  /// Whether a date is one that nanoseconds cannot express.
  package static func isFineDate(nanoseconds: Int64) -> Bool {
    nanoseconds >= FineDates.nanosecondsEnd
  }
}
