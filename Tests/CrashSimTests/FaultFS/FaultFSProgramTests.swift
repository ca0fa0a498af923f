// FaultFSProgramTests.swift: real programs come to no harm on a mount, and their traces are whole:
// the recorded operations, replayed over the tree that the recording began with, give
// exactly the tree that the file system has in the end.

import FaultFS
import Foundation
import TestSupport
import Testing

@Suite(
  "FaultFS with real programs",
  .requires(.fuse), .serialized)
struct FaultFSProgramTests {
  /// Records a script, expects success, and proves the trace complete.
  private func prove(
    _ script: String, setup: String = "true", _ options: FaultFSOptions = FaultFSOptions()
  ) throws {
    let mount = try MountedFaultFS(options)
    #expect(try mount.shell(setup).status == 0)
    let (result, trace) = try mount.record("set -e; " + script)
    #expect(result.status == 0, "\(result.output)")
    var replayed = trace.initial
    for event in trace.events {
      if case .operation(let operation) = event.body { replayed.apply(operation) }
    }
    replayed.removeUnreachable()
    let saved = try mount.tree()
    let difference = replayed.normalized().firstDifference(from: saved)
    #expect(difference == nil, "the trace does not lead to the tree: \(difference ?? "")")
    #expect(trace.events.count > 5)
    // Loading what was saved gives the same tree to clients again.
    let file = mount.outside.file("again.sqlite")
    try mount.client.saveTree(to: file)
    let before = try mount.shell("find . -type f | sort | xargs -d '\\n' -r sha256sum").output
    let other = try MountedFaultFS()
    try other.client.load(file)
    #expect(
      try other.shell("find . -type f | sort | xargs -d '\\n' -r sha256sum").output == before)
    try other.client.shutdown()
    try mount.client.shutdown()
  }

  @Test("sqlite3", arguments: ["WAL", "DELETE", "TRUNCATE"], [false, true])
  func sqlite(_ mode: String, _ isPageGranular: Bool) throws {
    try prove(
      """
      sqlite3 db 'PRAGMA journal_mode=\(mode); CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);'
      for i in 1 2 3 4 5; do
        sqlite3 db 'PRAGMA synchronous=FULL; BEGIN; WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL \
      SELECT x+1 FROM c WHERE x<500) INSERT INTO t(b) SELECT hex(randomblob(50)) FROM c; COMMIT; \
      DELETE FROM t WHERE a % 3 = 0;'
      done
      test "$(sqlite3 db 'PRAGMA integrity_check; SELECT count(*) FROM t;' | tr '\\n' ' ')" = \
        "ok 1666 "
      sqlite3 db VACUUM
      """, FaultFSOptions(isPageGranular: isPageGranular))
  }

  @Test("git: init, commit, gc, fsck, clone")
  func git() throws {
    try prove(
      """
      export HOME=$PWD GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
        GIT_COMMITTER_EMAIL=a@b
      git init -q repo; cd repo
      for i in 1 2 3; do
        for j in $(seq 20); do echo "$i $j" > "file$j"; done
        git add -A; git commit -qm "commit $i"
      done
      git gc -q; git fsck --strict; cd ..
      git clone -q repo copy; diff -r --exclude=.git repo copy; test -z "$(git -C copy status -s)"
      """)
  }

  @Test("tar, cp -a and rsync -a round trips")
  func copies() throws {
    try prove(
      """
      mkdir -p a/b/c; ln -s ../x a/b/link; head -c 300000 /dev/urandom > a/b/data
      truncate -s 1M a/sparse; echo tail >> a/sparse; mkfifo a/pipe; ln a/b/data a/hard
      chmod 0741 a/b; for i in $(seq 200); do echo $i > a/b/c/f$i; done
      find a -exec touch -h -d '2001-02-03 04:05:06.789' {} +
      cp -a a copy
      tar cf t.tar a; mkdir un; tar xf t.tar -C un
      rsync -aH a/ synced/
      rsync -aH --delete a/b/ synced/b/
      print() { (cd "$1"; find . -printf '%P %y %m %s %n %l %T@\\n' | grep -v '^ ' | sort); }
      rm a/pipe copy/pipe un/a/pipe synced/pipe
      for d in copy un/a synced; do diff -r --no-dereference a $d; done
      touch -r a a copy un/a synced
      diff <(print a) <(print copy); diff <(print a) <(print synced)
      """)
  }

  @Test("random operations leave what tmpfs would have", arguments: [1, 2, 3, 4, 5, 6, 7, 8])
  func random(_ seed: Int) throws {
    let program = posixCasesProgram
    let scratch = "/dev/shm/faultline-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    try prove(
      """
      '\(program)' --random \(seed) 4000 .
      '\(program)' --random \(seed) 4000 \(scratch)
      print() { (cd "$1"; find . -printf '%P %y %m %s %n %l %U %G\\n' |
        sed -E 's/^(.* d [0-9]+) [0-9]+/\\1/' | sort
        find . -type f -print0 | sort -z | xargs -0 -r sha256sum); }
      diff <(print .) <(print \(scratch))
      """, FaultFSOptions(isPageGranular: seed % 2 == 0))
  }
}
