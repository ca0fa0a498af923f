// LazyFSMountTests.swift: `faultline mount` in LazyFS's place, with the examples of LazyFS's own
// documents: configuration, pipe, root directory, torn writes and crashes, on a real mount.

import FaultFS
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("in the place of LazyFS", .requires(.fuse), .serialized)
struct LazyFSMountTests {
  /// A mount by LazyFS's arguments: `lazyfs mnt --config-path c -o … -o subdir=root -f`.
  private struct Lazy {
    let command: FaultlineCommand
    let program: RunningProgram

    var path: String { command.directory.path }

    /// In the configuration PLACE is the test's directory.
    init(_ injection: String = "", setUp: String = "") throws {
      command = try FaultlineCommand()
      let folder = command.directory.path
      let configuration = """
        # file: lazyfs/config/default.toml

        [faults]
        fifo_path="PLACE/faults.fifo"
        fifo_path_completed="PLACE/done.fifo"

        [cache]
        apply_eviction=false

        [cache.simple]
        custom_size="0.5GB"
        blocks_per_page=1

        # [cache.manual]
        # io_block_size=4096

        [filesystem]
        log_all_operations=false
        logfile="PLACE/lazyfs.log"

        """
      _ = try command.write(
        (configuration + injection).replacing("PLACE", with: folder), to: "default.toml")
      let made = try runShell(
        "mkdir mnt root && ln -s '\(FaultlineCommand.program)' lazyfs; cd root; " + setUp,
        in: folder)
      try #require(made.status == 0, "\(made.output)")
      program = try RunningProgram(
        [
          "\(folder)/lazyfs", "mnt", "--config-path", "default.toml", "-o", "allow_other", "-o",
          "modules=subdir", "-o", "subdir=\(folder)/root", "-f",
        ], in: folder)
      try #require(waits(for: "running LazyFS..."), "\(log)")
    }

    var log: String { (try? command.text("lazyfs.log")) ?? "" }

    func waits(for words: String) -> Bool { waitUntil(seconds: 20) { log.contains(words) } }

    func shell(_ script: String, in folder: String = "mnt") throws -> ProgramResult {
      try runShell(script, in: "\(path)/\(folder)")
    }

    /// What a command of the pipe leads to in the log.
    func send(_ line: String, until words: String) throws {
      let text = "echo '\(line.replacing("PLACE", with: path))' > faults.fifo"
      #expect(try runShell(text, in: path).status == 0)
      #expect(waits(for: words), "\(log)")
    }

    func root(_ name: String) -> String? {
      FileManager.default.contents(atPath: "\(path)/root/\(name)")
        .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Unmounts as harnesses do, and says how the command ended.
    func unmount() throws -> ProgramResult {
      _ = try runShell("umount -l '\(path)/mnt'", in: "/")
      return program.wait()
    }
  }

  @Test("clear-cache loses what was not synced, and says so; a checkpoint keeps it")
  func clearCache() throws {
    let lazy = try Lazy(setUp: "mkdir d; echo old > d/f; chmod 640 d/f")
    let write =
      "cat d/f; stat -c %a d/f; echo new > d/f; echo a > s; sync s; echo b >> s; echo c > n"
    #expect(try lazy.shell(write).output == "old\n640\n")
    #expect(try runShell("findmnt '\(lazy.path)/mnt'", in: "/").output.contains("lazyfs"))
    try lazy.send("lazyfs::unsynced-data-report", until: "bytes un-fsynced: 8 bytes")
    #expect(lazy.log.contains("\t=> file: '\(lazy.path)/root/d/f'"), "\(lazy.log)")
    try lazy.send("lazyfs::display-cache-usage", until: "cache usage (%pages) is 0.00%")
    try lazy.send("lazyfs::clear-cache", until: "cache is cleared.")
    let done = try runShell("timeout 10 head -n 1 done.fifo", in: lazy.path)
    #expect(done.output == "finished::clear-cache\n")
    #expect(try lazy.shell("cat d/f s; stat -c %s n").output == "old\na\n0\n")
    try lazy.send("lazyfs::unsynced-data-report", until: "all data blocks are synced")
    #expect(try lazy.shell("echo kept > n").status == 0)
    try lazy.send("lazyfs::cache-checkpoint", until: "checkpoint is done")
    #expect(try lazy.shell("echo lost > m").status == 0)
    _ = try runShell("echo 'lazyfs::clear-cache' > faults.fifo", in: lazy.path)
    #expect(waitUntil(seconds: 20) { (try? lazy.shell("cat m n").output) == "kept\n" })
    try lazy.send("lazyfs::no-such", until: "command unknown 'lazyfs::no-such'")
    #expect(try lazy.shell("echo late > m").status == 0)
    let end = try lazy.unmount()
    #expect(end.status == 0, "\(end.output)")
    // What is left at an unmount was written to the root, synced or not.
    #expect(lazy.root("m") == "late\n" && lazy.root("n") == "kept\n" && lazy.root("d/f") == "old\n")
    #expect(try lazy.shell("ls; stat -c %a d/f", in: "root").output == "d\nm\nn\ns\n640\n")
  }

