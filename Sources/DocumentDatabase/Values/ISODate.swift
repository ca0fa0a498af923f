// ISODate.swift: dates as texts: ISO 8601 in UTC with milliseconds, as Couchbase Lite writes them.

import Foundation

/// Dates as texts.
enum ISODate {
  private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
  private static let wholeSeconds = Date.ISO8601FormatStyle()

  /// A date as a text.
  static func text(_ date: Date) -> String { style.format(date) }

  /// The date of a text; nil for other texts.
  static func date(_ text: String) -> Date? {
    (try? style.parse(text)) ?? (try? wholeSeconds.parse(text)) ?? (try? dayOnly.parse(text))
  }

  private static let dayOnly = Date.ISO8601FormatStyle().year().month().day()
}
