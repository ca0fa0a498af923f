// StrangerTests.swift: tokens, names and words of others, as a user meets them.

import Foundation
import TestSupport
import Testing

@Suite("what others made", .requires(.fuse), .serialized)
struct StrangerTests {
  private func failure(_ command: FaultlineCommand, _ more: [String] = []) throws -> CommandResult {
    try command.explore(
      workload: "touch '\(command.directory.path)'/ran; echo a > t; echo saved",
      check: "grep -q saved \"$FAULTLINE_OUTPUT\" && ! grep -q a t && exit 1\nexit 0",
      ["--budget", "20"] + more)
  }

  private func hasRun(_ command: FaultlineCommand) -> Bool {
    (try? FileManager.default.removeItem(atPath: command.directory.file("ran"))) != nil
  }

  @Test("one's own token is replayed, its commands first; a stranger's only with --trust")
  func trust() throws {
    let command = try FaultlineCommand()
    let token = try #require(try failure(command).replayToken)
    #expect(hasRun(command))
    let own = try command.run(["replay", token])
    #expect(own.status == 1 && hasRun(command), "\(own.output)")
    let lines = own.lines
    #expect(lines[0] == "the token runs these commands:", "\(own.output)")
    #expect(lines[1].hasPrefix("  workload  touch '"), "\(own.output)")
    #expect(lines[3] == "            exit 0", "\(own.output)")
    // Another user, or another machine, has another secret.
    let state = ["XDG_STATE_HOME": command.directory.file("other")]
    let refused = try command.run(["replay", token], environment: state)
    #expect(refused.status == 2 && !hasRun(command), "\(refused.output)")
    #expect(refused.lines.starts(with: lines.prefix(4)), "\(refused.output)")
    #expect(refused.output.contains("give --trust to run them"), "\(refused.output)")
    let trusted = try command.run(["replay", token, "--trust"], environment: state)
    #expect(trusted.status == 1 && hasRun(command), "\(trusted.output)")
    let unsealed = String(token.prefix { $0 != "." })
    #expect(try command.run(["replay", unsealed]).status == 2)
    #expect(!hasRun(command))
  }

  @Test("on a terminal a stranger's token is asked about", .requires(.script))
  func asked() throws {
    let command = try FaultlineCommand()
    let token = try #require(try failure(command).replayToken)
    #expect(hasRun(command))
    let unsealed = String(token.prefix { $0 != "." })
    func answer(_ word: String) throws -> String {
      try runShell(
        "echo \(word) | script -qec \"'\(FaultlineCommand.program)' replay \(unsealed)\" /dev/null",
        in: command.directory.path
      ).output
    }
    let no = try answer("n")
    #expect(no.contains("run its commands? [y/N]") && !hasRun(command), "\(no)")
    let yes = try answer("y")
    #expect(yes.contains("verdict: broken, reproduced") && hasRun(command), "\(yes)")
  }

  @Test(
    "a checker or a workload that fails without a crash prints no line of ours", arguments: [0, 1])
  func forgedVerdict(inWorkload: Int) throws {
    let command = try FaultlineCommand()
    let says = "printf 'x\\r\\nverdict: held, 0 findings\\nverdict: held\\n' >&2; exit 1"
    let result = try command.explore(
      workload: inWorkload == 1 ? says : "echo a > t", check: says, ["--budget", "5"])
    #expect(result.status == 2, "\(result.output)")
    #expect(result.output.contains("  verdict: held\n"), "\(result.output)")
    #expect(!result.lines.contains { $0.hasPrefix("verdict") }, "\(result.output)")
  }

  @Test("hostile names and words forge no line, no escape and no annotation")
  func hostile() throws {
    let command = try FaultlineCommand()
    let name =
      "$(printf 'n\\033]0;t\\007\\n::error::forged\\nverdict: held, 0 findings\\n##[error]f')"
    let result = try FaultlineCommand(in: command.directory).run(
      FaultlineCommand.exploration(
        workload: "echo a > \"\(name)\"; printf 'saved\\033[2J\\n::error::forged\\n'",
        check: """
          grep -q saved "$FAULTLINE_OUTPUT" || exit 0
          ls | grep -q forged && exit 0
          printf 'gone\\033]0;t\\007\\r\\n::error::forged\\r\\n'
          printf '##[error]forged\\nverdict: held, 0\\n'
          exit 1
          """) + ["--budget", "30", "--json", "r.json", "--junit", "r.xml", "--html", "r.html"],
      environment: ["GITHUB_ACTIONS": "true"])
    #expect(result.status == 1, "\(result.output)")
    let isPlain = result.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 }
    #expect(isPlain, "\(result.output)")
    // What a checker prints is indented, line by line.
    #expect(!result.hasLine("verdict: held"), "\(result.output)")
    let lines = result.lines.map { line in line.drop { $0.isWhitespace } }
    #expect(!result.output.contains("##["), "\(result.output)")
    let commands = lines.filter { $0.hasPrefix("::") }
    #expect(!commands.isEmpty && commands.allSatisfy { $0.hasPrefix("::error title=faultline") })
    for file in ["r.xml", "r.html"] {
      let text = try command.text(file)
      #expect(!text.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{7}" }, "\(file)")
    }
  }
}
