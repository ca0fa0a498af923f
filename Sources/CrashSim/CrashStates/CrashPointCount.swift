// CrashPointCount.swift: how many crash states of each crash point there are, and how many failed.

/// How many states of one crash point there are, and how many failed.
public struct CrashPointCount: Codable, Sendable, Hashable {
  /// The power goes after this many events.
  public var crashPoint: Int
  /// Distinct states that no earlier crash point has.
  public var distinct: Int
  /// Those that were checked; nil when that was not counted for each crash point, because the
  /// exploration was cut short or left states out.
  public var checked: Int?
  /// Those that failed.
  public var failing: Int
  /// Whether the last event before it is a mark: something was acknowledged just then.
  public var followsMark: Bool?
}
