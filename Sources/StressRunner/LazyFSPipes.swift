// LazyFSPipes.swift: [U] the pipes and the log of a mount that stands in for LazyFS.
// Invariant: a pipe is opened for both directions, so that neither we nor its writers wait, and
// what is written before somebody reads is kept.
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
    descriptor = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .lab("cannot open the pipe \(path): \(describe(errno: errno))")
    }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
      close(descriptor)
      throw .usage("\(path) is there and is no pipe; choose another place, or remove it")
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

/// A file to which lines are appended, also behind one that somebody else has cut.
final class LazyFSLog {
  private let descriptor: Int32

  init(path: String) throws(LabError) {
    descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
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
