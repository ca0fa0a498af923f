// DocumentFingerprint.swift: the version of the store that a failure was seen with. The build
// writes the hash of its sources down (Plugins/EngineFingerprint).

/// The store's version.
package enum DocumentFingerprint {
  /// Format that is written, and hash of the sources.
  package static let present = "d503-\(DocumentSources.fingerprint)"

  /// The remarks on commands that were made with other versions.
  /// - Parameters:
  ///   - command: A workload's command, with its fingerprint as the last word.
  ///   - scenario: The hash of the scenario's text now; nil when it is not known.
  /// - Returns: A line for each difference; empty for other programs.
  package static func differences(in command: String, scenario: String?) -> [String] {
    guard command.contains(" document-work "),
      let word = command.split(separator: " ").last?.filter({ $0 != "'" })
    else { return [] }
    let parts = word.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return [] }
    var lines: [String] = []
    if parts[0] != present {
      lines.append(
        "note: the document store is another one than the one that failed: sources \(present), "
          + "the token has \(parts[0])")
    }
    if let scenario, parts[1] != scenario {
      lines.append(
        "note: the scenario is another text than the one that failed: fingerprint \(scenario), "
          + "the token has \(parts[1])")
    }
    return lines
  }
}
