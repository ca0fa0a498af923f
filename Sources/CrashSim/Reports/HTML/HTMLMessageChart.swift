// HTMLMessageChart.swift: the messages between nodes as a table: a column for each node, a row for
// each message, from its sender to its receiver.
// Invariant: lost messages differ in shape as well as in color.

import Findings
import LabCore

/// The messages between nodes.
struct HTMLMessageChart {
  private let chart: MessageChart
  private let columns: [String: Int]

  /// Nil for a chart that has nothing to show.
  init?(_ chart: MessageChart?) {
    guard let chart, !chart.events.isEmpty, chart.isDrawable else { return nil }
    self.chart = chart
    columns = Dictionary(
      chart.nodes.enumerated().map { ($0.element, $0.offset) },
      uniquingKeysWith: { first, _ in first })
  }

  func write(to section: inout Markup) {
    section.element("details", ["class": "messages"]) { box in
      let messages = chart.events.count { $0.from != $0.to }
      let lost = chart.events.count { $0.isLost }
      box.element(
        "summary",
        text: "\(Formatting.counted(messages, "message")) between "
          + Formatting.counted(chart.nodes.count, "node") + (lost > 0 ? ", \(lost) lost" : ""))
      box.element("div", ["class": "scroll", "tabindex": "0"]) { scroll in
        scroll.element("table", ["class": "chart"]) { table in
          table.element("thead") { head in
            head.element("tr") { row in
              for node in chart.nodes { row.element("th", ["scope": "col"], text: node) }
            }
          }
          table.element("tbody") { body in
            for event in chart.events { write(event, to: &body) }
          }
        }
      }
      let omitted = chart.eventCount - chart.events.count
      if omitted > 0 {
        box.element(
          "p", ["class": "cut"], text: "… and \(Formatting.grouped(omitted)) more events")
      }
    }
  }

  private func write(_ event: MessageChart.Event, to body: inout Markup) {
    let (from, to) = (columns[event.from] ?? 0, columns[event.to] ?? 0)
    let (left, right) = (min(from, to), max(from, to))
    body.element("tr") { row in
      if left > 0 { row.element("td", ["colspan": "\(left)"]) { _ in } }
      let kind = from == to ? "own" : event.isLost ? "undelivered" : from < to ? "right" : "left"
      row.element(
        "td", ["class": kind, "colspan": "\(right - left + 1)"], text: text(event, from, to))
      let rest = chart.nodes.count - 1 - right
      if rest > 0 { row.element("td", ["colspan": "\(rest)"]) { _ in } }
    }
  }

  private func text(_ event: MessageChart.Event, _ from: Int, _ to: Int) -> String {
    if from == to { return "◆ \(event.text)" }
    let lost = event.isLost ? " (lost)" : ""
    return from < to
      ? "\(event.text)\(lost) ─\(event.isLost ? "✗" : "▶")"
      : "\(event.isLost ? "✗" : "◀")─ \(event.text)\(lost)"
  }
}
