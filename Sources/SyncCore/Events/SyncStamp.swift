// SyncStamp.swift: hybrid logical time: which of two concurrent operations is the later one.
// Invariant (I10): a changeset's stamp exceeds all stamps known to its author.

/// Identifies a client of a realm; the server gives each its number.
public struct SyncClient: Hashable, Comparable, Sendable {
  /// Its number, from 1.
  public let number: UInt64

  /// The client with a number.
  public init(_ number: UInt64) { self.number = number }

  /// The author of entries without operations, by which a server moves the barrier; no client gets
  /// this number or a higher one.
  package static let keeper = SyncClient(1 << 56 - 1)

  /// Orders by number.
  public static func < (left: SyncClient, right: SyncClient) -> Bool {
    left.number < right.number
  }
}

/// A position in the server's order of entries; 0 is before the first.
public struct SyncVersion: Hashable, Comparable, Sendable {
  /// How many entries there are up to here.
  public let number: UInt64

  /// The version after that many entries.
  public init(_ number: UInt64) { self.number = number }

  /// Orders by number.
  public static func < (left: SyncVersion, right: SyncVersion) -> Bool {
    left.number < right.number
  }

  /// Before the first entry.
  public static let zero = SyncVersion(0)
}

/// 48 bits of milliseconds since 1970, and 16 of a counter within the millisecond.
public struct SyncStamp: Hashable, Comparable, Sendable {
  /// Milliseconds in the upper 48 bits, the counter in the lower 16.
  public let bits: UInt64

  /// The stamp with these bits.
  public init(bits: UInt64) { self.bits = bits }

  /// The largest number of milliseconds, in the year 10889.
  public static let millisecondsMax: UInt64 = 1 << 48 - 1

  /// The first stamp of a millisecond; larger ones count as `millisecondsMax`.
  public init(milliseconds: UInt64) {
    bits = min(milliseconds, Self.millisecondsMax) << 16
  }

  /// Milliseconds since 1970.
  public var milliseconds: UInt64 { bits >> 16 }

  /// Orders by time, then by counter.
  public static func < (left: SyncStamp, right: SyncStamp) -> Bool { left.bits < right.bits }

  /// Smaller than every stamp of a changeset.
  public static let zero = SyncStamp(bits: 0)

  /// The stamp of a local event: the clock's time, or just after the last known stamp.
  /// - Parameters:
  ///   - now: The wall clock in milliseconds since 1970; it may be wrong or go back.
  ///   - known: The largest stamp that the author knows.
  /// - Returns: nil when there is no later stamp any more.
  public static func next(now: UInt64, after known: SyncStamp) -> SyncStamp? {
    let clock = SyncStamp(milliseconds: now)
    guard clock <= known else { return clock }
    let (bits, overflow) = known.bits.addingReportingOverflow(1)
    return overflow ? nil : SyncStamp(bits: bits)
  }

  /// The stamp that the server writes into an entry instead of this one (I24): at most `limit`, but
  /// later than everything known to the changeset.
  /// - Returns: nil when there is no later stamp any more.
  public func clamped(to limit: SyncStamp, after known: SyncStamp) -> SyncStamp? {
    let low = min(self, limit)
    guard low <= known else { return low }
    let (bits, overflow) = known.bits.addingReportingOverflow(1)
    return overflow ? nil : SyncStamp(bits: bits)
  }
}
