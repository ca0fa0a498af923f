// FileJudgeTests.swift: the rules of judging without a checker, on hand-made recordings and states.

import Findings
import Recording
import Testing

@testable import Exploration

@Suite("Rules of judging without a checker")
struct FileJudgeTests {
  /// The tree after so many events.
  private func tree(_ trace: Trace, _ count: Int) -> TreeImage {
    var tree = trace.initial
    for event in trace.events.prefix(count) {
      if case .operation(let operation) = event.body { tree.apply(operation) }
    }
    return tree
  }

  private func outputBytes(_ trace: Trace, _ count: Int) -> Int {
    trace.events.prefix(count).reduce(0) { bytes, event in
      if case .mark(let mark) = event.body { bytes + mark.bytes.count } else { bytes }
    }
  }

  /// What is wrong with a tree once so many events were done.
  private func complaints(
    _ recording: Recording, _ tree: TreeImage, after count: Int, durable: Bool = false
  ) -> [Complaint] {
    FileJudge(
      FileHistoryBuilder.history(of: recording.trace), JudgingOptions(isDurable: durable),
      tree: tree, outputBytes: outputBytes(recording.trace, count)
    ).complaints()
  }

  private func save(_ recording: inout Recording, _ text: String) {
    recording.create("c.tmp")
    recording.write("c.tmp", text)
    recording.sync("c.tmp")
    recording.rename("c.tmp", to: "c")
    recording.syncDirectory()
    recording.mark("saved \(text)\n")
  }

  @Test("no moment of a careful program is an error")
  func moments() {
    var recording = Recording(files: [
      "c": "one", "log": "0\n", "pages": String(repeating: "-", count: 5000),
    ])
    save(&recording, "two")
    recording.write("log", "1\n", at: 2)
    recording.sync("log")
    recording.mark("3\n")
    save(&recording, "three")
    recording.write("pages", "new", at: 4096)
    recording.write("log", "2\n", at: 4)
    recording.sync("log")
    recording.mark("committed\n")
    recording.create("fresh")
    recording.write("fresh", "a")
    recording.write("fresh", "b", at: 1)
    for count in 0...recording.trace.events.count {
      let found = complaints(recording, tree(recording.trace, count), after: count)
      #expect(found.allSatisfy { $0.level < .error }, "\(count): \(found)")
    }
  }

  @Test("an older content is an error once the newer one was promised, and not before")
  func wentBack() {
    var recording = Recording(files: ["c": "one"])
    save(&recording, "two")
    let count = recording.trace.events.count
    let before = recording.trace.initial
    #expect(complaints(recording, before, after: count - 1).isEmpty)
    let found = complaints(recording, before, after: count)
    #expect(found.map(\.rule) == [.wentBack])
    #expect(found.map(\.level) == [.error])
  }

  @Test("a temporary name that has the old content after an exchange is in nobody's way")
  func exchanged() {
    var recording = Recording(files: ["c": "one"])
    var counts: [Int] = []
    var remnant = recording.trace.initial
    for text in ["two", "three"] {
      recording.create("c.new")
      recording.write("c.new", text)
      recording.sync("c.new")
      recording.exchange("c.new", "c")
      recording.syncDirectory()
      if counts.isEmpty { remnant = tree(recording.trace, recording.trace.events.count) }
      recording.remove("c.new")
      recording.mark("saved \(text)\n")
      counts.append(recording.trace.events.count)
    }
    for count in [counts[0], counts[1] - 1] {
      #expect(complaints(recording, remnant, after: count).isEmpty, "\(count)")
    }
    // The name that stays is held to what it promised.
    let found = complaints(recording, recording.trace.initial, after: counts[0])
    #expect(found.map(\.rule) == [.wentBack] && found.map(\.path) == ["c"])
  }

