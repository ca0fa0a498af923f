// HTMLCoverage.swift: the steps of commits and the disturbances that hit them, as a table.

import Engine
import Findings

/// The matrix of commit steps and disturbances.
struct HTMLCoverage {
  private let matrix: CommitCoverageMatrix

  /// Nil if no case has commit steps.
  init?(_ report: RunReport) {
    guard report.cases.contains(where: { !$0.isNegative && $0.commitCoverage != nil }) else {
      return nil
    }
    matrix = CommitCoverageMatrix(report)
  }

  func write(to main: inout Markup) {
    main.element("section", ["class": "case", "id": "coverage"]) { section in
      section.element("h2", text: "Steps of commits, and what hit them")
      section.element("div", ["class": "scroll", "tabindex": "0"]) { box in
        box.element("table", ["class": "explorations"]) { table in
          table.element("thead") { head in
            head.element("tr") { row in
              row.element("th", ["scope": "col"], text: "step")
              for disturbance in CommitDisturbance.allCases {
                row.element("th", ["scope": "col"], text: disturbance.rawValue)
              }
            }
          }
          table.element("tbody") { body in
            for step in CommitStep.allCases { write(step, to: &body) }
          }
        }
      }
      section.element("p", ["class": "note"], text: matrix.lines.last ?? "")
    }
  }

  private func write(_ step: CommitStep, to body: inout Markup) {
    body.element("tr") { row in
      row.element("th", ["scope": "row"], text: step.description)
      for disturbance in CommitDisturbance.allCases {
        row.element("td", text: matrix.text(step, disturbance))
      }
    }
  }
}
