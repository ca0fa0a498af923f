// SystemCalls.swift [U]: the system calls that FaultFS and its client need besides libfuse.
// Safety: every pointer passed to a call here is valid for that call and not kept.

import CSystem
@unsafe @preconcurrency import Glibc

/// The system's text for an error number.
func systemMessage(of number: Int32) -> String {
  unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
}

/// The calling thread's `errno` as an error.
package func lastError() -> ErrorNumber { ErrorNumber(errno) }

/// The wall clock, for file times.
package func wallClock() -> Timestamp {
  var time = timespec()
  unsafe clock_gettime(CLOCK_REALTIME, &time)
  return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
}

/// A monotonic clock.
package func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// A file descriptor that this process owns; closed exactly once.
package struct OwnedDescriptor: ~Copyable, Sendable {
  package let number: Int32
  package init(_ number: Int32) { self.number = number }
  deinit { if number >= 0 { Glibc.close(number) } }
}

/// Calls on descriptors.
package enum Descriptors {
  /// Reads the available bytes, at most `limitBytes`; empty at the end, nil if it would block.
  package static func read(_ descriptor: Int32, limitBytes: Int) throws(ErrorNumber) -> [UInt8]? {
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limitBytes) { buffer, count in
      let result = unsafe Glibc.read(descriptor, buffer.baseAddress, limitBytes)
      failure = result < 0 ? errno : 0
      count = max(0, result)
    }
    if failure == EAGAIN || failure == EINTR { return nil }
    if failure != 0 { throw ErrorNumber(failure) }
    return bytes
  }

  /// Sends all bytes; a closed peer gives `EPIPE` instead of a signal.
  package static func send(_ bytes: [UInt8], to socket: Int32) throws(ErrorNumber) {
    var failure: Int32 = 0
    unsafe bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let result = unsafe Glibc.send(
          socket, buffer.baseAddress.unsafelyUnwrapped + done, buffer.count - done,
          Int32(MSG_NOSIGNAL))
        if result < 0, errno == EINTR { continue }
        if result < 0 {
          failure = errno
          return
        }
        done += result
      }
    }
    if failure != 0 { throw ErrorNumber(failure) }
  }

  /// Waits until a descriptor is readable or has ended; returns those descriptors, [] on timeout.
  package static func wait(_ descriptors: [Int32], timeoutMilliseconds: Int) -> [Int32] {
    var polls = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let timeout = Int32(clamping: timeoutMilliseconds)
    guard unsafe poll(&polls, nfds_t(polls.count), timeout) > 0 else { return [] }
    return polls.filter { $0.revents != 0 }.map(\.fd)
  }

  /// A connected pair of stream sockets, closed on exec.
  package static func makeSocketPair() throws(ErrorNumber) -> (Int32, Int32) {
    var pair: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw lastError() }
    return (pair[0], pair[1])
  }

  package static func makeNonblocking(_ descriptors: [Int32]) {
    for descriptor in descriptors { csystem_set_nonblocking(descriptor, 1) }
  }

  package static func writeByte(to descriptor: Int32) {
    var byte: UInt8 = 1
    unsafe _ = Glibc.write(descriptor, &byte, 1)
  }

  /// A pipe that keeps each write as a packet: read end, write end.
  package static func makePacketPipe() throws(ErrorNumber) -> (Int32, Int32) {
    var pair: [Int32] = [-1, -1]
    guard unsafe csystem_pipe(&pair, 1) == 0 else { throw lastError() }
    return (pair[0], pair[1])
  }

  /// A standard output for programs: the end that reads and is told who writes, the other end.
  package static func makeOutputSocket() throws(ErrorNumber) -> (Int32, Int32) {
    var pair: [Int32] = [-1, -1]
    guard unsafe csystem_output_socket(&pair) == 0 else { throw lastError() }
    return (pair[0], pair[1])
  }
}

