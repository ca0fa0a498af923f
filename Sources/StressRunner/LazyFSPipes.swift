// LazyFSPipes.swift: [U] the pipes and the log of a mount that stands in for LazyFS.
// Invariant: a pipe is opened for both directions, so that neither we nor its writers wait, and
// what is written before somebody reads is kept. Pipe and log are this user's or root's: their
// usual places are in /tmp, where anybody could have put a pipe to command us, or a link.
// Safety: paths and buffers live until the one call that they are given to returns.

import Foundation
@unsafe @preconcurrency import Glibc
import LabCore

/// A named pipe.
final class LazyFSPipe {
  private let descriptor: Int32
  private var lines = [UInt8]()

  /// Opens a pipe, which is made when there is none.
  init(path: String) throws(LabError) {
    if unsafe mkfifo(path, 0o777) != 0, errno != EEXIST {
      throw .lab("cannot make the pipe \(path): \(describe(errno: errno))")
    }
    try Owned.check(path)
    descriptor = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .lab("cannot open the pipe \(path): \(describe(errno: errno))")
    }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
      close(descriptor)
      throw .usage("\(path) is there and is no pipe; choose another place, or remove it")
    }
    do throws(LabError) {
      try Owned.check(status, path)
    } catch {
      close(descriptor)
      throw error
    }
  }

  deinit { close(descriptor) }

  /// The whole lines that have come in; a line of more than 4,096 bytes is cut there.
  func readLines() -> [String] {
    while let bytes = try? Descriptors.read(descriptor, limitBytes: 65536), !bytes.isEmpty {
      lines += bytes
      if lines.count > 1 << 20 { break }
    }
    guard let end = lines.lastIndex(of: UInt8(ascii: "\n")) else {
      if lines.count > 4096 { lines = [] }
      return []
    }
    let whole = lines[..<end]
    defer { lines = Array(lines[(end + 1)...]) }
    return whole.split(separator: UInt8(ascii: "\n")).map {
      String(decoding: $0.prefix(4096), as: UTF8.self)
    }
  }

  /// Puts a line into the pipe; without room, because nobody reads, it is left out.
  func write(line: String) {
    let bytes = Array((line + "\n").utf8)
    unsafe _ = Glibc.write(descriptor, bytes, bytes.count)
  }
}

/// Names in directories where everybody may make some.
private enum Owned {
  /// Checks a name, as far as links lead.
  /// - Returns: Whether there is one.
  /// - Throws: `LabError` with code `.usage` when it is another user's.
  @discardableResult static func check(_ path: String) throws(LabError) -> Bool {
    var about = stat()
    guard unsafe lstat(path, &about) == 0 else { return false }
    try check(about, path)
    return true
  }

  static func check(_ about: stat, _ path: String) throws(LabError) {
    guard about.st_uid == geteuid() || about.st_uid == 0 else {
      throw .usage("\(path) belongs to user \(about.st_uid); choose another place, or remove it")
    }
  }
}

/// A file to which lines are appended, also behind one that somebody else has cut.
final class LazyFSLog {
  private let descriptor: Int32

  init(path: String) throws(LabError) {
    let isThere = try Owned.check(path)
    // A name that comes up meanwhile is somebody else's doing.
    let making = isThere ? O_CREAT : O_CREAT | O_EXCL
    descriptor = unsafe open(path, O_WRONLY | O_APPEND | making | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw .usage("cannot write the log file \(path): \(describe(errno: errno))")
    }
  }

  deinit { close(descriptor) }

  func write(line: String) {
    let bytes = Array((line + "\n").utf8)
    unsafe _ = Glibc.write(descriptor, bytes, bytes.count)
  }
}
