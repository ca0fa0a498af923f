// PageFault.swift: what the lint of the report's page says: a place, and what is wrong there.

/// A place in the page's style sheet, script or markup that breaks a rule.
package struct PageFault: CustomStringConvertible, Equatable, Sendable {
  package let path: String
  /// Counted from 1.
  package let line: Int
  package let message: String

  package var description: String { "\(path):\(line): \(message)" }
}

/// A file with its text.
package struct PageText: Sendable {
  package let path: String
  package let text: String

  package init(_ text: String, at path: String) {
    self.path = path
    self.text = text
  }

  func fault(_ line: Int, _ message: String) -> PageFault {
    PageFault(path: path, line: line, message: message)
  }

  /// Layout, and what would end the section of the page that the text stands in.
  func layoutFaults() -> [PageFault] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var faults: [PageFault] = []
    for (index, line) in lines.enumerated() {
      if line.count > 100 { faults.append(fault(index + 1, "\(line.count) columns > 100")) }
      if line.last?.isWhitespace == true { faults.append(fault(index + 1, "space at the end")) }
      if line.contains("\t") { faults.append(fault(index + 1, "a tab; indent with spaces")) }
      for end in ["]]>", "</"] where line.contains(end) {
        faults.append(fault(index + 1, "`\(end)` would end its section of the page"))
      }
    }
    if !text.hasSuffix("\n") || text.hasSuffix("\n\n") {
      faults.append(fault(lines.count, "a file ends with one line end"))
    }
    return faults
  }
}