  @Test("torn-op of a configuration: parts of one write, in files that a wildcard names")
  func tornOp() throws {
    let lazy = try Lazy(
      """

      [[injection]]
      type="torn-op"
      file="PLACE/root/*.txt"
      occurrence=2
      parts=3 #or parts_bytes=[4096,3600,1260]
      persist=[1,3]
      """)
    let write = """
      printf 12345 > output.txt; sync output.txt; printf unsynced > other
      printf aaabbbccc >> output.txt
      """
    #expect(try lazy.shell(write).status != 0)
    #expect(lazy.waits(for: "Killing LazyFS"), "\(lazy.log)")
    #expect(lazy.root("output.txt") == "12345aaa\0\0\0ccc")
    #expect(lazy.root("other") == "")
    #expect(try lazy.shell("true", in: "").status == 0)
    #expect(try runShell("cat mnt/other", in: lazy.path).output.contains("not connected"))
    #expect(try lazy.unmount().status == 0)
    #expect(lazy.root("output.txt") == "12345aaa\0\0\0ccc")
  }

  @Test("sync-pages of the pipe: of pages that were never synced, these survive a lost cache")
  func syncPages() throws {
    let lazy = try Lazy()
    let write = "for c in A B C D E; do head -c 4096 /dev/zero | tr '\\0' $c; done > f; echo o > o"
    let read = "fold -w 4096 f | cut -c 1 | tr '\\0' - | paste -sd ''; cat o; stat -c %s f"
    for (number, (pages, left)) in [
      ("all", "ABCDE\no\n20480\n"), ("first-half", "AB\no\n8192\n"),
      ("last-half", "--CDE\no\n20480\n"), ("first", "A\no\n4096\n"),
      ("last", "----E\no\n20480\n"), ("first-and-last", "A---E\no\n20480\n"),
      ("interleaved", "A-C-E\no\n20480\n"),
      ("1,3::sync-other-files=false", "-B-D\n16384\n"),
    ].enumerated() {
      #expect(try lazy.shell("rm -f f o; " + write).status == 0)
      let command = "lazyfs::sync-pages::timing=now::file=PLACE/mnt/f::pages=\(pages)"
      let lines = "echo '\(command)\nlazyfs::clear-cache' > faults.fifo"
      _ = try runShell(lines.replacing("PLACE", with: lazy.path), in: lazy.path)
      #expect(
        waitUntil(seconds: 20) {
          lazy.log.components(separatedBy: "cache is cleared.").count == number + 2
        }, "\(lazy.log)")
      #expect(try lazy.shell(read).output == left, "\(pages)")
    }
    try lazy.send("lazyfs::sync-pages::timing=now::file=no::pages=all", until: "no file is called")
    #expect(try lazy.unmount().status == 0)
  }

  @Test("a sync of pages that crashes, and snapshots before it")
  func snapshot() throws {
    let lazy = try Lazy(setUp: "mkdir d; echo a > d/x.wal; echo b > y")
    #expect(try lazy.shell("echo new > x.wal").status == 0)
    try lazy.send(
      "lazyfs::snapshot::files_rgx=PLACE/root/.*wal::save=PLACE", until: "snapshot of 2 files done")
    let copies = try runShell("cd snapshot0 && head *; ls", in: lazy.path).output
    #expect(copies.contains("new") && copies.hasSuffix("x.wal\nx.wal.2\n"), "\(copies)")
    try lazy.send("lazyfs::snapshot::files_rgx=.*none::save=PLACE", until: "snapshot of 0 files")
    try lazy.send(
      "lazyfs::sync-pages::timing=now::file=y::pages=all::crash=true", until: "Killing LazyFS")
    #expect(lazy.root("x.wal") == "new\n")
    #expect(try lazy.unmount().status == 0)
  }

