// JudgingSuccessorTests.swift: a program may give a content up when another file has what is needed
// in its place; and which lines of output promise nothing. On hand-made recordings.

import Findings
import Recording
import Testing

@testable import Exploration

@Suite("Judging: what makes up for a content that was given up")
struct JudgingSuccessorTests {
  /// What is wrong with a tree when all marks but the last ones were printed.
  private func levels(
    _ recording: Recording, _ tree: TreeImage, marks: Int = .max
  ) -> [ComplaintLevel] {
    let texts = recording.trace.events.compactMap { event in
      if case .mark(let mark) = event.body { mark.bytes.count } else { nil }
    }
    return FileJudge(
      FileHistoryBuilder.history(of: recording.trace), JudgingOptions(), tree: tree,
      outputBytes: texts.prefix(marks).reduce(0, +)
    ).complaints().map(\.level)
  }

  /// The tree at the end, with other contents of some files; nil removes one.
  private func tree(_ recording: Recording, _ changes: [String: String?]) -> TreeImage {
    var tree = recording.trace.initial
    for event in recording.trace.events {
      if case .operation(let operation) = event.body { tree.apply(operation) }
    }
    for (path, text) in changes {
      guard let text else {
        tree.inodes[.root]?.entries[FileName(path)] = nil
        continue
      }
      tree.inodes[recording[path]]?.truncate(to: 0)
      tree.inodes[recording[path]]?.write(Array(text.utf8), at: 0)
    }
    return tree
  }

  private func rewrite(_ recording: inout Recording, _ path: String, _ text: String) {
    recording.truncate(path, to: 0)
    recording.write(path, text)
    recording.sync(path)
    recording.add(.close(inode: recording[path]))
  }

  @Test("one of two slots may be torn as long as the other one is whole")
  func slots() {
    for (names, level) in [
      (["boot.a", "boot.b"], ComplaintLevel.note), (["slot0", "slot1"], .note),
      (["primary.db", "backup.db"], .note), (["user1", "user2"], .error), (["x", "y"], .error),
    ] {
      var recording = Recording(files: [names[0]: "one", names[1]: "two", "other": "seen"])
      recording.write("other", "more", at: 4)
      recording.sync("other")
      rewrite(&recording, names[0], "three")
      recording.mark("saved 3\n")
      let torn = tree(recording, [names[0]: "thr"])
      #expect(levels(recording, torn, marks: 0) == [level], "\(names)")
      // What was promised has to be there, in whichever slot.
      #expect(levels(recording, torn) == [.error], "\(names)")
      let both = tree(recording, [names[0]: "thr", names[1]: "t"])
      #expect(levels(recording, both, marks: 0).contains(.error), "\(names)")
    }
  }

  @Test("names of slots are not enough: two files that both matter may be called like that")
  func noSlots() {
    func level(
      _ names: [String], _ rewritten: [[Int]], text: (Int, Int) -> String = { "v\($0) of \($1)" }
    ) -> ComplaintLevel? {
      var files = ["other": "seen", "d/other": "seen"]
      for name in names { files[name] = "old \(name)" }
      var recording = Recording(files: files, directories: ["d", "e"])
      for (version, slots) in rewritten.enumerated() {
        for slot in slots { rewrite(&recording, names[slot], text(version, slot)) }
        recording.mark("done with it\n")
      }
      let path = names[rewritten[0][0]]
      var tree = recording.trace.initial
      let torn = Array("v0".utf8)
      tree.inodes[recording[path]]?.truncate(to: 0)
      tree.inodes[recording[path]]?.write(torn, at: 0)
      return levels(recording, tree, marks: 0).max()
    }
    // In turn, and by their names.
    #expect(level(["boot.a", "boot.b"], [[0], [1], [0], [1]]) == .note)
    #expect(level(["e/a", "e/b"], [[0], [1], [0]]) == .note)
    // Called by nothing but a letter, beside other files.
    #expect(level(["a", "b"], [[0], [1], [0]]) == .error)
    #expect(level(["d/0", "d/1"], [[0], [1]]) == .error)
    // The first ones of a row.
    #expect(level(["page0", "page1", "page2"], [[0], [1], [2]]) == .error)
    #expect(level(["disk_a", "disk_b", "disk_c"], [[0]]) == .error)
    // Not in turn.
    #expect(level(["boot.a", "boot.b"], [[0], [0], [1]]) == .error)
    // Both, and then one line about both; the same to both is a copy.
    #expect(level(["boot.a", "boot.b"], [[0, 1], [0, 1]]) == .error)
    let copies = level(["boot.a", "boot.b"], [[0, 1], [0, 1]]) { version, _ in "v\(version), all" }
    #expect(copies == .note)
    #expect(level(["boot.a", "boot.b"], [[0, 1, 0, 1]]) == .note)
  }

