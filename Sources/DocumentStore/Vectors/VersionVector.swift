// VersionVector.swift: the last change of each source that led to a revision. Invariants: the
// current version is the first; a source occurs once, except that the current one's may occur once
// more, with an earlier time, among the versions joined by a merge.

/// A revision's ID as a vector of versions.
public struct VersionVector: Hashable, Sendable, CustomStringConvertible {
  /// The versions, the current one first.
  public private(set) var versions: [Version]
  /// How many of them, at the front, are the new one and those that a merge joined.
  public private(set) var currentCount: Int

  /// Most versions that are read.
  static let countMax = 0xffff

  /// A vector.
  /// - Parameters:
  ///   - versions: The versions, the current one first; at least one.
  ///   - currentCount: How many at the front are current.
  /// - Throws: `DocumentStoreError` with code `.badRevisionID` when a source occurs twice.
  public init(_ versions: [Version], currentCount: Int = 1) throws(DocumentStoreError) {
    guard (1...max(1, versions.count)).contains(currentCount), !versions.isEmpty,
      versions.count <= Self.countMax
    else {
      throw DocumentStoreError(
        .badRevisionID, "a vector of \(versions.count) versions, \(currentCount) of them current")
    }
    var (sources, hasTwice) = (Set<VersionSource>(), false)
    for (index, version) in versions.enumerated() {
      guard !sources.insert(version.source).inserted else { continue }
      let isMerged = index < currentCount && version.source == versions[0].source && !hasTwice
      guard isMerged, version.time < versions[0].time else {
        throw DocumentStoreError(
          .badRevisionID, "source \(version.source.text) occurs twice in a vector")
      }
      hasTwice = true
    }
    self.versions = versions
    self.currentCount = currentCount
  }

  /// The current version.
  public var current: Version { versions[0] }

  /// The time of a source's last change; 0 without any.
  func time(of source: VersionSource) -> UInt64 {
    versions.first { $0.source == source }?.time ?? 0
  }

  /// Adds a change; the versions joined by a merge become history.
  /// - Parameter version: The change, later than any of its source.
  /// - Throws: `DocumentStoreError` with code `.badRevisionID` for one that is not later.
  public mutating func add(_ version: Version) throws(DocumentStoreError) {
    guard version.time > time(of: version.source) else {
      throw DocumentStoreError(
        .badRevisionID, "\(version) is not later than what \(self) has of its source")
    }
    let source = current.source
    let kept = versions.enumerated().filter { index, old in
      old.source != version.source && (index == 0 || old.source != source)
    }
    versions = [version] + kept.map(\.element)
    currentCount = 1
  }

  /// The relation of two vectors.
  public enum Order: Sendable {
    /// The same current version.
    case same
    /// The other one has all of this.
    case older
    /// This has all of the other one.
    case newer
    /// Each has changes that the other one lacks.
    case conflicting
  }

  /// Compares by the current versions.
  /// - Parameter other: The other one.
  /// - Returns: The relation of this vector to it.
  public func order(to other: VersionVector) -> Order {
    if current == other.current { return .same }
    let hasOther = time(of: other.current.source) >= other.current.time
    let isKnown = other.time(of: current.source) >= current.time
    switch (hasOther, isKnown) {
    case (true, false): return .newer
    case (false, true): return .older
    default: return .conflicting
    }
  }

  /// Versions separated by `, `; `; ` follows those joined by a merge.
  public var description: String {
    var text = ""
    for (index, version) in versions.enumerated() {
      if index > 0 { text += index == currentCount && currentCount > 1 ? "; " : ", " }
      text += version.description
    }
    return currentCount > 1 && currentCount == versions.count ? text + ";" : text
  }

  /// A vector from a text.
  /// - Parameter text: As `description` writes it.
  /// - Throws: `DocumentStoreError` with code `.badRevisionID`.
  public init(_ text: String) throws(DocumentStoreError) {
    let bad = DocumentStoreError(.badRevisionID, "\(quoted(text)) is not a version vector")
    let groups = text.split(separator: ";", omittingEmptySubsequences: false)
    guard groups.count <= 2 else { throw bad }
    var versions: [Version] = []
    for (place, group) in groups.enumerated() {
      let body = group.drop { $0 == " " }
      if place == 1, body.isEmpty { break }
      for part in body.split(separator: ",", omittingEmptySubsequences: false) {
        guard let version = Version(text: part.drop { $0 == " " }) else { throw bad }
        versions.append(version)
      }
    }
    let count = groups.count == 2 ? groups[0].split(separator: ",").count : 1
    try self.init(versions, currentCount: count)
  }
}
