// Syscalls+Locks.swift [U]: the system calls of coordination: locks of byte ranges, futexes, FIFOs,
// processes and the monotonic clock. Safety: pointers passed to the kernel are valid during the
// call.

import CSystem
import Glibc
import Synchronization

/// The kind of lock on a byte range.
enum LockKind: Int32 {
  case none = 0
  case shared = 1
  case exclusive = 2
}

extension Syscalls {
  /// Locks a range for an open file description, or unlocks it.
  ///
  /// Without `waits` a range that others hold is `.wouldBlock`.
  static func lock(
    _ fd: Int32, _ kind: LockKind, from start: Int, count: Int, waits: Bool = false
  ) -> Errno? {
    while true {
      let result = csystem_lock_range(
        fd, kind.rawValue, off_t(start), off_t(count), waits ? 1 : 0)
      if result == 0 { return nil }
      if errno != EINTR { return Errno(errno) }
    }
  }

  /// Whether another open file description holds a lock in the range.
  static func isLockedByOther(_ fd: Int32, from start: Int, count: Int) -> Bool {
    csystem_is_range_locked(fd, off_t(start), off_t(count)) == 1
  }

  /// Makes a child of fork close the descriptor; false when the memory to record it cannot be
  /// allocated.
  static func closeAfterFork(_ fd: Int32) -> Bool { csystem_close_after_fork(fd) == 0 }

  /// Closes a descriptor that `closeAfterFork` was called for.
  static func closeKept(_ fd: Int32) {
    csystem_keep_after_fork(fd)
    close(fd)
  }

  /// Changes in a child of fork.
  @inline(__always)
  static var forkGeneration: UInt32 { csystem_fork_generation() }

  static var threadID: Int32 { csystem_thread_id() }
  static var processID: Int32 { getpid() }

  /// Shared memory of a file; nil address on failure.
  static func mapShared(
    _ fd: Int32, sizeBytes: Int
  ) -> Result<UnsafeMutableRawPointer, Errno> {
    let flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED
    guard let address = unsafe mmap(nil, sizeBytes, PROT_READ | PROT_WRITE, flags, fd, 0),
      unsafe address != MAP_FAILED
    else { return unsafe .failure(Errno(errno)) }
    // One touched page would bring in as much of the file as the disk reads ahead: all of it.
    if fd >= 0 { _ = unsafe madvise(address, sizeBytes, MADV_RANDOM) }
    return unsafe .success(address)
  }

  static func unmap(_ address: UnsafeMutableRawPointer, sizeBytes: Int) {
    _ = unsafe munmap(address, sizeBytes)
  }

  /// Allocates space for a range of the file, so that no later store can hit a full disk.
  static func allocate(_ fd: Int32, from start: Int, count: Int) -> Errno? {
    while true {
      let failure = posix_fallocate(fd, off_t(start), off_t(count))
      if failure == 0 { return nil }
      if failure != EINTR { return Errno(failure) }
    }
  }

  /// Zeros for `count` atomics, backed by memory only where they are touched.
  static func zeroed(count: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
    guard let memory = unsafe calloc(count, 4) else { preconditionFailure("out of memory") }
    return unsafe memory.assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  static func free(_ memory: UnsafeMutablePointer<Atomic<UInt32>>) {
    unsafe Glibc.free(memory)
  }

  /// Waits until the word changes, a wake-up comes, or the timeout expires.
  static func futexWait(
    _ word: UnsafeMutableRawPointer, expecting value: UInt32, timeoutMilliseconds: Int?
  ) {
    let timeout = timeoutMilliseconds.map { Int64($0) * 1_000_000 } ?? -1
    _ = unsafe csystem_futex_wait(word, value, timeout)
  }

  static func futexWake(_ word: UnsafeMutableRawPointer, count: Int32 = .max) {
    _ = unsafe csystem_futex_wake(word, count)
  }

  /// Milliseconds since a fixed moment, until the machine restarts; the same for all processes.
  static func monotonicMilliseconds() -> UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }

  static func sleep(milliseconds: Int) {
    var time = timespec(
      tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
    _ = unsafe nanosleep(&time, nil)
  }

  static func makeFolder(_ path: String) -> Errno? {
    unsafe mkdir(path, 0o755) == 0 || errno == EEXIST ? nil : Errno(errno)
  }

  static func makeFIFO(_ path: String) -> Errno? {
    unsafe mkfifo(path, 0o644) == 0 || errno == EEXIST ? nil : Errno(errno)
  }

  /// Opens a FIFO for both ends, so that neither opening nor writing ever waits.
  static func openFIFO(_ path: String) -> Result<Int32, Errno> {
    let fd = unsafe csystem_open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0)
    guard fd >= 0 else { return .failure(Errno(errno)) }
    guard csystem_is_fifo(fd) == 1 else {
      close(fd)
      return .failure(Errno(EEXIST))
    }
    return .success(fd)
  }

  static func makeEdgePoll(_ fd: Int32) -> Result<Int32, Errno> {
    let poll = csystem_make_edge_poll(fd)
    return poll >= 0 ? .success(poll) : .failure(Errno(errno))
  }

  static func waitEdge(_ poll: Int32, timeoutMilliseconds: Int) {
    _ = csystem_wait_edge(poll, Int32(clamping: timeoutMilliseconds))
  }

  /// Drains a FIFO and writes one byte: the FIFO was empty before, so all processes that poll it
  /// wake.
  static func ring(_ fd: Int32) {
    var old: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    // Bounded: a FIFO holds 64 KiB unless it was enlarged.
    for _ in 0..<4096 where unsafe Glibc.read(fd, &old, 32) <= 0 { break }
    var byte: UInt8 = 1
    _ = unsafe Glibc.write(fd, &byte, 1)
  }

  /// The path without links; for a missing file that of its folder, if that exists.
  static func realPath(of path: String) -> String {
    if let resolved = resolve(path) { return resolved }
    guard let slash = path.lastIndex(of: "/") else {
      return resolve(".").map { $0 + "/" + path } ?? path
    }
    let folder = slash == path.startIndex ? "/" : String(path[..<slash])
    return resolve(folder).map { $0 + path[slash...] } ?? path
  }

  private static func resolve(_ path: String) -> String? {
    guard let text = unsafe realpath(path, nil) else { return nil }
    defer { unsafe Glibc.free(text) }
    return unsafe String(cString: text)
  }

  /// Removes the files in a folder; those that cannot be removed stay, and all do if the folder is
  /// a symbolic link, which leads to a foreign folder.
  static func removeFiles(in folder: String) {
    let fd = unsafe csystem_open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
    guard fd >= 0 else { return }
    guard let directory = unsafe fdopendir(fd) else {
      close(fd)
      return
    }
    // Closes the descriptor, too.
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
      }
      if name != "." && name != ".." { names.append(name) }
    }
    for name in names { _ = unsafe unlinkat(fd, name, 0) }
  }

  /// The first bytes of a small file, as in /proc.
  static func text(_ path: String) -> Result<[UInt8], Errno> {
    let fd = unsafe csystem_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard fd >= 0 else { return .failure(Errno(errno)) }
    defer { close(fd) }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe Glibc.read(fd, buffer.baseAddress, buffer.count)
    }
    return count >= 0 ? .success(Array(bytes[..<count])) : .failure(Errno(errno))
  }

  /// Whether a process with this number exists, zombies included.
  static func processExists(_ pid: Int32) -> Bool { kill(pid, 0) == 0 || errno != ESRCH }
}