  @Test("the emptying of a slot may be lost, and what was written after it be there in part")
  func betweenTwoContents() {
    var recording = Recording(files: ["boot.a": "one", "boot.b": "two"])
    rewrite(&recording, "boot.a", "aaaa1111")
    rewrite(&recording, "boot.b", "bbbbbb22")
    recording.mark("stored\n")
    rewrite(&recording, "boot.a", "cccc")
    recording.mark("saved 3\n")
    func level(_ text: String, marks: Int = 1) -> ComplaintLevel? {
      levels(recording, tree(recording, ["boot.a": text]), marks: marks).max()
    }
    for text in ["\0\0\0\01111", "cc\0\01111", "ccaa1111", "aacc1111", "c\0aa1111", "\0\0"] {
      #expect(level(text) == .note, "\(text)")
      #expect(level(text, marks: 2) == .error, "\(text)")
    }
    // Where the new bytes never come to, the old ones stay.
    for text in ["aaaa\0\0\0\0", "\0\0\0\0\0\0\0\0"] {
      #expect(level(text) == .error, "\(text)")
    }
    let both = tree(recording, ["boot.a": "\0\0\0\01111", "boot.b": "bb"])
    #expect(levels(recording, both, marks: 1).contains(.error))
  }

  @Test("a log may be begun anew, by a write that is not synced, once a snapshot is durable")
  func snapshots() {
    var recording = Recording(files: ["log": "", "state": "old"])
    for (entry, offset) in [("1111", 0), ("2222", 4)] {
      recording.write("log", entry, at: UInt64(offset))
      recording.sync("log")
      recording.mark("put\n")
    }
    recording.create("state.new")
    recording.write("state.new", "12")
    recording.sync("state.new")
    recording.rename("state.new", to: "state")
    recording.syncDirectory()
    recording.truncate("log", to: 0)
    recording.write("log", "3333")
    recording.sync("log")
    recording.mark("put\n")
    let emptied = levels(recording, tree(recording, ["log": ""]), marks: 2)
    #expect(!emptied.isEmpty && emptied.allSatisfy { $0 == .note }, "\(emptied)")
    #expect(levels(recording, tree(recording, ["log": "33"]), marks: 2) == [.note])
    let early = tree(recording, ["log": "", "state": "old"])
    #expect(levels(recording, early, marks: 2).contains(.error))
    #expect(levels(recording, tree(recording, ["log": ""])).contains(.error))
  }

  @Test("a journal may hold what comes in any form, and is needed until it is durable")
  func journals() {
    var recording = Recording(files: ["data": "old"])
    recording.create("todo")
    recording.write("todo", "bmV3")
    recording.sync("todo")
    recording.syncDirectory()
    let todo = recording["todo"]
    rewrite(&recording, "data", "new")
    recording.remove("todo")
    recording.syncDirectory()
    recording.mark("committed\n")
    var journaled = tree(recording, ["data": ""])
    #expect(levels(recording, journaled, marks: 0) == [.error])
    journaled.inodes[.root]?.entries[FileName("todo")] = todo
    var image = InodeImage(type: .regular, ownership: Ownership(mode: 0o644))
    image.write(Array("bmV3".utf8), at: 0)
    journaled.inodes[todo] = image
    #expect(levels(recording, journaled, marks: 0) == [.note])
    journaled.inodes[todo]?.truncate(to: 2)
    #expect(levels(recording, journaled, marks: 0) == [.error])
  }

