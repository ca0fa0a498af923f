// LazyFSTests.swift: LazyFS's configuration and commands, read without a mount.

import FaultFS
import LabCore
import Scenarios
import Testing

@Suite("LazyFS's texts")
struct LazyFSTests {
  private static let paths = LazyFSPaths(mountPoint: "/tmp/lazyfs.mnt/", root: "/tmp/lazyfs.root")

  private func tables(_ text: String) throws -> [TOMLTable] {
    try TOMLReader.read(text, file: "f")
  }

  @Test("tables, arrays over several lines, comments, quotes")
  func toml() throws {
    let read = try tables(
      """
      a = 'x\\y' # comment
      [ b . c ]
      "k.1" = [ 1, # one
        -2,
      ]
      s = "q\\"#\\n"
      n = 1_000
      d = 0.5
      t = true
      [[e]]
      [[e]]\r
      z = []
      """)
    #expect(read.map(\.name) == ["", "b.c", "e", "e"])
    #expect(read[0].values == ["a": .string("x\\y")])
    #expect(read[1].values["k.1"] == .array([.integer(1), .integer(-2)]))
    #expect(read[1].values["s"] == .string("q\"#\n") && read[1].values["n"] == .integer(1000))
    #expect(read[1].values["d"] == .number("0.5") && read[1].values["t"] == .boolean(true))
    #expect(read[3].values == ["z": .array([])] && read[3].isElement && read[3].line == 11)
  }

  @Test(
    "what is not understood has its line",
    arguments: [
      ("a", 1), ("a = ", 1), ("a = b", 1), ("a = 1 2", 1), ("a = 1\na = 2", 2), ("[a]\n[a]", 2),
      ("[a", 1), ("[[a]", 1), ("[]", 1), ("a = \"x", 1), ("a = \"\\u0041\"", 1),
      ("a = \"\"\"x\"\"\"", 1), ("a = [1", 1), ("a = [[1]]", 1), ("a = {b = 1}", 1), ("= 1", 1),
      ("a = 1979-05-27", 1),
    ])
  func refused(text: String, line: Int) {
    do {
      let read = try tables(text)
      Issue.record("\(read)")
    } catch {
      let message = (error as? LabError)?.message ?? "\(error)"
      #expect(message.hasPrefix("f:\(line):1: "), "\(message)")
    }
  }

