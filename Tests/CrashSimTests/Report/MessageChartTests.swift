// MessageChartTests.swift: the messages between nodes on the page of a report.

import Testing

@testable import Findings
@testable import Reports

@Suite("Message charts")
struct MessageChartTests {
  private func report(_ events: [MessageChart.Event]) -> RunReport {
    var report = HTMLFixture.report([])
    report.cases[0].messages = MessageChart(nodes: ["s", "a", "b"], events: events)
    return report
  }

  @Test("have a column for each node, and a row for each message")
  func rows() throws {
    let report = report([
      .init(from: "a", to: "s", text: "upload 1", isLost: false),
      .init(from: "s", to: "b", text: "entries 1", isLost: true),
      .init(from: "b", to: "b", text: "begins again", isLost: false),
    ])
    let page = ParsedPage(HTMLReport(report, arguments: ["run"]).text)
    #expect(page.error == nil)
    let chart = try #require(page.all(class: "messages").first)
    #expect(chart.text.contains("2 messages between 3 nodes, 1 lost"))
    let cells = page.all("td").filter { !$0.classes.isEmpty && $0.attributes["colspan"] != nil }
    #expect(cells.map(\.text) == ["◀─ upload 1", "entries 1 (lost) ─✗", "◆ begins again"])
    #expect(cells.map { $0.attributes["colspan"] } == ["2", "3", "1"])
  }

  @Test("have as many events as fit, say how many there are more, and write texts as texts")
  func bounds() {
    let hostile = "<script>alert(1)</script>\u{202E}"
    let events = (0..<500).map { number in
      MessageChart.Event(from: "a", to: "s", text: "\(hostile) \(number)", isLost: false)
    }
    let page = ParsedPage(HTMLReport(report(events), arguments: ["run"]).text)
    #expect(page.error == nil && page.all("script").count == 1)
    #expect(page.all(class: "left").count == 400)
    #expect(page.all(class: "cut").contains { $0.text == "… and 100 more events" })
  }

  @Test("of a file that name a node which is not there are refused, and not drawn")
  func strangers() {
    let report = report([.init(from: "x", to: "s", text: "upload", isLost: false)])
    #expect(!report.cases[0].isDrawable)
    let page = ParsedPage(HTMLReport(report, arguments: ["run"]).text)
    #expect(page.error == nil && page.all(class: "messages").isEmpty)
  }
}
