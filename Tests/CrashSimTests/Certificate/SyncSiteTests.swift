// SyncSiteTests.swift: which syncs count as one place of the program.

import Testing

@testable import Exploration

@Suite("Sites of syncs")
struct SyncSiteTests {
  @Test("the syncs of a commit that repeats are one site each")
  func commits() {
    var recording = Recording(files: ["db": "....", "log": ""])
    for commit in 0..<3 {
      recording.write("log", "\(commit)", at: UInt64(commit))
      recording.sync("log", dataOnly: true)
      recording.write("db", "\(commit)")
      recording.sync("db", dataOnly: true)
      recording.write("db", "\(commit)", at: 2)
      recording.sync("db", dataOnly: true)
      recording.mark("commit \(commit)")
    }
    let sites = SyncSite.all(in: recording.trace)
    #expect(sites.map(\.syncs) == [[1, 8, 15], [3, 10, 17], [5, 12, 19]])
    #expect(sites[0].text == "fdatasync of 'log' (written), sync 1 after a mark")
    #expect(
      sites[2].text
        == "fdatasync of 'db' (written), sync 3 after a mark, behind fdatasync of 'db'")
  }

  @Test("numbered files are alike, other calls and other contents are not")
  func differences() {
    var recording = Recording()
    for number in [7, 12] {
      recording.create("seg\(number)")
      recording.write("seg\(number)", "x")
      recording.sync("seg\(number)")
      recording.mark("m")
    }
    recording.write("seg7", "y")
    recording.sync("seg7")
    recording.mark("m")
    recording.write("seg7", "y")
    recording.sync("seg7", dataOnly: true)
    recording.mark("m")
    recording.rename("seg7", to: "old")
    recording.syncDirectory()
    recording.sync("seg12", flags: .openFlagSync)
    recording.sync("seg12", flags: .failed)
    #expect(
      SyncSite.all(in: recording.trace).map(\.text) == [
        "fsync of 'segN' (created, written), sync 1 after a mark",
        "fsync of 'segN' (written), sync 1 after a mark",
        "fdatasync of 'segN' (written), sync 1 after a mark",
        "fsync of the directory '/' (named, renamed), sync 1 after a mark",
        "write with O_SYNC of 'segN' (nothing new), sync 2 after a mark, "
          + "behind fsync of the directory '/'",
      ])
  }

  @Test("a workload without marks has few sites all the same")
  func withoutMarks() {
    var recording = Recording(files: ["log": ""])
    for line in 0..<100 {
      recording.write("log", "l", at: UInt64(line))
      recording.sync("log")
    }
    let sites = SyncSite.all(in: recording.trace)
    #expect(sites.count == 9)
    #expect(sites.flatMap(\.syncs).count == 100)
  }
}
