// DateUnit.swift: units of dates: fixed ones, and those of the calendar, whose lengths differ.

/// A unit of dates.
enum DateUnit {
  /// A number of milliseconds.
  case milliseconds(Int64)
  /// A number of months.
  case months(Int64)

  init?(name: String) {
    switch name.lowercased() {
    case "millisecond", "milliseconds": self = .milliseconds(1)
    case "second", "seconds": self = .milliseconds(1000)
    case "minute", "minutes": self = .milliseconds(60_000)
    case "hour", "hours": self = .milliseconds(3_600_000)
    case "day", "days": self = .milliseconds(ISODate.dayMilliseconds)
    case "week", "weeks": self = .milliseconds(7 * ISODate.dayMilliseconds)
    case "month", "months": self = .months(1)
    case "quarter", "quarters": self = .months(3)
    case "year", "years": self = .months(12)
    case "decade", "decades": self = .months(120)
    case "century", "centuries": self = .months(1200)
    case "millennium", "millenniums": self = .months(12_000)
    default: return nil
    }
  }

  /// A date with units added; nil beyond the dates there are.
  ///
  /// A day that a month has not is its
  /// last.
  func adding(_ count: Int64, to date: Int64) -> Int64? {
    switch self {
    case .milliseconds(let size):
      let (change, overflows) = count.multipliedReportingOverflow(by: size)
      guard !overflows, ISODate.range.contains(change) else { return nil }
      return ISODate.range.contains(date + change) ? date + change : nil
    case .months(let size):
      let (change, overflows) = count.multipliedReportingOverflow(by: size)
      guard !overflows, abs(change) <= 12_000_000 else { return nil }
      let days = ISODate.floor(date, ISODate.dayMilliseconds)
      let (year, month, day) = ISODate.date(days: days)
      let months = year * 12 + month - 1 + change
      let (newYear, newMonth) = (ISODate.floor(months, 12), months - ISODate.floor(months, 12) * 12)
      let first = ISODate.days(year: newYear, month: newMonth + 1, day: 1)
      let next = months + 1
      let nextYear = ISODate.floor(next, 12)
      let length = ISODate.days(year: nextYear, month: next - nextYear * 12 + 1, day: 1) - first
      let sum = (first + min(day, length) - 1 - days) * ISODate.dayMilliseconds + date
      return ISODate.range.contains(sum) ? sum : nil
    }
  }

  /// Whole units from the second date to the first, towards 0.
  func difference(_ first: Int64, _ second: Int64) -> Int64 {
    switch self {
    case .milliseconds(let size): (first - second) / size
    case .months(let size):
      first >= second ? Self.months(second, first) / size : -(Self.months(first, second) / size)
    }
  }

  /// Whole months from a date to a later one.
  private static func months(_ start: Int64, _ end: Int64) -> Int64 {
    let (first, last) = (
      ISODate.date(days: ISODate.floor(start, ISODate.dayMilliseconds)),
      ISODate.date(days: ISODate.floor(end, ISODate.dayMilliseconds))
    )
    let months = (last.year - first.year) * 12 + last.month - first.month
    let startRest = start - ISODate.floor(start, ISODate.dayMilliseconds) * ISODate.dayMilliseconds
    let endRest = end - ISODate.floor(end, ISODate.dayMilliseconds) * ISODate.dayMilliseconds
    return (last.day, endRest) < (first.day, startRest) ? months - 1 : months
  }
}
