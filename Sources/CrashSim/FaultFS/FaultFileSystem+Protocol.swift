// FaultFileSystem+Protocol.swift: the one way that operations go: the rules decide, what is about
// to be replaced is kept, clean pages become dirty, the tree changes, the trace gets it, and what
// the rules want afterwards is done. An operation says only what is its own: what rules see of it,
// which content it replaces, how the tree changes, and which event that is.
// Invariants: nothing is kept or changed before the rules have decided; an event is recorded after
// its change succeeded and before a rule acts on what comes after it.
// All of it is inlined into the operations, so that their closures are none any more: while no rule
// is in force an operation costs two looks at empty arrays.

import Glibc
import LabCore
import Recording

/// What an operation is about to replace of a file's content.
enum OldContent {
  case nothing
  /// Bytes that others take the place of.
  case bytes(Range<UInt64>)
  /// All behind the place where the file is to end.
  case behind(end: UInt64)
  /// What lies behind a position may move; bytes of a range may become zeros.
  case tail(from: UInt64, zeros: Range<UInt64>?)
}

/// What the trace gets of an operation.
enum RecordedEvent {
  case nothing
  case operation(Operation)
  /// Several that are one change, or none.
  case operations([Operation])
  /// A write whose bytes the recorder has already.
  case write(TraceRecorder.KeptBytes, at: UInt64)
}

extension FaultFileSystem {
  /// True when nobody has a say in an operation, nor in one that was decided on before it waited.
  @inline(__always)
  var isWithoutRules: Bool { plan.isEmpty }

  /// Performs an operation.
  ///
  /// `old` is what the change replaces of the content of `inode`, `effect` does what a rule makes
  /// of the operation (nil: it goes on as asked for), and `change` changes the tree and says what
  /// the caller gets and what is recorded. Who asks is looked up only where that matters. It throws
  /// the error of an injected failure, that of the change, or `.waits`.
  @inline(__always)
  func perform<Answer>(
    _ kind: OperationKind, _ inode: Inode?, at places: @autoclosure () -> [InodeName] = [],
    bytes: Range<UInt64>? = nil, through file: OpenFile? = nil, wantsWrite: Bool = false,
    isPageIn: Bool = false, replacing old: OldContent = .nothing, flags: OperationFlags = [],
    by caller: @autoclosure () -> Caller,
    under effect: (Firing, FaultSubject) throws(ErrorNumber) -> Answer? = { _, _ in nil },
    change: () throws(ErrorNumber) -> (Answer, RecordedEvent)
  ) throws(ErrorNumber) -> Answer {
    // Without rules no write is held, and nothing waits to be done afterwards.
    if isWithoutRules {
      return try self.change(inode, replacing: old, flags: flags, by: caller(), change)
    }
    let subject = FaultSubject(
      kind: kind, inode: inode, places: places(), bytes: bytes, file: file,
      wantsWrite: wantsWrite, isPageIn: isPageIn, caller: caller())
    return try performUnderRules(
      subject, replacing: old, flags: flags, under: effect, change: change)
  }

  /// The same for an operation that the caller only learns to have succeeded.
  @inline(__always)
  func perform(
    _ kind: OperationKind, _ inode: Inode?, at places: @autoclosure () -> [InodeName] = [],
    bytes: Range<UInt64>? = nil, through file: OpenFile? = nil, wantsWrite: Bool = false,
    replacing old: OldContent = .nothing, flags: OperationFlags = [], by caller: Caller,
    change: () throws(ErrorNumber) -> RecordedEvent
  ) throws(ErrorNumber) {
    try perform(
      kind, inode, at: places(), bytes: bytes, through: file, wantsWrite: wantsWrite,
      replacing: old, flags: flags, by: caller
    ) { () throws(ErrorNumber) -> (Void, RecordedEvent) in
      ((), try change())
    }
  }

  /// Lets the rules see an operation that changes nothing.
  @inline(__always)
  package func observe(
    _ kind: OperationKind, _ inode: Inode?, at places: @autoclosure () -> [InodeName] = [],
    through file: OpenFile? = nil, by caller: @autoclosure () -> Caller
  ) throws(ErrorNumber) {
    if isWithoutRules { return }
    try perform(kind, inode, at: places(), through: file, by: caller()) { .nothing }
  }

  /// The whole way; not inlined, so that what no rule is about stays short.
  @inline(never)
  private func performUnderRules<Answer>(
    _ subject: FaultSubject, replacing old: OldContent, flags: OperationFlags,
    under effect: (Firing, FaultSubject) throws(ErrorNumber) -> Answer?,
    change: () throws(ErrorNumber) -> (Answer, RecordedEvent)
  ) throws(ErrorNumber) -> Answer {
    let injection = try begin(subject)
    return try carryOut(
      subject, injection, replacing: old, flags: flags, under: effect, change: change)
  }

