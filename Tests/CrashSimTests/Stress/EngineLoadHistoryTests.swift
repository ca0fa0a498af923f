// EngineLoadHistoryTests.swift: what the built-in workload's acknowledgements allow.

import Testing

@testable import CrashSim

@Suite("history of the built-in workload")
struct EngineLoadHistoryTests {
  private func history(_ text: String) throws -> EngineLoadHistory {
    var history = EngineLoadHistory()
    try history.consume(Array(text.utf8))
    return history
  }

  private func versions(_ history: EngineLoadHistory) -> [UInt64] {
    history.allowed.states.map(\.version)
  }

  @Test("acknowledged must be there, begun may be")
  func outcomes() throws {
    #expect(try history("").allowed.mustExist == false)
    let open = try history("open 1\nbegin 2 7 1\n")
    #expect(open.allowed.mustExist)
    #expect(versions(open) == [1, 2])
    #expect(versions(try history("open 1\nbegin 2 7 1\ncommit 2\nbegin 3 8 1\n")) == [2, 3])
    // The next writer may begin before the last one has said that it is done.
    #expect(versions(try history("open 1\nbegin 2 7 1\nbegin 3 8 1\ncommit 2\n")) == [2, 3])
  }

  @Test("a version that is begun again was not committed before")
  func begunAgain() throws {
    let once = try history("open 1\nbegin 2 7 1\nopen 1\nbegin 2 8 1\n")
    let twice = try history("open 1\nbegin 2 8 1\n")
    #expect(once.allowed == twice.allowed)
    #expect(once.violations == [])
  }

  @Test("a group of commits may end in a version that nobody begins, and only a group")
  func grouped() throws {
    let text = "open 1\nbegin 2 7 1\ncommit 2\nbegin 4 8 2\ncommit 4\n"
    #expect(try history(text).violations.map(\.oracle) == [.prefix, .prefix])
    var options = EngineLoadOptions()
    options.groupsCommits = true
    var history = EngineLoadHistory(options)
    try history.consume(Array(text.utf8))
    #expect(history.violations == [] && versions(history) == [4, 5])
    history.survive(5)
    #expect(history.version == 5)
  }

  @Test("what a cut leaves is what goes on, also from a file")
  func survival() throws {
    var lost = try history("open 1\nbegin 2 7 1\ncommit 2\nbegin 3 8 1\n")
    var kept = lost
    lost.survive(2)
    kept.survive(3)
    #expect(versions(lost) == [2])
    #expect(versions(kept) == [3])
    let again = EngineLoadHistory(kept.saved, EngineLoadOptions())
    #expect(again.allowed == kept.allowed)
    #expect(again.consumedBytes == kept.consumedBytes)
  }

  @Test("a commit that was lost while the workload ran, and one out of nothing, are told")
  func violations() throws {
    #expect(
      try history("open 1\nbegin 2 7 1\ncommit 2\nbegin 2 8 1\n").violations.map(\.oracle)
        == [.durability])
    #expect(try history("open 1\nbegin 5 7 1\n").violations.map(\.oracle) == [.prefix])
    #expect(try history("open 1\ncommit 2\n").violations.map(\.oracle) == [.prefix])
  }

  @Test(
    "lines of another program are refused",
    arguments: [
      "begin", "begin 1 2", "begin x y z", "hello\n", "commit\n", "open 99999999999999999999",
    ])
  func garbage(text: String) {
    #expect(throws: LabError.self) { try history(text) }
  }
}
