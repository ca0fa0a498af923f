// N1QLDates.swift: functions of dates: milliseconds since 1970 UTC, and texts by ISO 8601. Local
// time is UTC here, so the result of a query does not depend on the machine's settings. Converting
// a value that is not a date gives null; sums and differences give missing, as with the real
// library. A date is written whole, unless the last argument is an example of how to write it.

import Fleece

/// Functions of dates.
enum N1QLDates {
  static let all: [SQLFunction] =
    ["millis_to_str", "millis_to_utc"].flatMap { name in
      ([1, 2] as [Int32]).map { count in
        SQLFunction(name: name, argumentCount: count) { format($0, $0.milliseconds(0), 0, 1) }
      }
    }
    + ([1, 2] as [Int32]).map { count in
      SQLFunction(name: "str_to_utc", argumentCount: count) { call in
        format(call, call.date(0)?.milliseconds, 0, 1)
      }
    }
    + ([2, 3] as [Int32]).flatMap { count in
      [
        SQLFunction(name: "millis_to_tz", argumentCount: count) { call in
          format(call, call.milliseconds(0), zone(call), 2)
        },
        SQLFunction(name: "str_to_tz", argumentCount: count) { call in
          format(call, call.date(0)?.milliseconds, zone(call), 2)
        },
      ]
    }
    + [
      SQLFunction(name: "str_to_millis", argumentCount: 1) { call in
        if let date = call.date(0) { call.result(date.milliseconds) } else { call.resultNull() }
      },
      SQLFunction(name: "date_diff_millis", argumentCount: 3) { call in
        difference(call, call.milliseconds(0), call.milliseconds(1))
      },
      SQLFunction(name: "date_diff_str", argumentCount: 3) { call in
        // Each by its own clock, as in the real library.
        difference(call, call.date(0)?.localMilliseconds, call.date(1)?.localMilliseconds)
      },
      SQLFunction(name: "date_add_millis", argumentCount: 3) { call in
        guard let sum = sum(call, call.milliseconds(0)) else { return call.resultMissing() }
        call.result(sum)
      },
    ]
    + ([3, 4] as [Int32]).map { count in
      SQLFunction(name: "date_add_str", argumentCount: count) { call in
        guard let date = call.date(0), let sum = sum(call, date.localMilliseconds) else {
          return call.resultMissing()
        }
        format(call, sum - date.zoneMinutes * 60_000, date.zoneMinutes, 3)
      }
    }

  /// The zone of the second argument, in minutes before UTC.
  private static func zone(_ call: FunctionCall) -> Int64? {
    guard let minutes = call.number(1).flatMap({ Int64(exactly: $0.rounded(.towardZero)) }),
      minutes.magnitude < 24 * 60
    else { return nil }
    return minutes
  }

  private static func format(
    _ call: FunctionCall, _ milliseconds: Int64?, _ zone: Int64?, _ example: Int
  ) {
    guard let milliseconds, let zone else { return call.resultNull() }
    let shown = example < call.count ? call.date(example)?.parts : nil
    call.result(text: ISODate.text(milliseconds, zoneMinutes: zone, parts: shown ?? .all))
  }

  private static func difference(_ call: FunctionCall, _ first: Int64?, _ second: Int64?) {
    guard let first, let second, let unit = call.text(2).flatMap(DateUnit.init(name:)) else {
      return call.resultMissing()
    }
    call.result(unit.difference(first, second))
  }

  private static func sum(_ call: FunctionCall, _ date: Int64?) -> Int64? {
    guard let date, let count = call.number(1).flatMap({ Int64(exactly: $0.rounded(.towardZero)) }),
      let unit = call.text(2).flatMap(DateUnit.init(name:))
    else { return nil }
    return unit.adding(count, to: date)
  }
}

extension FunctionCall {
  /// A number as milliseconds that a date can have.
  fileprivate func milliseconds(_ index: Int) -> Int64? {
    if kind(index) == .integer {
      return ISODate.range.contains(integer(index)) ? integer(index) : nil
    }
    guard let number = number(index) else { return nil }
    return Int64(exactly: number.rounded(.towardZero)).flatMap {
      ISODate.range.contains($0) ? $0 : nil
    }
  }

  fileprivate func date(_ index: Int) -> ISODate? { text(index).flatMap { ISODate($0) } }
}
