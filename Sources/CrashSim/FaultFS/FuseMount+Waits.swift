// FuseMount+Waits.swift [U]: requests that wait for a rule, and pages that the kernel must drop.
// A waiting request is kept as the bytes that the kernel sent, and begun again later; libfuse
// forgets it meanwhile, so no other request has to wait. Two threads work here: one restarts
// requests under the mount's lock, one makes the kernel drop pages without it, because the kernel
// may first write such pages back to us.
// Safety: a postponed request owns its memory, which is freed when it is restarted or given up.

import CFuse
import CSystem
import Dispatch
import Foundation
import Glibc
import LabCore
import Recording
import Synchronization

/// A request that has not begun, or not been completed.
@unsafe struct PostponedRequest {
  /// The kernel's number for it.
  let unique: UInt64
  let memory: UnsafeMutableRawPointer
  let countBytes: Int
  let ruleID: Int
  /// When it is due; never by itself while a hang holds it.
  var dueNanoseconds: UInt64
  let isHang: Bool
  let decisions: [(kind: OperationKind, injection: Injection?)]
}

/// Wakes the thread that waits for due requests.
struct LatePipe: Sendable {
  let readEnd: Int32
  let writeEnd: Int32

  init() {
    let ends = (try? Descriptors.makePacketPipe()) ?? (-1, -1)
    readEnd = ends.0
    writeEnd = ends.1
    Descriptors.makeNonblocking([readEnd, writeEnd].filter { $0 >= 0 })
  }

  func wake() { if writeEnd >= 0 { Descriptors.writeByte(to: writeEnd) } }

  /// Waits until woken or for a given time; -1 is for ever.
  func wait(timeoutMilliseconds: Int) {
    _ = Descriptors.wait([readEnd], timeoutMilliseconds: timeoutMilliseconds)
    while let bytes = try? Descriptors.read(readEnd, limitBytes: 4096), !bytes.isEmpty {}
  }
}

extension FuseMount {
  private static let headerBytes = 40
  private static let interruptOpcode: UInt32 = 36

  /// Keeps a request that waits for a rule.
  func postpone(
    _ bytes: UnsafeRawBufferPointer, _ wait: Firing,
    _ decisions: [(kind: OperationKind, injection: Injection?)]
  ) {
    guard bytes.count >= Self.headerBytes else { return }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 16)
    unsafe memory.copyMemory(from: bytes.baseAddress.unsafelyUnwrapped, byteCount: bytes.count)
    var due = UInt64.max
    if case .delay(let milliseconds) = wait.effect {
      due = monotonicNanoseconds() + UInt64(milliseconds) * 1_000_000
    }
    unsafe postponed.append(
      PostponedRequest(
        unique: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self), memory: memory,
        countBytes: bytes.count, ruleID: wait.ruleID, dueNanoseconds: due,
        isHang: due == UInt64.max, decisions: decisions))
    late.wake()
  }

  /// True for an interrupt of a waiting request: it ends a hang; a delay ends by itself.
  func endsWait(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= Self.headerBytes + 8,
      unsafe bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self) == Self.interruptOpcode
    else { return false }
    let unique = unsafe bytes.loadUnaligned(fromByteOffset: Self.headerBytes, as: UInt64.self)
    guard let index = unsafe postponed.firstIndex(where: { unsafe $0.unique == unique }) else {
      return false
    }
    if unsafe postponed[index].isHang {
      let entry = unsafe postponed.remove(at: index)
      unsafe giveUp(entry)
    }
    return true
  }

  /// Answers a waiting request with `EINTR`: it was not performed.
  private func giveUp(_ entry: PostponedRequest) {
    unsafe send(EINTR, nil, to: entry.unique)
    unsafe entry.memory.deallocate()
  }

  /// Answers all waiting requests, so that their callers release the mount; takes the lock itself.
  func giveUpWaits() {
    lock.withLock { _ in
      let entries = unsafe postponed
      unsafe postponed = unsafe []
      for index in unsafe entries.indices { unsafe giveUp(entries[index]) }
    }
  }

  /// Releases requests that wait for removed rules; the caller holds the lock.
  func endWaits(of rules: Set<Int>) {
    for index in unsafe postponed.indices where rules.contains(unsafe postponed[index].ruleID) {
      unsafe postponed[index].dueNanoseconds = 0
    }
    late.wake()
  }

  /// Restarts requests when they are due; runs on a thread of its own.
  func serveLate() -> Never {
    while true {
      let timeout = lock.withLock { _ -> Int in
        let due = unsafe postponed.map { unsafe $0.dueNanoseconds }.min() ?? UInt64.max
        if due == UInt64.max { return -1 }
        let now = monotonicNanoseconds()
        return due <= now ? 0 : Int(clamping: (due - now + 999_999) / 1_000_000)
      }
      late.wait(timeoutMilliseconds: timeout)
      lock.withLock { _ in
        let now = monotonicNanoseconds()
        while let index = unsafe postponed.firstIndex(where: { unsafe $0.dueNanoseconds <= now }) {
          let entry = unsafe postponed.remove(at: index)
          let bytes = unsafe UnsafeMutableRawBufferPointer(
            start: entry.memory, count: entry.countBytes)
          unsafe process(bytes, resuming: entry.decisions)
          unsafe entry.memory.deallocate()
        }
      }
    }
  }
}

