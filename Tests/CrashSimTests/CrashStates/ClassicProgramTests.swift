// ClassicProgramTests.swift: replacing a file's content by write, fsync, rename, fsync of the
// directory, and what each omitted step costs under which model.
// Bad is a tree whose file is neither old nor new, or not new although that was acknowledged.

import CrashStates
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

  /// All stock models, by name.
  private let all = PersistenceModel.stock.map(\.name)
  /// The models under which a file's size and data may come after a later name.
  private let late = [
    "xfs", "ext4-writeback", "btrfs", "prefix-per-file", "posix", "posix-damage",
  ]

  @Test("without fsync of the new file, replacing is safe under ext4-ordered, a fresh name is not")
  func withoutFileSync() throws {
    let replacing = replacement(omitting: [.syncFile], existing: true)
    #expect(try badModels(replacing, old: "a=old!") == late)
    let fresh = replacement(omitting: [.syncFile], existing: false)
    #expect(try badModels(fresh, old: "") == ["ext4-ordered"] + late)
  }

  @Test("without fsync of the directory the acknowledged content is lost under every model")
  func withoutDirectorySync() throws {
    let replacing = replacement(omitting: [.syncDirectory], existing: true)
    #expect(try badModels(replacing, old: "a=old!") == all)
    let fresh = replacement(omitting: [.syncDirectory], existing: false)
    #expect(try badModels(fresh, old: "") == all)
  }

  @Test("rewriting in place after O_TRUNC is bad under every model, in place with fsync under none")
  func rewriteInPlace() throws {
    var truncating = Recording(files: ["a": "old!"])
    truncating.truncate("a", to: 0)
    truncating.write("a", "new!")
    truncating.close("a")
    truncating.sync("a")
    truncating.mark("done")
    #expect(try badModels(truncating, old: "a=old!") == all)
    var creating = Recording()
    creating.create("a")
    creating.write("a", "new!")
    creating.sync("a")
    creating.mark("done")
    for model in PersistenceModel.stock {
      let isNameless = ["prefix-per-file", "posix", "posix-damage"].contains(model.name)
      let expected: Set<String> = isNameless ? ["a=new!", ""] : ["a=new!"]
      #expect(try Possible(creating, model).final == expected, "\(model.name)")
    }
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
      #expect(without == !["strict", "ext4-journal"].contains(model.name), "\(model.name)")
    }
  }
}
