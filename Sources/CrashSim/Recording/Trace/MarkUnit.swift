// MarkUnit.swift: what counts as one acknowledgement of a program.

/// What of a program's standard output becomes one mark.
public enum MarkUnit: String, Codable, Sendable, Hashable, CaseIterable {
  /// A line of one process, once its line feed has arrived or the process has ended.
  case lines
  /// One write(2) of at most 4,096 bytes, whole line or not.
  case writes
}
