// ScheduleCounts.swift: the extent of the exploration of a scenario's schedules, for reports.

/// The extent of an exploration of schedules.
public struct ScheduleCounts: Codable, Sendable, Hashable {
  /// Schedules that were run and judged.
  public var runCount = 0
  /// Those of them that were run twice and compared.
  public var repeatedCount = 0
  /// Recordings that differ from each other.
  public var recordingCount = 0
  /// Recordings whose crash states were explored.
  public var exploredRecordingCount = 0
  /// Number of concurrent actors.
  public var actorCount = 0
  /// Number of decisions in the longest run.
  public var decisionsMax = 0
  /// Number of concurrent compactions that were performed; nil when the scenario has none.
  public var compactionCount: Int?
  /// Whether every schedule of the strategy was run.
  public var isComplete = false

  package init(
    runCount: Int = 0,
    repeatedCount: Int = 0,
    recordingCount: Int = 0,
    exploredRecordingCount: Int = 0,
    actorCount: Int = 0,
    decisionsMax: Int = 0,
    compactionCount: Int? = nil,
    isComplete: Bool = false
  ) {
    self.runCount = runCount
    self.repeatedCount = repeatedCount
    self.recordingCount = recordingCount
    self.exploredRecordingCount = exploredRecordingCount
    self.actorCount = actorCount
    self.decisionsMax = decisionsMax
    self.compactionCount = compactionCount
    self.isComplete = isComplete
  }
}
