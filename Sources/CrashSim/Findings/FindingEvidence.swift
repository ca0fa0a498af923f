// FindingEvidence.swift: a failing state in numbers, for reports that draw it: which events were
// lost, what survived after them, and what that did to the files. Every list is bounded, and says
// how much it leaves out.

/// What a crash did to one file, beside what the running program saw.
public struct FileChange: Codable, Sendable, Hashable {
  /// What became of a range of bytes.
  public enum Fate: String, Codable, Sendable, CaseIterable {
    case kept, lost, torn
  }

  /// Bytes that one pending write, or several side by side, covered.
  public struct Range: Codable, Sendable, Hashable {
    /// First byte.
    public var offset: UInt64
    /// Number of bytes.
    public var count: UInt64
    /// What became of them.
    public var fate: Fate

    package init(offset: UInt64, count: UInt64, fate: Fate) {
      self.offset = offset
      self.count = count
      self.fate = fate
    }
  }

  /// Bytes that are not what the program had written.
  public struct Difference: Codable, Sendable, Hashable {
    /// Place of the first byte that is shown.
    public var differingAt: UInt64
    /// What the program had written, as hexadecimal digits; shorter where the file ends.
    public var bytesIssued: String
    /// What came back.
    public var bytesSurvived: String
  }

  /// The path as the program saw it; nil when it had removed the file.
  public var path: String?
  /// The path after the crash; nil when the file is not there.
  public var pathAfter: String?
  /// The size as the program saw it; nil of anything but a regular file.
  public var size: UInt64?
  /// The size after the crash.
  public var sizeAfter: UInt64?
  /// Ranges that were pending, ascending.
  public var ranges: [Range]
  /// Pending ranges that are not listed.
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

  /// The power went after this many events.
  public var crashPoint: Int
  /// Events of which something was lost, the first ones.
  public var lost: [Int]
  /// All of them.
  public var lostCount: Int
  /// Those of the lost ones of which a part survived.
  public var partlyLost: [Int]
  /// Later events than the first lost one that survived while they were pending, the first ones.
  public var keptAfter: [Int]
  /// All of them.
  public var keptAfterCount: Int
  /// Event after which the missing sync belongs.
  public var missingAfter: Int?
  /// Event before which it belongs; the crash point when nothing came in between.
  public var missingBefore: Int?
  /// What the missing sync is of.
  public var missingPath: String?
  /// What became of the files that had something pending, those that lost something first.
  public var files: [FileChange]
  /// Files that are not listed.
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

  /// All events that it speaks of.
  var events: [Int] { lost + keptAfter + [missingAfter, missingBefore].compactMap { $0 } }
}
