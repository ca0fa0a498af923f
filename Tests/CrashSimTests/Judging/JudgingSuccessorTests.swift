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
