// PrivateDirectory.swift: [U] directories that belong to this user and to nobody else, in places
// where everybody may make names, as /dev/shm is.
// Invariant: no link is followed, and no directory of another user is used or changed.
// Safety: paths are passed to one system call and not kept.

import CSystem
import Foundation
import Glibc

/// A directory for a run's own files.
enum PrivateDirectory {
  /// Makes a directory that nobody else may list, or takes one of ours that is there.
  ///
  /// Root's programs under test may give up their rights, as servers do that refuse to run as root:
  /// so others may pass through root's.
  /// - Throws: `LabError` when it cannot be made, or is a link, a file or somebody else's.
  static func make(_ path: String) throws(LabError) {
    let mode: mode_t = geteuid() == 0 ? 0o711 : 0o700
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    try? FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    if unsafe mkdir(path, mode) != 0, errno != EEXIST {
      let error = lastError()
      guard PathCalls.canAccess(parent, W_OK) else {
        throw refusal(path, "user \(geteuid()) may not write in \(parent)")
      }
      throw refusal(path, "\(error)")
    }
    let descriptor = unsafe csystem_open(
      path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
    guard descriptor >= 0 else {
      throw refusal(path, owner(of: path).flatMap(otherUser) ?? "it is a link or no directory")
    }
    defer { close(descriptor) }
    var about = stat()
    guard unsafe fstat(descriptor, &about) == 0 else { throw refusal(path, "\(lastError())") }
    if let user = otherUser(about.st_uid) { throw refusal(path, user) }
    // The mask of the process took its part of the mode, or somebody has opened it since.
    guard about.st_mode & 0o7777 == mode || fchmod(descriptor, mode) == 0 else {
      throw refusal(path, "\(lastError())")
    }
  }

  /// True for a directory of ours, or a name that nobody has taken.
  static func isFreeOrOwn(_ path: String) -> Bool {
    var about = stat()
    guard unsafe lstat(path, &about) == 0 else { return true }
    return isOwn(about)
  }

  /// True for a directory of ours.
  static func isOwn(_ path: String) -> Bool {
    var about = stat()
    return unsafe lstat(path, &about) == 0 && isOwn(about)
  }

  private static func isOwn(_ about: stat) -> Bool {
    about.st_uid == geteuid() && about.st_mode & S_IFMT == 0o040000
  }

  private static func owner(of path: String) -> uid_t? {
    var about = stat()
    return unsafe lstat(path, &about) == 0 ? about.st_uid : nil
  }

  private static func otherUser(_ owner: uid_t) -> String? {
    owner == geteuid() ? nil : "it belongs to user \(owner)"
  }

  private static func refusal(_ path: String, _ cause: String) -> LabError {
    .lab(
      "cannot make \(path): \(cause); set \(RunDirectory.scratchName) to a directory of your own; "
        + MountRight.pointer)
  }
}