  @Test("what was removed before a promise may be there again, also when it was made anew since")
  func removed() {
    var recording = Recording(files: ["c": "one"])
    recording.remove("c")
    recording.syncDirectory()
    recording.mark("saved\n")
    recording.create("c")
    recording.write("c", "two")
    recording.sync("c")
    let count = recording.trace.events.count
    #expect(complaints(recording, recording.trace.initial, after: count).isEmpty)
    recording.mark("committed\n")
    let found = complaints(recording, recording.trace.initial, after: count + 1)
    #expect(found.map(\.rule) == [.wentBack])
  }

  @Test("a torn file is an error when the old content is nowhere, and a warning when it is")
  func torn() {
    var recording = Recording(files: ["c": "one", "copy": "else"])
    recording.truncate("c", to: 0)
    recording.write("c", "two")
    recording.add(.close(inode: recording["c"]))
    let empty = tree(recording.trace, 1)
    #expect(complaints(recording, empty, after: 1).map(\.level) == [.error])
    var rescued = empty
    rescued.inodes[recording["copy"]] = recording.trace.initial.inodes[recording["c"]]
    #expect(complaints(recording, rescued, after: 1).map(\.level) == [.warning])
  }

  @Test("a log may end anywhere behind what was promised, and have no hole there")
  func logs() {
    var recording = Recording(files: ["log": "0000"])
    recording.write("log", "1111", at: 4)
    recording.sync("log")
    recording.mark("saved\n")
    recording.write("log", "2222", at: 8)
    recording.add(.close(inode: recording["log"]))
    let count = recording.trace.events.count
    func state(_ text: String) -> TreeImage {
      var tree = recording.trace.initial
      tree.inodes[recording["log"]]?.truncate(to: 0)
      tree.inodes[recording["log"]]?.write(Array(text.utf8), at: 0)
      return tree
    }
    for good in ["00001111", "0000111122", "000011112222"] {
      #expect(complaints(recording, state(good), after: count).isEmpty, "\(good)")
    }
    for bad in ["0000", "000011", "0000\0\0\0\0", "0000111x"] {
      #expect(complaints(recording, state(bad), after: count).map(\.level) == [.error], "\(bad)")
    }
    #expect(complaints(recording, state("0000"), after: 2).isEmpty)
  }

  @Test("files replaced together, and partly old, are a note")
  func mixed() {
    var recording = Recording(files: ["a": "1", "b": "1"])
    for path in ["a", "b"] {
      recording.create("t")
      recording.write("t", "2")
      recording.sync("t")
      recording.rename("t", to: path)
    }
    let found = complaints(recording, tree(recording.trace, 4), after: 4)
    #expect(found.map(\.rule) == [.mixed])
    #expect(found.map(\.level) == [.note])
  }

  @Test("lines promise by their words, or by the sync before them")
  func promises() {
    for text in [
      "saved 3", "row 5 committed", "Your key has been saved in k", "ack 1", "booking 0 recorded",
      "everything is saved.", "meeting #3: updated",
    ] {
      #expect(OutputPromise(text) == .done, "\(text)")
    }
    for text in ["3", "k=v", "done", "[main 1a2b] message"] {
      #expect(OutputPromise(text) == .ifSynced, "\(text)")
    }
    for text in [
      "saving c ...", "starting", "queued 3", "not saved", "error: disk full", "Setting up pk (1)",
      "files:", "---", "", "nothing saved", "saving what was written", "loading the rows stored",
    ] {
      #expect(OutputPromise(text) == .nothing, "\(text)")
    }
  }

  @Test("formats are recognized by their first bytes, or by the name")
  func formats() {
    #expect(KnownFormat(path: "d", bytes: Array("SQLite format 3\0".utf8)) == .sqlite)
    #expect(KnownFormat(path: "d", bytes: [0x1f, 0x8b, 8]) == .gzip)
    #expect(KnownFormat(path: "a.toml", bytes: Array("a = 1".utf8)) == .toml)
    #expect(KnownFormat(path: "a", bytes: Array("{\"a\": 1}".utf8)) == .json)
    #expect(KnownFormat(path: "a.txt", bytes: Array("hello".utf8)) == nil)
  }
}
