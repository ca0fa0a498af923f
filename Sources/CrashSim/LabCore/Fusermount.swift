// Fusermount.swift: [U] fusermount3, which mounts and unmounts FUSE file systems for users who may
// not (fusermount3(1)).
// Safety: a path is passed to one system call and not kept; an entry of users is not looked into.

import CPrivileges
import Foundation
import Glibc

/// The program that mounts for users.
package enum Fusermount {
  /// Its path: where Debian has it, else in `PATH`; nil when there is none.
  package static var path: String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return (["/usr/bin", "/bin"] + folders.map(String.init)).map { "\($0)/fusermount3" }
      .first { PathCalls.canAccess($0, X_OK) }
  }

  /// Whether the user is among those that the system knows by name.
  package static var hasName: Bool { unsafe getpwuid(getuid()) != nil }

  /// Why it cannot mount for this process; nil when nothing is known against it.
  package static var lack: String? {
    guard let path else { return "there is no fusermount3" }
    // It writes the user's name into the mount's entry, and refuses a user without one.
    guard hasName else { return "user \(getuid()) has no name in /etc/passwd, which \(path) needs" }
    var about = stat()
    var system = statvfs()
    guard unsafe stat(path, &about) == 0, unsafe statvfs(path, &system) == 0 else {
      return "\(path) cannot be looked at"
    }
    let ignoresSetUser: UInt = 2
    guard about.st_mode & 0o4000 != 0, about.st_uid == 0, system.f_flag & ignoresSetUser == 0
    else { return "\(path) is not set-uid root here" }
    guard cprivileges_may_gain_mount() == 1 else {
      return "set-uid programs gain no right to mount here (no_new_privs, or a bounding set)"
    }
    return nil
  }

  /// Unmounts what this user has mounted.
  /// - Parameters:
  ///   - mountPoint: Where.
  ///   - lazily: Also while somebody uses it.
  /// - Returns: True when it says that it has.
  package static func unmount(_ mountPoint: String, lazily: Bool) -> Bool {
    guard let path else { return false }
    let options = lazily ? ["-u", "-q", "-z"] : ["-u", "-q"]
    let child = try? ChildProcess(ChildProcess.Launch([path] + options + ["--", mountPoint]))
    return child?.wait(timeoutSeconds: 10).isSuccess ?? false
  }
}
