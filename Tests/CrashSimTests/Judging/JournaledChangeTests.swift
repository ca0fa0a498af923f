// JournaledChangeTests.swift: changes in place, with their journals, on hand-made recordings: what
// a correct program may leave is whole, and what a missing sync leaves is torn.

import Findings
import Recording
import Testing

@testable import Exploration

@Suite("Judging: journals of changes in place")
struct JournaledChangeTests {
  private static let old = "first record 0001second record 002third record 00003"
  private static let new = "FIRST RECORD 9991SECOND RECORD 992third record 00003"
  private static let split = 17

  /// Writes two records of the file `data` in place, with their old or new bytes in `journal`.
  private func recorded(undo: Bool, gaveUp: Bool = true) -> Recording {
    var recording = Recording(files: ["data": Self.old])
    recording.create("journal")
    recording.write("journal", "#1 " + (undo ? Self.old : Self.new))
    recording.sync("journal")
    recording.write("data", String(Self.new.prefix(Self.split)))
    recording.write(
      "data", String(Self.new.dropFirst(Self.split).prefix(16)), at: UInt64(Self.split))
    recording.sync("data")
    if gaveUp { recording.remove("journal") }
    recording.mark("saved\n")
    return recording
  }

  private func complaints(
    _ recording: Recording, data: String, journal: String?, after count: Int
  ) -> [Complaint] {
    var tree = recording.trace.initial
    let inode = recording["data"]
    tree.inodes[inode]?.truncate(to: 0)
    tree.inodes[inode]?.write(Array(data.utf8), at: 0)
    if let journal {
      var image = InodeImage(type: .regular, ownership: Ownership(mode: 0o644))
      image.write(Array(journal.utf8), at: 0)
      let number = InodeNumber(rawValue: 900)
      tree.inodes[number] = image
      tree.inodes[.root]?.entries[FileName("journal")] = number
    }
    return FileJudge(
      FileHistoryBuilder.history(of: recording.trace), JudgingOptions(), tree: tree,
      outputBytes: count
    ).complaints()
  }

  /// The first record new, the second one old.
  private var mixed: String {
    String(Self.new.prefix(Self.split)) + String(Self.old.dropFirst(Self.split))
  }
  /// The first record torn.
  private var torn: String { String(Self.new.prefix(5)) + String(Self.old.dropFirst(5)) }

  @Test(
    "a half-done change is an error without its journal, and none with it",
    arguments: [true, false])
  func journals(undo: Bool) {
    let recording = recorded(undo: undo)
    let kept = undo ? Self.old : Self.new
    for data in [mixed, torn] {
      let lost = complaints(recording, data: data, journal: nil, after: 0)
      #expect(lost.map(\.level) == [.error], "\(data): \(lost)")
      let empty = complaints(recording, data: data, journal: "", after: 0)
      #expect(empty.map(\.rule) == [.halfWritten], "\(data): \(empty)")
      let covered = complaints(recording, data: data, journal: "#1 " + kept, after: 0)
      #expect(covered.isEmpty, "\(data): \(covered)")
    }
  }

  @Test("before and after the change, and with other differences, nothing is said")
  func silent() {
    let recording = recorded(undo: true)
    for data in [Self.old, Self.new, String(mixed.dropLast(3)) + "???", Self.old + "appended"] {
      let found = complaints(recording, data: String(data), journal: nil, after: 0)
      #expect(found.isEmpty, "\(data): \(found)")
    }
  }

  @Test("a copy that stays is a backup, and no journal")
  func backup() {
    let recording = recorded(undo: true, gaveUp: false)
    #expect(
      complaints(recording, data: mixed, journal: nil, after: 0).allSatisfy { $0.level < .error })
    #expect(JournalFinder.changes(in: recording.trace).isEmpty)
  }

  @Test("records of the change are found, with the bytes of before the change")
  func pieces() throws {
    let change = try #require(JournalFinder.changes(in: recorded(undo: true).trace).first)
    #expect(change.isUndo && change.path == "data" && change.journal == "journal")
    #expect(change.pieces.map(\.range) == [0..<17, 17..<33])
    #expect(change.start == Array(Self.old.utf8))
    var short = Recording(files: ["data": "1234567"])
    short.create("j")
    short.write("j", "1234567")
    short.write("data", "7654321")
    short.remove("j")
    #expect(JournalFinder.changes(in: short.trace).isEmpty, "too few bytes to tell a journal by")
  }

  @Test("a mapped page that comes after the promise is a warning")
  func mapped() {
    var recording = Recording(files: ["data": Self.old])
    recording.write("data", "FIRST", at: 0)
    recording.sync("data")
    recording.mark("saved\n")
    recording.add(
      .write(inode: recording["data"], offsetBytes: 6, payload: Payload(Array("RECORD".utf8))),
      flags: .writeBack)
    recording.close("data")
    let before = "FIRST" + String(Self.old.dropFirst(5))
    let found = complaints(recording, data: before, journal: nil, after: 6)
    #expect(found.map(\.level) == [.warning], "\(found)")
    #expect(complaints(recording, data: before, journal: nil, after: 0).isEmpty)
  }
}
