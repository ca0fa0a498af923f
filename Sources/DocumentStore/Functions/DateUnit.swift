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
  /// A day that a month does not have is one of the next month: 31 January and a month is 3 March.
  func adding(_ count: Int64, to date: Int64) -> Int64? {
    switch self {
    case .milliseconds(let size):
      let (change, overflows) = count.multipliedReportingOverflow(by: size)
      guard !overflows, ISODate.range.contains(change) else { return nil }
      return ISODate.range.contains(date + change) ? date + change : nil
    case .months(let size):
      let (change, overflows) = count.multipliedReportingOverflow(by: size)
      guard !overflows, change.magnitude <= 12_000_000 else { return nil }
      let days = ISODate.floor(date, ISODate.dayMilliseconds)
      let (year, month, day) = ISODate.date(days: days)
      let months = year * 12 + month - 1 + change
      let (newYear, newMonth) = (ISODate.floor(months, 12), months - ISODate.floor(months, 12) * 12)
      let newDays = ISODate.days(year: newYear, month: newMonth + 1, day: 1) + day - 1
      let sum = (newDays - days) * ISODate.dayMilliseconds + date
      return ISODate.range.contains(sum) ? sum : nil
    }
  }

  /// Units between two dates, as the calendar counts them, and not as time passes: from the last
  /// second of a year to the first of the next one is a year.
  func difference(_ first: Int64, _ second: Int64) -> Int64 {
    func units(_ size: Int64) -> Int64 {
      ISODate.floor(first, size) - ISODate.floor(second, size)
    }
    let day = ISODate.dayMilliseconds
    switch self {
    case .milliseconds(let size) where size > day: return units(day) / (size / day)
    case .milliseconds(let size): return units(size)
    case .months(let size):
      let (one, other) = (
        ISODate.date(days: ISODate.floor(first, day)),
        ISODate.date(days: ISODate.floor(second, day))
      )
      let years = one.year - other.year
      guard size < 12 else { return years / (size / 12) }
      return years * (12 / size) + (one.month - 1) / size - (other.month - 1) / size
    }
  }
}
