// FuseMount+Harvest.swift [U]: writes dirty mapped pages back at seeded moments.
// A store into a mapped page sends no request, so between two syncs of a mapping a trace would have
// only one content. At a seeded request the mount holds the request, has the kernel write back the
// dirty pages of all open files, and then begins the request: its caller waits, so with a single
// actor the content of the pages is deterministic.
// The pages are written, not dropped (sync_file_range): between a write's copy into a page of the
// cache and its request, a dropped page could be read back with its old content and keep it.
// A sync of everything also has all pages written, by syncfs of a descriptor of the root, which
// needs no file's name. syncfs may return before a FUSE file system's writes are done (on Linux
// 6.18.44 it does), but the descriptor's RELEASEDIR is a background request like them, and arrives
// after those that were sent before it.
// Invariants: a separate process has the pages written, for the page-drop thread, without the lock
// (PageWriter.swift); no rule, count or hold applies to its requests; the file that the held
// request names is left out, because the kernel may hold locks of its pages until we answer; only
// one request at a time is held, so that all others, which may hold locks of other files, are
// answered; requests of the kernel's own (process 0), including write-back, are never held.
// Safety: a held request owns a copy of the kernel's bytes, which is freed once it has begun.

import CFuse
import Dispatch
import Foundation
import Glibc
import LabCore
import Recording

/// Counts requests down to the next write-back.
struct HarvestClock {
  private let rule: PageWriteBack
  private var random: PRNG
  private var left: Int

  init(_ rule: PageWriteBack) {
    self.rule = rule
    random = PRNG(Seed(rawValue: rule.seed))
    left = rule.gap(&random)
  }

  /// Counts a request; true when write-back is due.
  mutating func ticks() -> Bool {
    left -= 1
    if left > 0 { return false }
    left = rule.gap(&random)
    return true
  }
}

/// The bytes of a request that has not begun.
///
/// @unchecked: only one thread at a time uses it.
@safe final class HeldRequest: @unchecked Sendable {
  let memory: UnsafeMutableRawPointer
  let countBytes: Int

  init(_ bytes: UnsafeRawBufferPointer) {
    countBytes = bytes.count
    unsafe memory = UnsafeMutableRawPointer.allocate(byteCount: max(1, countBytes), alignment: 16)
    unsafe memory.copyMemory(from: bytes.baseAddress.unsafelyUnwrapped, byteCount: countBytes)
  }

  deinit { unsafe memory.deallocate() }
}

extension FuseMount {
  /// struct fuse_in_header: length, opcode, the request's number, inode, user, group, process.
  private enum Header {
    static let countBytes = 40
    static let opcode = 4
    static let inode = 16
    static let process = 32
    /// FUSE_WRITE.
    static let write: UInt32 = 16
    /// FUSE_LSEEK.
    static let seek: UInt32 = 46
  }

  /// Requests that report a completed action and get no answer, or requests of the kernel's own
  /// whose timing depends on a cache or a descriptor's end: counting them would make the moments
  /// random.
  ///
  /// FORGET, READ, STATFS, RELEASE, FLUSH, INIT, RELEASEDIR, INTERRUPT, DESTROY, BATCH_FORGET.
  private static let uncounted: Set<UInt32> = [2, 15, 17, 18, 25, 26, 29, 36, 38, 42]

  /// Holds a request until dirty pages are written; the caller holds the lock.
  /// - Returns: False when the request should begin now.
  func harvests(before bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= Header.countBytes,
      unsafe bytes.loadUnaligned(fromByteOffset: Header.process, as: UInt32.self) != 0
    else { return false }
    let opcode = unsafe bytes.loadUnaligned(fromByteOffset: Header.opcode, as: UInt32.self)
    let thread = unsafe bytes.loadUnaligned(fromByteOffset: Header.process, as: UInt32.self)
    guard harvestsUnderWay == 0, fileSystem.plan.ownThread != Int32(bitPattern: thread),
      !Self.uncounted.contains(opcode), harvest?.ticks() == true
    else { return false }
    let own = unsafe bytes.loadUnaligned(fromByteOffset: Header.inode, as: UInt64.self)
    var job = PageDrops.Job()
    // A file without a name cannot be opened; the kernel writes its pages in its own time.
    job.dirtyPaths = openFiles.filter { $0.number.rawValue != own }
      .sorted { $0.number < $1.number }.compactMap { $0.path() }
    if job.dirtyPaths.isEmpty { return false }
    job.request = unsafe HeldRequest(bytes)
    harvestsUnderWay += 1
    drops.add(job)
    return true
  }

