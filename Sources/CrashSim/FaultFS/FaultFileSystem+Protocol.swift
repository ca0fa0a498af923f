// FaultFileSystem+Protocol.swift: the steps of every operation: the rules decide, content about to
// be replaced is saved, clean pages become dirty, the tree changes, the change is recorded, and the
// rules' later effects are applied. An operation supplies only its own part: what rules see of it,
// which content it replaces, how the tree changes, and which event that is.
// Invariants: nothing is saved or changed before the rules have decided; an event is recorded after
// its change succeeded and before a rule's effects on what follows.
// All of it is inlined into the operations, which removes their closures: while no rule is in
// force, an operation pays for two checks of empty arrays.

import Glibc
import LabCore
import Recording

/// The part of a file's content that an operation is about to replace.
enum OldContent {
  case nothing
  /// Bytes that are overwritten.
  case bytes(Range<UInt64>)
  /// Everything after the new end of the file.
  case behind(end: UInt64)
  /// What follows a position may move; bytes of a range may become zeros.
  case tail(from: UInt64, zeros: Range<UInt64>?)
}

/// What the trace records of an operation.
enum RecordedEvent {
  case nothing
  case operation(Operation)
  /// Several operations that form one change, or none.
  case operations([Operation])
  /// A write whose bytes the recorder has already stored.
  case write(TraceRecorder.KeptBytes, at: UInt64)
}

extension FaultFileSystem {
  /// True when no rule applies to an operation and none was decided on before it waited.
  @inline(__always)
  var isWithoutRules: Bool { plan.isEmpty && powerEndsAt == nil }

  /// Performs an operation.
  ///
  /// `old` is what the change replaces of the content of `inode`, `effect` performs a rule's
  /// version of the operation (nil: perform it normally), and `change` changes the tree and returns
  /// the answer and the event to record. The caller is looked up only where it matters. Throws the
  /// error of an injected failure, that of the change, or `.waits`.
  @inline(__always)
  func perform<Answer>(
    _ kind: OperationKind, _ inode: Inode?, at places: @autoclosure () -> [InodeName] = [],
    bytes: Range<UInt64>? = nil, through file: OpenFile? = nil, wantsWrite: Bool = false,
    isPageIn: Bool = false, replacing old: OldContent = .nothing, flags: OperationFlags = [],
    by caller: @autoclosure () -> Caller,
    under effect: (Firing, FaultSubject) throws(ErrorNumber) -> Answer? = { _, _ in nil },
    change: () throws(ErrorNumber) -> (Answer, RecordedEvent)
  ) throws(ErrorNumber) -> Answer {
    // Without rules no write is held, and nothing is left to do afterwards.
    if isWithoutRules {
      return try self.change(inode, replacing: old, flags: flags, by: caller(), change)
    }
    let subject = FaultSubject(
      kind: kind, inode: inode, places: places(), bytes: bytes, file: file,
      wantsWrite: wantsWrite, isPageIn: isPageIn, caller: caller())
    return try performUnderRules(
      subject, replacing: old, flags: flags, under: effect, change: change)
  }

  /// The same for an operation that returns only success to the caller.
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

  /// Shows the rules an operation that changes nothing.
  @inline(__always)
  package func observe(
    _ kind: OperationKind, _ inode: Inode?, at places: @autoclosure () -> [InodeName] = [],
    through file: OpenFile? = nil, by caller: @autoclosure () -> Caller
  ) throws(ErrorNumber) {
    if isWithoutRules { return }
    try perform(kind, inode, at: places(), through: file, by: caller()) { .nothing }
  }

  /// The complete sequence; not inlined, to keep the path without rules short.
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

  /// Performs an operation regardless of the rules; only their side effects apply.
  func performInevitably(
    _ subject: FaultSubject, change: () throws(ErrorNumber) -> RecordedEvent
  ) {
    let injection = isWithoutRules ? nil : (try? begin(subject)) ?? nil
    try? carryOut(subject, injection) { () throws(ErrorNumber) -> (Void, RecordedEvent) in
      ((), try change())
    }
  }

  /// Performs an operation after the rules have decided.
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

  /// Changes the tree and records the change, for operations and for effects that replace them.
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

  /// The same for a change without a result.
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

  /// Saves for rules what is about to be lost, and makes clean pages of it dirty.
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

  /// Has the rules decide on an operation, and applies their effects that precede it.
  private func begin(_ subject: FaultSubject) throws(ErrorNumber) -> Injection? {
    let injection = try decide(subject)
    try killBefore(injection, by: subject.caller)
    // A failed sync is recorded all the same, and leaves its pages clean.
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
