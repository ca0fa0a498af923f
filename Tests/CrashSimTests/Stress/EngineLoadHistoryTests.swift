// EngineLoadHistoryTests.swift: what the built-in workload's acknowledgements allow.

import Testing

@testable import LabCore
@testable import Scenarios

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

  @Test("a transaction that fails unheard may leave its number to the end of its group")
  func failedUnheard() throws {
    var options = EngineLoadOptions()
    options.groupsCommits = true
    func history(_ text: String, mayFail: Bool = true) throws -> EngineLoadHistory {
      options.mayFail = mayFail
      var history = EngineLoadHistory(options)
      try history.consume(Array(text.utf8))
      return history
    }
    // Numbers of two processes' transactions.
    let (ours, theirs) = (1_600_000, 3_200_000)
    let begun = "open 1\nbegin 2 7 \(ours)\ncommit 2\nbegin 3 8 \(ours + 1)\n"
    let went = begun + "begin 4 9 \(theirs)\ncommit 4\n"
    let left = try history(went)
    #expect(left.allowed.acked.version == 4)
    #expect(try history(went, mayFail: false).allowed.states.count == 2)
    // With what 3 wrote and without, and each with a group's end behind it.
    #expect(Set(left.allowed.states.map(\.version)) == [4, 5])
    let contents = Set(left.allowed.states.map(\.contentHash))
    #expect(contents.count == 2)
    let without = try history(
      "open 1\nbegin 2 7 \(ours)\ncommit 2\nbegin 4 9 \(theirs)\ncommit 4\n")
    #expect(contents.contains(without.allowed.acked.contentHash))
    // A crash before anybody went on may leave it so, too.
    #expect(try history(begun).allowed.states.filter { $0.version == 3 }.count == 2)
    // Once it is heard of, there is one account of what happened.
    let heard = try history(begun + "begin 4 9 \(theirs)\ncommit 3\ncommit 4\n")
    #expect(heard.allowed.acked == left.allowed.acked)
    #expect(Set(heard.allowed.states.map(\.contentHash)).count == 1)
    // What survives decides which of them it was.
    var survived = left
    survived.survive(4) { without.allowed.acked.contentHash }
    #expect(survived.allowed.acked.contentHash == without.allowed.acked.contentHash)
    #expect(survived.violations == [])
  }

  @Test("doubts about versions that were begun again are no doubts any more")
  func doubtsEnd() throws {
    var options = EngineLoadOptions()
    options.groupsCommits = true
    options.mayFail = true
    // Each time two processes begin a version each, and die.
    let life = { (process: Int) -> String in
      "begin 3 \(process) \(process * 1_600_000)\nbegin 4 \(process) \((process + 1) * 1_600_000)\n"
    }
    func history(_ lives: [Int]) throws -> EngineLoadHistory {
      var history = EngineLoadHistory(options)
      let text = "open 1\nbegin 2 7 1\ncommit 2\n" + lives.map(life).joined()
      try history.consume(Array(text.utf8))
      return history
    }
    let many = try history(Array(stride(from: 1, to: 81, by: 2)))
    let last = try history([79])
    #expect(many.violations == [] && many.allowed == last.allowed)
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
