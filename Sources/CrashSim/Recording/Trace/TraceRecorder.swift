// TraceRecorder.swift: appends operations and marks to the trace of one recording.
// Invariant: the appending thread holds the file system's lock and has not yet answered its caller,
// so the order of the events is one that every client could have observed.

/// The process that requested an operation.
package struct Caller: Hashable, Sendable {
  /// Process and thread; 0 for the kernel's own requests.
  package var process: Int32 = 0
  package var thread: Int32 = 0
  /// True for a page that the kernel writes back.
  package var isWriteBack = false

  package init(process: Int32 = 0, thread: Int32 = 0, isWriteBack: Bool = false) {
    self.process = process
    self.thread = thread
    self.isWriteBack = isWriteBack
  }
}

/// A moment at which the clients are killed, with or without a power cut.
public struct StopPoint: Codable, Hashable, Sendable {
  /// After this many events of the recording, not counting closes; nil is at once.
  public var events: Int?
  /// True for a power cut: what is written later is acknowledged but discarded.
  public var isPowerCut: Bool

  /// Makes a moment.
  public init(after events: Int?, isPowerCut: Bool) {
    self.events = events
    self.isPowerCut = isPowerCut
  }
}

/// Collects the events of one recording.
package final class TraceRecorder {
  /// Size limit of the recording, with a fixed cost for each event; at the limit it ends.
  package let limitBytes: UInt64
  package private(set) var isRecording = false
  /// True once the recording has ended because it reached its size limit.
  package private(set) var isFull = false
  package private(set) var payloadBytes: UInt64 = 0
  private var trace = Trace(initial: TreeImage())
  /// Bytes of writes recorded without a payload of their own, by event index.
  private var store: PayloadStore
  private var ahead = MemoryAhead()
  private let pieces: PayloadPieces
  private let memoryBytesMax: Int
  private var places: [(event: Int, place: PayloadStore.Place)] = []
  /// Number of events other than closes, whose relative order never changes.
  package private(set) var orderedCount = 0
  private var startNanoseconds: UInt64 = 0
  private var stop: (point: StopPoint, kill: () -> Void)?
  /// Number of events, without closes, at the last stop point.
  package private(set) var stoppedAtEvents: Int?
  private let clockNanoseconds: () -> UInt64
  /// Where callers record their call stacks; nil unless requested.
  package var callStacks: CallStackArea?

  /// Keeps at most `memoryBytesMax` bytes of payload in memory, the rest in a file.
  package init(
    limitBytes: UInt64, pieces: PayloadPieces = PayloadPieces(),
    memoryBytesMax: Int = PayloadStore.memoryBytesMax, clockNanoseconds: @escaping () -> UInt64
  ) {
    self.limitBytes = limitBytes
    self.pieces = pieces
    self.memoryBytesMax = memoryBytesMax
    store = PayloadStore(source: pieces, memoryBytesMax: memoryBytesMax)
    self.clockNanoseconds = clockNanoseconds
  }

  package var eventCount: Int { trace.events.count }

  /// Starts a new recording from a tree.
  package func begin(_ initial: TreeImage) {
    trace = Trace(initial: initial)
    places = []
    // Unused memory costs nothing; moving the events costs more than recording them.
    trace.events.reserveCapacity(1 << 16)
    places.reserveCapacity(1 << 16)
    store = PayloadStore(source: pieces, memoryBytesMax: memoryBytesMax)
    payloadBytes = 0
    isFull = false
    orderedCount = 0
    stop = nil
    stoppedAtEvents = nil
    callStacks?.begin()
    startNanoseconds = clockNanoseconds()
    isRecording = true
  }

  /// Stops and returns the trace.
  ///
  /// The kernel reports closes without waiting for an answer, so it is random whether the last ones
  /// arrive in time, and whether the first ones belong to files from before the recording. A close
  /// matters only between operations: closes at either end are left out.
  package func end() -> Trace {
    isRecording = false
    defer {
      trace = Trace(initial: TreeImage())
      places = []
      store = PayloadStore(source: pieces, memoryBytesMax: memoryBytesMax)
    }
    for (event, place) in places { fill(event, from: place) }
    let isOperation = { (event: TraceEvent) in !event.isClose && !event.isMark }
    let last = trace.events.lastIndex(where: isOperation) ?? -1
    trace.events[(last + 1)...].removeAll(where: \.isClose)
    let first = trace.events.firstIndex(where: isOperation) ?? trace.events.count
    trace.events[..<first].removeAll(where: \.isClose)
    placeFaults()
    if let callStacks { trace.callStacks = callStacks.settle(&trace.events) }
    return trace
  }

  /// Sets when the clients are to be killed; a power cut freezes the trace at that moment.
  package func arm(_ point: StopPoint, kill: @escaping () -> Void) {
    stop = (point, kill)
    stoppedAtEvents = nil
    stopIfDue()
  }

  private func stopIfDue() {
    guard let stop, isRecording, orderedCount >= stop.point.events ?? 0 else { return }
    self.stop = nil
    stoppedAtEvents = orderedCount
    if stop.point.isPowerCut { isRecording = false }
    stop.kill()
  }

  /// Converts the positions of faults and steps, counted without closes, into event indices.
  private func placeFaults() {
    var indices = trace.events.indices.filter { !trace.events[$0].isClose }
    indices.append(trace.events.count)
    for fault in trace.faults.indices {
      trace.faults[fault].position = indices[min(trace.faults[fault].position, indices.count - 1)]
    }
    for place in trace.phases.indices {
      trace.phases[place].position = indices[min(trace.phases[place].position, indices.count - 1)]
    }
  }

  /// Notes a fault of the next recorded operation, or of one that is not recorded.
  package func note(_ fault: InjectedFault) {
    guard isRecording else { return }
    var fault = fault
    fault.position = orderedCount
    trace.faults.append(fault)
    payloadBytes += Self.faultBytes
    endIfFull()
  }

  /// Notes a phase of a process that begins after the events so far; nil ends it.
  package func note(phase: String?, of process: Int32) {
    guard isRecording else { return }
    trace.phases.append(TracePhase(position: orderedCount, process: process, phase: phase))
    payloadBytes += Self.faultBytes
    endIfFull()
  }

  /// A fault's share of the limit, so that a recording of endless rejected calls ends, too.
  private static let faultBytes: UInt64 = 128
  /// An event's share of the limit, besides its payload.
  private static let eventBytes: UInt64 = 256

  /// Ends the recording if it exceeds its limit.
  ///
  /// Programs continue: their results must not depend on what is recorded. Clients that were to be
  /// killed later are killed now, since that moment can no longer come.
  private func endIfFull() {
    guard payloadBytes + UInt64(trace.events.count) * Self.eventBytes > limitBytes else { return }
    isRecording = false
    isFull = true
    let kill = stop?.kill
    stop = nil
    kill?()
  }

  /// Sets the bytes of a recorded write.
  private func fill(_ index: Int, from place: PayloadStore.Place) {
    let event = trace.events[index]
    guard case .operation(.write(let inode, let offset, _)) = event.body else {
      preconditionFailure("the place of something that is not a write")
    }
    let payload = store.isLarge ? Payload(store, place) : Payload(store.bytes(at: place))
    trace.events[index] = TraceEvent(
      .operation(.write(inode: inode, offsetBytes: offset, payload: payload)), flags: event.flags,
      process: event.process, thread: event.thread, timeNanoseconds: event.timeNanoseconds,
      stack: event.stack)
  }

  /// Bytes of a write that is about to be performed, kept for the trace.
  package struct KeptBytes {
    fileprivate enum Content {
      case place(PayloadStore.Place)
      case payload(Payload)
    }

    fileprivate let content: Content
    /// Where they stay while the piece is retained, for the file to use them there; nil once memory
    /// is scarce and pieces must not be retained.
    package let loan: LentBytes?
    /// True when memory has become scarce: earlier loans must be ended.
    package let endsLoans: Bool
  }

  /// Keeps a copy of bytes.
  /// - Returns: Nil when not recording.
  package func keep(_ bytes: RawSpan) -> KeptBytes? {
    guard isRecording else { return nil }
    let wasLarge = store.isLarge
    guard let place = store.append(bytes) else {
      return KeptBytes(
        content: .payload(Payload(copying: bytes)), loan: nil, endsLoans: false)
    }
    ahead = store.memoryAhead(behind: bytes.byteCount)
    ahead.fetch()
    return KeptBytes(
      content: .place(place), loan: store.isLarge ? nil : store.memory(of: place),
      endsLoans: store.isLarge && !wasLarge)
  }

  /// Has the CPU prefetch some of the memory for the next bytes.
  @inline(__always)
  package func fetchAhead() { ahead.fetch() }

  /// Records a write, whose bytes become a payload when the recording ends.
  ///
  /// A later close is inserted after the last event that is not a mark, so the indices of writes
  /// never change.
  package func recordWrite(
    _ bytes: KeptBytes, at offset: UInt64, to inode: InodeNumber, flags: OperationFlags = [],
    by caller: Caller
  ) {
    guard isRecording else { return }
    switch bytes.content {
    case .payload(let payload):
      record(
        .write(inode: inode, offsetBytes: offset, payload: payload), flags: flags, by: caller)
    case .place(let place):
      places.append((trace.events.count, place))
      payloadBytes += UInt64(place.countBytes)
      appendOrdered(
        event(
          .write(inode: inode, offsetBytes: offset, payload: Payload.empty), flags: flags,
          by: caller))
    }
  }

  package func event(
    _ operation: Operation, flags: OperationFlags = [], by caller: Caller
  ) -> TraceEvent {
    var stack: Int?
    // The caller does not wait for the answer to a close, so its thread may be anywhere by now.
    if let callStacks, !operation.isClose {
      stack = callStacks.number(ofThread: caller.thread)
    }
    return TraceEvent(
      .operation(operation), flags: caller.isWriteBack ? flags.union(.writeBack) : flags,
      process: caller.process, thread: caller.thread,
      timeNanoseconds: clockNanoseconds() &- startNanoseconds, stack: stack)
  }

  package func record(_ operation: Operation, flags: OperationFlags = [], by caller: Caller) {
    guard isRecording else { return }
    append(event(operation, flags: flags, by: caller))
  }

  /// The number of events since event number `begin`; 0 if all of them are write-back by the
  /// kernel, closes or marks.
  package func eventsNotWrittenBack(since begin: Int) -> Int {
    let rest = trace.events[min(begin, trace.events.count)...]
    return rest.allSatisfy { $0.isMark || $0.isClose || $0.flags.contains(.writeBack) }
      ? 0 : rest.count
  }

  package func record(_ mark: Mark) {
    guard isRecording else { return }
    append(
      TraceEvent(.mark(mark), timeNanoseconds: clockNanoseconds() &- startNanoseconds))
  }

  /// A close is placed before the marks that directly precede it: the client did not wait for its
  /// answer, so on which side of a mark it arrives is random and has no meaning.
  package func append(_ event: TraceEvent) {
    switch event.body {
    case .operation(.close):
      let last = trace.events.lastIndex { !$0.isMark } ?? -1
      trace.events.insert(event, at: last + 1)
      return
    case .operation(.write(inode: _, offsetBytes: _, let payload)):
      payloadBytes += UInt64(payload.countBytes)
    case .mark(let mark): payloadBytes += UInt64(mark.bytes.count)
    default: break
    }
    appendOrdered(event)
  }

  private func appendOrdered(_ event: consuming TraceEvent) {
    trace.events.append(event)
    orderedCount += 1
    stopIfDue()
    if isRecording { endIfFull() }
  }
}

extension TraceEvent {
  /// True for an acknowledgement.
  package var isMark: Bool { if case .mark = body { true } else { false } }

  fileprivate var isClose: Bool {
    if case .operation(let operation) = body { operation.isClose } else { false }
  }
}

extension Operation {
  fileprivate var isClose: Bool { if case .close = self { true } else { false } }
}
