// Annotation.swift: errors that GitHub shows next to a file, as workflow commands.
// Invariant: a command is one line, whatever a checker's output or a file's name contains.

import LabCore

/// Where GitHub shows an error.
package struct Annotation {
  /// The scenario's file, or the name of the exploration or stress run, which is not a file.
  let file: String
  /// Line of the file, if one is known.
  let line: Int?

  package init(file: String, line: Int?) {
    self.file = file
    self.line = line
  }

  /// The command that shows a finding.
  func error(of finding: Finding) -> String {
    let count = Formatting.counted(finding.rootCauseStateCount, "crash state")
    var message = "\(finding.promised)\n\(finding.headline) (\(count))\n"
    message += (finding.missingSync + ["faultline replay \(finding.token)"]).joined(separator: "\n")
    return error(message, title: "faultline: \(finding.headline)")
  }

  /// The command that shows a message under a title.
  func error(_ message: String, title: String) -> String {
    var properties: [String] = []
    if file != CaseReport.exploredName, file != CaseReport.stressedName {
      properties.append("file=\(Self.property(file))")
      if let line { properties.append("line=\(line)") }
    }
    properties.append("title=\(Self.property(title.cut(to: 200)))")
    return "::error \(properties.joined(separator: ","))::\(Self.data(message))"
  }

  /// Without the characters that would end the command.
  private static func data(_ text: String) -> String { escaped(text, "%\r\n") }

  /// Without those that would end a property.
  private static func property(_ text: String) -> String { escaped(text, "%\r\n:,") }

  /// Scalar by scalar: a carriage return and a line feed are one character together.
  private static func escaped(_ text: String, _ unwanted: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      guard unwanted.unicodeScalars.contains(scalar) else {
        result.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16, uppercase: true)
      result.append(contentsOf: ("%" + (digits.count < 2 ? "0" : "") + digits).unicodeScalars)
    }
    return String(result)
  }
}
