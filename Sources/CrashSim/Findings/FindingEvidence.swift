// FindingEvidence.swift: a failing state in numbers, for reports that draw it: the lost events,
// those that survived after them, and the effect on the files. Every list is bounded, and has the
// number of omitted entries.

/// The effect of a crash on one file, compared to what the running program saw.
public struct FileChange: Codable, Sendable, Hashable {
  /// The fate of a range of bytes.
  public enum Fate: String, Codable, Sendable, CaseIterable {
    case kept, lost, torn
  }

  /// Bytes covered by one pending write, or by several adjacent ones.
  public struct Range: Codable, Sendable, Hashable {
    /// First byte.
    public var offset: UInt64
    /// Number of bytes.
    public var count: UInt64
    /// Their fate.
    public var fate: Fate

    package init(offset: UInt64, count: UInt64, fate: Fate) {
      self.offset = offset
      self.count = count
      self.fate = fate
    }
  }

  /// Bytes that differ from what the program had written.
  public struct Difference: Codable, Sendable, Hashable {
    /// Position of the first byte shown.
    public var differingAt: UInt64
    /// The bytes that the program had written, in hexadecimal; shorter at the end of the file.
    public var bytesIssued: String
    /// The bytes after the crash.
    public var bytesSurvived: String
  }

  /// The path as the program saw it; nil when it had removed the file.
  public var path: String?
  /// The path after the crash; nil if the file does not exist.
  public var pathAfter: String?
  /// The size as the program saw it; nil for anything other than a regular file.
  public var size: UInt64?
  /// The size after the crash.
  public var sizeAfter: UInt64?
  /// Ranges that were pending, ascending.
  public var ranges: [Range]
  /// Number of pending ranges that are not listed.
  public var omittedRangeCount: Int
  /// The first differences.
  public var differences: [Difference]

  package init(
    path: String? = nil,
    pathAfter: String? = nil,
    size: UInt64? = nil,
    sizeAfter: UInt64? = nil,
    ranges: [Range],
    omittedRangeCount: Int,
    differences: [Difference]
  ) {
    self.path = path
    self.pathAfter = pathAfter
    self.size = size
    self.sizeAfter = sizeAfter
    self.ranges = ranges
    self.omittedRangeCount = omittedRangeCount
    self.differences = differences
  }
}

/// A failing state in numbers.
public struct FindingEvidence: Codable, Sendable, Hashable {
  /// Most events in each list.
  static let eventsMax = 64
  /// Most files.
  static let filesMax = 8

  /// The power failed after this many events.
  public var crashPoint: Int
  /// Events that lost something; only the first ones.
  public var lost: [Int]
  /// Number of all of them.
  public var lostCount: Int
  /// Those of the lost events that survived in part.
  public var partlyLost: [Int]
  /// Pending events after the first lost one that survived; only the first ones.
  public var keptAfter: [Int]
  /// Number of all of them.
  public var keptAfterCount: Int
  /// Event after which the missing sync should be.
  public var missingAfter: Int?
  /// Event before which it should be; the crash point if there is no event in between.
  public var missingBefore: Int?
  /// Path of the file that should have been synced.
  public var missingPath: String?
  /// The files with pending changes, first those that lost something.
  public var files: [FileChange]
  /// Number of files that are not listed.
  public var omittedFileCount: Int

  package init(
    crashPoint: Int,
    lost: [Int],
    lostCount: Int,
    partlyLost: [Int],
    keptAfter: [Int],
    keptAfterCount: Int,
    missingAfter: Int? = nil,
    missingBefore: Int? = nil,
    missingPath: String? = nil,
    files: [FileChange],
    omittedFileCount: Int
  ) {
    self.crashPoint = crashPoint
    self.lost = lost
    self.lostCount = lostCount
    self.partlyLost = partlyLost
    self.keptAfter = keptAfter
    self.keptAfterCount = keptAfterCount
    self.missingAfter = missingAfter
    self.missingBefore = missingBefore
    self.missingPath = missingPath
    self.files = files
    self.omittedFileCount = omittedFileCount
  }

  /// All events that it refers to.
  var events: [Int] { lost + keptAfter + [missingAfter, missingBefore].compactMap { $0 } }
}
