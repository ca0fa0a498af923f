// BrowserTests.swift: the page in a browser: nothing scrolls sideways, findings show themselves on
// the timeline, dark is dark, and a large page is there in time.

import Foundation
import TestSupport
import Testing

@testable import Findings
@testable import Reports

@Suite(
  "HTML report in a browser", .serialized,
  .requires(.chromium))
struct BrowserTests {
  /// What a script saw of a page.
  private struct Seen: Decodable {
    /// Pixels by which the page is wider than its window.
    let overflow: Int
    let background: String
    let lost: [String]
    let kept: [String]
    let cut: [String]
    /// Rows that are marked as lost after the second finding was opened.
    let lostOfSecond: [String]
    let openCount: Int
    let milliseconds: Double
  }

  private static let probe = """
    addEventListener("load", () => {
      const page = document.querySelector("iframe").contentDocument;
      const root = page.documentElement;
      const rows = (kind) => [...page.querySelectorAll("li.is-" + kind)].map((row) => row.id);
      const seen = {
        overflow: root.scrollWidth - root.clientWidth,
        background: getComputedStyle(page.body).backgroundColor,
        lost: rows("lost"), kept: rows("kept"), cut: rows("cut-here"),
        milliseconds: performance.now(),
      };
      const second = page.querySelectorAll("article.finding > details")[1];
      if (second) second.open = true;
      setTimeout(() => {
        seen.lostOfSecond = rows("lost");
        seen.openCount = page.querySelectorAll("article.finding > details[open]").length;
        document.documentElement.dataset.seen = JSON.stringify(seen);
      }, 300);
    });
    """

  /// Shows a page in a frame of some width.
  private func show(_ page: String, width: Int, dark: Bool = false) throws -> Seen {
    let directory = try TemporaryDirectory()
    // In a frame, because a window has a least width; in an attribute, so that it may be looked at.
    let source = page.replacing("&", with: "&amp;").replacing("\"", with: "&quot;")
    let frame = """
      <!DOCTYPE html><html style="color-scheme: light dark"><body style="margin:0">
      <iframe style="border:0;height:900px;width:\(width)px" srcdoc="\(source)"></iframe>
      <script>\(Self.probe)</script></body></html>
      """
    try frame.write(toFile: directory.file("frame.html"), atomically: false, encoding: .utf8)
    let scheme = dark ? 0 : 1
    let result = try runShell(
      """
      timeout 120 chromium --headless --no-sandbox --disable-gpu --no-first-run \
        --user-data-dir=profile --window-size=1400,1000 --virtual-time-budget=20000 \
        --blink-settings=preferredColorScheme=\(scheme) --dump-dom \
        'file://\(directory.path)/frame.html' 2>/dev/null
      """, in: directory.path)
    let match = try #require(
      result.output.firstMatch(of: /data-seen="([^"]*)"/), "\(result.output.suffix(500))")
    let json = match.output.1.replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
    return try JSONDecoder().decode(Seen.self, from: Data(json.utf8))
  }

  private func page() throws -> String {
    var report = try HTMLFixture.overtaken(
      log: String(repeating: "long-name-", count: 20), mark: String(repeating: "x", count: 180))
    var second = report.cases[0].explorations[0].findings[0]
    second.number = 2
    second.evidence?.lost = [1]
    second.evidence?.keptAfter = []
    second.headline = String(repeating: "y", count: 300)
    report.cases[0].explorations[0].findings.append(second)
    return HTMLReport(report, arguments: ["run", String(repeating: "z", count: 300)]).text
  }

  @Test("nothing scrolls sideways, and findings are marked", arguments: [1280, 400])
  func layout(width: Int) throws {
    let seen = try show(page(), width: width)
    #expect(seen.overflow <= 0, "\(seen)")
    #expect(seen.lost == ["c1e0"] && seen.kept == ["c1e1"] && seen.cut == ["c1e1"])
    #expect(seen.lostOfSecond == ["c1e1"] && seen.openCount == 1)
    // The control: a page that is too wide is seen to be.
    let wide = try page().replacing("<main>", with: "<main><hr style='width:3000px'/>")
    #expect(try show(wide, width: width).overflow > 1000)
  }

  @Test("dark is dark, light is light")
  func schemes() throws {
    func brightness(dark: Bool) throws -> Int {
      let seen = try show(page(), width: 800, dark: dark)
      return seen.background.matches(of: /[0-9]+/).compactMap { Int($0.output) }.prefix(3)
        .reduce(0, +)
    }
    #expect(try brightness(dark: true) < 150)
    #expect(try brightness(dark: false) > 600)
  }

  @Test("200 findings over 5,000 operations open in time")
  func large() throws {
    var recording = Recording(files: ["log": "-"])
    for number in 0..<5_000 { recording.write("log", "x", at: UInt64(number)) }
    let evidence = FindingEvidence(
      crashPoint: 9, lost: Array(0..<8), lostCount: 8, partlyLost: [], keptAfter: [8],
      keptAfterCount: 1, files: [], omittedFileCount: 0)
    let findings = (1...200).map { HTMLFixture.finding($0, evidence: evidence) }
    let timeline = Timeline(recording.trace, findings: findings)
    let text = HTMLReport(
      HTMLFixture.report(findings, timeline: timeline), arguments: []
    ).text
    let clock = ContinuousClock()
    var seen: Seen?
    let duration = try clock.measure { seen = try show(text, width: 1280) }
    #expect(seen?.lost.count == 8)
    #expect(duration < .seconds(60), "\(text.utf8.count) bytes took \(duration)")
  }
}
