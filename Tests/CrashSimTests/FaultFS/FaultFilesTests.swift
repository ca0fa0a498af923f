// FaultFilesTests.swift: rules about files that can never have such an operation are refused, and
// none that may hit is.

import Foundation
import LabCore
import TestSupport
import Testing

@Suite("Fault rules about files", .requires(.fuse), .serialized)
struct FaultFilesTests {
  private static let setup = [
    "open f cw", "write 0 10 a", "mkdir d", "open d/g cw", "symlink d s", "mkdir e", "open e/d cw",
  ]

  @Test(
    "what never hits is refused, and why is said",
    arguments: [
      ("{on: [read, write], file: e, error: EIO}", "read, write never hits 'e': it is a folder"),
      ("{on: sync, file: s, error: EIO}", "sync never hits 's': it is a symbolic link"),
      ("{on: readDirectory, file: d/g, error: EIO}", "it is a file with content, which has"),
      ("{on: syncDirectory, file: f, error: EIO}", "it is a file with content"),
      ("{on: write, file: s/g, error: EIO}", "'s' is a symbolic link to 'd'"),
      ("{on: write, file: \"s/*\", error: EIO}", "'s' is a symbolic link to 'd'"),
      ("{on: write, file: f/g, error: EIO}", "'f' is a file, no folder"),
      ("{on: write, file: /f, error: EIO}", "leave the first one out"),
      ("{on: write, file: d/, error: EIO}", "leave the last one out"),
      ("{on: write, file: ./f, error: EIO}", "no path has '.' between slashes"),
      ("{on: write, file: \"d//*\", error: EIO}", "no path has '' between slashes"),
      ("{on: close, file: f, command: sh, rot: 1}", "for no process"),
    ])
  func refused(rule: String, words: String) throws {
    let mount = try FaultMount(Self.setup)
    let error = #expect(throws: LabError.self) { try mount.add(rule) }
    #expect(error?.code == .usage && error?.message.contains(words) == true, "\(error as Any)")
    #expect(try mount.client.rules().isEmpty)
  }

  @Test(
    "what may hit is taken",
    arguments: [
      // One of that name is a file, or may become one.
      "{on: write, file: d, error: EIO}", "{on: write, file: later, error: EIO}",
      "{on: write, file: \"d*\", error: EIO}", "{on: write, file: \"d/*\", error: EIO}",
      "{on: [sync, syncDirectory], file: e, error: EIO}", "{on: remove, file: s, error: EIO}",
      "{on: readLink, file: s, error: EIO}", "{on: rename, file: d/g, error: EIO}",
      "{on: create, file: e/new, error: EIO}", "{on: open, file: e, error: EIO}",
      "{on: write, file: \"**/g\", error: EIO}", "{on: write, file: \"[a-f]/g\", error: EIO}",
    ])
  func taken(rule: String) throws {
    let mount = try FaultMount(Self.setup)
    try mount.add(rule)
    #expect(try mount.client.rules().count == 1)
  }
}
