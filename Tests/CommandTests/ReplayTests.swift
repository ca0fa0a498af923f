// ReplayTests.swift: a printed token brings the failure back, or says plainly why it cannot.

import Foundation
import TestSupport
import Testing

@Suite(
  "replay",
  .requires(.fuse))
struct ReplayTests {
  /// A program that acknowledges a file that it never syncs, in a script that can be changed.
  private func unsynced(_ command: FaultlineCommand) throws -> [String] {
    let workload = try command.write("echo hello > file; echo saved\n", to: "work.sh")
    return FaultlineCommand.exploration(
      workload: "sh '\(workload)'",
      check: """
        grep -q saved "$FAULTLINE_OUTPUT" || exit 0
        test "$(cat file)" = hello && exit 0
        echo 'lost: the file'; exit 1
        """)
  }

  @Test("the last line of a failure is the command that replays it")
  func lastLine() throws {
    let command = try FaultlineCommand()
    let failure = try command.run(unsynced(command))
    #expect(failure.status == 1, "\(failure.output)")
    let line = try #require(failure.lines.last)
    #expect(line.hasPrefix("replay: faultline replay "))
    let text = line.dropFirst("replay: ".count)
    let replay = try runShell(
      "PATH='\(FaultlineCommand.folder.path)':$PATH; \(text)", in: command.directory.path)
    #expect(replay.status == 1, "\(replay.output)")
    #expect(replay.output.contains("FINDING 1: lost: the file"))
    #expect(replay.output.contains("verdict: broken, reproduced"))
    #expect(replay.output.split(separator: "\n").last.map(String.init) == line)
  }

  @Test("--keep leaves the crashed directory, and the checker fails there by hand")
  func keep() throws {
    let command = try FaultlineCommand()
    let failure = try command.run(
      FaultlineCommand.example("safe-replace", workload: "in-place") + ["--budget", "100"])
    let token = try #require(failure.replayToken, "\(failure.output)")
    let replay = try command.run(["replay", token, "--keep", "crashed"])
    #expect(replay.status == 1, "\(replay.output)")
    #expect(replay.hasLine("the crashed directory is in crashed"))
    let check = "\(FaultlineCommand.repository)/examples/safe-replace/check.sh"
    let byHand = try runShell(
      "cd crashed && ls && FAULTLINE_OUTPUT=/dev/null sh '\(check)'", in: command.directory.path)
    #expect(byHand.status == 1, "\(byHand.output)")
    #expect(byHand.output.contains("torn:"), "\(byHand.output)")
    let again = try command.run(["replay", token, "--keep", "crashed"])
    #expect(again.status == 2)
    #expect(again.output.contains("not empty"))
  }

  @Test("a token file is as good as a token")
  func file() throws {
    let command = try FaultlineCommand()
    let token = try #require(try command.run(unsynced(command)).replayToken)
    let path = try command.write(token + "\n", to: "token")
    #expect(try command.run(["replay", path]).status == 1)
  }

  @Test("a workload that has changed is nondeterminism, with an explanation")
  func changed() throws {
    let command = try FaultlineCommand()
    let token = try #require(try command.run(unsynced(command)).replayToken)
    _ = try command.write("echo hello > file; sync file; echo saved\n", to: "work.sh")
    let replay = try command.run(["replay", token])
    #expect(replay.status == 4, "\(replay.output)")
    #expect(replay.output.contains("the workload did something else this time"))
  }

  /// Programs that do something else in each run; `$runs` is the number of the run.
  enum Changing: String, CaseIterable {
    case behindTheCrashPoint = "echo hello > file; echo saved; head -c $runs /dev/zero > late"
    case inSomeRuns =
      "[ $((runs % 3)) = 1 ] || echo other > other; echo hello > file; echo saved"
    case always = "head -c $runs /dev/zero > early; echo hello > file; echo saved"
  }

  @Test("a program is recorded until it does the same again", arguments: Changing.allCases)
  func changing(program: Changing) throws {
    let command = try FaultlineCommand()
    let counter = command.directory.file("runs")
    let script = try command.write(
      "echo x >> '\(counter)'; runs=$(wc -l < '\(counter)')\n\(program.rawValue)\n",
      to: "changing.sh")
    let check = try command.write(
      "grep -q saved \"$FAULTLINE_OUTPUT\" && ! grep -q hello file && exit 1; exit 0\n",
      to: "check.sh")
    let failure = try command.explore(workload: "sh '\(script)'", check: "sh '\(check)'")
    let token = try #require(failure.replayToken, "\(failure.output)")
    let replay = try command.run(["replay", token])
    #expect(replay.status == (program == .always ? 4 : 1), "\(replay.output)")
    let keeps = replay.output.contains("explore --trace FILE keeps a recording")
    #expect(keeps == (program == .always), "\(replay.output)")
  }

  @Test("the recording of another run is nondeterminism, and named")
  func recordingOfAnother() throws {
    let command = try FaultlineCommand()
    var tokens: [String] = []
    for name in ["one", "three"] {
      let failure = try command.explore(
        workload: "echo \(name) > file; echo saved; echo \(name) > \(name)",
        check: "grep -q saved \"$FAULTLINE_OUTPUT\" && ! grep -q . file && exit 1; exit 0",
        ["--trace", name])
      tokens.append(try #require(failure.replayToken, "\(failure.output)"))
    }
    let own = try command.run(["replay", tokens[0], "--trace", "one"])
    #expect(own.status == 1, "\(own.output)")
    let other = try command.run(["replay", tokens[0], "--trace", "three"])
    #expect(other.status == 4, "\(other.output)")
    #expect(other.output.contains("three is the recording of another run"), "\(other.output)")
  }

  @Test("a failure that is mended holds, and says so")
  func mended() throws {
    let command = try FaultlineCommand()
    let check = try command.write("echo 'bad: always'; exit 1\n", to: "check.sh")
    // Fails only where the acknowledgement is and the file is not, so that the token is stable.
    _ = try command.write(
      "grep -q saved \"$FAULTLINE_OUTPUT\" && ! grep -q hello file && exit 1; exit 0\n",
      to: "check.sh")
    let failure = try command.explore(
      workload: "echo hello > file; echo saved", check: "sh '\(check)'")
    let token = try #require(failure.replayToken, "\(failure.output)")
    _ = try command.write("exit 0\n", to: "check.sh")
    let replay = try command.run(["replay", token])
    #expect(replay.status == 0, "\(replay.output)")
    #expect(replay.hasLine("verdict: held; the failure did not come back"))
  }

  @Test("damaged tokens are usage errors", arguments: ["fl1-AAAA", "fl1-", "x", "fl1-eyJhIjoxfQ"])
  func damaged(token: String) throws {
    let result = try FaultlineCommand().run(["replay", token])
    #expect(result.status == 2, "\(result.output)")
    #expect(result.output.contains("token"))
  }

  @Test("a truncated token is a usage error")
  func truncated() throws {
    let command = try FaultlineCommand()
    let token = try #require(try command.run(unsynced(command)).replayToken)
    let result = try command.run(["replay", String(token.dropLast(9))])
    #expect(result.status == 2, "\(result.output)")
    #expect(result.output.contains("the replay token is damaged"))
  }
}
