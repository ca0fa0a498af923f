// Syscalls+Files.swift [U]: the system calls that create, rename and remove files. Safety: pointers
// passed to the kernel are valid during the call.

import CSystem
import Glibc

/// Owner and mode of a file.
struct FileAttributes: Equatable {
  let mode: UInt32
  let owner: UInt32
  let group: UInt32
}

extension Syscalls {
  /// Makes a file and opens it; fails with `.exists` when the name is taken.
  static func create(_ path: String, mode: UInt32) -> Result<Int32, Errno> {
    while true {
      let fd = unsafe csystem_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
      if fd >= 0 { return .success(fd) }
      if errno != EINTR { return .failure(Errno(errno)) }
    }
  }

  /// Whether the name is taken, even by a dangling link.
  static func isTaken(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  /// Mode and owner of the file at a path; nil when there is none.
  static func attributes(path: String) -> FileAttributes? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return FileAttributes(
      mode: status.st_mode & 0o7777, owner: status.st_uid, group: status.st_gid)
  }

  /// Sets a file's owner, as far as this process may, and then its mode.
  static func set(_ attributes: FileAttributes, of fd: Int32) -> Errno? {
    // Only root gives files away. Without that the file is ours, as any that we write.
    _ = fchown(fd, attributes.owner, attributes.group)
    return fchmod(fd, attributes.mode) == 0 ? nil : Errno(errno)
  }

  /// Forces content, size, mode and owner to the medium; never repeated.
  static func syncAll(_ fd: Int32) -> Errno? {
    fsync(fd) == 0 ? nil : Errno(errno)
  }

  /// Renames a file unless the new name is taken: `.exists`.
  ///
  /// Where the file system cannot do that in one step, the file has both names for a moment.
  static func renameToFree(_ from: String, to: String) -> Errno? {
    let noReplace: UInt32 = 1
    if unsafe csystem_renameat2(from, to, noReplace) == 0 { return nil }
    guard [EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) else { return Errno(errno) }
    guard unsafe link(from, to) == 0 else { return Errno(errno) }
    return unlink(from)
  }
}

extension Syscalls.Errno {
  static let exists = Syscalls.Errno(EEXIST)
}
