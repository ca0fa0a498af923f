// Verification.swift: what checking a data file found.

/// What checking a data file found.
public struct Verification: Sendable {
  /// A rule of the format.
  public enum Rule: String, Sendable, CaseIterable {
    /// SQLite's own check of pages, tables and indexes.
    case integrity
    /// The tables and columns that the format number promises.
    case layout
    /// No sequence is above the collection's last one.
    case lastSequence
    /// No sequence stands twice, and none is below 1.
    case sequences
    /// A key is a live record or a dead one, and lies where it belongs.
    case home
    /// Flags are known, and subsequences not negative.
    case flags
    /// Bodies are dicts that decode with the shared keys.
    case body
    /// Revisions decode, and the record says of them what is so.
    case revisions
    /// Shared keys are distinct, and used wherever they can be.
    case sharedKeys
    /// Blobs that documents name are there and whole.
    case blobs
    /// Expirations are after 1970.
    case expiration
    /// Indexes that are listed have their SQL objects, and nothing else has any.
    case indexes
    /// Tables of indexes hold what their documents say.
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
    /// What is wrong, with values.
    public let message: String

    /// Rule, place and message.
    public var description: String {
      let place = [store?.text, key.map(quoted)].compactMap { $0 }.joined(separator: " ")
      return "\(rule.rawValue): \(place.isEmpty ? "" : place + ": ")\(message)"
    }
  }

  /// Most problems that are listed.
  public static let problemsMax = 1000
  /// What is wrong; empty for a sound file.
  public internal(set) var problems: [Problem] = []
  /// How many further problems are not listed.
  public internal(set) var unlistedCount = 0
  /// What could not be checked, in words: indexes that need what is not here, a model for example.
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
