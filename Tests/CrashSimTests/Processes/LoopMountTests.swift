// LoopMountTests.swift: a file system is closed when it is unmounted, or is said not to be.

import Foundation
import TestSupport
import Testing

@testable import Exploration

@Suite("mounts through loop devices", .requires(.ext4), .serialized)
struct LoopMountTests {
  /// A process with a mount namespace of its own, which has a copy of each mount.
  private func holder(_ directory: TemporaryDirectory) throws -> RunningProgram {
    let program = try RunningProgram(
      [
        "/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c",
        "echo > ready; exec sleep 600",
      ], in: directory.path)
    while !FileManager.default.fileExists(atPath: "\(directory.path)/ready") { usleep(1000) }
    return program
  }

  @Test("a mount that another process's namespace has a copy of is not closed by unmounting it")
  func copies() throws {
    let directory = try TemporaryDirectory()
    let image = "\(directory.path)/image"
    let volume = "\(directory.path)/volume"
    let made = try RunningProgram(
      ["/bin/sh", "-c", "mkdir volume && truncate -s 16M image && /sbin/mkfs.ext4 -q image"],
      in: directory.path
    ).wait()
    try #require(made.status == 0, "\(made.output)")
    for isCopied in [false, true, false] {
      let mount = try LoopMount(image: image, at: volume, as: KernelFileSystem(.ext4))
      let holder = isCopied ? try holder(directory) : nil
      #expect(mount.unmount() == !isCopied)
      #expect(try FileManager.default.contentsOfDirectory(atPath: volume) == [])
      withExtendedLifetime(holder) {}
    }
  }
}
