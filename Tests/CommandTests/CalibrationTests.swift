// CalibrationTests.swift: models held against the kernel's own file systems; `make calibrate` goes
// through all probes, here are the few that take seconds.

import Foundation
import TestSupport
import Testing

@Suite(
  "calibrate", .serialized,
  .requires(.ext4))
struct CalibrationTests {
  @Test("ext4 leaves nothing that ext4-ordered forbids")
  func ext4() throws {
    let command = try FaultlineCommand()
    let result = try command.run([
      "calibrate", "--on", "ext4", "--model", "ext4-ordered", "--budget", "40",
      "--probe", "rename-over", "--probe", "overwrite-sync", "--unseen",
    ])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.hasLine("| `rename-over` | `ext4-ordered` | `ext4` |"), "\(result.output)")
    #expect(result.hasLine("only ext4-ordered, probe rename-over:"), "\(result.output)")
    #expect(result.hasLine("verdict: held, 0 of 2 comparisons"), "\(result.output)")
  }

  @Test("what a model cannot express is known by model, probe and outcome, and by nothing else")
  func known() throws {
    let command = try FaultlineCommand()
    let arguments = [
      "calibrate", "--on", "ext4:data=writeback", "--probe", "unlink-sync-other", "--budget", "40",
    ]
    let stock = try command.run(arguments + ["--model", "ext4-writeback"])
    #expect(stock.status == 0, "\(stock.output)")
    #expect(
      stock.hasLine(
        "known of ext4-writeback, probe unlink-sync-other: after 2 steps: a=n*100 c=: "),
      "\(stock.output)")
    let file = try command.write("name: mine\nbase: ext4-writeback\n", to: "mine.yaml")
    let mine = try command.run(arguments + ["--model-file", file])
    #expect(mine.status == 1, "\(mine.output)")
    #expect(mine.hasLine("  after 2 steps: a=n*100 c="), "\(mine.output)")
  }

  @Test("old bytes of the disk show in new blocks where nothing orders them, and nowhere else")
  func staleBytes() throws {
    let command = try FaultlineCommand()
    func run(_ system: String, _ probe: String) throws -> CommandResult {
      try command.run([
        "calibrate", "--on", system, "--model", "ext4-ordered", "--budget", "12", "--probe", probe,
      ])
    }
    for probe in ["torn-new", "torn-append"] {
      let ordered = try run("ext4", probe)
      #expect(ordered.status == 0, "\(ordered.output)")
    }
    let exposing = "ext4:nodelalloc,data=writeback"
    let control = try run(exposing, "torn-new")
    #expect(control.status == 1, "\(control.output)")
    #expect(control.hasLine("  after 1 step: a=g*1024"), "\(control.output)")
    // Within a page that was written before, there is nothing old to show.
    let page = try run(exposing, "torn-append")
    #expect(page.status == 0, "\(page.output)")
  }

  @Test("a model that promises too much is told which outcome contradicts it")
  func tooStrong() throws {
    let command = try FaultlineCommand()
    let file = try command.write(
      """
      name: too-strong
      base: strict
      """, to: "model.yaml")
    let result = try command.run([
      "calibrate", "--on", "ext4", "--model-file", file, "--budget", "40", "--probe", "overwrite",
      "--probe", "write-new",
    ])
    #expect(result.status == 1, "\(result.output)")
    #expect(
      result.hasLine("FORBIDDEN by too-strong, left by ext4, probe write-new:"),
      "\(result.output)")
    // A name without its data, although the data was written first.
    #expect(result.output.contains("after 2 steps: a= b="), "\(result.output)")
  }

  @Test("ext4 keeps what ext4-ordered calls durable, and loses what a stronger model does")
  func durability() throws {
    let command = try FaultlineCommand()
    let arguments = [
      "calibrate", "--durability", "--on", "ext4", "--probe", "sync-rename-fdatasync",
      "--probe", "sync-owner-osync",
    ]
    let ordered = try command.run(arguments + ["--model", "ext4-ordered"])
    #expect(ordered.status == 0, "\(ordered.output)")
    #expect(ordered.hasLine("verdict: held, 0 of 2 comparisons"), "\(ordered.output)")
    // Under `strict` an fdatasync makes a rename durable.
    let strict = try command.run(arguments + ["--model", "strict"])
    #expect(strict.status == 1, "\(strict.output)")
    #expect(
      strict.hasLine("FORBIDDEN by strict, left by ext4, probe sync-rename-fdatasync:"),
      "\(strict.output)")
    #expect(strict.hasLine("  after 2 steps: d/ d/a=a*100 "), "\(strict.output)")
  }

  @Test(
    "what cannot be compared is refused",
    arguments: [
      (["--probe", "nothing"], "rename-over"), (["--on", "ext4"], "--model"),
      (["--model", "xfs"], "--on"), (["--budget", "0"], "at least 1"),
    ])
  func refused(arguments: [String], words: String) throws {
    let result = try FaultlineCommand().run(["calibrate"] + arguments)
    #expect(result.status == 2, "\(result.output)")
    #expect(result.output.contains(words), "\(result.output)")
  }
}