/// Calls on processes.
package enum ProcessCalls {
  /// The process of a thread, from /proc; nil when it has ended.
  package static func process(ofThread thread: Int32) -> Int32? {
    let descriptor = unsafe csystem_open("/proc/\(thread)/status", O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return nil }
    defer { Glibc.close(descriptor) }
    guard let text = try? Descriptors.read(descriptor, limitBytes: 1024) else { return nil }
    for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: "Tgid:".utf8) {
      return Int32(String(decoding: line.dropFirst(6), as: UTF8.self))
    }
    return nil
  }

  /// The name of a process or thread, from /proc; nil when it has ended or is the kernel's.
  package static func name(of thread: Int32) -> [UInt8]? {
    guard thread > 0 else { return nil }
    let descriptor = unsafe csystem_open("/proc/\(thread)/comm", O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return nil }
    defer { Glibc.close(descriptor) }
    guard let text = try? Descriptors.read(descriptor, limitBytes: 64), !text.isEmpty else {
      return nil
    }
    return text.last == UInt8(ascii: "\n") ? Array(text.dropLast()) : text
  }

  /// Names the calling thread; the kernel keeps the first 15 bytes.
  package static func nameThisThread(_ name: String) { unsafe _ = csystem_set_thread_name(name) }

  /// Starts the daemon: marks come in as descriptor 0, the control socket as `control`.
  ///
  /// It keeps the right to mount that this process has.
  package static func spawnDaemon(
    _ arguments: [String], marks: Int32, control: Int32, controlAs: Int32
  ) throws(ErrorNumber) -> pid_t {
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    let pid = unsafe pointers.withUnsafeBufferPointer { argv in
      var spawn = unsafe csystem_spawn()
      unsafe spawn.arguments = argv.baseAddress
      unsafe spawn.environment = UnsafePointer(environ)
      unsafe spawn.standard_input = marks
      unsafe spawn.standard_output = -1
      unsafe spawn.standard_error = 2
      unsafe spawn.inherited = control
      unsafe spawn.inherited_as = controlAs
      unsafe spawn.cpu = -1
      unsafe spawn.own_group = 1
      return MountRight.handingOn { unsafe csystem_fork_and_exec(&spawn) }
    }
    if pid < 0 { throw lastError() }
    return pid
  }

  /// Reaps a child; false when it has not ended in time.
  package static func reap(_ pid: pid_t, timeoutMilliseconds: Int) -> Bool {
    let end = monotonicNanoseconds() + UInt64(timeoutMilliseconds) * 1_000_000
    while true {
      let result = waitpid(pid, nil, WNOHANG)
      if result == pid || (result < 0 && errno == ECHILD) { return true }
      if monotonicNanoseconds() > end { return false }
      usleep(200)
    }
  }
}

