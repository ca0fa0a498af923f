// TestFolder.swift: folders of tests' own in the temporary folder, of which none stays, also of
// processes that a test starts and that die.

import Foundation
import Glibc

/// Makes folders for tests.
public enum TestFolder {
  /// Makes a folder that nobody else has; whoever wanted it removes it.
  ///
  /// What this process leaves, and what one leaves that it started and that died, is removed when
  /// it ends.
  /// - Returns: Its path.
  /// - Throws: `CocoaError` when none can be made.
  public static func make() throws -> String {
    _ = sweep
    let path = "\(temporary)/\(start(of: getppid()))\(getpid())-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    return path
  }

  /// What the names of a process's folders begin with: its children's are found by its number.
  private static func start(of parent: pid_t) -> String { "faultline-tests-\(parent)-" }

  private static let temporary = URL(fileURLWithPath: NSTemporaryDirectory()).path

  /// Has what is left removed at the end of this process.
  private static let sweep: Void = {
    _ = atexit {
      let (ofChildren, own) = (start(of: getpid()), start(of: getppid()) + "\(getpid())-")
      let names = (try? FileManager.default.contentsOfDirectory(atPath: temporary)) ?? []
      for name in names where name.hasPrefix(ofChildren) || name.hasPrefix(own) {
        try? FileManager.default.removeItem(atPath: "\(temporary)/\(name)")
      }
    }
  }()
}
