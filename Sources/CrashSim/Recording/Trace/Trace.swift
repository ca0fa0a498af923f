// Trace.swift: one recorded run: the initial tree, and all operations and marks in one order.

/// The circumstances of an operation, beyond the caller's request.
public struct OperationFlags: OptionSet, Sendable, Hashable {
  /// The bits as stored in the trace file.
  public let rawValue: UInt32
  /// Makes flags from their bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The kernel wrote a mapped page back by itself (process 0).
  public static let writeBack = OperationFlags(rawValue: 1)
  /// Injected: the sync was acknowledged and did nothing.
  public static let ignored = OperationFlags(rawValue: 2)
  /// Injected: the write was held and is recorded after operations that were issued later.
  public static let reordered = OperationFlags(rawValue: 4)
  /// Injected: the call returned an error (for syncs: nothing became durable).
  public static let failed = OperationFlags(rawValue: 8)
  /// The sync was caused by O_SYNC or O_DSYNC, not by a separate call.
  public static let openFlagSync = OperationFlags(rawValue: 16)
  /// Injected: a fault rule changed the operation, or created it.
  public static let injected = OperationFlags(rawValue: 32)
  /// Injected: the write restores what the medium has; it is durable, and what it covers is gone.
  public static let onMedium = OperationFlags(rawValue: 64)
  /// Inseparable from the operation before: one call made both, and no crash falls between them.
  public static let joined = OperationFlags(rawValue: 128)
}

/// A workload's report of completed work, at its place between the operations.
public struct Mark: Sendable, Hashable {
  /// The bytes of one line of, or one write to, standard output, or of one acknowledgement.
  public let bytes: [UInt8]

  /// Makes a mark from bytes.
  public init(bytes: [UInt8]) { self.bytes = bytes }
  /// Makes a mark from text.
  public init(_ text: String) { self.init(bytes: Array(text.utf8)) }

  /// The bytes as text.
  public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// One entry of a trace.
public struct TraceEvent: Sendable, Hashable {
  /// What happened.
  public enum Body: Sendable, Hashable {
    case operation(Operation)
    case mark(Mark)
  }

  /// The operation or the mark.
  public let body: Body
  /// The circumstances of the operation.
  public let flags: OperationFlags
  /// Process that requested it; 0 for the kernel.
  public let process: Int32
  /// Thread that requested it; 0 for the kernel.
  public let thread: Int32
  /// Nanoseconds since the recording began.
  ///
  /// For display; no decision may depend on it.
  public let timeNanoseconds: UInt64
  /// The call stack that requested it: index of a stack of the trace, if recorded.
  public internal(set) var stack: Int?

  /// Makes an event.
  public init(
    _ body: Body, flags: OperationFlags = [], process: Int32 = 0, thread: Int32 = 0,
    timeNanoseconds: UInt64 = 0, stack: Int? = nil
  ) {
    self.body = body
    self.flags = flags
    self.process = process
    self.thread = thread
    self.timeNanoseconds = timeNanoseconds
    self.stack = stack
  }

  /// The event with another operation, or with other flags.
  func with(_ other: Body? = nil, flags otherFlags: OperationFlags? = nil) -> TraceEvent {
    TraceEvent(
      other ?? body, flags: otherFlags ?? flags, process: process, thread: thread,
      timeNanoseconds: timeNanoseconds, stack: stack)
  }
}

/// A recorded run.
public struct Trace: Sendable {
  /// The tree before the first event; all of it durable.
  public var initial: TreeImage
  /// Operations and marks in one total order; the index is the event's number, from 0.
  public var events: [TraceEvent]
  /// Every injected fault, in order; rejected operations are only here.
  public var faults: [InjectedFault]
  /// The phases that processes announced, in order.
  public var phases: [TracePhase] = []
  /// The call stacks that events refer to.
  public var callStacks = CallStacks()
  /// What of the program's output became one mark.
  public var markUnit = MarkUnit.writes

  /// Makes a trace.
  public init(initial: TreeImage, events: [TraceEvent] = [], faults: [InjectedFault] = []) {
    self.initial = initial
    self.events = events
    self.faults = faults
  }
}

extension Trace {
  /// All marks, in order.
  public var marks: [Mark] {
    events.compactMap { if case .mark(let mark) = $0.body { mark } else { nil } }
  }
}