  /// Holds a request for data or holes until the file's dirty mapped pages are written.
  ///
  /// On a disk file system they count as data from the store on. The caller holds the lock. The
  /// kernel holds the file's write lock meanwhile, and no lock of its pages.
  /// - Returns: False when the request should begin now.
  func awaitsPages(before bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= Header.countBytes,
      unsafe bytes.loadUnaligned(fromByteOffset: Header.opcode, as: UInt32.self) == Header.seek
    else { return false }
    let thread = unsafe bytes.loadUnaligned(fromByteOffset: Header.process, as: Int32.self)
    let own = unsafe bytes.loadUnaligned(fromByteOffset: Header.inode, as: UInt64.self)
    guard let inode = fileSystem.tree.inodes[InodeNumber(rawValue: own)], inode.writerCount > 0,
      fileSystem.plan.ownThread != thread
    else { return false }
    var job = PageDrops.Job()
    if let path = inode.path() {
      job.dirtyPaths = [path]
      harvestsUnderWay += 1
    } else {
      // It has no name to open; nothing writes to it while it is held, so it may be dropped.
      job.inodes = [inode.number]
    }
    job.request = unsafe HeldRequest(bytes)
    drops.add(job)
    return true
  }

  /// Files that may have dirty mapped pages, in any order.
  private var openFiles: some Sequence<Inode> {
    fileSystem.tree.inodes.values.lazy.filter { $0.type == .regular && $0.openCount > 0 }
  }

  /// Records that a thread synced everything, after all dirty mapped pages are written.
  /// - Parameters:
  ///   - thread: The thread that called sync(2) or syncfs(2), and waits.
  ///   - answer: Called on another thread once the trace has the sync.
  func syncAll(by thread: Int32, then answer: @escaping @Sendable () -> Void) {
    var job = PageDrops.Job()
    let begin = lock.withLock { _ in
      drainMarks()
      job.writesAll = openFiles.contains { _ in true }
      if job.writesAll { harvestsUnderWay += 1 }
      return fileSystem.recorder.eventCount
    }
    job.then = { [self] in
      lock.withLock { _ in
        drainMarks()
        fileSystem.syncAll(since: begin, by: caller(thread: thread))
      }
      answer()
    }
    drops.add(job)
  }

  /// Has dirty pages written, then begins the request that is held for it.
  ///
  /// The writing process opens each file by its name, and the caller of a held request for a name
  /// has locked its directory: if the kernel has forgotten the file's name, both would wait for
  /// ever. So the request also begins when writing takes too long.
  func harvest(_ job: inout PageDrops.Job, by writer: inout PageWriterClient) {
    do throws(LabError) {
      drops.forgetOwnCloses()
      let isWritten = try writer.write(job.writesAll ? [] : job.dirtyPaths) { pid in
        lock.withLock { _ in fileSystem.plan.ownThread = pid }
      } overdue: {
        job.request.map(begin)
        job.request = nil
      }
      if job.writesAll, isWritten { awaitWriteBack() }
    } catch {
      // A user who asked for write-back would take silence for success.
      FileHandle.standardError.write(Data("faultline-fs: \(error.message)\n".utf8))
      exit(ExitCode.labFailed.rawValue)
    }
    lock.withLock { _ in harvestsUnderWay -= 1 }
    job.request.map(begin)
    job.request = nil
  }

  /// Waits until all writes are done that the kernel sent before it closed a directory, including
  /// those that rules delay.
  private func awaitWriteBack() {
    let end = DispatchTime.now() + .seconds(PageWriterClient.timeoutSeconds)
    drops.awaitOwnClose(until: end)
    let isWriteBack = { (entry: PostponedRequest) in
      let header = unsafe entry.memory
      return unsafe header.loadUnaligned(fromByteOffset: Header.process, as: UInt32.self) == 0
        && header.loadUnaligned(fromByteOffset: Header.opcode, as: UInt32.self) == Header.write
    }
    while lock.withLock({ _ in unsafe postponed.contains(where: isWriteBack) }), .now() < end {
      usleep(Self.pauseMicroseconds)
    }
  }

  /// Time between two checks of the waiting requests.
  private static let pauseMicroseconds: UInt32 = 2000

  func begin(_ request: HeldRequest) {
    lock.withLock { _ in
      unsafe process(
        UnsafeMutableRawBufferPointer(start: request.memory, count: request.countBytes))
    }
  }
}
