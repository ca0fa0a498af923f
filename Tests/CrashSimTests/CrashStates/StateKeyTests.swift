// StateKeyTests.swift: keys name states exactly, and wrong ones are refused.

import CrashStates
import LabCore
import Testing

@Suite("State keys")
struct StateKeyTests {
  @Test("key, text and state round trip", arguments: PersistenceModel.stock)
  func roundTrip(model: PersistenceModel) throws {
    let trace = makeRandomTrace(
      seed: Seed(rawValue: 5), operations: 50, syncChance: Ratio(1, in: 8))
    let enumerator = try CrashStateEnumerator(trace: trace, model: model, seed: Seed(rawValue: 1))
    var texts: Set<String> = []
    var count = 0
    try enumerator.visit(enumerator.plan(budget: 400)) { (found, _) throws(LabError) in
      let key = enumerator.key(of: found.state)
      #expect(StateKey(parsing: key.description) == key)
      #expect(try enumerator.state(for: key) == found.state)
      texts.insert(key.description)
      count += 1
      return .goOn
    }
    #expect(texts.count == count)
  }

  @Test(
    "text that is not a key is refused",
    arguments: [
      "", "posix@1", "posix@1:p2", "posix@1:p2:lost", "posix@1:p2:lost=", "posix@1:p2:lost=3-2",
      "posix@1:p2:lost=3,3", "posix@1:p-2:lost=none", "posix:p2:lost=none", "@1:p2:lost=none",
      "posix@1:p2:gone=1", "posix@1:p2:lost=1:torn=2", "posix@1:p2:lost=1:torn=2.0-1.ice",
      "posix@1:p2:lost=1:torn=2.1-0.old", "posix@1:p2:lost=99999999999999999999", "a:b:c:d:e",
    ])
  func malformed(text: String) {
    #expect(StateKey(parsing: text) == nil)
  }

  @Test(
    "keys that the model does not allow are errors",
    arguments: [
      "posix@4:p2:lost=none", "ext3-ordered@1:p2:lost=none", "ext3-ordered@4:p9:lost=none",
      "ext3-ordered@4:p4:lost=none", "ext3-ordered@4:p4:kept=none",
      "ext3-ordered@4:p2:kept=7", "ext3-ordered@4:p2:kept=1", "ext3-ordered@4:p3:lost=0",
      "ext3-ordered@4:p2:kept=none:torn=1.0-1.old", "ext3-ordered@4:p2:kept=none:torn=0.0-9.old",
      "ext3-ordered@4:p2:kept=0:torn=0.0-1.old", "ext3-ordered@4:p0:kept=none:torn=0.0-1.old",
      "ext3-ordered@4:p2:kept=none:torn=0.0-0.old",
    ])
  func notAllowed(text: String) throws {
    var recording = Recording(files: ["a": ""])
    recording.write("a", "x")
    recording.close("a")
    recording.sync("a")
    let table = try UnitTable(trace: recording.trace, model: .ext3Ordered)
    let key = try #require(StateKey(parsing: text))
    #expect(throws: LabError.self) { try table.state(for: key) }
  }
}
