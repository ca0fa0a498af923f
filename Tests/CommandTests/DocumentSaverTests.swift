// DocumentSaverTests.swift: the document store under the lab: what it acknowledged survives every
// power failure, and without its syncs that does not hold.

import TestSupport
import Testing

@Suite("the document store under power failures", .requires(.fuse))
struct DocumentSaverTests {
  private static let program = "'\(FaultlineCommand.folder.path)/document-saver'"

  private func explore(_ options: [String], budget: Int) throws -> CommandResult {
    try FaultlineCommand().run(
      [
        "explore", "--workload", "\(Self.program) save 2", "--check", "\(Self.program) check",
        "--budget", "\(budget)",
      ] + options)
  }

  @Test("notes with blobs are whole, in order, and there once they were acknowledged")
  func holds() throws {
    let result = try explore(["--model", "ext4-ordered,posix"], budget: 50)
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("verdict: held, 0 findings"), "\(result.output)")
  }

  @Test(
    "each kind of sync is needed",
    arguments: [
      ("on: sync, file: \"db.sqlite3*\"", "ext4-ordered"),
      ("on: sync, file: \"incoming_*\"", "posix"),
      ("on: syncDirectory, file: Attachments", "posix"),
      ("on: syncDirectory, file: \"*.cblite2\"", "posix"),
    ])
  func needed(rule: String, model: String) throws {
    let options = ["--model", model, "--fault", rule + ", ignore: true"]
    let result = try explore(options, budget: 50)
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("FINDING 1"), "\(result.output)")
  }
}
