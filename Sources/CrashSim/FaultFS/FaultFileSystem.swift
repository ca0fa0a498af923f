// FaultFileSystem.swift: the file tree as clients use it: for each operation the fault rules
// decide, then it is performed and recorded, all before the caller gets its result.
// Invariant: a change that a client can see is in the trace, or held for a reorder rule; the trace
// has what happened to the tree, also where a fault changed the operation.

import Glibc
import LabCore
import Recording

/// The file tree with its faults and its trace.
package final class FaultFileSystem {
  package private(set) var tree: FileTree
  let recorder: TraceRecorder
  /// Every operation fails once so many events are recorded; nil for never.
  var powerEndsAt: Int?
  let plan: FaultPlan
  /// The decisions for the current request, and what it waits for.
  var decisions = RequestDecisions()
  /// Inodes whose pages the kernel must drop before the current request is answered.
  package var staleInodes: [InodeNumber] = []
  /// Writes that reorder rules hold, by rule.
  private var held: [Int: [TraceEvent]] = [:]
  private var syncErrorCount: UInt64 = 0
  /// The effects of a faulty file system outside of its tree; none at first.
  var sideEffects = FaultSideEffects()

  init(tree: FileTree, recorder: TraceRecorder) {
    self.tree = tree
    self.recorder = recorder
    let space = OccupiedSpace(tree.quota)
    self.space = space
    let announced = AnnouncedPhases()
    self.announced = announced
    plan = FaultPlan(
      occupiedBytes: { space.bytes }, phase: { announced.log.phase(of: $0) })
  }

  /// Writes of which a part reaches the medium before the file system dies.
  var tears = WriteTears()

  private let space: OccupiedSpace
  private let announced: AnnouncedPhases

  /// The phase that each process announced last.
  var phases: PhaseLog {
    get { announced.log }
    set { announced.log = newValue }
  }

  /// Handles a process's announcement: the name of a phase, or an empty one for its end.
  func notePhase(_ value: [UInt8], by caller: Caller) {
    guard phases.note(value, of: caller.process) else { return }
    recorder.note(phase: phases.phase(of: caller.process), of: caller.process)
  }

  /// Shared with the rules, which count by phase.
  private final class AnnouncedPhases {
    var log = PhaseLog()
  }

  /// The space that all files occupy, whichever tree is mounted.
  private final class OccupiedSpace {
    var quota: MemoryQuota
    init(_ quota: MemoryQuota) { self.quota = quota }
    var bytes: UInt64 { quota.pageCount * UInt64(FileContent.pageBytes) }
  }

  // MARK: Recording

  /// Replaces the tree; no inode of the old one may be in use.
  func replaceTree(_ newTree: FileTree) {
    tree = newTree
    space.quota = newTree.quota
    // The users of the old tree are gone, and other processes may get their numbers.
    phases = PhaseLog()
  }

  func beginRecording() {
    held = [:]
    for inode in tree.inodes.values {
      if inode.linkCount == 0 { inode.isTraced = false }
      // Everything in the tree counts as durable.
      inode.shadow = nil
    }
    recorder.begin(tree.image())
  }

  func endRecording() -> Trace {
    releaseAll()
    tree.settle()
    return recorder.end()
  }

  func clearRules() { removeRules(Set(plan.list.map(\.id))) }

  /// Removes rules, with everything that they hold.
  /// - Returns: Those that were in force.
  @discardableResult
  func removeRules(_ ids: Set<Int>) -> [RuleStatus] {
    for id in held.keys.sorted() where ids.contains(id) { release(id) }
    let removed = plan.remove(ids)
    for inode in tree.inodes.values {
      if let error = inode.syncError, ids.contains(error.ruleID) { inode.syncError = nil }
      if !plan.needsShadows, let shadow = inode.shadow {
        // What a failed sync lost remains lost.
        shadow.forgetDirty()
        if shadow.clean.isEmpty { inode.shadow = nil }
      }
    }
    return removed
  }

  /// Records an operation on an inode, unless the trace cannot know it.
  func record(
    _ inode: Inode, _ operation: Operation, flags: OperationFlags = [], by caller: Caller
  ) {
    if inode.isTraced { recorder.record(operation, flags: flags, by: caller) }
  }

  // MARK: Held writes

  var hasHeldWrites: Bool { !held.isEmpty }

  private func releaseAll() {
    for rule in held.keys.sorted() { release(rule) }
  }

  private func release(_ rule: Int) {
    for event in held.removeValue(forKey: rule) ?? [] where recorder.isRecording {
      recorder.append(event)
    }
  }

  /// Holds a write until its rule releases it.
  func hold(_ event: TraceEvent, for rule: Int) { held[rule, default: []].append(event) }

  /// A held write may lie after the new end: recorded later, it would restore those bytes.
  func releaseWrites(before kind: OperationKind) {
    if kind == .truncate || kind == .allocate { releaseAll() }
  }

  /// Releases the writes held until a write like this one, unless this one is held itself.
  func releaseWrites(after subject: FaultSubject, _ injection: Injection?) {
    if subject.kind != .write { return }
    if case .reorder = injection?.outcome?.effect { return }
    for rule in plan.reordersReleased(by: subject) { release(rule) }
  }

  // MARK: Marks

  /// Records a client's mark, and restarts the counts of rules that begin at it.
  func record(_ mark: Mark) {
    plan.note(mark)
    recorder.record(mark)
  }

  // MARK: Content

  /// Writes, and returns the byte count for the caller.
  @discardableResult
  package func write(
    _ bytes: RawSpan, at offset: UInt64, to inode: Inode, through file: OpenFile? = nil,
    by caller: Caller
  ) throws(ErrorNumber) -> Int {
    let (end, overflow) = offset.addingReportingOverflow(UInt64(bytes.byteCount))
    if overflow { throw ErrorNumber(EFBIG) }
    let taken = try perform(
      .write, inode, bytes: offset..<end, through: file, replacing: .bytes(offset..<end),
      by: caller
    ) { (firing, subject) throws(ErrorNumber) -> Int? in
      try write(Payload(copying: bytes), at: offset, to: inode, firing, subject)
    } change: { () throws(ErrorNumber) -> (Int, RecordedEvent) in
      let kept = inode.isTraced ? recorder.keep(bytes) : nil
      if let kept, kept.endsLoans { tree.settle() }
      let taken = try tree.write(bytes, at: offset, to: inode, lent: kept?.loan)
      guard let kept else { return (taken, .nothing) }
      if taken == bytes.byteCount { return (taken, .write(kept, at: offset)) }
      // The file system is full: the trace has the bytes that fitted.
      guard let part = recorder.keep(bytes.extracting(0..<taken)) else { return (taken, .nothing) }
      return (taken, .write(part, at: offset))
    }
    if !tears.isEmpty, !caller.isWriteBack { tear(inode, offset..<offset + UInt64(taken)) }
    // The kernel does not look at how much of pages that it writes back was taken.
    if taken < bytes.byteCount, caller.isWriteBack { throw ErrorNumber(ENOSPC) }
    return taken
  }

  package func truncate(
    _ inode: Inode, to sizeBytes: UInt64, through file: OpenFile? = nil, by caller: Caller
  ) throws(ErrorNumber) {
    let size = inode.sizeBytes
    try perform(
      .truncate, inode, bytes: min(size, sizeBytes)..<max(size, sizeBytes), through: file,
      replacing: .behind(end: sizeBytes), by: caller
    ) { () throws(ErrorNumber) in try cut(inode, to: sizeBytes) }
  }

  /// Sets a size for an effect.
  func resize(
    _ inode: Inode, to sizeBytes: UInt64, flags: OperationFlags, by caller: Caller
  ) throws(ErrorNumber) {
    try change(inode, replacing: .behind(end: sizeBytes), flags: flags, by: caller) {
      () throws(ErrorNumber) in try cut(inode, to: sizeBytes)
    }
  }

  /// Setting the size that a file already has is an event only if it ends a chosen time.
  private func cut(_ inode: Inode, to sizeBytes: UInt64) throws(ErrorNumber) -> RecordedEvent {
    let hadChosenTime = inode.chosenTime != nil
    let oldSizeBytes = try tree.truncate(inode, to: sizeBytes)
    if oldSizeBytes == sizeBytes {
      if !hadChosenTime { return .nothing }
      return .operation(.setTimes(inode: inode.number, modification: nil, access: nil))
    }
    return .operation(
      .truncate(inode: inode.number, oldSizeBytes: oldSizeBytes, newSizeBytes: sizeBytes))
  }

  package func allocate(
    _ inode: Inode, at offset: UInt64, count: UInt64, mode: FileTree.AllocationMode,
    through file: OpenFile? = nil, killsPrivileges: Bool = false, by caller: Caller
  ) throws(ErrorNumber) {
    let (end, overflow) = offset.addingReportingOverflow(count)
    if overflow { throw ErrorNumber(EFBIG) }
    if killsPrivileges {
      try dropPrivileges(of: inode, by: caller)
    } else {
      try dropCapabilities(of: inode, by: caller)
    }
    let makesZeros = mode.contains(.punchHole) || mode.contains(.zeroRange)
    try perform(
      .allocate, inode, bytes: offset..<end, through: file,
      replacing: .tail(from: offset, zeros: makesZeros ? offset..<end : nil), by: caller
    ) { () throws(ErrorNumber) in
      let oldSizeBytes = inode.sizeBytes
      let zeroes = try tree.allocate(inode, at: offset, count: count, mode: mode)
      return .operation(
        .allocate(
          inode: inode.number, offsetBytes: offset, countBytes: count, zeroes: zeroes,
          oldSizeBytes: oldSizeBytes, newSizeBytes: inode.sizeBytes))
    }
  }

  // MARK: Syncs

  /// fsync, fdatasync, msync; of a directory too.
  package func sync(
    _ inode: Inode, dataOnly: Bool, flags: OperationFlags = [], through file: OpenFile? = nil,
    by caller: Caller
  ) throws(ErrorNumber) {
    let kind: OperationKind = inode.isDirectory ? .syncDirectory : .sync
    let operation: Operation =
      inode.isDirectory
      ? .syncDirectory(inode: inode.number) : .sync(inode: inode.number, dataOnly: dataOnly)
    if let told = unreportedError(inode, file) {
      // The earlier failure is reported instead of writing: a later sync covers what is pending.
      let subject = FaultSubject(kind: kind, inode: inode, file: file, caller: caller)
      note(told.ruleID, "failSync", subject, number: told.number, isOfEvent: inode.isTraced)
      record(inode, operation, flags: flags.union([.ignored, .injected]), by: caller)
      throw ErrorNumber(told.number)
    }
    try perform(kind, inode, through: file, flags: flags, by: caller) {
      (firing, subject) throws(ErrorNumber) -> Void? in
      try sync(operation, flags: flags, of: inode, firing, subject)
    } change: { () throws(ErrorNumber) -> (Void, RecordedEvent) in
      markSynced(inode)
      tears.noteSync(of: inode.number)
      return ((), .operation(operation))
    }
  }

  /// A sync that fails, or does nothing, is recorded as such.
  private func sync(
    _ operation: Operation, flags: OperationFlags, of inode: Inode, _ firing: Firing,
    _ subject: FaultSubject
  ) throws(ErrorNumber) {
    note(firing, subject, isOfEvent: inode.isTraced)
    let made: OperationFlags =
      switch firing.effect {
      case .failSync, .error: [.failed, .injected]
      default: [.ignored, .injected]
      }
    record(inode, operation, flags: flags.union(made), by: subject.caller)
    switch firing.effect {
    case .failSync(let number, let state, let keep):
      if let keep { arrive(keep, of: inode, seed: firing.seed) }
      try fail(inode, number, state, firing.ruleID, subject.file)
    case .error(let number):
      markClean(inode)
      throw ErrorNumber(number)
    default: break
    }
  }

  /// sync, syncfs: what was changed before there were more than so many events, and write-back
  /// since then; no rule is about it.
  func syncAll(since begin: Int, by caller: Caller) {
    releaseAll()
    recorder.record(.syncAll(late: recorder.eventsNotWrittenBack(since: begin)), by: caller)
    for inode in tree.inodes.values where inode.shadow != nil { markSynced(inode) }
  }

  /// The failure that has not been reported to an open file yet.
  private func unreportedError(_ inode: Inode, _ file: OpenFile?) -> SyncError? {
    guard let error = inode.syncError, let file, file.seenSyncError < error.sequence else {
      return nil
    }
    file.seenSyncError = error.sequence
    return error
  }

  /// Sets the pages and the error after a failed sync as the given file system does.
  private func fail(
    _ inode: Inode, _ number: Int32, _ state: FaultRule.SyncFailure, _ rule: Int, _ file: OpenFile?
  ) throws(ErrorNumber) {
    syncErrorCount += 1
    inode.syncError = SyncError(sequence: syncErrorCount, number: number, ruleID: rule)
    if state != .btrfs { markClean(inode) }
    if state == .ext4Data { return }
    file?.seenSyncError = syncErrorCount
    if state == .btrfs { revert(inode) }
    throw ErrorNumber(number)
  }

  /// The last descriptor of a writable open file was closed.
  package func close(_ inode: Inode, couldWrite: Bool, by caller: Caller) {
    // The caller no longer waits, so to it a kill before and one after are the same.
    performInevitably(FaultSubject(kind: .close, inode: inode, caller: caller)) {
      couldWrite ? .operation(.close(inode: inode.number)) : .nothing
    }
    if couldWrite { inode.writerCount -= 1 }
    tree.close(inode)
  }
}
