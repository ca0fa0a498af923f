// FaultFileSystem+Injection.swift: applies the effects of fault rules.
// Invariant: every effect on an operation is noted in the trace exactly once, also when the
// operation is rejected or waits.

import Glibc
import LabCore
import Recording

/// The effects of a faulty file system outside of its tree.
struct FaultSideEffects {
  /// Kills a process, unless it is Faultline itself.
  var kill: (Caller) -> Void = { _ in }
  /// Kills the processes whose names fit, except the caller and Faultline.
  var killOthers: (Glob, Caller) -> Void = { _, _ in }
  /// Ends service of the file system.
  var die: () -> Void = {}
  /// Makes the kernel request an inode's attributes again.
  var forgetAttributes: (InodeNumber) -> Void = { _ in }
}

/// The decisions for one request, so that it can be restarted after a wait.
struct RequestDecisions {
  /// Decided so far, in order.
  var made: [(kind: OperationKind, injection: Injection?)] = []
  /// Decided before the wait and not yet used again.
  var resumed: [(kind: OperationKind, injection: Injection?)] = []
  /// What the request waits for.
  var wait: Firing?

  var isEmpty: Bool { resumed.isEmpty }

  /// How many of `count` bytes a write transferred before its sync waited; nil if none did.
  func bytesWritten(of count: Int) -> Int? {
    guard resumed.contains(where: { $0.kind == .sync }) else { return nil }
    let write = resumed.first { $0.kind == .write }?.injection
    guard case .short(let most) = write?.outcome?.effect else { return count }
    return Int(min(most, UInt64(count)))
  }

  /// The earlier decision on an operation of this kind.
  mutating func take(_ kind: OperationKind) -> Injection?? {
    guard let index = resumed.firstIndex(where: { $0.kind == kind }) else { return nil }
    return .some(resumed.remove(at: index).injection)
  }
}

extension ErrorNumber {
  /// Not an error of a call: the request is kept and not answered yet.
  static let waits = ErrorNumber(-1)
}

extension Firing {
  /// True for an effect on the medium at the operation's end; the operation itself is normal.
  var isOfRest: Bool {
    switch effect {
    case .rot, .cutTail, .clearCache: true
    default: false
    }
  }
}

extension FaultFileSystem {
  /// Prepares for a request; after a wait, with the decisions made before it.
  func beginRequest(resuming made: [(kind: OperationKind, injection: Injection?)] = []) {
    if !decisions.made.isEmpty || !decisions.resumed.isEmpty { decisions = RequestDecisions() }
    if !staleInodes.isEmpty { staleInodes = [] }
    if made.isEmpty { return }
    decisions.resumed = made.map { kind, injection in
      // A rule that was removed meanwhile has no effect.
      var injection = injection
      if let rule = injection?.outcome?.ruleID, !plan.isInForce(rule) { injection?.outcome = nil }
      if let rule = injection?.kill?.ruleID, !plan.isInForce(rule) { injection?.kill = nil }
      injection?.wait = nil
      return (kind, injection)
    }
  }

  // MARK: Deciding

  /// The injection for an operation, once it need not wait.
  func decide(_ subject: FaultSubject) throws(ErrorNumber) -> Injection? {
    if let earlier = decisions.take(subject.kind) {
      decisions.made.append((subject.kind, earlier))
      return earlier
    }
    if let end = powerEndsAt, recorder.eventCount >= end { throw ErrorNumber(EIO) }
    let injection = plan.decide(subject)
    decisions.made.append((subject.kind, injection))
    if let wait = injection?.wait {
      note(wait, subject, isOfEvent: false)
      decisions.wait = wait
      throw .waits
    }
    return injection
  }

  /// Kills, or clears caches, before the operation if the injection says so.
  func killBefore(_ injection: Injection?, by caller: Caller) throws(ErrorNumber) {
    guard let injection else { return }
    if let firing = injection.outcome, case .clearCache(.before) = firing.effect {
      clearCache(firing, injection.subject)
    }
    guard let firing = injection.kill else { return }
    switch firing.effect {
    case .killOther(let glob):
      note(firing, injection.subject, isOfEvent: false)
      sideEffects.killOthers(Glob(glob), caller)
    case .kill(.before):
      note(firing, injection.subject, isOfEvent: false)
      sideEffects.kill(caller)
      throw ErrorNumber(EINTR)
    case .killFileSystem(.before):
      note(firing, injection.subject, isOfEvent: false)
      sideEffects.die()
      throw ErrorNumber(ENOTCONN)
    default: break
    }
  }

