// Verification.swift: the result of checking a data file.

/// The result of checking a data file.
public struct Verification: Sendable {
  /// A rule of the format.
  public enum Rule: String, Sendable, CaseIterable {
    /// SQLite's own check of pages, tables and indexes.
    case integrity
    /// The tables and columns required by the format number, and counters that are counts.
    case layout
    /// No sequence is above the collection's last one.
    case lastSequence
    /// Sequences are unique, and none is below 1.
    case sequences
    /// Keys of collections are IDs that documents can have.
    case ids
    /// A key is a live record or a dead one, and in the right table.
    case home
    /// Flags are known, and subsequences not negative.
    case flags
    /// Bodies are dicts that decode with the shared keys.
    case body
    /// Revisions decode, and the record's flags match them.
    case revisions
    /// Shared keys are distinct, and used wherever possible.
    case sharedKeys
    /// Blobs that documents name exist and are intact.
    case blobs
    /// Expirations are after 1970.
    case expiration
    /// Listed indexes have their SQL objects, and there are no others.
    case indexes
    /// Tables of indexes match their documents, and have their form.
    case indexContents
  }

  /// Something that is wrong.
  public struct Problem: Hashable, Sendable, CustomStringConvertible {
    /// The rule that is broken.
    public let rule: Rule
    /// The key store; nil when it is about the file.
    public let store: KeyStoreName?
    /// The record's key; nil when it is about more.
    public let key: String?
    /// The problem, with values.
    public let message: String

    /// Rule, place and message.
    public var description: String {
      let place = [store?.text, key.map(quoted)].compactMap { $0 }.joined(separator: " ")
      return "\(rule.rawValue): \(place.isEmpty ? "" : place + ": ")\(message)"
    }
  }

  /// Most problems that are listed.
  public static let problemsMax = 1000
  /// The problems; empty for a sound file.
  public internal(set) var problems: [Problem] = []
  /// How many further problems are not listed.
  public internal(set) var unlistedCount = 0
  /// Descriptions of the parts that could not be checked: for example indexes whose model is not
  /// available.
  public internal(set) var unchecked: [String] = []
  /// How many records were checked.
  public internal(set) var recordCount = 0

  mutating func add(
    _ rule: Rule, store: KeyStoreName? = nil, key: String? = nil, _ message: String
  ) {
    guard problems.count < Self.problemsMax else {
      unlistedCount += 1
      return
    }
    problems.append(Problem(rule: rule, store: store, key: key, message: message))
  }
}
