// ISODate.swift: dates as texts by ISO 8601, by the Gregorian calendar in both directions.
//   date = YYYY-MM-DD [ ("T" | " ") time ] | time     time = hh:mm[:ss[.fraction]] [ "Z" | ±hh[:]mm
// ]

/// A date that was read.
struct ISODate {
  /// Which parts a text has.
  struct Parts {
    var hasDay = true
    var hasTime = true
    var hasZone = true
    /// Whether an offset has a colon, as in `+01:00`.
    var hasZoneColon = false
    var separator: Unicode.Scalar = "T"

    static let all = Parts()
  }

  /// The range of a date in milliseconds: a million years either way.
  static let range: ClosedRange<Int64> = -31_556_952_000_000_000...31_556_952_000_000_000
  static let dayMilliseconds: Int64 = 86_400_000

  let milliseconds: Int64
  /// Minutes before UTC; 0 for a text without a zone.
  let zoneMinutes: Int64
  let parts: Parts

  /// Milliseconds since 1970 by the date's own clock.
  var localMilliseconds: Int64 { milliseconds + zoneMinutes * 60_000 }

  /// Reads a text; nil for others.
  init?(_ text: String) {
    guard text.utf8.count <= 40 else { return nil }
    var reader = Reader(bytes: Array(text.utf8))
    var parts = Parts(hasTime: false, hasZone: false)
    var total: Int64 = 0
    if let year = reader.number(digits: 4), reader.take("-") {
      guard let month = reader.number(digits: 2), (1...12).contains(month), reader.take("-"),
        let day = reader.number(digits: 2)
      else { return nil }
      let first = Self.days(year: year, month: month, day: 1)
      guard (1...Self.days(year: year, month: month + 1, day: 1) - first).contains(day) else {
        return nil
      }
      total = (first + day - 1) * Self.dayMilliseconds
      if reader.isAtEnd {
        self.parts = parts
        milliseconds = total
        zoneMinutes = 0
        return
      }
      parts.separator = reader.take(" ") ? " " : "T"
      guard parts.separator == " " || reader.take("T") else { return nil }
    } else {
      reader.place = 0
      parts.hasDay = false
    }
    guard let time = reader.time() else { return nil }
    parts.hasTime = true
    total += time
    var zoneMinutes: Int64 = 0
    if !reader.isAtEnd {
      guard let zone = reader.zone(), reader.isAtEnd else { return nil }
      parts.hasZone = true
      parts.hasZoneColon = zone.hasColon
      zoneMinutes = zone.minutes
    }
    self.parts = parts
    self.zoneMinutes = zoneMinutes
    milliseconds = total - zoneMinutes * 60_000
  }

  /// Writes a date.
  /// - Parameters:
  ///   - milliseconds: Since 1970 UTC.
  ///   - zoneMinutes: Minutes before UTC.
  ///   - parts: The parts to write.
  /// - Returns: The text.
  static func text(_ milliseconds: Int64, zoneMinutes: Int64, parts: Parts) -> String {
    let local = milliseconds + zoneMinutes * 60_000
    let days = floor(local, dayMilliseconds)
    let rest = local - days * dayMilliseconds
    var text = ""
    if parts.hasDay {
      let (year, month, day) = date(days: days)
      let sign = year < 0 ? "-" : ""
      text += "\(sign)\(padded(abs(year), 4))-\(padded(month, 2))-\(padded(day, 2))"
    }
    guard parts.hasTime else { return text }
    if parts.hasDay { text.unicodeScalars.append(parts.separator) }
    text += padded(rest / 3_600_000, 2) + ":" + padded(rest / 60_000 % 60, 2)
    text += ":" + padded(rest / 1000 % 60, 2)
    if rest % 1000 != 0 { text += "." + padded(rest % 1000, 3) }
    guard parts.hasZone else { return text }
    guard zoneMinutes != 0 else { return text + "Z" }
    let size = abs(zoneMinutes)
    text += (zoneMinutes < 0 ? "-" : "+") + padded(size / 60, 2)
    return text + (parts.hasZoneColon ? ":" : "") + padded(size % 60, 2)
  }

  private static func padded(_ number: Int64, _ count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }

  /// Division towards the smaller number.
  static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
    number / divisor - (number % divisor < 0 ? 1 : 0)
  }

  /// Days since 1970 of a day; months and days beyond their ranges carry over.
  static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    // Years that begin in March: the day that may be missing is the last.
    let shifted = year - (month <= 2 ? 1 : 0)
    let era = floor(shifted, 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The day of days since 1970.
  static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = floor(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthIndex = (5 * dayOfYear + 2) / 153
    let month = monthIndex + (monthIndex < 10 ? 3 : -9)
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * monthIndex + 2) / 5 + 1)
  }
}

/// Reads parts of dates.
private struct Reader {
  let bytes: [UInt8]
  var place = 0

  var isAtEnd: Bool { place == bytes.count }

  mutating func take(_ letter: Unicode.Scalar) -> Bool {
    guard place < bytes.count, UInt32(bytes[place]) == letter.value else { return false }
    place += 1
    return true
  }

  mutating func number(digits: Int) -> Int64? {
    guard place + digits <= bytes.count else { return nil }
    var number: Int64 = 0
    for byte in bytes[place..<place + digits] {
      guard (0x30...0x39).contains(byte) else { return nil }
      number = number * 10 + Int64(byte - 0x30)
    }
    place += digits
    return number
  }

  mutating func time() -> Int64? {
    guard let hour = number(digits: 2), hour < 24, take(":"), let minute = number(digits: 2),
      minute < 60
    else { return nil }
    var total = (hour * 60 + minute) * 60_000
    guard take(":") else { return total }
    guard let second = number(digits: 2), second < 60 else { return nil }
    total += second * 1000
    guard take(".") else { return total }
    var (unit, hasDigits): (Int64, Bool) = (100, false)
    while let digit = number(digits: 1) {
      total += digit * unit
      unit /= 10
      hasDigits = true
    }
    return hasDigits ? total : nil
  }

  mutating func zone() -> (minutes: Int64, hasColon: Bool)? {
    if take("Z") { return (0, false) }
    let sign: Int64 = take("-") ? -1 : 1
    guard sign < 0 || take("+"), let hour = number(digits: 2), hour < 24 else { return nil }
    let hasColon = take(":")
    guard let minute = number(digits: 2), minute < 60 else { return nil }
    return (sign * (hour * 60 + minute), hasColon)
  }
}
