// OrdinaryUser.swift: the built `faultline` as somebody runs it who is not root, on a machine where
// everybody may open /dev/fuse, with or without fusermount3.

import Foundation
import TestSupport

/// A user without rights, with a directory of their own.
struct OrdinaryUser {
  static let nobody = 65534
  let number: Int
  let directory: TemporaryDirectory
  private let hidesFusermount: Bool

  /// Makes the user's directory.
  /// - Parameters:
  ///   - number: Who it is.
  ///   - hidesFusermount: Whether there shall be no fusermount3 for the user.
  /// - Throws: What went wrong.
  init(number: Int = Self.nobody, hidesFusermount: Bool = false) throws {
    self.number = number
    self.hidesFusermount = hidesFusermount
    directory = try TemporaryDirectory(isForAll: true)
    let made = try runShell(
      """
      chmod 755 . && mkdir home && chown \(number):\(number) home &&
        mknod fuse c 10 229 && chmod 666 fuse
      """, in: directory.path)
    guard made.status == 0 else { throw CocoaError(.fileWriteUnknown, userInfo: ["": made.output]) }
  }

  var home: String { directory.file("home") }

  /// Runs a script with `$F`, the command, in the user's directory.
  ///
  /// The device and the missing program are so in a mount namespace of its own only.
  /// - Parameters:
  ///   - script: For `sh`.
  ///   - wrapper: A program, with its options, that runs the shell, such as `unshare -Urm`.
  /// - Returns: Status and output.
  /// - Throws: When the shell cannot be started.
  func run(_ script: String, within wrapper: String = "") throws -> ProgramResult {
    let path = directory.file("script")
    try script.write(toFile: path, atomically: false, encoding: .utf8)
    let hides = hidesFusermount ? "mount --bind /dev/null \"$(command -v fusermount3)\" &&" : ""
    let outer = directory.file("outer")
    try """
    mount --bind '\(directory.file("fuse"))' /dev/fuse && \(hides) cd '\(home)' &&
    exec setpriv --reuid \(number) --regid \(number) --clear-groups \
      env -u CI -u GITHUB_ACTIONS -u FAULTLINE_SCRATCH HOME='\(home)' TMPDIR='\(home)' \
      F='\(FaultlineCommand.program)' \(wrapper) sh '\(path)'
    """.write(toFile: outer, atomically: false, encoding: .utf8)
    return try runShell("chmod 644 '\(path)'; exec unshare -m sh '\(outer)' 2>&1", in: "/")
  }

  /// Writes a file that the user can read.
  func write(_ text: String, to name: String) throws {
    try text.write(toFile: "\(home)/\(name)", atomically: false, encoding: .utf8)
  }
}
