// StressTests.swift: `faultline stress`: power cuts one after another on what the last one left.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import Scenarios
@testable import Workload

@Suite(
  "stress",
  .requires(.fuse), .serialized)
struct StressTests {
  /// Counts in a file that is replaced by rename; what `sync` lacks decides what it promises.
  private static func counting(sync: String) -> String {
    """
    n=$(cat n 2>/dev/null || echo 0)
    while [ $n -lt 100000 ]; do
      n=$((n + 1)); echo $n > n.new; sync n.new; mv n.new n; \(sync); echo $n
    done
    """
  }

  private static let checkCount = """
    n=$(cat n 2>/dev/null || echo 0); a=$(tail -n 1 "$FAULTLINE_OUTPUT")
    [ "${n:-0}" -ge "${a:-0}" ] || { echo "lost: $a was acknowledged, there is $n"; exit 1; }
    """

  private static func arguments(_ workload: String, _ more: [String]) -> [String] {
    ["stress", "--workload", workload, "--check", checkCount, "--within", "40"] + more
  }

  @Test("20 cuts under the engine, with kills: nothing is found, nothing is left")
  func engine() throws {
    let command = try FaultlineCommand()
    let program = try command.start(
      [
        "stress", "--no-swarm", "--cuts", "20", "--kills", "1", "--within", "250", "--json",
        "r.json",
      ])
    let run = try #require(LiveRun(pid: program.process))
    let result = program.wait()
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("20 power cuts and "), "\(result.output)")
    #expect(run.remains(within: 2) == [])
    let item = try #require(try command.report("r.json").cases.first)
    #expect(item.complaints == [])
    let exploration = try #require(item.explorations.first)
    #expect(exploration.exploredCount == 20)
    #expect(exploration.markCount > 100, "\(exploration.markCount)")
  }

  @Test("a swarm: each life says its options first, nothing is found, and figures are written")
  func swarm() throws {
    let command = try FaultlineCommand()
    let result = try command.run(
      ["stress", "--cuts", "16", "--seed", "1", "--metrics", "stress.prom"])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.hasLine("options from round 0: processes=3 writers=2"), "\(result.output)")
    #expect(result.hasLine("options from round 12: processes=2"), "\(result.output)")
    #expect(result.hasLine("options from round 15: history of objects"), "\(result.output)")
    let metrics = try command.text("stress.prom")
    #expect(metrics.contains("\nfaultline_stress_power_cuts_total 16\n"), "\(metrics)")
    #expect(metrics.contains("\nfaultline_stress_lives_total 3\n"), "\(metrics)")
  }

  @Test("a life that fails is thinned; what is kept of it fails again")
  func thinning() throws {
    let command = try FaultlineCommand()
    let result = try command.run([
      "stress", "--cuts", "200", "--within", "60", "--fail-fast", "--report", "kept",
      "--faults", "on: sync, every: 2, ignore: true",
    ])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("  thinned in "), "\(result.output)")
    let names = try FileManager.default.contentsOfDirectory(
      atPath: command.directory.file("kept"))
    let kept = try #require(names.first { $0.hasPrefix("round-") })
    let files = try FileManager.default.contentsOfDirectory(
      atPath: command.directory.file("kept/\(kept)/state"))
    #expect(files.contains { $0.hasPrefix("history-") && $0.hasSuffix(".jsonl") }, "\(files)")
    let thinned = "kept/\(kept)/options-thinned.json"
    let options = try StressLifeOptions.load(command.directory.file(thinned))
    // The fault is all that is wrong, so it cannot be left out.
    #expect(options.faultNames == ["ignore"], "\(result.output)")
    let again = try command.run([
      "stress", "--cuts", "200", "--fail-fast", "--no-thinning", "--options", thinned,
    ])
    #expect(again.status == 1, "\(again.output)")
  }

  @Test("drawn histories over a disk that ignores syncs: found, and replayed by the token")
  func histories() throws {
    let command = try FaultlineCommand()
    var options = StressLifeOptions()
    options.history = .tables
    options.model = "strict"
    options.rounds = 1
    options.faultNames = ["ignore"]
    options.faults = try FaultFile.parse(
      commandLine: "on: sync, ignore: true, file: \"*.realm\"", file: "the fault",
      allowsAnyErrno: false)
    try options.json().write(
      toFile: command.directory.file("options.json"), atomically: true, encoding: .utf8)
    let result = try command.run([
      "stress", "--options", "options.json", "--cuts", "40", "--fail-fast", "--no-thinning",
    ])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.hasLine("options from round 0: history of tables"), "\(result.output)")
    #expect(result.output.contains("FINDING 1: durability"), "\(result.output)")
    let again = try command.run(["replay", try #require(result.replayToken)])
    #expect(again.output.contains("broken, reproduced"), "\(again.output)")
  }

  @Test("the engine over a disk that ignores syncs: found, and judged again from what was kept")
  func ignoredSyncs() throws {
    let command = try FaultlineCommand()
    let result = try command.run([
      "stress", "--no-swarm", "--cuts", "200", "--within", "60", "--fail-fast", "--report", "kept",
      "--faults", "on: sync, every: 2, ignore: true",
    ])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("FAILED durability") || result.output.contains("structure"))
    #expect(result.output.contains("acknowledged and ignored: injected"), "\(result.output)")
    let names = try FileManager.default.contentsOfDirectory(
      atPath: command.directory.file("kept"))
    let kept = try #require(names.first { $0.hasPrefix("round-") })
    #expect(Set(names).isSuperset(of: ["report.html", "report.json", "report.xml"]))
    let again = try command.run(["replay", "kept/\(kept)/token", "--kept", "kept/\(kept)"])
    #expect(again.status == 1, "\(again.output)")
    #expect(again.output.contains("broken, reproduced"), "\(again.output)")
    let used = try command.run(["stress", "--cuts", "1", "--report", "kept"])
    #expect(used.status == 2 && used.output.contains("is not empty"), "\(used.output)")
  }

  @Test("the first two syncs ignored: found by cuts that come early")
  func firstSyncIgnored() throws {
    let result = try FaultlineCommand().run([
      "stress", "--no-swarm", "--cuts", "400", "--within", "60", "--fail-fast",
      "--faults", "on: sync, maximumHits: 2, ignore: true, file: \"*.realm\"",
    ])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("acknowledged and ignored: injected"), "\(result.output)")
  }

  @Test("an acknowledgement before the sync is found, and replays exactly; with the sync it holds")
  func earlyAcknowledgement() throws {
    let command = try FaultlineCommand()
    let bad = try command.run(
      Self.arguments(Self.counting(sync: ":"), ["--cuts", "40", "--fail-fast"]))
    #expect(bad.status == 1, "\(bad.output)")
    #expect(bad.output.contains("Missing: fsync of the directory '/'"), "\(bad.output)")
    let token = try #require(bad.replayToken)
    let again = try command.run(["replay", token, "--keep", "crashed"])
    #expect(again.status == 1, "\(again.output)")
    #expect(again.output.contains("broken, reproduced"), "\(again.output)")
    #expect(FileManager.default.fileExists(atPath: command.directory.file("crashed")))

    let good = try command.run(Self.arguments(Self.counting(sync: "sync ."), ["--cuts", "40"]))
    #expect(good.status == 0, "\(good.output)")
  }

  @Test("--recover runs before the workload goes on; one that fails is a finding")
  func recovery() throws {
    let command = try FaultlineCommand()
    let workload = "[ -e marker ] || exit 5; " + Self.counting(sync: "sync .")
    let more = ["--setup", "touch marker", "--cuts", "6", "--kills", "2", "--seed", "3"]
    let good = try command.run(
      Self.arguments(workload, more + ["--recover", "rm -f n.new; sync ."]))
    #expect(good.status == 0, "\(good.output)")
    let bad = try command.run(Self.arguments(workload, more + ["--recover", "exit 3"]))
    #expect(bad.status == 1, "\(bad.output)")
    #expect(bad.output.contains("the recovery failed"), "\(bad.output)")
    let replayed = try command.run(["replay", try #require(bad.replayToken)])
    #expect(replayed.status == 1, "\(replayed.output)")
  }

  @Test("the same seed gives the same run of a program with one actor")
  func determinism() throws {
    let runs = try (0..<2).map { _ in
      try FaultlineCommand().run(
        Self.arguments(Self.counting(sync: ":"), ["--cuts", "12", "--kills", "1", "--seed", "8"]))
    }
    // Times and memory differ.
    let texts = runs.map { $0.lines.filter { !$0.contains("cuts/s") && !$0.contains(" s (") } }
    #expect(texts[0].filter { !$0.contains("MiB") } == texts[1].filter { !$0.contains("MiB") })
  }

  @Test("another program behind a token is another schedule: exit code 4")
  func otherSchedule() throws {
    let command = try FaultlineCommand()
    let path = try command.write("2", to: "size")
    let workload = "head -c $(cat '\(path)') /dev/zero > pad; " + Self.counting(sync: ":")
    let bad = try command.run(Self.arguments(workload, ["--cuts", "30"]))
    #expect(bad.status == 1, "\(bad.output)")
    _ = try command.write("3", to: "size")
    let replayed = try command.run(["replay", try #require(bad.replayToken)])
    #expect(replayed.status == 4, "\(replayed.output)")
    #expect(replayed.output.contains("--kept"), "\(replayed.output)")
  }

  @Test("--for cuts at times, and Ctrl-C ends it with its report")
  func timesAndInterruption() throws {
    let command = try FaultlineCommand()
    let timed = try command.run(
      Self.arguments(Self.counting(sync: "sync ."), ["--for", "2s"]))
    #expect(timed.status == 0, "\(timed.output)")
    let endless = try command.start(
      Self.arguments(Self.counting(sync: "sync ."), ["--for", "10m"]))
    let run = try #require(LiveRun(pid: endless.process))
    #expect(waitUntil(seconds: 20) { !run.mounts.isEmpty })
    kill(endless.process, SIGINT)
    let result = endless.wait()
    #expect(result.status == 130, "\(result.output)")
    #expect(result.output.contains("verdict: interrupted, 0 findings so far"), "\(result.output)")
    #expect(run.remains(within: 2) == [])
  }

  @Test("a scenario on synchronization is stressed, shrunk and replayed in one process")
  func synchronization() throws {
    let command = try FaultlineCommand()
    let path = try command.write(
      """
      title: A server whose disk ignores syncs
      sync:
        nodes: {server: server, a: client, b: client}
        plant: serverSyncs
        before:
          - {write: a, do: [{create: 1, age: 3}, {create: 2, age: 4}]}
          - settle
        steps:
          - {write: b, do: [{set: 1, age: 9}]}
          - settle
          - {write: a, do: [{set: 1, age: 8}]}

      """, to: "world.yaml")
    let arguments = ["stress", path, "--cuts", "40", "--seed", "2", "--fail-fast"]
    let result = try command.run(arguments + ["--metrics", "stress.prom"])
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("power of server fails"), "\(result.output)")
    #expect(try command.text("stress.prom").contains("faultline_stress_findings_total 1"))
    let token = try #require(result.replayToken, "\(result.output)")
    #expect(try command.run(["replay", token]).status == 1)
    let small = try command.run(["shrink", token, "--out", "small.yaml"])
    #expect(small.status == 0, "\(small.output)")
    #expect(small.output.contains("to 3 steps, 2 statements"), "\(small.output)")
    let again = try #require(small.replayToken, "\(small.output)")
    #expect(try command.run(["replay", again]).status == 1)
    let refused = try command.run(arguments + ["--faults", "on: sync, error: EIO"])
    #expect(refused.status == 2 && refused.output.contains("are for programs on a mount"))
  }

  @Test(
    "wrong usage is refused with a remedy",
    arguments: [
      ["--workload", "true"], ["--cuts", "0"], ["--for", "x"], ["--kills", "99"],
      ["--within", "1"], ["--model", "all"], ["--write-back", "x"], ["--write-back", "1:0"],
      ["--timeout", "0"], ["--faults", "on: nothing"], ["--options", "none.json"],
      ["--no-swarm", "--options", "none.json"], ["--metrics", "no/such/folder/m"],
      ["--workload", "true", "--check", "true", "--no-swarm"],
    ])
  func usage(more: [String]) throws {
    let result = try FaultlineCommand().run(["stress"] + more)
    #expect(result.status == 2, "\(result.output)")
  }
}
