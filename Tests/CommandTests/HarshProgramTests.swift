// HarshProgramTests.swift: programs that do not behave, and trees that nobody would name so.

import Foundation
import TestSupport
import Testing

@Suite(
  "explore: harsh programs",
  .requires(.fuse))
struct HarshProgramTests {
  private func expectHeld(
    setup: String? = nil, workload: String, check: String, _ more: [String] = []
  ) throws {
    let result = try FaultlineCommand().explore(
      setup: setup, workload: workload, check: check, more)
    #expect(result.status == 0, "\(result.output)")
    #expect(result.hasLine("verdict: held, 0 findings"), "\(result.output)")
  }

  @Test("processes left in the background end with the workload")
  func background() throws {
    let clock = ContinuousClock()
    let start = clock.now
    try expectHeld(
      workload: """
        (sleep 60; echo late > late) &
        setsid sh -c 'exec 5> open; sleep 60; echo late > late' &
        while [ ! -e open ]; do sleep 0.02; done
        echo a > file; sync file .; echo saved
        """, check: "test ! -e late && { ! grep -q saved \"$FAULTLINE_OUTPUT\" || grep -q a file; }"
    )
    #expect(start.duration(to: clock.now) < .seconds(20))
  }

  @Test(
    "programs and checkers of root may give up their rights, as servers do",
    .requires(.root, .setpriv))
  func withoutRights() throws {
    let nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups"
    try expectHeld(
      setup: "mkdir data && chown 65534:65534 data && chmod 700 data",
      workload: """
        \(nobody) sh -c 'cd data && echo a > new && sync new && mv new file && sync . && echo saved'
        ! \(nobody) sh -c 'echo b > not-mine' 2> refused || exit 1
        """,
      check: """
        \(nobody) sh -c 'cd data && { ! grep -q saved "$FAULTLINE_OUTPUT" || grep -q a file; }'
        """)
  }

  @Test("more output at once than a pipe packet holds is acknowledged whole")
  func longOutput() throws {
    try expectHeld(
      workload: """
        head -c 70000 /dev/zero | tr '\\0' x > x; cat x
        echo > done; sync done .
        """,
      check: """
        n=$(wc -c < "$FAULTLINE_OUTPUT")
        [ ! -e done ] || [ $n -eq 70000 ] || { echo "short: $n"; exit 1; }
        """, ["--budget", "60", "--marks", "writes"])
  }

  @Test("binary output reaches the checker as it was")
  func binaryOutput() throws {
    try expectHeld(
      workload: "printf '\\000\\377\\n\\r\\303'; echo > done; sync done .",
      check: """
        [ ! -e done ] || [ "$(od -An -tx1 "$FAULTLINE_OUTPUT")" = " 00 ff 0a 0d c3" ] || exit 1
        """, ["--marks", "writes"])
  }

  @Test("standard input is empty")
  func standardInput() throws {
    try expectHeld(
      setup: "cat > setup", workload: "cat > work; echo > done; sync work . done",
      check: "cat > /dev/null; [ ! -e done ] || [ -e work -a ! -s work -a ! -s setup ]")
  }

