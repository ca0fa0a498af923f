// PageWriter.swift [U]: a process that has the kernel write dirty pages of files on a mount.
// The daemon does no file operation on its own mount: if it were killed while one of its threads
// waits for an answer, it could not end, because that thread would hold /dev/fuse open and wait for
// ever. This process waits instead: when the daemon is killed the device is closed, the calls fail,
// and the parent-death signal ends this process.
// Safety: the path outlives the one call that uses it.

import CSystem
import Foundation
import Glibc
import LabCore

/// The child's side: reads paths, and writes a line when their pages are written.
package struct PageWriter: ChildProgram {
  package static let name = "write-pages"
  package static let parameters = ["MOUNT-POINT"]
  /// Where the file system is mounted.
  let mountPoint: String

  package var arguments: [String] { [mountPoint] }

  init(mountPoint: String) { self.mountPoint = mountPoint }

  package init(_ arguments: inout ChildArguments) { self.init(mountPoint: arguments.text()) }

  /// Serves until the input ends.
  /// - Throws: `LabError` when a message of the daemon is invalid.
  package func run() throws(LabError) -> Int32 {
    var channel = LineChannel(input: 0, output: 1)
    while let line = try channel.readLine() {
      guard let paths = try? JSONDecoder().decode([[UInt8]].self, from: Data(line)) else {
        throw .internalError("the FaultFS daemon sent unreadable paths")
      }
      let isWritten = paths.isEmpty ? Self.writeAll(below: mountPoint) : true
      for path in paths { Self.write(Array(mountPoint.utf8) + [UInt8(ascii: "/")] + path + [0]) }
      try channel.write(try JSONLine.encode(isWritten))
    }
    return ExitCode.held.rawValue
  }

  /// Has the dirty pages of all files written; false if the root cannot be opened.
  private static func writeAll(below mountPoint: String) -> Bool {
    let root = unsafe csystem_open(mountPoint, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard root >= 0 else { return false }
    _ = csystem_sync_file_system(root)
    Glibc.close(root)
    return true
  }

  private static func write(_ path: [UInt8]) {
    let descriptor = unsafe path.withUnsafeBytes { bytes in
      unsafe csystem_open(
        bytes.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped,
        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
    }
    // Another process may have removed the name meanwhile.
    guard descriptor >= 0 else { return }
    _ = csystem_write_dirty_pages(descriptor)
    Glibc.close(descriptor)
  }
}

/// The daemon's side, for one thread.
struct PageWriterClient {
  let mountPoint: String
  private var process: LineProcess?

  /// A child that has not answered after this time is killed.
  static let timeoutSeconds = 60
  /// After this time it may be waiting for the request that is held on its behalf.
  private static let patienceMilliseconds = 3000

  init(mountPoint: String) { self.mountPoint = mountPoint }

  /// Has the dirty pages of files written, and waits for it.
  /// - Parameters:
  ///   - paths: Paths from the root of the mount; empty for all files.
  ///   - starting: Called with the process, which has one thread, before it does anything.
  ///   - overdue: Called when it takes long.
  /// - Returns: False when the process ended instead, or could not open the root.
  /// - Throws: `LabError` when no process can be started.
  mutating func write(
    _ paths: [[UInt8]], starting: (Int32) -> Void, overdue: () -> Void
  ) throws(LabError) -> Bool {
    let started: LineProcess
    if let process {
      started = process
    } else {
      started = try LineProcess(PageWriter(mountPoint: mountPoint))
      starting(started.pid)
      process = started
    }
    if started.send(try JSONLine.encode(paths)) != nil {
      process = nil
      return false
    }
    if let answer = try started.poll(milliseconds: Self.patienceMilliseconds) {
      return take(answer)
    }
    overdue()
    return take(try started.read(timeoutSeconds: Self.timeoutSeconds))
  }

  private mutating func take(_ answer: LineAnswer) -> Bool {
    guard case .line(let line) = answer else {
      process = nil
      return false
    }
    return (try? JSONDecoder().decode(Bool.self, from: Data(line))) == true
  }
}
