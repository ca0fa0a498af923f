// FaultFileSystem.swift: the file tree as clients meet it: each operation is decided by the fault
// rules, performed, and recorded, in this order and before the caller hears of it.
// Invariant: a change that a client can see is in the trace, or held for a reorder rule.

import Glibc

/// The file tree with its faults and its trace.
final class FaultFileSystem {
  private(set) var tree: FileTree
  let recorder: TraceRecorder
  let plan = FaultPlan()
  /// Writes that reorder rules keep back, by rule.
  private var held: [Int: [TraceEvent]] = [:]
  /// Kills a process, unless it is the lab itself.
  private let kill: (Caller) -> Void

  init(tree: FileTree, recorder: TraceRecorder, kill: @escaping (Caller) -> Void) {
    self.tree = tree
    self.recorder = recorder
    self.kill = kill
  }

  // MARK: Recording

  /// Replaces the tree; nobody may hold an inode of the old one.
  func replaceTree(_ newTree: FileTree) { tree = newTree }

  func beginRecording() {
    held = [:]
    for inode in tree.inodes.values where inode.linkCount == 0 { inode.isTraced = false }
    recorder.begin(tree.image())
  }

  func endRecording() -> Trace {
    releaseAll()
    return recorder.end()
  }

  func clearRules() {
    releaseAll()
    plan.clear()
  }

  /// Records an operation on an inode, unless the trace cannot know it.
  func record(
    _ inode: Inode, _ operation: Operation, flags: OperationFlags = [], by caller: Caller
  ) {
    if inode.isTraced { recorder.record(operation, flags: flags, by: caller) }
  }

  private func releaseAll() {
    for rule in held.keys.sorted() { release(rule) }
  }

  private func release(_ rule: Int) {
    for event in held.removeValue(forKey: rule) ?? [] where recorder.isRecording {
      recorder.append(event)
    }
  }

  /// Records what a client said, and lets rules that count from it begin anew.
  func record(_ mark: Mark) {
    plan.note(mark)
    recorder.record(mark)
  }

  // MARK: Faults

  /// Decides on an operation that is about to happen.
  /// - Throws: The error of an injected failure.
  func begin(
    _ kind: OperationKind, _ inode: Inode?, at places: [InodeName] = [],
    bytes: Range<UInt64>? = nil, by caller: Caller
  ) throws(ErrorNumber) -> FaultPlan.Firing? {
    if plan.isEmpty { return nil }
    let subject = FaultSubject(
      kind: kind, inode: inode, places: places, bytes: bytes, caller: caller)
    guard let firing = plan.decide(subject) else { return nil }
    switch firing.effect {
    case .error(let number): throw ErrorNumber(number)
    case .kill(.before):
      kill(caller)
      throw ErrorNumber(EINTR)
    case .ignoreSync, .reorder, .kill(.after): return firing
    }
  }

  /// Ends an operation that has been performed and recorded.
  func finish(_ firing: FaultPlan.Firing?, by caller: Caller) {
    if case .kill(.after) = firing?.effect { kill(caller) }
  }

  // MARK: Content

  func write(
    _ bytes: RawSpan, at offset: UInt64, to inode: Inode, by caller: Caller
  ) throws(ErrorNumber) {
    guard recorder.hasRoom(for: bytes.byteCount) else { throw ErrorNumber(ENOSPC) }
    let (end, overflow) = offset.addingReportingOverflow(UInt64(bytes.byteCount))
    if overflow { throw ErrorNumber(EFBIG) }
    let firing = try begin(.write, inode, bytes: offset..<end, by: caller)
    try tree.write(bytes, at: offset, to: inode)
    guard recorder.isRecording, inode.isTraced else { return finish(firing, by: caller) }
    if case .reorder = firing?.effect, let rule = firing?.ruleIndex {
      let operation = Operation.write(
        inode: inode.number, offsetBytes: offset, payload: Payload(copying: bytes))
      held[rule, default: []].append(
        recorder.event(operation, flags: .reordered, by: caller))
      return
    }
    recorder.recordWrite(bytes, at: offset, to: inode.number, by: caller)
    if !held.isEmpty {
      let subject = FaultSubject(
        kind: .write, inode: inode, bytes: offset..<end, caller: caller)
      for rule in plan.reordersReleased(by: subject) { release(rule) }
    }
    finish(firing, by: caller)
  }

  func truncate(
    _ inode: Inode, to sizeBytes: UInt64, by caller: Caller
  ) throws(ErrorNumber) {
    let size = inode.sizeBytes
    let range = min(size, sizeBytes)..<max(size, sizeBytes)
    let firing = try begin(.truncate, inode, bytes: range, by: caller)
    // A held write may lie behind the new end: recorded later it would bring the bytes back.
    releaseAll()
    let oldSizeBytes = try tree.truncate(inode, to: sizeBytes)
    if oldSizeBytes != sizeBytes {
      record(
        inode,
        .truncate(inode: inode.number, oldSizeBytes: oldSizeBytes, newSizeBytes: sizeBytes),
        by: caller)
    }
    finish(firing, by: caller)
  }

  func allocate(
    _ inode: Inode, at offset: UInt64, count: UInt64, mode: FileTree.AllocationMode,
    by caller: Caller
  ) throws(ErrorNumber) {
    let (end, overflow) = offset.addingReportingOverflow(count)
    if overflow { throw ErrorNumber(EFBIG) }
    let firing = try begin(.allocate, inode, bytes: offset..<end, by: caller)
    releaseAll()
    let oldSizeBytes = inode.sizeBytes
    let zeroes = try tree.allocate(inode, at: offset, count: count, mode: mode)
    record(
      inode,
      .allocate(
        inode: inode.number, offsetBytes: offset, countBytes: count, zeroes: zeroes,
        oldSizeBytes: oldSizeBytes, newSizeBytes: inode.sizeBytes),
      by: caller)
    finish(firing, by: caller)
  }

  // MARK: Syncs

  /// fsync, fdatasync, msync; of a directory too.
  func sync(
    _ inode: Inode, dataOnly: Bool, flags: OperationFlags = [], by caller: Caller
  ) throws(ErrorNumber) {
    let operation: Operation =
      inode.isDirectory
      ? .syncDirectory(inode: inode.number) : .sync(inode: inode.number, dataOnly: dataOnly)
    let kind: OperationKind = inode.isDirectory ? .syncDirectory : .sync
    var flags = flags
    var firing: FaultPlan.Firing?
    if !plan.isEmpty {
      firing = plan.decide(FaultSubject(kind: kind, inode: inode, caller: caller))
      switch firing?.effect {
      case .error(let number):
        record(inode, operation, flags: flags.union(.failed), by: caller)
        throw ErrorNumber(number)
      case .kill(.before):
        kill(caller)
        throw ErrorNumber(EINTR)
      case .ignoreSync: flags.insert(.ignored)
      case .reorder, .kill(.after), nil: break
      }
    }
    record(inode, operation, flags: flags, by: caller)
    finish(firing, by: caller)
  }

  /// The last descriptor of an open file that could write is gone.
  func close(_ inode: Inode, couldWrite: Bool, by caller: Caller) {
    // The caller no longer waits, so of all effects only the kill can still be felt.
    let firing = try? begin(.close, inode, by: caller)
    if couldWrite { record(inode, .close(inode: inode.number), by: caller) }
    finish(firing ?? nil, by: caller)
    tree.close(inode)
  }
}
