// ReplayFingerprint.swift: the versions that a failure was seen with, so that a replay with others
// can report it. The scenario's part is a hash of its file's bytes, the engine's part one of its
// sources (made by the build, equal in all clones of a commit), after the file format's version.

import CrashStates
import Engine

/// The versions that determine a scenario's run, in two short words.
package struct ReplayFingerprint: Codable, Sendable, Hashable {
  /// Hash of the scenario file's bytes.
  package var scenario: String
  /// Version of the file format, and hash of the engine's sources: `v3-0123456789abcdef`.
  package var engine: String

  /// The engine of this build.
  package static let presentEngine =
    "v\(FormatVersion.current.rawValue)-\(EngineSources.fingerprint)"

  /// A scenario's bytes, with the engine of this build.
  /// - Parameter bytes: The scenario file's content.
  package init(ofScenario bytes: [UInt8]) {
    scenario = Self.word(bytes)
    engine = Self.presentEngine
  }

  /// The differences from the versions that a failure was seen with.
  /// - Parameters:
  ///   - seen: The token's fingerprint; nil for a token without one.
  ///   - path: The scenario file, for the message.
  /// - Returns: One line for each difference, with both values; empty when there is none.
  package func differences(from seen: ReplayFingerprint?, scenario path: String) -> [String] {
    guard let seen else {
      return [
        "note: the token does not say which scenario text and which engine it was made with; "
          + "whether they are the same is not known"
      ]
    }
    var lines: [String] = []
    if seen.scenario != scenario {
      lines.append(
        "note: \(path) is another text than the one that failed: fingerprint \(scenario), the "
          + "token has \(seen.scenario)")
    }
    if seen.engine != engine {
      lines.append(
        "note: the engine is another one than the one that failed: sources \(engine), the token "
          + "has \(seen.engine)")
    }
    return lines
  }

  private static func word(_ bytes: [UInt8]) -> String {
    String(ContentHash.of(bytes).description.prefix(16))
  }
}
