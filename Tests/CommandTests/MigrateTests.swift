// MigrateTests.swift: `faultline run --migrate`, and the warnings for old spellings.

import Foundation
import TestSupport
import Testing

@Suite("migrate")
struct MigrateTests {
  private static let old = """
    # A comment.
    title: Old
    history: {histories: 1, steps: 4}
    kill: {process: p1, at: every sync}   # by and by

    """
  private static let new = """
    # A comment.
    version: 1
    title: Old
    history: {histories: 1, steps: 4}
    killSweep: {process: p1, at: every sync}   # by and by

    """

  @Test("files are rewritten once, others stay, and permissions too")
  func rewrites() throws {
    let command = try FaultlineCommand()
    try FileManager.default.createDirectory(
      atPath: command.directory.file("f"), withIntermediateDirectories: true)
    let path = try command.write(Self.old, to: "f/a.yaml")
    _ = try command.write("services: {web: {image: x}}\n", to: "f/compose.yml")
    _ = try command.write("- {on: sync, times: 2, ignore: true}\n", to: "faults.yaml")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)

    let said = try command.run(["run", "--migrate", "--dry-run", "f", "faults.yaml"])
    #expect(said.status == 0, "\(said.output)")
    #expect(try command.text("f/a.yaml") == Self.old)
    #expect(
      said.lines == [
        "f/a.yaml: 'version: 1' is added, 4:1 'kill' is now 'killSweep'",
        "faults.yaml: 1:14 'times' is now 'maximumHits'",
        "f/compose.yml: left as it is, not in this language",
        "2 of 2 files would be rewritten; nothing was written",
      ])

    let result = try command.run(["run", "--migrate", "f", "faults.yaml"])
    #expect(result.status == 0 && result.lines.last == "2 of 2 files rewritten", "\(result.output)")
    #expect(try command.text("f/a.yaml") == Self.new)
    #expect(try command.text("faults.yaml") == "- {on: sync, maximumHits: 2, ignore: true}\n")
    #expect(try command.text("f/compose.yml") == "services: {web: {image: x}}\n")
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    #expect((mode as? NSNumber)?.intValue == 0o640)
    let again = try command.run(["run", "--migrate", "f", "faults.yaml"])
    #expect(again.lines.last == "0 of 2 files rewritten", "\(again.output)")
    let left = try FileManager.default.contentsOfDirectory(atPath: command.directory.file("f"))
    #expect(left.sorted() == ["a.yaml", "compose.yml"])
  }

  @Test("one wrong file, and none is rewritten")
  func wrong() throws {
    let command = try FaultlineCommand()
    _ = try command.write(Self.old, to: "a.yaml")
    _ = try command.write("title: t\nhistory: {stpes: 1}\n", to: "b.yaml")
    let result = try command.run(["run", "--migrate", "a.yaml", "b.yaml"])
    #expect(result.status == 2, "\(result.output)")
    #expect(result.output.contains("b.yaml:2:11: unknown key 'stpes'"))
    #expect(result.output.contains("nothing was rewritten"))
    #expect(try command.text("a.yaml") == Self.old)
    _ = try command.write("services: {}\n", to: "c.yaml")
    let other = try command.run(["run", "--migrate", "c.yaml"])
    #expect(other.status == 2 && other.output.contains("leave the file out"), "\(other.output)")
    let mixed = try command.run(["run", "--migrate", "--list", "a.yaml"])
    #expect(mixed.status == 2 && mixed.output.contains("leave --list out"), "\(mixed.output)")
  }

  @Test("an old spelling warns once on standard error, and changes neither output nor exit code")
  func warns() throws {
    let command = try FaultlineCommand()
    let list = ["run", "--list", "--json", "-", "a.yaml"]
    _ = try command.write(Self.new, to: "a.yaml")
    let plain = try command.run(list)
    _ = try command.write(Self.old, to: "a.yaml")
    let shell = try RunningProgram(
      ["/bin/sh", "-c", "'\(FaultlineCommand.program)' \(list.joined(separator: " ")) 2> errors"],
      in: command.directory.path
    ).wait()
    #expect(shell.status == 0)
    // Its line is another one, by the line of the version.
    #expect(shell.output == plain.output.replacing("\"line\" : 3", with: "\"line\" : 2"))
    #expect(
      try command.text("errors")
        == "a.yaml:4:1: warning: 'kill' is now 'killSweep', and only this release still reads the "
        + "old word; 'faultline run --migrate a.yaml' rewrites it\n")
  }

  @Test("a later version is refused with exit code 2")
  func later() throws {
    let command = try FaultlineCommand()
    _ = try command.write("version: 2\ntitle: t\nhistory: {}\n", to: "a.yaml")
    let result = try command.run(["run", "--dry-run", "a.yaml"])
    #expect(result.status == 2)
    #expect(result.output.contains("a.yaml:1:10: the file is in version 2"), "\(result.output)")
  }
}
