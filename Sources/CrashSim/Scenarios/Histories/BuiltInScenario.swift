// BuiltInScenario.swift: scenarios of drawn histories that come with the program: what `stress`
// draws when it is given none. Their names stand where a file's would.

import Workload

enum BuiltInScenario {
  /// What a name begins with.
  static let prefix = "drawn:"

  /// The name of the scenario of a content.
  static func name(of content: HistoryContent) -> String { prefix + content.rawValue }

  /// The text of the scenario of a name; nil for any other path.
  static func text(named name: String) -> String? {
    guard name.hasPrefix(prefix) else { return nil }
    guard let content = HistoryContent(rawValue: String(name.dropFirst(prefix.count))) else {
      return nil
    }
    // A round of `stress` begins one anew, so it is short, and has several processes.
    return """
      title: Any history of \(content.rawValue)
      history: {of: \(content.rawValue), histories: 1, steps: 40, rows: 200, processes: 3}

      """
  }
}
