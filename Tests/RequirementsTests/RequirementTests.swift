// RequirementTests.swift: a missing requirement skips a test, or fails it where FAULTLINE_REQUIRE
// says so. The tests' own program is run again without /dev/fuse to see both.

import Foundation
import Requirements
import Testing

@Suite("Requirements")
struct RequirementTests {
  @Test("the value of the variable is a list of known words; anything else is an error")
  func parsing() throws {
    #expect(try RequirementPolicy(parsing: "").mandatory == [])
    #expect(try RequirementPolicy(parsing: "fuse, ext4 ,xfs").mandatory == [.fuse, .ext4, .xfs])
    for text in ["fuze", "fuse,tape", "FUSE", "fuse loop,tape", "1"] {
      let error = #expect(throws: RequirementError.self) { try RequirementPolicy(parsing: text) }
      #expect(error?.description.contains("unknown word") == true, "'\(text)'")
      #expect(error?.description.contains("known words: fuse, loop, ext4") == true)
    }
  }

  @Test("FAULTLINE_REQUIRE of this run has known words only")
  func ownEnvironment() throws {
    _ = try RequirementPolicy.ofEnvironment()
  }

  @Test("what is missing skips, what is missing and mandatory fails, what is there runs")
  func policy() throws {
    let lacksFuse: (Requirement) -> String? = { $0 == .fuse ? "no device" : nil }
    let lax = try RequirementPolicy(parsing: "ext4")
    #expect(try lax.allows([.ext4, .git], missing: lacksFuse))
    #expect(try !lax.allows([.ext4, .fuse], missing: lacksFuse))
    let strict = try RequirementPolicy(parsing: "ext4,fuse")
    let error = #expect(throws: RequirementError.self) {
      try strict.allows([.git, .fuse], missing: lacksFuse)
    }
    #expect(error?.description == "FAULTLINE_REQUIRE demands fuse: no device")
    // A requirement that skips comes first, and one behind it still fails.
    #expect(throws: RequirementError.self) {
      try strict.allows([.git, .fuse], missing: { _ in "nothing here" })
    }
  }

  /// Runs `FuseControl` in a mount namespace whose /dev has no fuse.
  private static func control(demanding words: String) throws -> (status: Int32, output: String) {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    let shell = Process()
    let pipe = Pipe()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = [
      "-c",
      """
      unshare -m sh -c 'mount -t tmpfs none /mnt && cp -a /dev/null /dev/urandom /mnt &&
        mount --bind /mnt /dev && exec "$0" --testing-library swift-testing --filter "$1"' \
        "$0" FuseControl 2>&1
      """, program,
    ]
    shell.environment = ProcessInfo.processInfo.environment
      .merging(["FAULTLINE_REQUIRE": words]) { $1 }
    shell.standardOutput = pipe
    try shell.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    shell.waitUntilExit()
    return (shell.terminationStatus, output)
  }

  @Test(
    "a machine that lost /dev/fuse skips, and is red where fuse is demanded",
    .requires(.namespaces))
  func lostDevice() throws {
    let skipped = try Self.control(demanding: "ext4")
    #expect(skipped.status == 0, "\(skipped.output)")
    #expect(skipped.output.contains("skipped: fuse: no /dev/fuse; load its module"))
    #expect(!skipped.output.contains("the control ran"), "\(skipped.output)")
    let failed = try Self.control(demanding: "ext4,fuse")
    #expect(failed.status != 0, "\(failed.output)")
    #expect(failed.output.contains("FAULTLINE_REQUIRE demands fuse: no /dev/fuse; load its"))
    let misspelt = try Self.control(demanding: "fuze")
    #expect(misspelt.status != 0, "\(misspelt.output)")
    #expect(misspelt.output.contains("FAULTLINE_REQUIRE: unknown word 'fuze'"))
  }
}

/// What `lostDevice` runs without the device.
@Suite("FuseControl", .requires(.fuse))
struct FuseControl {
  @Test("runs where /dev/fuse is")
  func control() {
    let isThere = FileManager.default.fileExists(atPath: "/dev/fuse")
    #expect(isThere, "the control ran without /dev/fuse")
  }
}