  /// Completes an operation that has been performed and recorded.
  func finish(_ injection: Injection, by caller: Caller) {
    if let firing = injection.outcome, firing.isOfRest, let inode = injection.subject.inode {
      damage(inode, firing, injection.subject)
    }
    if let firing = injection.outcome, case .clearCache(.after) = firing.effect {
      clearCache(firing, injection.subject)
    }
    guard let firing = injection.kill else { return }
    switch firing.effect {
    case .killOther: return
    case .kill:
      note(firing, injection.subject, isOfEvent: false)
      sideEffects.kill(caller)
    default:
      note(firing, injection.subject, isOfEvent: false)
      sideEffects.die()
    }
  }

  // MARK: Noting

  /// Records a fault in the trace; `isOfEvent` when the next event is the operation.
  func note(
    _ firing: Firing, _ subject: FaultSubject, number: Int32 = 0, isOfEvent: Bool
  ) {
    var number = number
    switch firing.effect {
    case .error(let error), .failSync(let error, _, _): number = error
    default: break
    }
    note(firing.ruleID, firing.cause.word, subject, number: number, isOfEvent: isOfEvent)
  }

  func note(
    _ rule: Int, _ word: String, _ subject: FaultSubject, number: Int32, isOfEvent: Bool
  ) {
    guard recorder.isRecording else { return }
    recorder.note(
      InjectedFault(
        position: 0, isOfEvent: isOfEvent, rule: rule, kind: subject.kind.rawValue, effect: word,
        errno: number, path: String(decoding: subject.paths().first ?? [], as: UTF8.self),
        bytes: subject.bytes, process: subject.caller.process, thread: subject.caller.thread))
  }

  // MARK: Writes

  /// Writes what an effect leaves of a write; returns the byte count for the caller.
  func write(
    _ payload: Payload, at offset: UInt64, to inode: Inode, _ firing: Firing,
    _ subject: FaultSubject
  ) throws(ErrorNumber) -> Int {
    let count = payload.countBytes
    let end = offset + UInt64(count)
    guard end <= FileContent.limitBytes else { throw ErrorNumber(EFBIG) }
    let caller = subject.caller
    let hadSize = inode.sizeBytes
    switch firing.effect {
    case .reorder:
      try change(inode, replacing: .bytes(offset..<end), by: caller) { () throws(ErrorNumber) in
        try tree.write(payload.bytes, at: offset, to: inode)
        return .nothing
      }
      note(firing, subject, isOfEvent: false)
      guard recorder.isRecording, inode.isTraced else { return count }
      let operation = Operation.write(
        inode: inode.number, offsetBytes: offset, payload: payload)
      hold(recorder.event(operation, flags: .reordered, by: caller), for: firing.ruleID)
      return count
    case .short(let most):
      let taken = Int(min(most, UInt64(count)))
      // The kernel ignores how many bytes of written-back pages were accepted. After an error it
      // remembers that some were lost, and the next msync, fsync or close of the file reports it.
      let number: Int32 = caller.isWriteBack && taken < count ? ENOSPC : 0
      note(firing, subject, number: number, isOfEvent: inode.isTraced)
      try put(payload.bytes.prefix(taken), at: offset, to: inode, by: caller)
      if number != 0 { throw ErrorNumber(number) }
      return taken
    case .flip(let bits):
      note(firing, subject, isOfEvent: inode.isTraced)
      let range = plan.bytes(of: firing.ruleID, in: offset..<end)
      let turned = BitFlips.turned(
        payload.bytes, at: offset, within: range, bits: bits, seed: firing.seed)
      try put(turned[...], at: offset, to: inode, by: caller)
    case .lose:
      note(firing, subject, isOfEvent: inode.isTraced && end > hadSize)
      try grow(inode, to: end, by: caller)
    case .tear(let tearing):
      let parts = tearing.kept(offset: offset, count: count, seed: firing.seed)
      note(firing, subject, isOfEvent: inode.isTraced && (end > hadSize || !parts.isEmpty))
      try grow(inode, to: end, by: caller)
      for part in parts {
        try put(
          payload.bytes[part], at: offset + UInt64(part.lowerBound), to: inode, by: caller)
      }
    case .misdirect(let distance):
      let place = Int64(clamping: offset).addingReportingOverflow(distance).partialValue
      note(firing, subject, isOfEvent: inode.isTraced)
      try grow(inode, to: end, by: caller)
      try put(payload.bytes[...], at: UInt64(max(0, place)), to: inode, by: caller)
    default: preconditionFailure("an effect that validation keeps away from writes")
    }
    // The kernel's copy of these pages differs from the file.
    inode.isDamaged = true
    return count
  }

  private func put(
    _ bytes: ArraySlice<UInt8>, at offset: UInt64, to inode: Inode, by caller: Caller
  ) throws(ErrorNumber) {
    let range = offset..<offset + UInt64(bytes.count)
    try overwrite(inode, bytes, at: offset, replacing: .bytes(range), flags: .injected, by: caller)
  }

