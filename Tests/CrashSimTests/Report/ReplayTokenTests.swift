// ReplayTokenTests.swift: a token carries its whole recipe, and damaged ones are refused.

import Findings
import LabCore
import Recording
import Scenarios
import Testing

@Suite struct ReplayTokenTests {
  private let recipe = ReplayRecipe.explore(
    ExploreRecipe(
      workload: "sh 'a b'.sh \"ü\"", check: "exit 1", setup: nil, model: "posix", seed: 7,
      state: "12:0-3", shape: "abc", timeoutSeconds: 20))

  @Test("a token decodes to the recipe it was made from")
  func roundTrip() throws {
    let token = recipe.token
    #expect(token.allSatisfy { $0.isASCII && !$0.isWhitespace && $0 != "'" && $0 != "$" })
    #expect(try ReplayRecipe(token: token + "\n") == recipe)
  }

  @Test("the same recipe gives the same token")
  func deterministic() {
    #expect(recipe.token == recipe.token)
  }

  @Test(
    "a damaged token is a usage error",
    arguments: ["", "fl1-", "fl1-!!!!", "fl2-e30", "fl1-e30", "hello"])
  func damaged(token: String) {
    #expect {
      try ReplayRecipe(token: token)
    } throws: { error in
      (error as? LabError)?.code == .usage
    }
  }

  @Test("an explored program's recipe gives the token that replay reads")
  func exploreTokenIsAReplayToken() throws {
    let explored = ExploreRecipe(
      workload: "w", check: "c", setup: nil, model: "posix", seed: 7, state: "1:2:3", shape: "s",
      timeoutSeconds: 9)
    #expect(explored.token == ReplayRecipe.explore(explored).token)
    #expect(try ReplayRecipe(token: explored.token) == .explore(explored))
  }

  @Test("every cut and every changed letter of a token is refused or decodes without a trap")
  func mutated() {
    let token = Array(recipe.token)
    // What is before the dot is a token without a seal.
    for index in token.indices where token[index] != "." {
      #expect(throws: LabError.self) { try ReplayRecipe(token: String(token[..<index])) }
      var changed = token
      changed[index] = changed[index] == "A" ? "B" : "A"
      _ = try? ReplayRecipe(token: String(changed))
    }
  }

  @Test("the shape of a trace ignores bytes, names, times and processes, but not sizes")
  func shape() {
    func trace(_ bytes: [UInt8], process: Int32, name: String) -> Trace {
      let inode = InodeNumber(rawValue: 2)
      let create = Operation.create(
        inode: inode, parent: .root, name: FileName(name), type: .regular,
        ownership: Ownership(mode: 0o644))
      let write = Operation.write(inode: inode, offsetBytes: 0, payload: Payload(bytes))
      return Trace(
        initial: TreeImage(),
        events: [
          TraceEvent(.operation(create), process: process),
          TraceEvent(.operation(write), timeNanoseconds: UInt64(process)),
        ])
    }
    let one = trace([1, 2], process: 3, name: "a").shape
    #expect(one == trace([9, 9], process: 4, name: "b").shape)
    #expect(one != trace([1, 2, 3], process: 3, name: "a").shape)
  }
}
