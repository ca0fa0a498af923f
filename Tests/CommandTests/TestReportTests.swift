// TestReportTests.swift: what CI says of its own tests: seconds of each suite, skips, and suites
// that take more than their share, which is an error.

import Foundation
import TestSupport
import Testing

@Suite("CI's report of the tests")
struct TestReportTests {
  /// Seconds of tests by suite, as `swift test --xunit-output` writes them.
  private static func xunit(_ tests: [(suite: String, seconds: Double)]) -> String {
    let cases = tests.enumerated().map {
      "    <testcase classname=\"\($1.suite)\" name=\"t\($0)()\" time=\"\($1.seconds)\" />"
    }
    return "<testsuites>\n  <testsuite name=\"TestResults\" tests=\"\(tests.count)\" time=\"9\">\n"
      + cases.joined(separator: "\n") + "\n  </testsuite>\n</testsuites>\n"
  }

  private static let tests = [
    (suite: "A.Slow", seconds: 6.0), (suite: "A.Slow", seconds: 2.0),
    (suite: "B.Middle", seconds: 1.5), (suite: "B.Fast", seconds: 0.2),
  ]

  /// Runs the report over made-up files.
  private func report(
    _ tests: [(suite: String, seconds: Double)] = tests, log: String = "", shares: String
  ) throws -> ProgramResult {
    let directory = try TemporaryDirectory()
    for (name, text) in [("x.xml", Self.xunit(tests)), ("log", log), ("shares", shares)] {
      try text.write(toFile: directory.file(name), atomically: false, encoding: .utf8)
    }
    return try runShell(
      "sh '\(FaultlineCommand.repository)/.ci/test-report' x.xml log shares", in: directory.path)
  }

  @Test("suites stand slowest first with seconds and share, and the end says how many tests ran")
  func table() throws {
    let result = try report(shares: "# a comment\n70.0 A.Slow\n10.0 B.Middle\n")
    #expect(result.status == 0, "\(result.output)")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.contains { $0.contains("8.0 s") && $0.contains("82.5 %  A.Slow") }, "\(lines)")
    let places = ["A.Slow", "B.Middle"].compactMap { name in
      lines.firstIndex { $0.hasSuffix(name) }
    }
    #expect(places.count == 2 && places == places.sorted())
    #expect(!result.output.contains("B.Fast"), "less than a second")
    #expect(lines.last == "== 4 tests, 9.7 s of tests, 0 skips")
  }

  @Test("skipped tests and suites are listed with their reasons")
  func skips() throws {
    let log = """
      ◇ Test run started.
      ➜ Suite "A" skipped: "skipped: fuse: no /dev/fuse; load its module"
      ➜ Test odd() skipped.
      ✔ Test "a test that prints skipped: nothing" passed after 0.1 seconds.
        skipped: killSweep needs a FUSE mount

      """
    let result = try report(log: log, shares: "80 A.Slow\n10 B.Middle\n")
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("== skipped\n  Suite \"A\" skipped: \"skipped: fuse: no /dev"))
    #expect(result.output.contains("\n  Test odd() skipped.\n"))
    #expect(result.output.contains(", 2 skips\n"), "\(result.output)")
  }

  @Test(
    "a suite beyond twice its recorded share, or beyond 3 % without one, is an error",
    arguments: [
      ("70 A.Slow\n10 B.Middle\n", nil), ("42 A.Slow\n8 B.Middle\n", nil),
      ("40 A.Slow\n8 B.Middle\n", "A.Slow took 82.5 % of all tests' seconds, and may take 80.0 %"),
      ("70 A.Slow\n", "B.Middle took 15.5 % of all tests' seconds, and may take 3.0 %"),
      ("70 A.Slow\n1 B.Middle\n", "B.Middle took 15.5 % of all tests' seconds, and may take 3.0 %"),
      ("70 A.Slow\n10 B.Middle\n3 B.Gone\n", "B.Gone is recorded, and no test of it ran"),
    ])
  func shares(text: String, complaint: String?) throws {
    let result = try report(shares: text)
    #expect(result.status == (complaint == nil ? 0 : 1), "\(result.output)")
    #expect(result.output.contains("suite share: ") == (complaint != nil))
    if let complaint { #expect(result.output.contains(complaint), "\(result.output)") }
  }

  @Test("a report without tests is an error")
  func nothing() throws {
    let result = try report([], shares: "")
    #expect(result.status == 1 && result.output.contains("no test in the report"))
  }

  @Test("the recorded shares are those of suites that exist")
  func recorded() throws {
    let repository = FaultlineCommand.repository
    let text = try String(contentsOfFile: "\(repository)/.ci/suite-shares", encoding: .utf8)
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(!lines.isEmpty)
    for line in lines {
      let words = line.split(separator: " ").map(String.init)
      let share = try #require(Double(words[0]), "\(line)")
      #expect((1.5...100).contains(share) && words.count == 2, "\(line)")
      let names = words[1].split(separator: ".").map(String.init)
      let files = try FileManager.default.subpathsOfDirectory(
        atPath: "\(repository)/Tests/\(names[0])")
      let isThere = try files.contains { file in
        guard file.hasSuffix(".swift") else { return false }
        let text = try String(
          contentsOfFile: "\(repository)/Tests/\(names[0])/\(file)", encoding: .utf8)
        return text.contains("struct \(names[1])") || text.contains("class \(names[1])")
      }
      #expect(isThere, "\(line)")
    }
  }
}
