// FileCalls.swift [U]: the system calls for folders and blobs; SQLite makes all others. Safety:
// pointers passed to the kernel are valid during the call; a folder's stream is closed by the
// function that opened it.

import CSystem
import Glibc

/// The kind of file at a path.
enum FileKind {
  case file
  case folder
  case other
}

/// The system calls of the store.
///
/// Each error names the path and the system's reason.
enum FileCalls {
  /// The kind of the existing file; nil when there is none.
  static func kind(_ path: String) throws(DocumentStoreError) -> FileKind? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw failure("look at", path)
    }
    switch status.st_mode & Glibc.S_IFMT {
    case Glibc.S_IFDIR: return .folder
    case Glibc.S_IFREG: return .file
    default: return .other
    }
  }

  /// Makes a folder, unless it is there.
  /// - Returns: Whether it was created.
  static func makeFolder(_ path: String) throws(DocumentStoreError) -> Bool {
    if unsafe mkdir(path, 0o755) == 0 { return true }
    guard errno == EEXIST, try kind(path) == .folder else { throw failure("make folder", path) }
    return false
  }

  /// Syncs a file or folder.
  static func sync(_ path: String) throws(DocumentStoreError) {
    let descriptor = unsafe csystem_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else { throw failure("open", path) }
    let outcome = fsync(descriptor)
    let reason = errno
    _ = Glibc.close(descriptor)
    guard outcome == 0 else { throw failure("sync", path, reason) }
  }

  static func rename(_ path: String, to target: String) throws(DocumentStoreError) {
    guard unsafe Glibc.rename(path, target) == 0 else { throw failure("rename to", target) }
  }

  /// Removes a file, unless it is not there.
  static func remove(_ path: String) throws(DocumentStoreError) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("remove", path) }
  }

  /// Removes an empty folder, unless it is not there.
  static func removeFolder(_ path: String) throws(DocumentStoreError) {
    guard unsafe rmdir(path) == 0 || errno == ENOENT else { throw failure("remove folder", path) }
  }

  /// Writes a new read-only file, and makes its contents durable.
  /// - Returns: Whether it was written: an existing file is not changed.
  static func write(_ bytes: [UInt8], to path: String) throws(DocumentStoreError) -> Bool {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
    let descriptor = unsafe csystem_open(path, flags, 0o444)
    guard descriptor >= 0 else {
      if errno == EEXIST { return false }
      throw failure("make", path)
    }
    defer { _ = Glibc.close(descriptor) }
    var done = 0
    while done < bytes.count {
      let written = unsafe bytes.withUnsafeBytes { buffer in
        unsafe Glibc.write(
          descriptor, buffer.baseAddress.map { unsafe $0 + done }, bytes.count - done)
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw failure("write", path) }
      done += written
    }
    guard fsync(descriptor) == 0 else { throw failure("sync", path) }
    return true
  }

  /// The bytes of a file; nil when there is none.
  /// - Complexity: O(bytes).
  static func read(_ path: String) throws(DocumentStoreError) -> [UInt8]? {
    let descriptor = unsafe csystem_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw failure("open", path)
    }
    defer { _ = Glibc.close(descriptor) }
    var (bytes, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("read", path) }
      guard count > 0 else { return bytes }
      bytes.append(contentsOf: chunk[..<count])
    }
  }

  /// The names in a folder, sorted; none when there is no such folder.
  static func names(in path: String) throws(DocumentStoreError) -> [String] {
    guard let folder = unsafe opendir(path) else {
      if errno == ENOENT { return [] }
      throw failure("read folder", path)
    }
    defer { _ = unsafe closedir(folder) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(folder) else { break }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { buffer in
        unsafe String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    guard errno == 0 else { throw failure("read folder", path) }
    return names.sorted()
  }

  /// Random bytes of the system.
  static func entropy(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    for start in stride(from: 0, to: count, by: 256) {
      let size = min(256, count - start)
      let outcome = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe getentropy(buffer.baseAddress.map { unsafe $0 + start }, size)
      }
      precondition(outcome == 0, "the system gives no random bytes")
    }
    return bytes
  }

  /// Waits.
  static func sleep(milliseconds: UInt32) { usleep(milliseconds * 1000) }

  /// Nanoseconds since 1970.
  static func nanoseconds() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(max(0, time.tv_sec)) &* 1_000_000_000 &+ UInt64(max(0, time.tv_nsec))
  }

  private static func failure(
    _ action: String, _ path: String, _ reason: Int32 = errno
  ) -> DocumentStoreError {
    let why = unsafe String(cString: strerror(reason))
    let message = "cannot \(action) \(quoted(path)): \(why)"
    switch reason {
    case ENOENT, ENOTDIR: return DocumentStoreError(.notFound, message + "; check the path")
    case ENOSPC, EDQUOT: return DocumentStoreError(.noSpace, message + "; free some space")
    case EACCES, EPERM, EROFS:
      return DocumentStoreError(.notWriteable, message + "; check owner and permissions")
    case EIO: return DocumentStoreError(.inputOutput, message + "; check the medium")
    default: return DocumentStoreError(.cantOpenFile, message)
    }
  }
}
