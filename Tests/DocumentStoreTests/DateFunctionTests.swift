// DateFunctionTests.swift: functions of dates count and write as the real library does; cases that
// its makers publish.

import DocumentStore
import Testing

@Suite("Functions of dates")
struct DateFunctionTests {
  private static func check(_ cases: [(String, String)]) throws {
    let folder = try TemporaryFolder()
    let file = try folder.make()
    try QueryTests.put("{}", "d", file)
    for (expression, expected) in cases {
      let result = try file.read {
        try $0.run(StoreQuery("SELECT \(expression)", language: .text))
      }
      #expect(result.rows[0][0].json ?? "-" == expected, "\(expression)")
    }
    try file.close()
  }

  @Test("differences count units of the calendar, each date by its own clock")
  func differences() throws {
    try Self.check(
      [
        ("2018-01-31T00:01:01.5Z", "2018-01-31T00:01:00.9Z", "second", 1),
        ("2018-01-31T00:01:01.5Z", "2018-01-31T00:00:00Z", "second", 61),
        ("2018-01-31T00:02:01Z", "2018-01-31T00:01:59Z", "minute", 1),
        ("2018-01-31T01:00:00Z", "2018-01-31T00:59:00Z", "hour", 1),
        ("2018-01-31T02:00:00-07:00", "2018-01-31T00:00:00-08:00", "hour", 2),
        ("2018-02-01T00:01:59Z", "2018-01-31T23:59:01Z", "day", 1),
        ("2018-09-10 23:59:59", "2018-09-11 00:00:01", "day", -1),
        ("2016-02-01T00:00:00Z", "2016-03-01T01:00:01.5Z", "day", -29),
        ("2017-02-01T01:00:01.5Z", "2017-01-01T00:00:00Z", "week", 4),
        ("2018-02-01T00:01:59Z", "2018-01-31T23:59:01Z", "month", 1),
        ("2013-10-01", "2015-01-01", "month", -15), ("2014-12-01", "2015-01-01", "quarter", -1),
        ("2013-12-01", "2015-01-01", "quarter", -5), ("2014-10-01", "2014-12-01", "quarter", 0),
        ("2014-12-01", "2015-05-30", "quarter", -2), ("2006-01-02", "1998-02-02", "year", 8),
        ("2018-01-01T00:01:59Z", "2017-12-31T23:59:01Z", "year", 1),
        ("2028-04-01T01:00:01.5Z", "2017-01-01T00:00:00Z", "decade", 1),
        ("2017-01-01T00:00:00Z", "2118-04-08T01:00:01.5Z", "century", -1),
        ("2918-04-01T01:00:01.5Z", "1917-01-01T00:00:00Z", "millennium", 1),
      ].map { ("DATE_DIFF_STR('\($0.0)', '\($0.1)', '\($0.2)')", "\($0.3)") }
        + [
          ("DATE_DIFF_MILLIS(1517356921000, 1517356919000, 'minute')", "1"),
          ("DATE_DIFF_MILLIS(1420070400000, 1417392000000, 'quarter')", "1"),
          ("DATE_DIFF_MILLIS(-1672531200000, 29923779601500, 'millennium')", "-1"),
        ])
  }

  @Test("sums keep the offset, and a day that a month does not have is in the next one")
  func sums() throws {
    try Self.check(
      [
        ("2018-01-31T00:00:00Z", 1, "month", "2018-03-03T00:00:00Z"),
        ("2018-02-15T00:00:00Z", 1, "month", "2018-03-15T00:00:00Z"),
        ("2016-01-01T00:00:00-07:00", 1, "day", "2016-01-02T00:00:00-0700"),
        ("2016-02-28T00:00:00Z", 1, "day", "2016-02-29T00:00:00Z"),
        ("2018-01-01T00:00:01.500Z", -1500, "millisecond", "2018-01-01T00:00:00Z"),
        ("2018-01-01", 1, "century", "2118-01-01T00:00:00Z"),
        ("2019-01-01T00:00:00Z", -12, "month", "2018-01-01T00:00:00Z"),
      ].map { ("DATE_ADD_STR('\($0.0)', \($0.1), '\($0.2)')", "\"\($0.3)\"") }
        + [
          ("DATE_ADD_STR('2018-01-01', 1, 'century', '1111-11-11')", #""2118-01-01""#),
          ("DATE_ADD_MILLIS(1514764800000, 1, 'quarter')", "1522540800000"),
          ("DATE_ADD_MILLIS(31556995200000, -1, 'millennium')", "0"),
        ])
  }

  @Test("dates are written whole, or as an example shows; days that there are not are no dates")
  func texts() throws {
    try Self.check([
      ("STR_TO_UTC('2018-10-23')", #""2018-10-23T00:00:00Z""#),
      ("STR_TO_UTC('2018-10-23', '1111-11-11')", #""2018-10-23""#),
      ("STR_TO_UTC('2018-10-23T18:33', '1111-11-11T11:11')", #""2018-10-23T18:33:00""#),
      ("STR_TO_UTC('2018-10-23T11:33:01+03:30')", #""2018-10-23T08:03:01Z""#),
      ("MILLIS_TO_UTC(1540319581999, 'invalid')", #""2018-10-23T18:33:01.999Z""#),
      ("MILLIS_TO_UTC(1540319581999, '11:11:11')", #""18:33:01.999""#),
      ("MILLIS_TO_UTC(1540319581999, '11:11:11+09:00')", #""18:33:01.999Z""#),
      (
        "MILLIS_TO_UTC(1540319581999, '1111-11-11 11:11:11+09:00')",
        #""2018-10-23 18:33:01.999Z""#
      ),
      ("STR_TO_TZ('2024-01-10T14:31:14Z', 690)", #""2024-01-11T02:01:14+1130""#),
      ("MILLIS_TO_TZ(1704897074000, 690, '1111-11-11')", #""2024-01-11""#),
      ("MILLIS_TO_TZ(1704897074000, -300, 'invalid')", #""2024-01-10T09:31:14-0500""#),
      (
        "MILLIS_TO_TZ(1704897074000, 690, '1111-11-11T11:11:11+01:00')",
        #""2024-01-11T02:01:14+11:30""#
      ),
      (
        "STR_TO_TZ('2024-01-10T14:31:14+01:00', -300, '11:11:11-0100')",
        #""08:31:14-0500""#
      ),
      (
        "DATE_ADD_STR('2016-01-01T00:00:00-07:00', 1, 'day', '1111-11-11 11:11:11+00:00')",
        #""2016-01-02 00:00:00-07:00""#
      ),
      ("STR_TO_MILLIS('2018-02-29T00:00:00Z')", "null"),
      ("STR_TO_MILLIS('2400-02-29T00:00:00Z')", "13574563200000"),
      ("STR_TO_MILLIS('2100-02-29T00:00:00Z')", "null"), ("STR_TO_MILLIS('2000-00-01')", "null"),
      ("STR_TO_MILLIS('2018-11-31T00:00:00Z')", "null"), ("STR_TO_MILLIS('2000-01-00')", "null"),
      ("STR_TO_MILLIS('2018-12-31T00:00:00Z')", "1546214400000"),
      ("STR_TO_MILLIS('1944-06-06T06:30:00+01:00')", "-806956200000"),
    ])
  }
}
