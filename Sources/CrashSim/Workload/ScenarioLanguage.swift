// ScenarioLanguage.swift: the version of the language of scenarios, fault files and model files,
// and the words whose spelling changed in version 1 (decision 0925).
// Invariants: no old spelling of a mapping is one of its keys, and each stands for exactly one, so
// an old file is unambiguous. Files without a version have version 1.

import LabCore
import Synchronization

/// The language of scenarios, fault files and model files.
package enum ScenarioLanguage {
  /// The supported version; later ones are rejected.
  package static let version = 1
  /// The key of the version, at the top of a file.
  package static let key = "version"

  /// Rejects content made with a later version.
  /// - Parameters:
  ///   - version: The version; nil for none, which means 1.
  ///   - what: The name of the content, for the message.
  /// - Throws: `LabError` with code `.usage`.
  package static func check(_ version: Int?, of what: String) throws(LabError) {
    guard let version, version != Self.version else { return }
    throw .usage(
      "\(what) is of version \(version) of the scenario language, and faultline "
        + "\(LabVersion.text) reads version \(Self.version); use the faultline that made it")
  }
}

extension GrammarObject {
  /// A key as it was spelled before version 1.
  package struct OldKey: Sendable, Hashable {
    /// The old spelling.
    package let old: String
    /// The key.
    package let new: String
  }

  /// The old spellings of its keys, which are accepted for one release.
  package var oldKeys: [OldKey] {
    oldWords.map { OldKey(old: $0.0, new: $0.1) }
  }

  private var oldWords: [(String, String)] {
    switch self {
    case .scenario: [("kill", "killSweep")]
    case .killSweep: [("crash", "crashStates")]
    case .database: [("commit", "commitProtocol"), ("seed", "seedCopy")]
    case .step: [("cut", "shorten")]
    case .model: [("version", "modelVersion")]
    case .fault:
      [
        ("write-back", "includeWriteBack"), ("any-errno", "anyErrno"),
        ("once-per-open-file", "oncePerOpenFile"), ("offset", "skip"), ("times", "maximumHits"),
        ("no-space-after", "noSpaceAfter"), ("fail-sync", "failSync"), ("cut", "cutTail"),
        ("read-only", "makeReadOnly"), ("clear-cache", "clearCache"), ("kill", "killCaller"),
        ("kill-other", "killOther"), ("stop", "killFileSystem"),
      ]
    default: []
    }
  }

  /// The key for a word: the word itself, unless it is an old spelling.
  package func presentKey(_ word: String) -> String {
    oldKeys.first { $0.old == word }?.new ?? word
  }
}

/// A word spelled as before version 1, with its position in a text.
package struct OldSpelling: Hashable, Sendable, CustomStringConvertible {
  /// Name of the file, or of the argument.
  package let file: String
  /// Position of the word.
  package var position: SourcePosition
  /// The word.
  package let old: String
  /// Its current spelling.
  package let new: String
  /// Whether the text is a file, which `faultline run --migrate` can rewrite.
  package var isInFile = true

  /// Makes an old spelling in a file.
  package init(file: String, position: SourcePosition, old: String, new: String) {
    self.file = file
    self.position = position
    self.old = old
    self.new = new
  }

  /// The warning: the new spelling, and the remedy.
  package var description: String {
    let remedy = isInFile ? "'faultline run --migrate \(file)' rewrites it" : "write the new word"
    return "\(file):\(position): warning: '\(old)' is now '\(new)', and only this release still "
      + "reads the old word; \(remedy)"
  }
}

extension OldSpelling {
  private static let told = Mutex<Set<OldSpelling>>([])

  /// Writes the warning to standard error, once.
  package func warn() {
    guard Self.told.withLock({ $0.insert(self).inserted }) else { return }
    StandardStream.errors.write("\(self)\n")
  }
}