// MARK: - Pages

/// What the kernel must drop from its caches.
final class PageDrops: Sendable {
  // @unchecked: a request's handle is used by one thread at a time.
  @safe struct Job: @unchecked Sendable {
    var inodes: [InodeNumber] = []
    var names: [(parent: InodeNumber, name: FileName)] = []
    /// Files whose dirty pages are to be written.
    var dirtyPaths: [[UInt8]] = []
    /// True when the dirty pages of all files are to be written.
    var writesAll = false
    /// A request that is answered afterwards, from libfuse or one of ours.
    var handle: fuse_req_t?
    var unique: UInt64?
    var number: Int32 = 0
    /// A request that begins afterwards.
    var request: HeldRequest?
    /// The last step.
    var then: (@Sendable () -> Void)?
  }

  private let jobs = Mutex<[Job]>([])
  private let hasJob = DispatchSemaphore(value: 0)
  private let ownCloses = DispatchSemaphore(value: 0)

  func add(_ job: Job) {
    jobs.withLock { $0.append(job) }
    hasJob.signal()
  }

  /// The process that has pages written closed a directory.
  func noteOwnClose() { ownCloses.signal() }

  func forgetOwnCloses() { while ownCloses.wait(timeout: .now()) == .success {} }

  func awaitOwnClose(until end: DispatchTime) { _ = ownCloses.wait(timeout: end) }

  fileprivate func next() -> Job {
    hasJob.wait()
    return jobs.withLock { $0.removeFirst() }
  }
}

extension FuseMount {
  /// How long a command waits for the kernel, which may itself wait for a hanging request.
  private static let patienceMilliseconds = 2000

  /// Answers a request once the kernel has dropped the pages of some inodes.
  func dropPages(of inodes: [InodeNumber], thenAnswer handle: fuse_req_t, _ number: Int32) {
    unsafe drops.add(PageDrops.Job(inodes: inodes, handle: handle, number: number))
  }

  /// Makes the kernel drop cached data that rules of these kinds must see it request; waits for it.
  func forgetCaches(for kinds: Set<OperationKind>) {
    let cached: Set<OperationKind> = [.read, .getAttributes, .lookUp, .readLink]
    if kinds.isDisjoint(with: cached) { return }
    var job = PageDrops.Job()
    lock.withLock { _ in
      for inode in fileSystem.tree.inodes.values.sorted(by: { $0.number < $1.number })
      where inode.lookupCount > 0 {
        job.inodes.append(inode.number)
        if kinds.contains(.lookUp) {
          job.names += inode.names.map { ($0.parent.number, $0.name) }
        }
      }
    }
    doNow(job)
  }

  /// Has the kernel drop pages and names, and waits until it has; for a thread that holds no lock.
  func doNow(_ job: PageDrops.Job) {
    var job = job
    let done = DispatchSemaphore(value: 0)
    job.then = { _ = done.signal() }
    drops.add(job)
    _ = done.wait(timeout: .now() + .milliseconds(Self.patienceMilliseconds))
  }

  /// Makes the kernel drop pages; runs on a thread of its own that holds no lock.
  func serveDrops() -> Never {
    var writer = PageWriterClient(mountPoint: mountPoint)
    while true {
      var job = drops.next()
      if job.writesAll || !job.dirtyPaths.isEmpty { harvest(&job, by: &writer) }
      for inode in job.inodes {
        unsafe _ = fuse_lowlevel_notify_inval_inode(session, fuse_ino_t(inode.rawValue), 0, 0)
      }
      for (parent, name) in job.names { forgetEntry(name, in: parent) }
      job.request.map(begin)
      if let handle = unsafe job.handle { unsafe _ = fuse_reply_err(handle, job.number) }
      if let unique = job.unique { unsafe send(job.number, nil, to: unique) }
      job.then?()
    }
  }

  /// Makes the kernel forget a name.
  ///
  /// The kernel may send a request meanwhile, so the caller must not hold a lock.
  func forgetEntry(_ name: FileName, in parent: InodeNumber) {
    // libfuse also sends the byte after the name, which must be zero.
    unsafe (name.bytes + [0]).withUnsafeBytes { bytes in
      unsafe _ = fuse_lowlevel_notify_inval_entry(
        session, fuse_ino_t(parent.rawValue),
        bytes.assumingMemoryBound(to: CChar.self).baseAddress, bytes.count - 1)
    }
  }
}
