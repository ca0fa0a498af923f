// HTMLReportTests.swift: the page is well-formed, says what was found, and stays so whatever the
// program under test printed, named or acknowledged.

import Foundation
import Testing

@testable import CrashStates
@testable import Findings
@testable import Reports

@Suite("HTML report")
struct HTMLReportTests {
  private func page(_ report: RunReport, _ arguments: [String] = ["run"]) -> String {
    HTMLReport(report, arguments: arguments).text
  }

  @Test("a finding is on the page, on the timeline, and on the map of its file")
  func finding() throws {
    let page = ParsedPage(page(try HTMLFixture.overtaken()))
    #expect(page.error == nil)
    let finding = try #require(page.all(class: "finding").first)
    #expect(finding.attributes["data-lost"] == "0")
    #expect(finding.attributes["data-kept"] == "1")
    #expect(finding.attributes["data-point"] == "2")
    #expect(finding.attributes["data-missing"] == "0 1")
    #expect(finding.text.contains("faultline replay fl1-x"))
    #expect(finding.text.contains("72 65 63 31") && finding.text.contains("2d 2d 2d 2d"))
    #expect(page.all(class: "bar").count == 4, "written and after, of two files")
    #expect(page.all(class: "lost").contains { $0.name == "i" })
    let rows = page.all("li").filter { $0.attributes["id"]?.hasPrefix("c1e") == true }
    #expect(rows.map { $0.attributes["id"] ?? "" } == ["c1e0", "c1e1", "c1e2"])
    #expect(rows[1].text.contains("F1") && rows[1].text.contains("▲ 1/3"))
    #expect(rows[0].text.contains("● 2"))
    // Nothing was explored here, so nothing held.
    #expect(rows[2].text.contains("○") && !rows[2].text.contains("●"))
  }

  @Test("nothing is fetched, and no script is there but the page's own")
  func selfContained() throws {
    let text = page(try HTMLFixture.overtaken())
    let page = ParsedPage(text)
    #expect(page.all("script").count == 1 && page.all("style").count == 1)
    #expect(page.all("link").isEmpty && page.all("img").isEmpty && page.all("iframe").isEmpty)
    for element in page.elements {
      #expect(element.attributes["src"] == nil)
      #expect(element.attributes["href"]?.hasPrefix("#") ?? true)
      #expect(!element.attributes.keys.contains { $0.hasPrefix("on") })
    }
    #expect(!PageFile.style.text.contains("url(") && !PageFile.style.text.contains("@import"))
  }

  @Test("style sheet and script are on the page as they lie in the repository")
  func files() throws {
    let page = page(HTMLFixture.report([]))
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Sources/CrashSim/Reports/HTML")
    for (element, name) in [("style", "report.css"), ("script", "report.js")] {
      let file = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      let section = "<\(element)>/*<![CDATA[*/\n\(file)/*]]>*/</\(element)>"
      #expect(page.ranges(of: section).count == 1, "\(name) is not on the page as it is")
    }
  }

  @Test("only elements that HTML knows to be empty are closed at once")
  func emptyElements() throws {
    let text = page(try HTMLFixture.overtaken())
    let names = text.matches(of: /<([a-z]+)[^<>]*\/>/).map { String($0.output.1) }
    #expect(!names.isEmpty && Set(names).isSubset(of: ["meta", "rect"]))
  }

  private static let hostile =
    "</script><img src=x onerror=alert(1)>]]>\u{0}\u{1B}[31m\u{202E}\"' onclick='x' &amp; \r\n<b>"

  @Test("hostile titles, names, output and marks stay text")
  func hostility() throws {
    let hostile = Self.hostile
    var report = try HTMLFixture.overtaken(
      log: hostile.replacing("/", with: "|"), mark: hostile)
    var item = report.cases[0]
    item.title = hostile
    item.name = hostile
    item.complaints = [hostile]
    item.skipped = [hostile]
    var finding = item.explorations[0].findings[0]
    finding.headline = hostile
    finding.promised = hostile
    finding.got = [hostile]
    finding.ending = hostile
    finding.crash = hostile
    finding.lastAcknowledged = hostile
    finding.lost = [hostile]
    finding.missingSync = [hostile]
    finding.models = [hostile]
    finding.token = hostile
    finding.alsoSeenAs = [HTMLFixture.finding(headline: hostile)]
    finding.evidence?.files[0].pathAfter = hostile
    finding.evidence?.files[0].differences[0].bytesIssued = hostile
    item.explorations[0].findings = [finding]
    item.explorations[0].model = hostile
    item.explorations[0].bound = hostile
    item.timelines[0].actors[0] = hostile
    item.timelines[0].events[0].fault = hostile
    report.cases = [item, item]
    let text = page(report, [hostile])
    let parsed = ParsedPage(text)
    #expect(parsed.error == nil)
    #expect(parsed.all("script").count == 1)
    #expect(parsed.all("img").isEmpty && parsed.all("b").allSatisfy { $0.text.count == 2 })
    #expect(text.ranges(of: "</script>").count == 1)
    #expect(!text.contains("<img") && !text.unicodeScalars.contains("\u{202E}"))
    for element in parsed.elements {
      #expect(!element.attributes.keys.contains { $0.hasPrefix("on") })
    }
    // It is there, though, for people to see.
    #expect(parsed.all("h2").first?.text.contains("</script><img src=x onerror=alert(1)>") == true)
  }

