// InjectedFault.swift: what the fault rules did to one operation, as a trace keeps it.
// Invariant: `position` is the index of the event that carries the fault when `isOfEvent`, else of
// the event that came next (or the number of events).

/// One fault that was injected during a recording.
public struct InjectedFault: Hashable, Sendable {
  /// Index of the event that it changed, or before which it happened.
  public var position: Int
  /// True when the operation is in the trace, at `position`; a refused or delayed one is not.
  public var isOfEvent: Bool
  /// Number of the rule on the mount.
  public var rule: Int
  /// Kind of the operation, as rules name it.
  public var kind: String
  /// What happened, in the word of fault files.
  public var effect: String
  /// The error that the caller was told; 0 when none.
  public var errno: Int32
  /// The object's path, for people.
  public var path: String
  /// The bytes that the operation was about.
  public var bytes: Range<UInt64>?
  /// Process that asked for the operation; 0 when the kernel did.
  public var process: Int32
  /// Thread that asked for it.
  public var thread: Int32

  /// Makes a fault.
  public init(
    position: Int, isOfEvent: Bool, rule: Int, kind: String, effect: String, errno: Int32 = 0,
    path: String = "", bytes: Range<UInt64>? = nil, process: Int32 = 0, thread: Int32 = 0
  ) {
    self.position = position
    self.isOfEvent = isOfEvent
    self.rule = rule
    self.kind = kind
    self.effect = effect
    self.errno = errno
    self.path = path
    self.bytes = bytes
    self.process = process
    self.thread = thread
  }
}
