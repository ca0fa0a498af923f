// SyncAnswerer.swift [U]: sync(2) and syncfs(2) of a program on a mount of the faulty file system.
// The kernel does not notify a FUSE file system of them (fuse_sync_fs in fs/fuse/inode.c: virtiofs
// only), so Faultline answers the calls itself (seccomp_unotify(2)): it has the mount write its
// dirty mapped pages and record a sync of everything, and lets the call return. The kernel then
// does nothing: other file systems of the machine are not synced for a simulated disk.
// fallocate(2) with modes that the kernel refuses a FUSE file system only passes through here, so
// that the run can report it.
// Invariant: every call gets one answer until `end`; after it the thread has ended.
// Safety: descriptors are closed with the object, which its thread retains.

import CSystem
import FaultFS
import Foundation
import Glibc
import LabCore
import Synchronization

/// Answers the syncs of one program.
final class SyncAnswerer: Sendable {
  private let calls: OwnedDescriptor
  private let stopped: OwnedDescriptor
  private let stopper: OwnedDescriptor
  private let fileSystem: FaultFSClient
  private let device: UInt64?
  private let done = DispatchGroup()
  private let refused = Atomic<Int32>(0)

  /// Modes of fallocate(2) that callers asked for on the mount and were refused.
  var refusedModes: Int32 { refused.load(ordering: .relaxed) }

  /// Starts answering.
  /// - Returns: Nil if the system does not hold calls: then syncs of everything are not seen.
  init?(of child: ChildProcess, on fileSystem: FaultFSClient) {
    guard child.syncCalls >= 0, let (out, into) = try? Descriptors.makePacketPipe() else {
      if child.syncCalls >= 0 { Glibc.close(child.syncCalls) }
      return nil
    }
    calls = OwnedDescriptor(child.syncCalls)
    stopped = OwnedDescriptor(out)
    stopper = OwnedDescriptor(into)
    self.fileSystem = fileSystem
    device = Self.device(of: fileSystem.mountPoint)
    done.enter()
    let thread = Thread { [self] in
      while answerNext() {}
      done.leave()
    }
    thread.start()
  }

  /// Ends the thread, after the program and all processes that it started have ended.
  func end() {
    Descriptors.writeByte(to: stopper.number)
    done.wait()
  }

  /// False when no caller is left.
  private func answerNext() -> Bool {
    var polls = [calls.number, stopped.number].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    guard unsafe poll(&polls, nfds_t(polls.count), -1) > 0 else { return errno == EINTR }
    // A hang-up without a call: all possible callers have ended.
    if polls[1].revents != 0 || Int32(polls[0].revents) & POLLIN == 0 { return false }
    var call = csystem_sync_call()
    guard unsafe csystem_next_sync(calls.number, &call) == 0 else {
      // The caller was killed meanwhile.
      return errno == ENOENT || errno == EINTR
    }
    let isOfMount = call.is_of_file == 0 || isOnMount(call)
    if call.refused_modes != 0 {
      if isOfMount { refused.bitwiseOr(call.refused_modes, ordering: .relaxed) }
      _ = unsafe csystem_answer_sync(calls.number, &call, 1)
      return true
    }
    if isOfMount {
      // If the daemon has ended, the code that waits for the program reports that.
      try? fileSystem.syncAll(by: call.thread)
    }
    _ = unsafe csystem_answer_sync(calls.number, &call, isOfMount ? 0 : 1)
    return true
  }

  private func isOnMount(_ call: csystem_sync_call) -> Bool {
    var call = call
    let found = Self.device(of: "/proc/\(call.thread)/fd/\(call.file)")
    let isPath = Self.isPath(call.file, of: call.thread)
    // Otherwise the number may belong to another thread by now.
    guard unsafe csystem_is_sync_waiting(calls.number, &call) != 0 else { return false }
    return found != nil && found == device && !isPath
  }

  /// Whether a descriptor only names a file (O_PATH), for which the kernel syncs nothing.
  private static func isPath(_ file: Int32, of thread: Int32) -> Bool {
    let place = "/proc/\(thread)/fdinfo/\(file)"
    let info = OwnedDescriptor(unsafe csystem_open(place, O_RDONLY | O_CLOEXEC, 0))
    let text = (try? Descriptors.read(info.number, limitBytes: 4096)).flatMap { $0 } ?? []
    let line = text.split(separator: 10).first { $0.starts(with: "flags:".utf8) }
    let flags = line.flatMap { Int(String(decoding: $0.dropFirst(7), as: UTF8.self), radix: 8) }
    return (flags ?? 0) & pathFlag != 0
  }

  /// O_PATH, missing in the Glibc module.
  private static let pathFlag = 0o10000000

  private static func device(of path: String) -> UInt64? {
    var device: UInt64 = 0
    return unsafe csystem_file_system(path, &device) == 0 ? device : nil
  }
}