  @Test("equal reports give equal pages, and only measured numbers follow the clock")
  func determinism() throws {
    var report = try HTMLFixture.overtaken()
    let first = page(report)
    #expect(try first == page(HTMLFixture.overtaken()))
    report.cases[0].explorations[0].seconds = 17
    let second = page(report)
    #expect(first != second, "the control: the time is on the page")
    func masked(_ text: String) -> String {
      text.replacing(/class="measured">[^<]*</, with: "")
    }
    #expect(masked(first) == masked(second))
  }

  @Test("many findings and a long trace give a bounded page that says what it leaves out")
  func bounds() throws {
    var recording = Recording(files: ["log": "-"])
    for number in 0..<6_000 { recording.write("log", "x", at: UInt64(number)) }
    let findings = (1...250).map { number in
      HTMLFixture.finding(number, headline: String(repeating: "word ", count: 2_000))
    }
    let timeline = Timeline(recording.trace, findings: findings)
    #expect(timeline.events.count == Timeline.eventsMax && timeline.eventCount == 6_000)
    var report = HTMLFixture.report(findings, timeline: timeline)
    report.cases.append(report.cases[0])
    report.cases.append(report.cases[0])
    let text = page(report)
    let parsed = ParsedPage(text)
    #expect(parsed.error == nil)
    #expect(parsed.all(class: "finding").count == HTMLReport.findingsMax)
    let rows = parsed.all("li").filter { $0.attributes["data-column"] != nil }
    #expect(rows.count == HTMLReport.eventsMax)
    let cuts = parsed.all(class: "cut").map(\.text)
    #expect(cuts.contains { $0.contains("5,000 of 6,000 events shown") })
    #expect(cuts.contains { $0.contains("50 more findings") })
    #expect(text.utf8.count < 8 << 20, "\(text.utf8.count) bytes")
  }

  @Test("each recording has its own timeline, and findings without one are there too")
  func recordings() throws {
    var report = try HTMLFixture.overtaken()
    var item = report.cases[0]
    item.timelines.append(item.timelines[0])
    var second = item.explorations[0]
    second.recording = 1
    second.model = "on ext4"
    second.findings[0].number = 2
    second.findings[0].fileSystem = "ext4"
    var killed = HTMLFixture.report([HTMLFixture.finding(3)]).cases[0].explorations[0]
    killed.model = "kill"
    item.explorations += [second, killed]
    report.cases = [item]
    let page = ParsedPage(page(report))
    #expect(page.error == nil)
    #expect(page.all(class: "timeline").map { $0.attributes["data-timeline"] } == ["1", "1r1"])
    let names = page.all(class: "finding").map { $0.attributes["data-timeline"] }
    #expect(names == ["1", "1r1", "1r2"])
    let identities = page.elements.compactMap { $0.attributes["id"] }
    #expect(Set(identities).count == identities.count)
    #expect(page.all(class: "finding")[1].text.contains("The kernel's ext4"))
  }

  @Test("a run without findings says so")
  func held() throws {
    let page = ParsedPage(page(HTMLFixture.report([])))
    #expect(page.error == nil)
    #expect(page.all("h1").first?.text == "● held 0 findings")
    #expect(page.all(class: "finding").isEmpty)
  }

  @Test("the page says what a verdict rests on, and cautions where the console does")
  func coverage() throws {
    var report = HTMLFixture.thin()
    let caution = try #require(report.cases[0].explorations[0].caution)
    #expect(caution.hasSuffix("--budget 1234 looks at each of them at least once"))
    let thin = ParsedPage(page(report))
    #expect(thin.error == nil)
    #expect(thin.all(class: "caution").map(\.text) == ["strict: \(caution)"])
    let cells = thin.all("td").map(\.text)
    #expect(
      cells.contains("2 of 4 (6 have states of their own; after marks 1 of 3)"), "\(cells)")
    // As on the console: not of shards, which leave the rest to others, nor of planted bugs.
    report.shard = ShardLabel(Shard(index: 0, of: 2))
    #expect(ParsedPage(page(report)).all(class: "caution").isEmpty)
    report.shard = nil
    report.cases[0].isNegative = true
    #expect(ParsedPage(page(report)).all(class: "caution").isEmpty)
    #expect(ParsedPage(page(try HTMLFixture.overtaken())).all(class: "caution").isEmpty)
  }

  @Test("the command can be pasted into a shell")
  func command() throws {
    let arguments = ["explore", "--workload", "echo 'a b' > f", ""]
    let page = ParsedPage(page(HTMLFixture.report([]), arguments))
    #expect(
      page.all("code").first?.text == "faultline explore --workload 'echo '\\''a b'\\'' > f' ''")
  }
}
