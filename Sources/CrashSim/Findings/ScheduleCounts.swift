// ScheduleCounts.swift: how far the schedules of a scenario were explored, as reports say it.

/// How far schedules were explored.
public struct ScheduleCounts: Codable, Sendable, Hashable {
  /// Schedules that were run and judged.
  public var runCount = 0
  /// Those of them that were run twice and compared.
  public var repeatedCount = 0
  /// Recordings that differ from each other.
  public var recordingCount = 0
  /// Recordings whose crash states were explored.
  public var exploredRecordingCount = 0
  /// Actors that ran side by side.
  public var actorCount = 0
  /// Decisions of the longest run.
  public var decisionsMax = 0
  /// Compactions beside other actors that were done; nil when the scenario has none.
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
