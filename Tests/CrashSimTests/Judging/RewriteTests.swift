// RewriteTests.swift: files that are written anew from their beginning, and cut or grown at the
// end, without being emptied first: `f.seek(0); f.write(text); f.truncate()`.

import Recording
import Testing

@testable import CrashStates
@testable import Exploration
@testable import Findings

@Suite("Files written anew in place")
struct RewriteTests {
  private static func text(_ letter: Character, _ count: Int) -> String {
    String(repeating: letter, count: count)
  }

  /// What is said of a state in which a file has a content.
  private func complaints(
    _ recording: Recording, _ content: String, promised: Bool = false, copy: String? = nil
  ) -> [Complaint] {
    var tree = recording.trace.initial
    tree.inodes[recording["c"]]?.truncate(to: 0)
    tree.inodes[recording["c"]]?.write(Array(content.utf8), at: 0)
    if let copy {
      tree.inodes[recording["copy"]]?.truncate(to: 0)
      tree.inodes[recording["copy"]]?.write(Array(copy.utf8), at: 0)
    }
    var outputBytes = 0
    for event in recording.trace.events {
      if case .mark(let mark) = event.body { outputBytes += mark.bytes.count }
    }
    return FileJudge(
      FileHistoryBuilder.history(of: recording.trace), JudgingOptions(),
      tree: tree, outputBytes: promised ? outputBytes : 0
    ).complaints()
  }

  /// A file of 700 letters is written anew by writes of some sizes, and cut where they end.
  private func rewritten(_ sizes: [Int], old: Int = 700, isSynced: Bool = false) -> Recording {
    var recording = Recording(files: ["c": Self.text("o", old), "copy": "x"])
    var end = 0
    for size in sizes {
      recording.write("c", Self.text("n", size), at: UInt64(end))
      end += size
    }
    if end < old { recording.truncate("c", to: UInt64(end)) }
    if isSynced { recording.sync("c") }
    recording.add(.close(inode: recording["c"]))
    recording.mark("saved\n")
    return recording
  }

  @Test("are half-written with bytes of both contents", arguments: [[600], [512, 88], [900]])
  func mixed(sizes: [Int]) {
    let recording = rewritten(sizes)
    let whole = Self.text("n", sizes.reduce(0, +))
    for content in [Self.text("o", 700), whole] {
      #expect(complaints(recording, content).isEmpty)
    }
    let mixture = Self.text("n", 512) + Self.text("o", 188)
    let found = complaints(recording, mixture)
    #expect(found.map(\.level) == [.error])
    #expect(found.first?.rule == .halfWritten)
    // A whole content elsewhere makes up for it, as where a file is emptied.
    let saved = complaints(recording, mixture, copy: Self.text("o", 700))
    #expect(saved.map(\.level) == [.warning])
  }

  @Test("stay so when a later content is as long")
  func again() {
    var recording = rewritten([900])
    recording.write("c", Self.text("m", 900))
    recording.add(.close(inode: recording["c"]))
    let mixture = Self.text("m", 512) + Self.text("n", 388)
    #expect(complaints(recording, mixture, promised: true).map(\.level) == [.error])
    #expect(complaints(recording, Self.text("m", 900), promised: true).isEmpty)
  }

  @Test("went back when the new content was promised")
  func wentBack() {
    let old = Self.text("o", 700)
    let synced = complaints(rewritten([600], isSynced: true), old, promised: true)
    #expect(synced.map(\.rule) == [.wentBack] && synced.map(\.level) == [.error])
    // The program syncs nothing.
    let lax = complaints(rewritten([600]), old, promised: true)
    #expect(lax.map(\.rule) == [.wentBack] && lax.map(\.level) == [.warning])
  }

  @Test("are pages, or one sector, when their sizes say so")
  func pages() {
    let grown = rewritten([1024], old: 512)
    #expect(complaints(grown, Self.text("n", 512) + Self.text("o", 200)).isEmpty)
    let cut = rewritten([512, 512], old: 1536)
    #expect(complaints(cut, Self.text("n", 512) + Self.text("o", 1024)).isEmpty)
    let small = rewritten([20], old: 10)
    #expect(complaints(small, Self.text("n", 10)).isEmpty)
    // Only a part is written: a change in place.
    var part = Recording(files: ["c": Self.text("o", 700), "copy": "x"])
    part.write("c", Self.text("n", 600))
    part.mark("saved\n")
    #expect(complaints(part, Self.text("n", 512) + Self.text("o", 188)).isEmpty)
  }
}