  @Test("what was promised may be in a copy while the file itself is written anew, and only there")
  func copies() {
    var recording = Recording(files: ["main": "0000", "mirror": "0000"])
    for text in ["1111", "2222"] {
      for path in ["main", "mirror"] { rewrite(&recording, path, text) }
      recording.mark("stored \(text)\n")
    }
    for torn in ["", "22", "1122"] {
      let first = tree(recording, ["main": torn, "mirror": "1111"])
      #expect(levels(recording, first, marks: 1) == [.warning], "\(torn)")
      let second = tree(recording, ["main": "2222", "mirror": torn])
      #expect(levels(recording, second, marks: 1) == [.warning], "\(torn)")
      let older = tree(recording, ["main": torn, "mirror": "0000"])
      #expect(levels(recording, older, marks: 1).contains(.error), "\(torn)")
    }
  }

  @Test("what one thread writes after another one's sync is no part of what that one acknowledges")
  func threads() {
    func recorded(_ writer: Int32, syncsLater: Bool) -> Recording {
      var recording = Recording(files: ["log": ""])
      recording.thread = writer
      recording.write("log", "1111")
      recording.thread = 2
      recording.sync("log")
      recording.thread = writer
      recording.write("log", "2222", at: 4)
      recording.mark("ack 1\n")
      recording.thread = 2
      if syncsLater { recording.sync("log") }
      recording.mark("ack 2\n")
      return recording
    }
    for (writer, syncsLater, isFine) in [(1, true, true), (2, true, false), (1, false, false)] {
      let recording = recorded(Int32(writer), syncsLater: syncsLater)
      let found = levels(recording, tree(recording, ["log": "1111"]), marks: 1)
      #expect(found == (isFine ? [] : [.error]), "writer \(writer), \(syncsLater)")
      #expect(levels(recording, tree(recording, ["log": "111"]), marks: 1) == [.error])
      #expect(levels(recording, tree(recording, ["log": "1111"])) == [.error])
    }
  }

  @Test("a sync of the directory for another file does not make a cache or a log matter")
  func caches() {
    func level(_ cache: String, then steps: (inout Recording) -> Void) -> ComplaintLevel? {
      var recording = Recording(files: ["state": "old"])
      recording.create("t")
      recording.write("t", "beat")
      recording.rename("t", to: cache)
      steps(&recording)
      recording.syncDirectory()
      recording.mark("saved\n")
      return levels(recording, tree(recording, [cache: ""])).max()
    }
    func save(_ recording: inout Recording) {
      recording.create("state.new")
      recording.write("state.new", "new")
      recording.sync("state.new")
      recording.rename("state.new", to: "state")
    }
    #expect(level("beat.cache", then: save).map { $0 < .error } ?? true)
    #expect(level("beat.json", then: save) == .error)
    // A sync that is for this very name.
    #expect(level("beat.cache") { _ in } == .error)
    #expect(level("beat.cache") { recording in recording.sync("beat.cache") } == .error)
    #expect(level("wal.log") { recording in recording.create("other") } == .error)
  }

  @Test("a rename of a durable file that a file system did by half is a warning")
  func halfRenames() {
    func level(_ isDurable: Bool) -> ComplaintLevel? {
      var recording = Recording(
        files: isDurable ? ["old": "1", "log": "2", "other": ""] : ["old": "1", "other": ""])
      if !isDurable {
        recording.create("log")
        recording.write("log", "2")
      }
      recording.remove("old")
      recording.rename("log", to: "old")
      recording.sync("other")
      return levels(recording, tree(recording, ["old": nil])).max()
    }
    #expect(level(true) == .warning)
    #expect(level(false) == .error)
  }

