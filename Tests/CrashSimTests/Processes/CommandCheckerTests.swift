// CommandCheckerTests.swift: exit status, signal and time limit are distinct verdicts, and a
// checker sees exactly the state and the acknowledgements it was given.

import Exploration
import Findings
import Foundation
import Recording
import Testing

@Suite struct CommandCheckerTests {
  private func withSlot(_ body: (String) throws -> Void) throws {
    let path = NSTemporaryDirectory() + "faultline-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  private func tree() -> TreeImage {
    var tree = TreeImage()
    let number = InodeNumber(rawValue: 2)
    var file = InodeImage(type: .regular, ownership: Ownership(mode: 0o640))
    file.sizeBytes = 10
    file.extents = [Extent(offsetBytes: 4, bytes: Array("abc".utf8))]
    tree.inodes[number] = file
    tree.inodes[.root]?.entries[FileName("f")] = number
    tree.inodes[.root]?.entries[FileName("g")] = number
    return tree
  }

  private func check(_ command: String, timeoutSeconds: Int = 20) throws -> CheckResult {
    var result: CheckResult?
    try withSlot { slot in
      let checker = try CommandChecker(
        command: command, slot: slot, timeoutSeconds: timeoutSeconds)
      result = try checker.check(tree(), acknowledged: Array("one\n".utf8))
    }
    return try #require(result)
  }

  @Test("exit status 0 is success, another is kept with its output")
  func exits() throws {
    #expect(try check("true").ending == .exited(0))
    let failed = try check("echo; echo '  lost: a row'; exit 3")
    #expect(failed.ending == .exited(3))
    #expect(failed.headline == "lost: a row")
  }

  @Test("a signal and a time limit are verdicts of their own")
  func signalsAndTimeouts() throws {
    #expect(try check("kill -SEGV $$").ending == .signalled(11))
    #expect(try check("sleep 60", timeoutSeconds: 1).ending == .timedOut(seconds: 1))
  }

  @Test("the checker sees the state: sizes, holes, hard links, permissions, acknowledgements")
  func content() throws {
    let command = """
      set -e
      test "$(od -An -tx1 f | tr -d ' \\n')" = 00000000616263000000
      test f -ef g
      test "$(stat -c %a f)" = 640
      test "$PWD" = "$FAULTLINE_DIR"
      test "$(cat "$FAULTLINE_OUTPUT")" = one
      test "$(ls | wc -l)" = 2
      """
    #expect(try check(command).ending == .exited(0))
  }

  @Test("what one state's checker leaves behind, the next state does not see")
  func isolation() throws {
    try withSlot { slot in
      let checker = try CommandChecker(
        command: "test ! -e litter && mkdir litter && echo x > f && chmod 0 f litter", slot: slot,
        timeoutSeconds: 20)
      for _ in 0..<3 {
        #expect(try checker.check(tree(), acknowledged: []).ending == .exited(0))
      }
    }
  }

  @Test("a process that the checker leaves in the background is killed with it")
  func background() throws {
    try withSlot { slot in
      let checker = try CommandChecker(
        command: "sleep 300 & echo $! > '\(slot)/pid'", slot: slot, timeoutSeconds: 20)
      _ = try checker.check(tree(), acknowledged: [])
      let pid = try String(contentsOfFile: "\(slot)/pid", encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
      var state = "R"
      for _ in 0..<100 where !(state.isEmpty || state == "Z") {
        let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        state = stat.split(separator: ")").last?.split(separator: " ").first.map(String.init) ?? ""
        Thread.sleep(forTimeInterval: 0.02)
      }
      #expect(state.isEmpty || state == "Z")
    }
  }
}
