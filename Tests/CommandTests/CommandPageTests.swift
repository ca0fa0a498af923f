// CommandPageTests.swift: the page of commands is what the commands say of themselves.

import Foundation
import Testing

@Suite("the page of commands")
struct CommandPageTests {
  private static let path = FaultlineCommand.repository + "/docs/reference/command-line.md"

  private func page() throws -> String {
    let dump = try FaultlineCommand().run(["--experimental-dump-help"])
    let root = try JSONDecoder().decode(
      CommandDescription.Root.self, from: Data(dump.output.utf8))
    return CommandPage(root.command).text.trimmingCharacters(in: .newlines) + "\n"
  }

  @Test("is made from their help; `make pages` writes it")
  func same() throws {
    let made = try page()
    if ProcessInfo.processInfo.environment["FAULTLINE_RECORD"] != nil {
      try made.write(toFile: Self.path, atomically: true, encoding: .utf8)
    }
    let written = try String(contentsOfFile: Self.path, encoding: .utf8)
    let pairs = zip(
      made.components(separatedBy: "\n") + ["(end)"],
      written.components(separatedBy: "\n") + ["(end)"])
    let difference = pairs.enumerated().first { $0.element.0 != $0.element.1 }
    #expect(
      difference == nil,
      "docs/reference/command-line.md:\((difference?.offset ?? 0) + 1): run `make pages`")
    #expect(made.split(separator: "\n").count { $0.hasPrefix("## ") } >= 20)
  }

  @Test("shows options by group, with values and defaults, and commands as code")
  func form() throws {
    let json = """
      {"command": {"commandName": "a", "abstract": "Does.", "discussion": "Text.\\n  a b|c\\nMore.",
        "arguments": [
          {"kind": "option", "names": [{"kind": "long", "name": "x"}], "valueName": "n",
           "abstract": "One | two.", "defaultValue": "1", "allValues": ["1", "2"],
           "isOptional": true, "isRepeating": false, "shouldDisplay": true},
          {"kind": "flag", "names": [{"kind": "long", "name": "help"}],
           "isOptional": true, "isRepeating": false, "shouldDisplay": true}],
        "subcommands": [{"commandName": "hidden", "shouldDisplay": false}]}}
      """
    let root = try JSONDecoder().decode(CommandDescription.Root.self, from: Data(json.utf8))
    let text = CommandPage(root.command).text
    #expect(text.contains("## a\n\nDoes.\n\nText.\n\n```\na b|c\n```\n\nMore.\n\n"))
    #expect(text.contains("| `--x N` | One \\| two. Values: 1, 2. Default: `1`. |"))
    #expect(!text.contains("hidden") && !text.contains("| `--help"))
  }
}
