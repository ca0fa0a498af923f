// InjectedFault.swift: the effect of a fault rule on one operation, as kept in a trace.
// Invariant: `position` is the index of the event with the fault when `isOfEvent`, otherwise of the
// next event (or the number of events).

/// One fault that was injected during a recording.
public struct InjectedFault: Hashable, Sendable {
  /// Index of the event that it changed or preceded.
  public var position: Int
  /// True when the operation is in the trace, at `position`; a rejected or delayed one is not.
  public var isOfEvent: Bool
  /// Number of the rule on the mount.
  public var rule: Int
  /// Kind of the operation, as rules name it.
  public var kind: String
  /// The effect's key in fault files.
  public var effect: String
  /// The error returned to the caller; 0 for none.
  public var errno: Int32
  /// The object's path, for display.
  public var path: String
  /// The bytes that the operation affects.
  public var bytes: Range<UInt64>?
  /// Process that requested the operation; 0 for the kernel.
  public var process: Int32
  /// Thread that requested it.
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
