// JSONReport.swift: encodes reports as JSON text: readable, and the same for the same values.

import Foundation

/// A report that can be written as JSON.
public protocol JSONReport: Encodable {}

extension JSONReport {
  /// The report as JSON text, with sorted keys and a line feed at its end.
  public func json() throws(LabError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    } catch {
      throw .lab("cannot encode the report: \(error)")
    }
  }
}