  @Test("strange names, links, fifos and locked files survive the way to the checker")
  func strangeTree() throws {
    try expectHeld(
      setup: """
        mkdir d; printf one > "$(printf 'a\\nb')"; printf two > "$(printf '\\377\\376')"
        printf three > ' '; printf four > "d/$(printf '\\200')"; mkdir "$(printf 'dir\\377')"
        printf five > "$(printf 'dir\\377/x')"; printf six > -rf; printf seven > '*'
        ln -s nowhere link; ln -s "$(printf '\\377')" badlink; mkfifo fifo; ln ' ' hard
        printf eight > locked; chmod 0 locked; mkdir closed; printf nine > closed/in; chmod 0 closed
        """,
      workload: """
        printf more >> "$(printf '\\377\\376')"; sync "$(printf '\\377\\376')"
        mv "$(printf 'a\\nb')" "$(printf 'a\\n\\nb')"; rm -- '*'; sync .; echo saved
        """,
      check: """
        fail() { echo "strange: $1"; exit 1; }
        [ "$(cat ' ')" = three -a ' ' -ef hard ] || fail hard
        [ "$(cat "d/$(printf '\\200')")" = four ] || fail four
        [ "$(cat "$(printf 'dir\\377/x')")" = five ] || fail five
        [ "$(cat ./-rf)" = six ] || fail six
        [ "$(readlink link)" = nowhere -a -p fifo ] || fail link
        [ "$(stat -c %a locked)$(stat -c %a closed)" = 00 ] || fail modes
        grep -q saved "$FAULTLINE_OUTPUT" || exit 0
        [ "$(cat "$(printf '\\377\\376')")" = twomore ] || fail two
        [ "$(cat "$(printf 'a\\n\\nb')")" = one -a ! -e '*' ] || fail renamed
        """)
  }

  @Test("a kept directory holds strange names too")
  func keepStrange() throws {
    let command = try FaultlineCommand()
    let failure = try command.explore(
      setup: "printf one > \"$(printf '\\377')\"", workload: "echo a > b; echo saved",
      check: "grep -q saved \"$FAULTLINE_OUTPUT\" && [ ! -s b ] && exit 1; exit 0")
    let token = try #require(failure.replayToken, "\(failure.output)")
    #expect(try command.run(["replay", token, "--keep", "k"]).status == 1)
    let look = try runShell("cat \"k/$(printf '\\377')\"", in: command.directory.path)
    #expect(look.output == "one")
  }

  @Test("a database of 64 MiB that changes a little is explored in seconds")
  func largeFile() throws {
    let clock = ContinuousClock()
    let start = clock.now
    try expectHeld(
      setup: "head -c 67108864 /dev/zero | tr '\\0' x > big",
      workload: """
        head -c 100000 /dev/zero | tr '\\0' y > new; sync new .; echo saved
        printf y | dd of=big bs=1 seek=1000000 conv=notrunc,fdatasync status=none; echo again
        """,
      check: "[ $(stat -c %s big) -eq 67108864 ]",
      ["--budget", "12"])
    #expect(start.duration(to: clock.now) < .seconds(60))
  }

  private static let mapper = """
    #include <fcntl.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <unistd.h>
    int main(int count, char **arguments) {
      int fd = open("mapped", O_RDWR | O_CREAT, 0644);
      if (fd < 0 || ftruncate(fd, 16384) != 0) return 1;
      char *map = mmap(0, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (map == MAP_FAILED) return 2;
      for (int page = 0; page < 4; page++) memset(map + 4096 * page, 'a' + page, 4096);
      if (count > 1 && msync(map, 16384, MS_SYNC) != 0) return 3;
      int dir = open(".", O_RDONLY);
      if (fsync(dir) != 0) return 4;
      return write(1, "mapped\\n", 7) == 7 ? 0 : 5;
    }
    """

  @Test(
    "stores into a mapping are durable after msync, and lost without it",
    .requires(.cc))
  func mapping() throws {
    let command = try FaultlineCommand()
    let source = try command.write(Self.mapper, to: "mapper.c")
    let program = command.directory.file("mapper")
    let compiled = try runShell("cc -o '\(program)' '\(source)'", in: command.directory.path)
    try #require(compiled.status == 0, "\(compiled.output)")
    let check = """
      grep -q mapped "$FAULTLINE_OUTPUT" || exit 0
      [ "$(tr -d '\\0' < mapped | wc -c)" -eq 16384 ] && exit 0
      echo 'lost: pages of the mapping'; exit 1
      """
    let held = try command.explore(
      workload: "'\(program)' sync", check: check, ["--budget", "150"])
    #expect(held.status == 0, "\(held.output)")
    let lost = try command.explore(workload: "'\(program)'", check: check, ["--budget", "150"])
    #expect(lost.status == 1, "\(lost.output)")
    #expect(lost.output.contains("lost: pages of the mapping"))
  }
}
