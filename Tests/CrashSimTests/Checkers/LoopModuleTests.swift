// LoopModuleTests.swift: the modules of examples/checkers, each with its example, in its language.

import Findings
import Foundation
import TestSupport
import Testing

@testable import Exploration
@testable import LabCore
@testable import Recording

@Suite("modules for checkers that stay")
struct LoopModuleTests {
  private static let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("examples/checkers").path

  private func state(_ notes: String?) -> TreeImage {
    var tree = TreeImage()
    guard let notes else { return tree }
    let number = InodeNumber(rawValue: 2)
    var file = InodeImage(type: .regular, ownership: Ownership(mode: 0o644))
    file.sizeBytes = UInt64(notes.utf8.count)
    file.extents = Extent.pieces(of: Array(notes.utf8), at: 0)
    tree.inodes[number] = file
    tree.inodes[.root]?.entries[FileName("notes")] = number
    return tree
  }

  /// Builds an example into `$OUT`, and asks it about states, good and bad in turn.
  private func judge(_ build: String, _ command: String) throws {
    let folder = try TemporaryDirectory()
    let out = folder.file("out")
    let built = try runShell(
      "mkdir '\(out)' slot && cd '\(Self.examples)' && OUT='\(out)' && \(build)", in: folder.path)
    #expect(built.status == 0, "\(built.output)")
    let checker = try LoopChecker(
      command:
        "export PYTHONDONTWRITEBYTECODE=1 OUT='\(out)'; cd '\(Self.examples)'; exec \(command)",
      slot: folder.file("slot"), timeoutSeconds: 60)
    let acknowledged = Array("1\n2\n".utf8)
    for notes in ["note 1\nnote 2\n", "note 1\nnote 2\nnote 3\n"] {
      let held = try checker.check(state(notes), acknowledged: acknowledged)
      #expect(held.ending == .exited(0), "\(held.output)")
      let lost = try checker.check(state("note 1\n"), acknowledged: acknowledged)
      #expect(lost.ending == .exited(1))
      #expect(lost.headline == "note 2 was acknowledged and is lost", "\(lost.output)")
      // The judge itself fails: that is a verdict of the state, too.
      #expect(try checker.check(state(nil), acknowledged: acknowledged).ending == .exited(1))
    }
  }

  @Test("Python", .requires(.python3))
  func python() throws { try judge("true", "python3 python/notes.py") }

  @Test("C", .requires(.cc))
  func c() throws {
    try judge("cc -std=c99 -Wall -Wextra -Werror -o $OUT/notes c/notes.c", "\"$OUT/notes\"")
  }

  @Test("Node", .requires(.node))
  func node() throws { try judge("true", "node node/notes.js") }

  @Test("Go", .requires(.go))
  func go() throws {
    try judge(
      "GOCACHE=$OUT/cache go build -o $OUT/notes go/notes.go go/faultline_check.go",
      "\"$OUT/notes\"")
  }

  @Test("Rust", .requires(.rust))
  func rust() throws { try judge("/usr/bin/rustc -o $OUT/notes rust/notes.rs", "\"$OUT/notes\"") }

  @Test("Java", .requires(.java))
  func java() throws { try judge("javac -d $OUT java/*.java", "java -cp \"$OUT\" Notes") }

  @Test("Swift", .requires(.swiftc))
  func swift() throws {
    try judge(
      "swiftc -o $OUT/notes swift/main.swift swift/FaultlineCheck.swift", "\"$OUT/notes\"")
  }
}
