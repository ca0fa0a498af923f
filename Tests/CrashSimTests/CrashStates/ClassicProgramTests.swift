// ClassicProgramTests.swift: replacing a file's content by write, fsync, rename, fsync of the
// directory, and what each omitted step costs under which model.
// Bad is a tree whose file is neither old nor new, or not new although that was acknowledged.

import CrashSim
import Testing

@Suite("Classic programs")
struct ClassicProgramTests {
  enum Step: CaseIterable, Sendable {
    case syncFile, syncDirectory
  }

  /// Replaces `a` (or makes it, when there is none) through a temporary file.
  private func replacement(omitting omitted: Set<Step>, existing: Bool) -> Recording {
    var recording = Recording(files: existing ? ["a": "old!"] : [:])
    recording.create("t")
    recording.write("t", "new!")
    if !omitted.contains(.syncFile) { recording.sync("t") }
    recording.close("t")
    recording.rename("t", to: "a")
    if !omitted.contains(.syncDirectory) { recording.syncDirectory() }
    recording.mark("done")
    return recording
  }

  /// Names of the models under which some state is bad.
  private func badModels(
    _ recording: Recording, old: String, new: String = "a=new!"
  ) throws -> [String] {
    try PersistenceModel.stock.filter { model in
      try Possible(recording, model, torn: true).outcomes.contains { outcome in
        let words = outcome.split(separator: " ").map(String.init)
        let file = words.dropFirst().first { $0.hasPrefix("a=") } ?? ""
        return words[0] == "1:" ? file != new : file != new && file != old
      }
    }.map(\.name)
  }

  @Test("write, fsync, rename, fsync of the directory has no bad state under any model")
  func complete() throws {
    #expect(try badModels(replacement(omitting: [], existing: true), old: "a=old!") == [])
    #expect(try badModels(replacement(omitting: [], existing: false), old: "") == [])
  }

  @Test("without fsync of the new file, replacing is safe under ext4-ordered, a fresh name is not")
  func withoutFileSync() throws {
    let replacing = replacement(omitting: [.syncFile], existing: true)
    #expect(try badModels(replacing, old: "a=old!") == ["posix", "posix-damage"])
    let fresh = replacement(omitting: [.syncFile], existing: false)
    #expect(try badModels(fresh, old: "") == ["ext4-ordered", "posix", "posix-damage"])
  }

  @Test("without fsync of the directory the acknowledged content is lost under every model")
  func withoutDirectorySync() throws {
    let replacing = replacement(omitting: [.syncDirectory], existing: true)
    #expect(
      try badModels(replacing, old: "a=old!") == [
        "strict", "ext4-ordered", "posix", "posix-damage",
      ])
    let fresh = replacement(omitting: [.syncDirectory], existing: false)
    #expect(try badModels(fresh, old: "") == ["strict", "ext4-ordered", "posix", "posix-damage"])
  }

  @Test("rewriting in place after O_TRUNC is bad under every model, in place with fsync under none")
  func rewriteInPlace() throws {
    var truncating = Recording(files: ["a": "old!"])
    truncating.truncate("a", to: 0)
    truncating.write("a", "new!")
    truncating.close("a")
    truncating.sync("a")
    truncating.mark("done")
    #expect(
      try badModels(truncating, old: "a=old!") == [
        "strict", "ext4-ordered", "posix", "posix-damage",
      ])
    var creating = Recording()
    creating.create("a")
    creating.write("a", "new!")
    creating.sync("a")
    creating.mark("done")
    let states = try PersistenceModel.stock.map { try Possible(creating, $0).final }
    #expect(states == [["a=new!"], ["a=new!"], ["a=new!", ""], ["a=new!", ""]])
  }

  @Test("a log record before the page it describes needs the sync in between")
  func writeAheadLog() throws {
    func recording(syncing: Bool) -> Recording {
      var recording = Recording(files: ["log": "----", "page": "1"])
      recording.write("log", "rec1")
      if syncing { recording.sync("log", dataOnly: true) }
      recording.write("page", "2")
      return recording
    }
    for model in PersistenceModel.stock {
      let bad = "0: log=---- page=2"
      #expect(try !Possible(recording(syncing: true), model).outcomes.contains(bad))
      let without = try Possible(recording(syncing: false), model).outcomes.contains(bad)
      #expect(without == (model.name != "strict"))
    }
  }
}
