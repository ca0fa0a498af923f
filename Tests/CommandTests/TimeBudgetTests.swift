// TimeBudgetTests.swift: what a user sees of an exploration that takes long or ends early: budgets
// of time, findings as they are met, how long they are explained, what a verdict rests on.

import Foundation
import TestSupport
import Testing

@Suite("The time of an exploration", .requires(.fuse))
struct TimeBudgetTests {
  // What is wrong begins behind 120 good rounds. Two checkers that take 50 ms judge 160 states at
  // most in the time, which is less than those rounds have.
  @Test("finds what shows at the end of a recording only")
  func end() throws {
    let command = try FaultlineCommand()
    let exploration = FaultlineCommand.exploration(
      workload: """
        for i in $(seq 120); do echo $i >> log; sync log; echo $i; done
        for i in $(seq 121 160); do echo $i >> log; echo $i; done
        """,
      check: """
        sleep 0.05
        last=$(tail -n 1 "$FAULTLINE_OUTPUT")
        [ -z "$last" ] || grep -qx "$last" log || { echo "lost: a line"; exit 1; }
        """)
    let arguments = ["--jobs", "2", "--time-budget", "4s"]
    let result = try command.run(exploration + arguments)
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("lost: a line"))
    #expect(result.output.contains("time budget"))
  }

  // Sixty states at 0.2 s, two at a time.
  @Test("a finding is printed when it is met, and explained for a stated time only")
  func met() throws {
    let command = try FaultlineCommand()
    let result = try command.explore(
      workload: "for i in $(seq 30); do echo $i >> log; echo $i > tip; echo $i; done",
      check: """
        sleep 0.2
        last=$(tail -n 1 "$FAULTLINE_OUTPUT")
        [ -z "$last" ] && exit 0
        grep -qx "$last" log || { echo "lost: a line"; exit 1; }
        grep -qx "$last" tip || { echo "torn: the tip"; exit 1; }
        """, ["--jobs", "2", "--budget", "60", "--explain-time", "1s"])
    #expect(result.status == 1, "\(result.output)")
    func line(_ text: String) throws -> Int {
      try #require(result.lines.firstIndex { $0.contains(text) }, "\(text): \(result.output)")
    }
    let met = try line("ext4-ordered: met 'lost: a line' in a state of crash point ")
    let token = result.lines[met + 1].split(separator: " ").last.map(String.init) ?? ""
    let explaining = try line("explaining ")
    let finding = try line("FINDING 1: ")
    #expect(met < explaining && explaining < finding)
    #expect(result.lines[explaining].hasSuffix("at most 1 s (--explain-time)"))
    #expect(try line("explained 1 of ") < finding)
    #expect(result.output.contains("  explained  in part, until --explain-time ended"))

    // The state as it was met can be replayed long before all of them are judged.
    let replayed = try command.run(["replay", token])
    #expect(replayed.status == 1 && replayed.output.contains("lost: a line"), "\(replayed.output)")
  }

  @Test("verdicts that are known are not asked for again")
  func reuse() throws {
    let command = try FaultlineCommand()
    let calls = command.directory.file("calls")
    let result = try command.explore(
      workload: "for i in 1 2; do echo $i > $i; echo $i; done",
      check: """
        echo >> '\(calls)'
        [ $(ls | wc -l) -ge $(wc -l < "$FAULTLINE_OUTPUT") ] || { echo lost; exit 1; }
        """)
    let explored = try #require(result.output.firstMatch(of: /explored (\d+) of (\d+) distinct/))
    #expect(result.status == 1 && explored.1 == explored.2, "\(result.output)")
    let asked = try String(contentsOfFile: calls, encoding: .utf8).utf8.count
    // The directory before and after the workload, all states, and the one that failed again.
    #expect(try asked == 2 + #require(Int(explored.1)) + 1, "\(result.output)")
  }

  @Test("a verdict on few crash points says so, and which budget looks at all")
  func caution() throws {
    let command = try FaultlineCommand()
    let exploration = FaultlineCommand.exploration(
      workload: "for i in $(seq 40); do echo $i >> log; sync log; echo $i; done", check: "true")
    let few = try command.run(
      exploration + ["--budget", "12", "--json", "few.json", "--html", "few.html"])
    #expect(few.status == 0, "\(few.output)")
    let caution = try #require(
      few.output.firstMatch(
        of: /little was looked at: no state of (\d+) of (\d+) crash points; --budget (\d+) looks/),
      "\(few.output)")
    #expect(few.output.contains("; after marks "))
    let said = try #require(few.output.firstMatch(of: /little was looked at: .*/)).output
    #expect(try command.text("few.json").contains("\"caution\" : \"\(said)\""))
    #expect(try command.text("few.html").contains(">ext4-ordered: \(said)</p>"))
    let enough = try command.run(exploration + ["--budget", String(caution.3)])
    #expect(enough.status == 0 && !enough.output.contains("little was looked at"))
    #expect(!enough.output.contains("; after marks "), "\(enough.output)")
    let less = try #require(Int(caution.3)) - 1
    let almost = try command.run(exploration + ["--budget", String(less)])
    #expect(almost.output.contains("; after marks "), "\(almost.output)")
  }

  // Each state brings ten of its recovery, which take seconds in all.
  @Test("a scenario that ran out of time says what its verdict rests on, to the state")
  func scenario() throws {
    let command = try FaultlineCommand()
    let file = try command.write(
      """
      title: Commits whose recoveries are cut
      schema: {Dog: {_id: int primary, age: int}}
      processes: {app: [ui]}
      steps:
        - ui: open
        - ui: {repeat: 300, write: [{upsert: Dog, _id: 1..9, age: random}]}
      crash: {model: ext4-ordered, explore: all, recovery: true}
      """, to: "long.yaml")
    let run = ["run", file, "--model", "ext4-ordered"]
    let result = try command.run(run + ["--time-budget", "1s", "--json", "r.json"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("; the time budget ended first"), "\(result.output)")
    #expect(result.output.contains("; after marks "), "\(result.output)")
    let exploration = try command.report("r.json").cases[0].explorations[0]
    let counts = try #require(exploration.crashPoints)
    let checked = try counts.reduce(0) { try $0 + #require($1.checked) }
    #expect(checked == exploration.exploredCount - (exploration.recoveryCount ?? 0))
    let thin = try command.run(run + ["--budget", "30"])
    #expect(thin.output.contains(/little was looked at: .*; --budget \d+ looks/), "\(thin.output)")
  }
}