  private func overwrite(
    _ inode: Inode, _ bytes: ArraySlice<UInt8>, at offset: UInt64, replacing old: OldContent,
    flags: OperationFlags, by caller: Caller
  ) throws(ErrorNumber) {
    let payload = Payload(Array(bytes))
    try change(inode, replacing: old, flags: flags, by: caller) { () throws(ErrorNumber) in
      try tree.write(payload.bytes, at: offset, to: inode)
      return .operation(
        .write(inode: inode.number, offsetBytes: offset, payload: payload))
    }
  }

  private func grow(
    _ inode: Inode, to end: UInt64, by caller: Caller
  ) throws(ErrorNumber) {
    if end > inode.sizeBytes { try resize(inode, to: end, flags: .injected, by: caller) }
  }

  // MARK: Reads

  /// What a read under an effect returns, cut at the file's end.
  func read(
    _ inode: Inode, at offset: UInt64, count: Int, _ firing: Firing, _ subject: FaultSubject
  ) throws(ErrorNumber) -> [UInt8] {
    let content = try tree.content(of: inode)
    note(firing, subject, isOfEvent: false)
    switch firing.effect {
    case .short(let most):
      // The kernel takes a short answer for the end of the file until it asks for the size again.
      sideEffects.forgetAttributes(inode.number)
      return content.read(at: offset, count: Int(min(most, UInt64(count))))
    case .flip(let bits):
      let bytes = content.read(at: offset, count: count)
      let range = plan.bytes(of: firing.ruleID, in: offset..<offset + UInt64(bytes.count))
      return BitFlips.turned(bytes, at: offset, within: range, bits: bits, seed: firing.seed)
    case .stale:
      return inode.shadow?.read(at: offset, count: count, of: content)
        ?? content.read(at: offset, count: count)
    default: preconditionFailure("an effect that validation keeps away from reads")
    }
  }

  // MARK: The medium

  /// Flips bits or cuts the tail of a file; no process is the caller.
  private func damage(_ inode: Inode, _ firing: Firing, _ subject: FaultSubject) {
    guard let content = inode.content, content.sizeBytes > 0 else { return }
    switch firing.effect {
    case .cutTail(let bytes):
      note(firing, subject, isOfEvent: inode.isTraced)
      let size = content.sizeBytes - min(bytes, content.sizeBytes)
      try? resize(inode, to: size, flags: .injected, by: Caller())
    case .rot(let bits):
      let range = plan.bytes(of: firing.ruleID, in: 0..<content.sizeBytes)
      let changes = BitFlips.changes(of: content, within: range, bits: bits, seed: firing.seed)
      guard !changes.isEmpty else { return }
      note(firing, subject, isOfEvent: inode.isTraced)
      for (offset, byte) in changes { try? put([byte], at: offset, to: inode, by: Caller()) }
    default: return
    }
    inode.isDamaged = true
    sideEffects.forgetAttributes(inode.number)
    if subject.kind != .open { staleInodes.append(inode.number) }
  }

  /// Reverts all files to their last syncs.
  private func clearCache(_ firing: Firing, _ subject: FaultSubject) {
    note(firing, subject, isOfEvent: false)
    revertAll()
  }

  /// Takes all files back to their last syncs.
  func revertAll() {
    let changed = tree.inodes.values.filter { $0.shadow != nil }
    for inode in changed.sorted(by: { $0.number.rawValue < $1.number.rawValue }) { revert(inode) }
  }

  /// Reverts a file to its last sync.
  func revert(_ inode: Inode) {
    guard let shadow = inode.shadow else { return }
    inode.shadow = nil
    try? resize(inode, to: shadow.sizeBytes, flags: .injected, by: Caller())
    for (offset, bytes) in shadow.oldPages() where !bytes.isEmpty {
      restore(bytes[...], at: offset, to: inode)
    }
    inode.shadow = nil
    inode.isDamaged = true
    sideEffects.forgetAttributes(inode.number)
    staleInodes.append(inode.number)
  }

  /// Makes a file show the medium's content, and records in the trace that it does.
  func restore(_ bytes: ArraySlice<UInt8>, at offset: UInt64, to inode: Inode) {
    guard !bytes.isEmpty else { return }
    // Without space for the old bytes the file continues to show the new ones.
    try? overwrite(
      inode, bytes, at: offset, replacing: .nothing, flags: [.injected, .onMedium], by: Caller())
  }

  /// Saves what is about to be overwritten while a rule needs it.
  func keepOld(of inode: Inode, _ range: Range<UInt64>) {
    guard plan.needsShadows, let content = inode.content else { return }
    if inode.shadow == nil { inode.shadow = PageShadow(of: content) }
    inode.shadow?.keep(range, of: content)
  }

  /// The same for everything from a position on.
  func keepOldTail(of inode: Inode, from offset: UInt64) {
    guard plan.needsShadows, let content = inode.content else { return }
    if inode.shadow == nil { inode.shadow = PageShadow(of: content) }
    inode.shadow?.keepTail(from: offset, of: content)
  }
}
