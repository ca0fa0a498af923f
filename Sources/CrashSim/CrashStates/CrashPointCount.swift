// CrashPointCount.swift: the numbers of states and failed states of each crash point.

/// The numbers of states and failed states of one crash point.
public struct CrashPointCount: Codable, Sendable, Hashable {
  /// The power fails after this many events.
  public var crashPoint: Int
  /// Distinct states that did not occur at an earlier crash point.
  public var distinct: Int
  /// Those that were checked; nil when not counted for each crash point, because the exploration
  /// was cut short or skipped states.
  public var checked: Int?
  /// Those that failed.
  public var failing: Int
  /// True if the last event before it is a mark, that is, an acknowledgement.
  public var followsMark: Bool?
}
