// JudgingPassageTests.swift: judging without a checker where something comes between the crash and
// the judgement: the kernel's own file system, a recovery, a sync that is left out.

import TestSupport
import Testing

@Suite("judging without a checker: other commands", .requires(.fuse))
struct JudgingPassageTests {
  private static let setup = "echo volume=5 > settings; sync settings ."

  private static func saving(_ steps: String) -> [String] {
    ["--setup", setup, "--workload", "echo volume=11 > s.tmp; \(steps); echo saved"]
  }

  private static let safe = saving("sync s.tmp; mv s.tmp settings; sync .")

  @Test(
    "the kernel's own file system: a missing sync is found, and the token replays", .requires(.ext4)
  )
  func realFileSystem() throws {
    let command = try FaultlineCommand()
    let options = ["--on", "ext4:noauto_da_alloc", "--budget", "24"]
    let safe = try command.run(["explore"] + Self.safe + options)
    #expect(safe.status == 0, "\(safe.output)")
    let broken = try command.run(
      ["explore"] + Self.saving("sync s.tmp; mv s.tmp settings") + options)
    #expect(broken.status == 1, "\(broken.output)")
    #expect(broken.output.contains("FINDING 1: 'settings' went back"), "\(broken.output)")
    let token = try #require(broken.replayToken)
    let replay = try command.run(["replay", token])
    #expect(
      replay.status == 1 && replay.output.contains("'settings' went back"), "\(replay.output)")
  }

  /// A log of old bytes, which a recovery puts back.
  private static let inPlace = [
    "--setup", "printf 'aaaabbbb' > data; sync data .", "--model", "posix", "--budget", "300",
    "--workload",
    """
    cp data undo; sync undo .; printf 'cccc' | dd of=data conv=notrunc status=none
    sync data; rm undo; sync .; echo saved
    """,
  ]

  @Test("a recovery runs before the judgement, and one that fails is found")
  func recovery() throws {
    let command = try FaultlineCommand()
    let good = try command.run(
      ["explore"] + Self.inPlace + [
        "--recover-states", "8", "--recover",
        "if [ -s undo ]; then cp undo data; sync data; rm undo; sync .; fi",
      ])
    #expect(good.status == 0, "\(good.output)")
    #expect(good.output.contains("posix, then its recovery: "), "\(good.output)")
    let bad = try command.run(
      ["explore"] + Self.inPlace + ["--recover-states", "8", "--recover", "[ ! -e undo ]"])
    #expect(bad.status == 1, "\(bad.output)")
    #expect(bad.output.contains("FINDING 1: the recovery failed"), "\(bad.output)")
    let token = try #require(bad.replayToken)
    #expect(try command.run(["replay", token]).status == 1)
  }

  @Test("a file that only the recovery writes has to be one that can be read")
  func recovered() throws {
    let program = [
      "explore", "--setup", "echo 1 > data; sync data .", "--model", "posix", "--recover-states",
      "8", "--workload", "echo 22 > new; sync new; mv new data; sync .; echo saved", "--recover",
    ]
    let script = "[ -s data ] && printf '{\"size\": %s' $(wc -c < data) > index.json && "
    let good = try FaultlineCommand().run(program + [script + "printf '}' >> index.json"])
    #expect(good.status == 0, "\(good.output)")
    // Only where a temporary file is left does it forget the end.
    let bad = try FaultlineCommand().run(
      program + [script + "if [ -e new ]; then exit 0; fi; printf '}' >> index.json"])
    #expect(bad.status == 1, "\(bad.output)")
    #expect(
      bad.output.contains("FINDING 1: 'index.json', which the recovery wrote, cannot be opened"),
      "\(bad.output)")
  }

  @Test("certify: each sync of a safe replacement is needed, without a checker")
  func certificate() throws {
    let result = try FaultlineCommand().run(["certify", "--model", "posix"] + Self.safe)
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("2 syncs at 2 sites: 2 needed"), "\(result.output)")
    #expect(result.output.contains("'settings' is half-written"), "\(result.output)")
    let broken = try FaultlineCommand().run(
      ["certify", "--model", "posix"] + Self.saving("mv s.tmp settings; sync ."))
    #expect(broken.status == 1 && broken.output.contains("half-written"), "\(broken.output)")
  }
}
