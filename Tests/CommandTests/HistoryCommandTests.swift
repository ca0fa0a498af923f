// HistoryCommandTests.swift: `faultline history check`: its exit codes, its words and its JSON.

import Foundation
import Oracles
import Testing

@Suite("history check")
struct HistoryCommandTests {
  private static let skew = """
    {"history":1}
    {"begin":1,"session":0}
    {"begin":2,"session":1}
    {"ops":1,"do":[["read",1,[]],["append",2,2]]}
    {"ops":2,"do":[["read",2,[]],["append",1,1]]}
    {"end":1,"outcome":"committed"}
    {"end":2,"outcome":"committed"}
    {"begin":3,"session":0}
    {"ops":3,"do":[["read",1,[1]],["read",2,[2]]]}
    {"end":3,"outcome":"committed"}
    """

  @Test("write skew breaks serializable and keeps snapshot isolation")
  func levels() throws {
    let command = try FaultlineCommand()
    let path = try command.write(Self.skew, to: "skew.jsonl")
    let strict = try command.run(["history", "check", path, "--json", "r.json"])
    #expect(strict.status == 1, "\(strict.output)")
    #expect(strict.hasLine("G2-item (forbidden by serializable and above)"), "\(strict.output)")
    #expect(strict.hasLine("FAILED strict-serializable: the strongest level kept is snapshot"))
    let report = try JSONDecoder().decode(
      IsolationReport.self, from: Data(try command.text("r.json").utf8))
    #expect(report.anomalies.map(\.name) == [.antiDependencyCycle])
    let weak = try command.run(["history", "check", path, "--level", "snapshot-isolation"])
    #expect(weak.status == 0, "\(weak.output)")
  }

  @Test("what is not a history, or no level, is usage")
  func usage() throws {
    let command = try FaultlineCommand()
    let path = try command.write("{\"history\":1}\n{\"begin\":1}\n", to: "h.jsonl")
    let wrong = try command.run(["history", "check", path])
    #expect(wrong.status == 2 && wrong.output.contains("h.jsonl:2: "), "\(wrong.output)")
    let level = try command.run(["history", "check", path, "--level", "best"])
    #expect(level.status == 2 && level.output.contains("give one of read-uncommitted"))
    let missing = try command.run(["history", "check", "none"])
    #expect(missing.status == 2 && missing.output.contains("none: cannot be read"))
  }
}
