// TemporaryDirectory.swift: a separate directory for one test, removed at the end.

import Foundation

/// A directory that exists as long as this object.
public final class TemporaryDirectory: Sendable {
  /// Absolute path without symbolic links.
  public let path: String

  /// Makes a directory below the system's temporary one.
  ///
  /// Other users may have no access to that; with `isForAll` it is made in `/tmp`, where they have.
  public init(isForAll: Bool = false) throws {
    let parent =
      isForAll
      ? URL(filePath: "/tmp") : FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
    let url = parent.appendingPathComponent("faultline-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a name inside.
  public func file(_ name: String) -> String { path + "/" + name }
}