  @Test("the configuration of its README, in its old and in its new words")
  func configuration() throws {
    for (split, reorder, occurrence) in [
      ("split_write", "reorder", "ocurrence"), ("torn-op", "torn-seq", "occurrence"),
    ] {
      let text = """
        [faults]
        fifo_path="/tmp/faults.fifo"
        # fifo_path_completed="/tmp/faults_completed.fifo"
        [cache]
        apply_eviction=true
        [cache.manual]
        io_block_size=4096
        page_size=4096
        no_pages=10
        [file system]
        log_all_operations=true
        logfile="/tmp/lazyfs.log"
        [[injection]]
        type="\(reorder)"
        op="write"
        file="output.txt"
        persist=[1,4]
        \(occurrence)=2
        [[injection]]
        type="\(split)"
        file="/tmp/lazyfs.root/d/*.txt"
        \(occurrence)=5
        parts_bytes=[4096,3600,1260]
        persist=[1,3]
        """
      let read = try LazyFSConfiguration.parse(text, file: "f", Self.paths)
      #expect(read.fifoPath == "/tmp/faults.fifo" && read.completedFifoPath == nil)
      #expect(read.logFile == "/tmp/lazyfs.log" && read.cacheBytes == 40_960)
      #expect(read.notes.count == 2)
      #expect(
        read.faults.flatMap(\.tears) == [
          WriteTear(path: "output.txt", occurrence: 2, persist: [1, 4]),
          WriteTear(
            path: "d/*.txt", occurrence: 5, persist: [1, 3], cut: .sizes([4096, 3600, 1260])),
        ])
    }
  }

  @Test("the crashes of its README become rules")
  func crashes() {
    for (line, rule) in [
      (
        "lazyfs::crash::timing=before::op=write::from_rgx=file1",
        "{on: [write], file: \"**file1**\", killFileSystem: before}"
      ),
      (
        "lazyfs::crash::timing=before::op=link::from_rgx=file1::to_rgx=file2",
        "{on: [link], file: \"**file2**\", killFileSystem: before}"
      ),
      (
        "lazyfs::crash::timing=after::op=rename::to_rgx=/tmp/lazyfs.root/a\\.b.*c",
        "{on: [rename], file: \"a.b**c**\", killFileSystem: after}"
      ),
    ] {
      guard case .fault("crash", let fault) = LazyFSCommand(parsing: line, Self.paths) else {
        Issue.record("\(line): \(LazyFSCommand(parsing: line, Self.paths))")
        continue
      }
      #expect(fault.rules.map(\.description) == [rule] && fault.tears.isEmpty)
    }
  }

  @Test(
    "commands that are none are said to be",
    arguments: [
      "lazyfs::crash::timing=before::op=write::to_rgx=a", "lazyfs::crash::op=write::from_rgx=a",
      "lazyfs::crash::timing=before::op=dance::from_rgx=a",
      "lazyfs::crash::timing=before::op=write::from_rgx=(a", "lazyfs::torn-op::file=a::persist=1",
      "lazyfs::torn-op::file=a::persist=4::parts=3", "lazyfs::torn-seq::file=a::persist=0",
      "lazyfs::torn-seq::file=a::persist=x", "lazyfs::torn-seq::persist=1",
      "lazyfs::torn-op::file=a::persist=1::parts=3::sector=1",
      "lazyfs::torn-op::file=a::persist=1::parts=3::occurrence=0",
      "lazyfs::sync-pages::timing=before::op=write::pages=all::file=a",
      "lazyfs::sync-pages::timing=now::pages=random::file=a",
      "lazyfs::sync-pages::timing=now::pages=-1::file=a", "lazyfs::sync-pages::timing=now::file=a",
      "lazyfs::sync-pages::timing=now::pages=all::file=/etc/a",
      "lazyfs::snapshot::files_rgx=.*", "lazyfs::snapshot::files_rgx=.*::save=here",
      "lazyfs::snapshot::files_rgx=a(b)::save=/tmp",
    ])
  func invalid(line: String) {
    let command = LazyFSCommand(parsing: line, Self.paths)
    guard case .invalid = command else {
      Issue.record("\(command)")
      return
    }
  }

  @Test("pages to sync, and files to copy")
  func pagesAndSnapshots() {
    for (attributes, wanted) in [
      (
        "pages=first-and-last::sync-other-files=true",
        PageSync(path: "a", pages: .part(.firstAndLast))
      ),
      (
        "pages=second-half::sync_other_files=false::crash=true",
        PageSync(path: "a", pages: .part(.lastHalf), syncsOthers: false, kills: true)
      ),
      ("pages=0,3", PageSync(path: "a", pages: .numbers([0, 3]))),
    ] {
      let line = "lazyfs::sync-pages::timing=now::file=/tmp/lazyfs.root/a::" + attributes
      #expect(LazyFSCommand(parsing: line, Self.paths) == .syncPages(wanted))
    }
    for (pattern, glob) in [("/tmp/lazyfs.root/.*\\.wal", "**.wal"), (".*/d/a.c", "**d/a?c")] {
      let line = "lazyfs::snapshot::files_rgx=\(pattern)::save=/tmp/s"
      #expect(
        LazyFSCommand(parsing: line, Self.paths) == .snapshot(files: Glob(glob), save: "/tmp/s"))
    }
  }

  @Test("plain commands, and lines that are nothing")
  func plain() {
    #expect(LazyFSCommand(parsing: "lazyfs::clear-cache", Self.paths) == .clearCache)
    #expect(LazyFSCommand(parsing: "lazyfs::cache-checkpoint", Self.paths) == .checkpoint)
    for line in ["", "clear-cache", "lazyfs", "lazyfs::", "::clear-cache"] {
      #expect(LazyFSCommand(parsing: line, Self.paths) == .unknown(line))
    }
  }
}
