// BuiltInScenario.swift: built-in scenarios with drawn histories, which `stress` uses when no
// scenario is given. Their names are used in place of file names.

import Workload

enum BuiltInScenario {
  /// Prefix of the names.
  static let prefix = "drawn:"

  /// The name of the scenario with a content.
  static func name(of content: HistoryContent) -> String { prefix + content.rawValue }

  /// The text of the scenario with a name; nil for any other path.
  static func text(named name: String) -> String? {
    guard name.hasPrefix(prefix) else { return nil }
    guard let content = HistoryContent(rawValue: String(name.dropFirst(prefix.count))) else {
      return nil
    }
    // Each `stress` round starts one from the beginning, so it is short, with several processes.
    return """
      title: Any history of \(content.rawValue)
      history: {of: \(content.rawValue), histories: 1, steps: 40, rows: 200, processes: 3}

      """
  }
}
