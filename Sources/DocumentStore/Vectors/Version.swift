// Version.swift: an entry of a version vector: the source of a change, and its time.

/// The source of a change: 16 bytes.
public struct VersionSource: Hashable, Sendable {
  /// The bytes.
  public let bytes: [UInt8]

  /// This data file.
  public static let me = VersionSource(unchecked: [])
  /// A revision of a tree, from before there were vectors.
  public static let legacy = VersionSource(unchecked: [0x1e])

  private init(unchecked bytes: [UInt8]) {
    self.bytes = bytes + [UInt8](repeating: 0, count: 16 - bytes.count)
  }

  /// A source.
  /// - Parameter bytes: Its 16 bytes.
  /// - Throws: `DocumentStoreError` with code `.badRevisionID`.
  public init(_ bytes: [UInt8]) throws(DocumentStoreError) {
    guard bytes.count == 16 else {
      throw DocumentStoreError(.badRevisionID, "a source of \(bytes.count) bytes instead of 16")
    }
    self.bytes = bytes
  }

  /// A source from its stored form: at most 16 bytes; missing ones are 0.
  init?(stored bytes: [UInt8]) {
    guard bytes.count <= 16 else { return nil }
    self.init(unchecked: bytes)
  }

  /// The bytes that are stored.
  var stored: [UInt8] {
    switch self {
    case .me: []
    case .legacy: [0x1e]
    default: bytes
    }
  }

  /// `*`, `?`, or 22 letters of base64.
  public var text: String {
    switch self {
    case .me: "*"
    case .legacy: "?"
    default: String(Base64.text(bytes).prefix(22))
    }
  }

  /// A source from a text.
  init?(text: Substring) {
    switch text {
    case "*": self = .me
    case "?": self = .legacy
    default:
      guard text.utf8.count == 22, let bytes = Base64.bytes(text + "==") else { return nil }
      self.bytes = bytes
    }
  }
}

/// An entry of a version vector.
public struct Version: Hashable, Sendable, CustomStringConvertible {
  /// Nanoseconds since 1970, of which the low 16 bits are a counter.
  public var time: UInt64
  /// The source.
  public var source: VersionSource

  /// An entry.
  /// - Parameters:
  ///   - time: Nanoseconds since 1970, of which the low 16 bits are a counter.
  ///   - source: The source.
  public init(time: UInt64, source: VersionSource) {
    self.time = time
    self.source = source
  }

  /// The entry that a revision of a tree becomes.
  /// - Parameter revision: The revision's ID.
  public init(legacy revision: RevisionID) {
    self.init(time: 0x1770_0000_0000_0000 &+ revision.generation, source: .legacy)
  }

  /// The time in hexadecimal digits, `@`, and the source.
  public var description: String { String(time, radix: 16) + "@" + source.text }

  init?(text: Substring) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, parts[0].allSatisfy(\.isHexDigit),
      let time = UInt64(parts[0], radix: 16), time > 0,
      let source = VersionSource(text: parts[1])
    else { return nil }
    self.init(time: time, source: source)
  }
}
