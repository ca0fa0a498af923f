// FuzzCommandTests.swift: `faultline fuzz` as a user runs it: targets, numbers, and a trap that is
// replayed, named by its stack, made smaller, and known once it is listed.

import Foundation
import TestSupport
import Testing

@Suite("faultline fuzz")
struct FuzzCommandTests {
  /// A file whose input traps: its length says more bytes than there are.
  private static func withTrap(_ body: (FaultlineCommand, String) throws -> Void) throws {
    let command = try FaultlineCommand()
    try body(command, try command.write("zhalf of this is too much", to: "canary-trap-crash-1"))
  }

  @Test("lists the targets of the engine and of the lab, and runs numbers")
  func numbers() throws {
    let command = try FaultlineCommand()
    let list = try command.run(["fuzz", "--list"])
    #expect(list.status == 0 && list.hasLine("node\t") && list.hasLine("scenario\t"))
    let run = try command.run(["fuzz", "run", "decimal", "--seed", "7", "--count", "40"])
    #expect(run.status == 0)
    #expect(run.hasLine("decimal: survived 40 from 7 accepted "), "\(run.output)")
    let found = try command.run(["fuzz", "run", "canary", "--count", "20000"])
    #expect(found.status == 1 && found.hasLine("canary: FINDING at seed "), "\(found.output)")
    let trap = try command.run(["fuzz", "run", "canary-trap"])
    #expect(trap.status == 1 && trap.output.contains("trap at canary-trap seed "))
  }

  @Test("replays a trap with its stack, under a key that other inputs of it have too")
  func trap() throws {
    try Self.withTrap { command, path in
      let result = try command.run(["fuzz", "replay", path])
      #expect(result.status == 1)
      #expect(result.hasLine("outcome: FINDING: "), "\(result.output)")
      // The function, the file and the line, not an address.
      let frame = result.lines.first { $0.contains("CanaryTrapTarget.last(of:count:)") }
      #expect(frame?.contains("CanaryTrapTarget.swift:") == true, "\(result.output)")
      let key = try #require(result.lines.last?.split(separator: " ").dropFirst().first)
      #expect(result.lines.last?.hasPrefix("key \(key) new; ") == true, "\(result.output)")
      let other = try command.write("Another text with bytes", to: "canary-trap-crash-2")
      let again = try command.run(["fuzz", "replay", other])
      #expect(again.lines.last == result.lines.last)
      try FileManager.default.createDirectory(
        atPath: command.directory.file("Tests/FuzzTests/Corpora"),
        withIntermediateDirectories: true)
      _ = try command.write(
        "\(key.dropLast()) canary-trap a length is believed\n",
        to: "Tests/FuzzTests/Corpora/known-findings.txt")
      let known = try command.run(["fuzz", "replay", other])
      #expect(known.lines.last == "key \(key) known as a length is believed")
      #expect(known.status == 1)
    }
  }

  @Test("makes the input of a trap smaller, as long as its stack stays the same")
  func minimise() throws {
    try Self.withTrap { command, path in
      let result = try command.run(["fuzz", "minimise", path])
      #expect(result.status == 1, "\(result.output)")
      #expect(try command.text("canary-trap-crash-1.smaller").utf8.count == 1)
    }
  }

  @Test("refuses what it cannot read, and says its words")
  func refuses() throws {
    let command = try FaultlineCommand()
    let none = try command.run(["fuzz"])
    #expect(none.status == 2 && none.output.contains("--list shows"), "\(none.output)")
    let help = try command.run(["fuzz", "--help"])
    #expect(help.status == 0 && help.output.contains("fuzz minimise"), "\(help.output)")
    let missing = try command.run(["fuzz", "replay", "/nowhere"])
    #expect(missing.status == 2 && missing.output.contains("cannot read /nowhere"))
    let path = try command.write("age", to: "some")
    let unnamed = try command.run(["fuzz", "replay", path])
    #expect(unnamed.status == 2 && unnamed.output.contains("names no target"))
    #expect(try command.run(["fuzz", "replay", path, "--target", "query"]).status == 0)
  }
}