  @Test("files that were joined into a new one may be removed once that is durable")
  func joined() {
    let parts = [
      "seg1": String(repeating: "one ", count: 20), "seg2": String(repeating: "2", count: 70),
    ]
    func level(_ text: (String, String) -> String) -> ComplaintLevel? {
      var recording = Recording(files: parts.merging(["other": "1"]) { first, _ in first })
      recording.create("all")
      recording.write("all", text(parts["seg1"] ?? "", parts["seg2"] ?? ""))
      recording.add(.close(inode: recording["all"]))
      for path in ["seg1", "seg2"] { recording.remove(path) }
      recording.syncDirectory()
      var tree = recording.trace.initial
      tree.inodes[.root]?.entries[FileName("seg2")] = nil
      return levels(recording, tree).max()
    }
    #expect(level { $0 + $1 } == .error)
    #expect(level { one, _ in one + "done" } == nil)
  }

  @Test("lines that announce a step or a file promise nothing")
  func announcements() {
    func recorded(_ lines: [String]) -> Recording {
      var recording = Recording(files: ["a": "1", "b": "1"])
      for (path, line) in zip(["a", "b"], lines) {
        recording.mark(line + "\n")
        recording.create("t")
        recording.write("t", "2")
        recording.sync("t")
        recording.rename("t", to: path)
      }
      return recording
    }
    let headers = recorded(["step 1", "step 2"])
    #expect(levels(headers, tree(headers, ["a": "1", "b": "1"])).allSatisfy { $0 < .error })
    let names = recorded(["reading", "b"])
    #expect(levels(names, tree(names, ["a": "1", "b": "1"])).allSatisfy { $0 < .error })
    for results in [["hello", "step 2"], ["hello", "a"], ["step 1", "saved 1"]] {
      let recording = recorded(results)
      #expect(
        levels(recording, tree(recording, ["a": "1", "b": "1"])).contains(.error), "\(results)")
    }
  }

  @Test("lines of verbose tools tell of one call, which a sync may follow")
  func verboseTools() {
    for text in [
      "mkdir: created directory 'a'", "removed 'a b'", "removed directory 'd'",
      "renamed 'a.tmp' -> 'a'", "'a' -> 'b'", "'a' => 'b'", "‘a’ -> ‘b’",
    ] {
      #expect(OutputPromise(text) == .nothing, "\(text)")
    }
    for text in ["removed a", "'a' saved", "renamed", "\"stored\"", "key 'a' removed"] {
      #expect(OutputPromise(text) == .done, "\(text)")
    }
  }

  @Test("a line that says two things says the second")
  func twoThings() {
    for text in ["job.1 accepted and stored", "Received and written: 3"] {
      #expect(OutputPromise(text) == .done, "\(text)")
    }
    for text in ["accepted", "will be received and stored", "loaded saved state", "not stored"] {
      #expect(OutputPromise(text) == .nothing, "\(text)")
    }
  }

  @Test("the journals of a transaction over several databases are undone while they are joined")
  func superJournals() {
    let name = Array("/mnt/x/a-mj01".utf8)
    func field(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(number >> (24 - 8 * $0) & 0xff) } }
    let sum = name.reduce(0) { $0 + Int($1) }
    let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    let pages = [UInt8](repeating: 7, count: 600)
    let journal = pages + field(1) + name + field(name.count) + field(sum) + magic
    #expect(SuperJournal.name(in: journal) == "a-mj01")
    #expect(SuperJournal.removed(from: journal) == pages)
    let wrong = pages + field(1) + name + field(name.count) + field(sum + 1) + magic
    for other in [pages, wrong, Array(journal.suffix(20)), magic] {
      #expect(SuperJournal.name(in: other) == nil)
      #expect(SuperJournal.removed(from: other) == other)
    }
  }
}
