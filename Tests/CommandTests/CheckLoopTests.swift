// CheckLoopTests.swift: a checker that stays, through the commands that take one.

import Findings
import Foundation
import TestSupport
import Testing

@Suite("checkers that stay, by command", .requires(.fuse))
struct CheckLoopTests {
  /// A shell loop: `$d` is the state, `$o` has what was acknowledged, and the body answers.
  private static func loop(_ body: String) -> String {
    """
    while read -r line; do
      d=$(printf %s "$line" | sed 's/.*"directory":"\\([^"]*\\)".*/\\1/')
      o=$(printf %s "$line" | sed 's/.*"output":"\\([^"]*\\)".*/\\1/')
      \(body)
    done
    """
  }

  private static let hello = loop(
    """
    if grep -q saved "$o" && ! grep -q hello "$d/file"; then echo "broken it is lost"
    else echo held; fi
    """)

  private func arguments(
    _ command: String = "explore", workload: String, loop: String, _ more: [String] = []
  ) -> [String] {
    [command, "--workload", workload, "--check-loop", loop] + more
  }

  private static let unsynced = "echo hello > file; echo saved"
  private static let synced = "echo hello > file; sync file .; echo saved"

  @Test("held and broken; the token holds that it stays, and replays")
  func explore() throws {
    let command = try FaultlineCommand()
    let held = try command.run(arguments(workload: Self.synced, loop: Self.hello))
    #expect(held.status == 0 && held.hasLine("verdict: held, 0 findings"), "\(held.output)")
    let broken = try command.run(arguments(workload: Self.unsynced, loop: Self.hello))
    #expect(broken.status == 1 && broken.hasLine("FINDING 1: it is lost"), "\(broken.output)")
    let again = try command.run(["replay", try #require(broken.replayToken)])
    #expect(again.status == 1 && again.hasLine("FINDING 1: it is lost"), "\(again.output)")
  }

  @Test("the same findings come with one job and with three, and in shards")
  func shards() throws {
    let command = try FaultlineCommand()
    let all = arguments(
      workload: "for i in 1 2 3; do echo $i > f$i; sync f$i; mv f$i g$i; done; echo saved",
      loop: Self.loop(
        """
        if grep -q saved "$o" && [ "$(ls "$d" | wc -l)" -lt 3 ]; then echo broken few
        elif [ -e "$d/g3" ] && ! [ -e "$d/g1" ]; then echo broken order
        else echo held; fi
        """), ["--model", "posix"])
    let one = try command.run(all + ["--jobs", "1"])
    let three = try command.run(all + ["--jobs", "3"])
    let headlines = { (result: CommandResult) in
      result.lines.filter { $0.hasPrefix("FINDING") || $0.hasPrefix("verdict") }
    }
    #expect(one.status == 1 && headlines(one) == headlines(three), "\(one.output)\(three.output)")
    let shard = try command.run(all + ["--shard", "1/2"])
    #expect(shard.status == 1, "\(shard.output)")
  }

  @Test("a leak is exit code 4, with both answers")
  func leak() throws {
    let result = try FaultlineCommand().run(
      arguments(
        workload: Self.synced,
        loop: "n=0; "
          + Self.loop("n=$((n + 1)); [ $n -lt 3 ] && echo held || echo broken tired"),
        ["--jobs", "1"]))
    #expect(result.status == 4, "\(result.output)")
    #expect(
      result.output.contains("it said 'tired', and a fresh process says 'held'"),
      "\(result.output)")
  }

  @Test("death and hangs are findings; a checker that never answers is refused")
  func badEnds() throws {
    let command = try FaultlineCommand()
    let judge = "if grep -q saved \"$o\" && ! grep -q hello \"$d/file\"; then "
    for (end, words) in [
      ("kill -SEGV $$", "killed by SIGSEGV"), ("sleep 60", "no answer within 1 s"),
      ("echo what", "the checker answered with 'what'"),
    ] {
      let result = try command.run(
        arguments(
          workload: Self.unsynced, loop: Self.loop(judge + "\(end); else echo held; fi"),
          ["--timeout", "1"]))
      #expect(result.status == 1 && result.output.contains(words), "\(result.output)")
    }
    let refused = try command.run(arguments(workload: Self.unsynced, loop: "true"))
    #expect(refused.status == 2, "\(refused.output)")
    #expect(refused.output.contains("gave no answer; --check-loop takes a process"))
  }

  @Test("certify, --media, --recover and stress take it, too")
  func others() throws {
    let command = try FaultlineCommand()
    let certified = try command.run(
      arguments("certify", workload: Self.synced, loop: Self.hello))
    #expect(certified.status == 0 && certified.output.contains("needed"), "\(certified.output)")
    let media = try command.run(
      arguments(
        workload: Self.synced,
        loop: Self.loop(
          """
          case $line in *'"FAULTLINE_DETECTED":"77"'*) ;; *) [ ! -s "$o" ] || [ "$first" ] ;; esac
          if [ "$(cat "$d/file" 2>/dev/null)" = hello ] || [ ! -s "$o" ]; then echo held
          else echo noticed damage; fi
          """), ["--media", "all", "--budget", "20"]))
    #expect(media.status == 0 && media.output.contains("detected"), "\(media.output)")
    let recovered = try command.run(
      arguments(
        workload: Self.synced, loop: Self.hello,
        ["--recover", "rm -f file.tmp; sync .", "--recover-states", "4"]))
    #expect(recovered.status == 0, "\(recovered.output)")
    let stressed = try command.run(
      arguments(
        "stress", workload: "echo x >> log; sync log .; echo 1", loop: Self.loop("echo held"),
        ["--cuts", "3"]))
    #expect(stressed.status == 0, "\(stressed.output)")
  }

  @Test("on a real file system the process holds nothing of a state", .requires(.ext4))
  func onExt4() throws {
    let result = try FaultlineCommand().run(
      arguments(
        workload: "echo new > t && mv t file && sync . && echo saved",
        loop: Self.loop(
          """
          if grep -q saved "$o" && ! grep -q new "$d/file"; then echo broken lost
          else echo held; fi
          """), ["--on", "ext4", "--fsck", "--budget", "20"]))
    #expect(result.status == 0 || result.status == 1, "\(result.output)")
    #expect(!result.output.contains("leaks"), "\(result.output)")
  }

  @Test("one of --check and --check-loop")
  func usage() throws {
    let command = try FaultlineCommand()
    let both = try command.run(
      arguments(workload: "true", loop: "true", ["--check", "true"]))
    #expect(both.status == 2 && both.output.contains("give one of them"), "\(both.output)")
    // Only stress needs one: the others judge without.
    let none = try command.run(["stress", "--workload", "true"])
    #expect(none.status == 2 && none.output.contains("needs both"), "\(none.output)")
  }
}
