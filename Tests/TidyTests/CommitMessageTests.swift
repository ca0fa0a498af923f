// CommitMessageTests.swift: the hook that checks commit messages (.ci/hooks/commit-msg).

import Foundation
import Testing

@Suite("the hook of commit messages")
struct CommitMessageTests {
  /// What the hook prints about a message, and whether it takes it.
  private func judge(_ message: String) throws -> (isTaken: Bool, text: String) {
    let file = FileManager.default.temporaryDirectory.appending(path: "message-\(UUID()).txt")
    try message.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [SourceTree.root.appending(path: ".ci/hooks/commit-msg").path, file.path]
    let pipe = Pipe()
    process.standardError = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus == 0, text)
  }

  @Test(
    "takes what has the form",
    arguments: [
      "engine: sync the folder after a rename\n\nA power failure could lose the name.\n",
      "docs/how-to: add a page\n\nBecause.\n\n# a comment\n",
      "Merge branch 'x'\n", "fixup! engine: sync\n",
      "engine: sync\n\nBody.\n# ------------------------ >8 ------------------------\nrest\n",
    ])
  func takes(message: String) throws {
    let verdict = try judge(message)
    #expect(verdict.isTaken, "\(verdict.text)")
  }

  @Test(
    "says what is wrong with others",
    arguments: [
      ("sync the folder\n\nBody.\n", "begin with the area"),
      ("engine: sync the folder.\n\nBody.\n", "ends with a period"),
      ("engine: Added a sync\n\nBody.\n", "imperative"),
      ("engine: sync\nBody.\n", "second line"),
      ("engine: sync\n\n# only a comment\n", "add a body"),
      ("engine: sync \(String(repeating: "x", count: 70))\n\nBody.\n", "72 columns"),
      ("\n", "begin with the area"),
    ])
  func refuses(message: String, reason: String) throws {
    let verdict = try judge(message)
    #expect(!verdict.isTaken && verdict.text.contains(reason), "\(verdict.text)")
  }
}