  /// Performs an operation whatever the rules say of it: only what they do besides happens.
  func performInevitably(
    _ subject: FaultSubject, change: () throws(ErrorNumber) -> RecordedEvent
  ) {
    let injection = isWithoutRules ? nil : (try? begin(subject)) ?? nil
    try? carryOut(subject, injection) { () throws(ErrorNumber) -> (Void, RecordedEvent) in
      ((), try change())
    }
  }

  /// Performs an operation on which the rules have decided.
  private func carryOut<Answer>(
    _ subject: FaultSubject, _ injection: Injection?, replacing old: OldContent = .nothing,
    flags: OperationFlags = [],
    under effect: (Firing, FaultSubject) throws(ErrorNumber) -> Answer? = { _, _ in nil },
    change: () throws(ErrorNumber) -> (Answer, RecordedEvent)
  ) throws(ErrorNumber) -> Answer {
    if hasHeldWrites { releaseWrites(before: subject.kind) }
    let answer: Answer
    if let firing = injection?.outcome, !firing.isOfRest, let made = try effect(firing, subject) {
      answer = made
    } else {
      answer = try self.change(
        subject.inode, replacing: old, flags: flags, by: subject.caller, change)
    }
    if hasHeldWrites { releaseWrites(after: subject, injection) }
    if let injection { finish(injection, by: subject.caller) }
    return answer
  }

  /// Changes the tree, and records the change: for operations, and for what effects do instead.
  @inline(__always)
  func change<Answer>(
    _ inode: Inode?, replacing old: OldContent = .nothing, flags: OperationFlags = [],
    by caller: @autoclosure () -> Caller,
    _ change: () throws(ErrorNumber) -> (Answer, RecordedEvent)
  ) throws(ErrorNumber) -> Answer {
    if let inode { keep(old, of: inode) }
    let (answer, event) = try change()
    switch event {
    case .nothing: break
    case .operation(let operation):
      // Of an inode that lost its last name before the recording began the trace knows nothing.
      if inode?.isTraced ?? true { recorder.record(operation, flags: flags, by: caller()) }
    case .operations(let operations):
      if inode?.isTraced ?? true { record(operations, flags: flags, by: caller()) }
    case .write(let kept, let offset):
      if let inode {
        recorder.recordWrite(kept, at: offset, to: inode.number, flags: flags, by: caller())
      }
    }
    return answer
  }

  @inline(never)
  func record(_ operations: [Operation], flags: OperationFlags, by caller: Caller) {
    for (index, operation) in operations.enumerated() {
      recorder.record(
        operation, flags: index == 0 ? flags : flags.union(.joined), by: caller)
    }
  }

  /// The same for a change that gives nothing.
  @inline(__always)
  func change(
    _ inode: Inode, replacing old: OldContent = .nothing, flags: OperationFlags = [],
    by caller: Caller, _ change: () throws(ErrorNumber) -> RecordedEvent
  ) throws(ErrorNumber) {
    try self.change(inode, replacing: old, flags: flags, by: caller) {
      () throws(ErrorNumber) -> (Void, RecordedEvent) in
      ((), try change())
    }
  }

  /// Remembers for rules what is about to go, and makes clean pages of it dirty.
  @inline(__always)
  private func keep(_ old: OldContent, of inode: Inode) {
    if case .nothing = old { return }
    if plan.needsShadows || inode.shadow != nil { keepShadowed(old, of: inode) }
  }

  @inline(never)
  private func keepShadowed(_ old: OldContent, of inode: Inode) {
    switch old {
    case .nothing: break
    case .bytes(let range):
      keepOld(of: inode, range)
      markDirty(inode, range)
    case .behind(let end):
      keepOldTail(of: inode, from: end)
      if end < inode.sizeBytes { markCutDirty(inode, at: end) }
    case .tail(let offset, let zeros):
      keepOldTail(of: inode, from: offset)
      if let zeros { markDirty(inode, zeros) }
    }
  }

  // MARK: Before and after

  /// Has the rules decide on an operation, and does what they want before it.
  private func begin(_ subject: FaultSubject) throws(ErrorNumber) -> Injection? {
    let injection = try decide(subject)
    try killBefore(injection, by: subject.caller)
    // A sync that fails is in the trace all the same, and leaves its pages clean.
    if !subject.kind.isSync, let outcome = injection?.outcome,
      case .error(let number) = outcome.effect
    {
      note(outcome, subject, isOfEvent: false)
      throw ErrorNumber(number)
    }
    return injection
  }
}

extension OperationKind {
  fileprivate var isSync: Bool { self == .sync || self == .syncDirectory }
}