/// Calls on paths.
package enum PathCalls {
  /// Drops a file's pages from the kernel's cache, so that the next read comes from the medium.
  ///
  /// This is only advice: pages mapped by a process stay.
  package static func forgetCache(of path: String) {
    let descriptor = unsafe csystem_open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return }
    _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
    Glibc.close(descriptor)
  }

  /// The device that a path is on, or nil.
  package static func device(of path: String) -> UInt64? {
    var attributes = stat()
    return unsafe lstat(path, &attributes) == 0 ? UInt64(attributes.st_dev) : nil
  }

  package static func isDirectory(_ path: String) -> Bool {
    var attributes = stat()
    return unsafe stat(path, &attributes) == 0 && attributes.st_mode & S_IFMT == 0o040000
  }

  /// The path without symbolic links and dots, or nil.
  package static func resolve(_ path: String) -> String? {
    guard let text = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }

  package static func canAccess(_ path: String, _ mode: Int32) -> Bool {
    unsafe access(path, mode) == 0
  }

  /// The running program's own file.
  package static func executable() -> String? { resolve("/proc/self/exe") }

  /// Makes a directory, unless it exists.
  /// - Throws: `LabError` when the call fails.
  package static func makeDirectory(_ path: String) throws(LabError) {
    guard unsafe mkdir(path, 0o755) == 0 || errno == EEXIST else {
      throw .lab("mkdir \(path): \(systemMessage(of: errno)) (errno \(errno))")
    }
  }

  /// Makes a directory.
  /// - Returns: False when the name is taken, by whomever.
  /// - Throws: `LabError` when the call fails.
  package static func makesDirectory(_ path: String, _ mode: mode_t) throws(LabError) -> Bool {
    if unsafe mkdir(path, mode) == 0 { return true }
    guard errno == EEXIST else {
      throw .lab("mkdir \(path): \(systemMessage(of: errno)) (errno \(errno))")
    }
    return false
  }

  /// True for a directory that belongs to this user; a link to one is none.
  package static func isOwnDirectory(_ path: String) -> Bool { PrivateDirectory.isOwn(path) }

  package static func removeFile(_ path: String) { unsafe _ = unlink(path) }

  /// Removes a socket.
  /// - Returns: False when the name is that of something else, which stays.
  package static func removesSocket(_ path: String) -> Bool {
    var about = stat()
    guard unsafe lstat(path, &about) == 0 else { return true }
    guard about.st_mode & S_IFMT == S_IFSOCK else { return false }
    removeFile(path)
    return true
  }

  /// Overwrites a file from its start, or creates it.
  /// - Throws: `LabError` when a call fails.
  package static func overwrite(_ path: String, with bytes: [UInt8]) throws(LabError) {
    let descriptor = unsafe csystem_open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw .lab("open \(path): \(systemMessage(of: errno)) (errno \(errno))")
    }
    defer { Glibc.close(descriptor) }
    try LineChannel(input: -1, output: descriptor).write(bytes)
  }

  /// Replaces a file's content and keeps its permissions: after a crash it has the old content or
  /// the new.
  /// - Throws: `LabError` when a call fails; then the file is unchanged.
  /// - Durability: The content is on the disk before it replaces the file, and the new name before
  ///   this returns.
  package static func replace(_ path: String, with bytes: [UInt8]) throws(LabError) {
    let temporary = "\(path).new-\(getpid())"
    func failure(_ call: String) -> LabError {
      .lab("cannot rewrite \(path): \(call): \(systemMessage(of: errno)) (errno \(errno))")
    }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw failure("stat") }
    let mode = status.st_mode & 0o7777
    let descriptor = unsafe csystem_open(
      temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw failure("open") }
    var isDone = false
    defer { if !isDone { unsafe _ = unlink(temporary) } }
    do {
      defer { Glibc.close(descriptor) }
      // Only root can change a file's owner; other users own their files anyway.
      _ = fchown(descriptor, status.st_uid, status.st_gid)
      guard fchmod(descriptor, mode) == 0 else { throw failure("fchmod") }
      try LineChannel(input: -1, output: descriptor).write(bytes)
      guard fsync(descriptor) == 0 else { throw failure("fsync") }
    }
    guard unsafe rename(temporary, path) == 0 else { throw failure("rename") }
    isDone = true
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) }
    let parent = unsafe csystem_open(folder ?? ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard parent >= 0 else { throw failure("open of its folder") }
    defer { Glibc.close(parent) }
    guard fsync(parent) == 0 else { throw failure("fsync of its folder") }
  }

  /// Cuts a file; a file that is shorter or does not exist is not changed.
  /// - Throws: `LabError` when the call fails.
  package static func cut(_ path: String, toBytes bytes: UInt64) throws(LabError) {
    var status = stat()
    guard unsafe stat(path, &status) == 0, UInt64(status.st_size) > bytes else { return }
    guard unsafe truncate(path, off_t(bytes)) == 0 else {
      throw .lab("truncate \(path): \(systemMessage(of: errno)) (errno \(errno))")
    }
  }

  package static func unmount(_ path: String) throws(ErrorNumber) {
    if unsafe csystem_unmount(path) != 0 { throw lastError() }
  }

  /// Removes a mount that is still in use.
  ///
  /// Threads that wait for an answer of its server get an error: no signal ends such a wait, and
  /// threads of the server can be among them.
  package static func abortMount(_ path: String) throws(ErrorNumber) {
    if unsafe csystem_abort_mount(path) == 0 { return }
    let error = lastError()
    // Its server's end is what lets those go who wait.
    if error.rawValue != EPERM || !Fusermount.unmount(path, lazily: true) { throw error }
  }
}
