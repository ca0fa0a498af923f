// FileBytes.swift: [U] files as tests look at them and damage them.

import CSystem
import Glibc

@testable import Engine

/// The size of a file; -1 when there is none.
func fileSizeBytes(_ path: String) -> Int {
  var status = stat()
  guard unsafe stat(path, &status) == 0 else { return -1 }
  return Int(status.st_size)
}

/// The content of a file.
func fileBytes(_ path: String) throws -> [UInt8] {
  guard case .success(let descriptor) = Syscalls.open(path, writable: false) else {
    throw EngineError.syscall("open", path, errno: errno)
  }
  defer { Syscalls.close(descriptor) }
  let mapping = try Syscalls.map(
    descriptor, sizeBytes: UInt64(fileSizeBytes(path)), path: path
  ).get()
  return mapping.withBytes { $0.array }
}

/// Writes bytes into a file, which is made when it is missing.
func overwrite(_ path: String, _ bytes: [UInt8], at offsetBytes: Int = 0) throws {
  let descriptor = try Syscalls.open(path, creating: true).get()
  defer { Syscalls.close(descriptor) }
  let failure = unsafe bytes.withUnsafeBytes { buffer in
    unsafe Syscalls.write(descriptor, buffer, at: UInt64(offsetBytes))
  }
  if let failure { throw failure }
}

/// Makes a symbolic link.
func makeLink(_ path: String, to target: String) throws {
  guard unsafe symlink(target, path) == 0 else {
    throw EngineError.syscall("symlink", path, errno: errno)
  }
}

func isLink(_ path: String) -> Bool {
  var status = stat()
  return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
}

func setMode(_ mode: UInt32, of path: String) throws {
  guard unsafe chmod(path, mode) == 0 else {
    throw EngineError.syscall("chmod", path, errno: errno)
  }
}

func moveFile(_ path: String, to target: String) throws {
  if let failure = Syscalls.rename(path, to: target) { throw failure }
}

/// Gives a file a second name.
func makeHardLink(_ path: String, to file: String) throws {
  guard unsafe link(file, path) == 0 else {
    throw EngineError.syscall("link", path, errno: errno)
  }
}