  @Test("torn-seq of the pipe: writes of the second group without a sync between them")
  func tornSeq() throws {
    let lazy = try Lazy()
    try lazy.send(
      "lazyfs::torn-seq::op=write::file=PLACE/mnt/output.txt::persist=1,4::occurrence=2",
      until: "received VALID torn-seq fault")
    let write = """
      exec > output.txt; printf aa; printf bb; sync output.txt
      printf cc; printf dd; printf ee; printf ff; printf gg
      """
    #expect(try lazy.shell(write).status != 0)
    #expect(lazy.waits(for: "Killing LazyFS"), "\(lazy.log)")
    #expect(lazy.root("output.txt") == "aabbcc\0\0\0\0ff")
    #expect(try lazy.unmount().status == 0)
  }

  @Test("a crash of the pipe, before a write to files that a pattern names; bad ones are refused")
  func crash() throws {
    let lazy = try Lazy()
    try lazy.send("lazyfs::crash::timing=never::op=write", until: "INVALID crash fault")
    try lazy.send("lazyfs::torn-op::file=f::persist=9::parts=3", until: "INVALID torn-op fault")
    try lazy.send(
      "lazyfs::crash::timing=before::op=write::from_rgx=file1", until: "received: VALID crash fault"
    )
    #expect(try lazy.shell("mkdir d; echo a > d/x; sync d/x; echo b > file2").status == 0)
    #expect(try lazy.shell("echo c > d/file1.log").status != 0)
    #expect(lazy.waits(for: "Killing LazyFS"), "\(lazy.log)")
    #expect(lazy.root("d/x") == "a\n" && lazy.root("file2") == "" && lazy.root("d/file1.log") == "")
    #expect(try lazy.unmount().status == 0)
  }

  @Test("clear-cache of a configuration, at the second sync of a file")
  func clearAtSync() throws {
    let lazy = try Lazy(
      """
      [[injection]]
      type="clear-cache"
      from="f"
      timing="after"
      op="fsync"
      occurrence=2
      crash=false
      """)
    let script = "echo a > f; echo b > g; sync f; cat g; sync f; cat f g"
    #expect(try lazy.shell(script).output == "b\na\n")
    #expect(try lazy.unmount().status == 0)
  }

  @Test("a pipe, a log or a link of another user is refused", .requires(.root))
  func strangers() throws {
    let command = try FaultlineCommand()
    let made = try runShell(
      """
      mkdir mnt; mkfifo pipe; touch mine other; ln -s mine link; ln -s mine own
      chown -h 65534 pipe other link
      """, in: command.directory.path)
    #expect(made.status == 0, "\(made.output)")
    for (key, name, isRefused) in [
      ("fifo_path", "pipe", true), ("fifo_path_completed", "pipe", true),
      ("logfile", "other", true), ("logfile", "link", true), ("logfile", "own", false),
    ] {
      let table = key == "logfile" ? "filesystem" : "faults"
      _ = try command.write(
        "[\(table)]\n\(key)=\"\(command.directory.file(name))\"\n", to: "c.toml")
      // What comes behind the files is refused otherwise.
      let result = try command.run(["mount", "mnt/none", "--lazyfs", "c.toml"])
      #expect(result.status == 2, "\(result.output)")
      let says = result.output.contains("\(name) belongs to user 65534; choose another place")
      #expect(says == isRefused, "\(key) \(name): \(result.output)")
    }
    #expect(try command.text("mine").isEmpty)
  }

  @Test("what cannot be had is said before anything is mounted, with its line")
  func refused() throws {
    let command = try FaultlineCommand()
    _ = try runShell("mkdir mnt", in: command.directory.path)
    for (text, words) in [
      ("[faults]\nfifo=\"x\"\n", "c.toml:1:1: [faults] has no key 'fifo'"),
      ("[[injection]]\ntype=\"torn-op\"\nfile=\"f\"\npersist=[1]\n", "'parts' or 'parts_bytes'"),
      ("[[injection]]\ntype=\"other\"\n", "c.toml:1:1: type 'other'"),
      ("\n\n[faults\n", "c.toml:3:1: a header without its ']'"),
      ("[[injection]]\ntype=\"torn-seq\"\nfile=\"/etc/f\"\npersist=[1]\n", "neither in the mount"),
    ] {
      _ = try command.write(text, to: "c.toml")
      let result = try command.run(["mount", "mnt", "--lazyfs", "c.toml"])
      #expect(result.status == 2 && result.output.contains(words), "\(result.output)")
    }
    let option = try command.run(["mount", "mnt", "--lazyfs", "c.toml", "-o", "nonsense"])
    #expect(option.status == 2 && option.output.contains("-o nonsense"), "\(option.output)")
  }
}
