// ChosenTimeTests.swift: [U] modification times that a program chose, in crash states and in the
// directories of checkers.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import CrashStates
@testable import LabCore
@testable import Recording

@Suite("Chosen times in crash states")
struct ChosenTimeTests {
  /// The states of the file `a` once all marks are acknowledged: content and chosen seconds.
  private func states(
    _ model: PersistenceModel, comparesTimes: Bool = true, _ build: (inout Recording) -> Void
  ) throws -> (found: Set<String>, distinct: Int) {
    var recording = Recording(files: ["a": "old"])
    build(&recording)
    var options = ExplorationOptions(exhaustiveUpTo: 16, tornUnits: 0)
    options.comparesTimes = comparesTimes
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: model, seed: Seed(rawValue: 1), options: options)
    let plan = try enumerator.plan()
    var found: Set<String> = []
    let marks = recording.trace.marks.count
    try enumerator.visit(plan) { (state, image) throws(LabError) in
      guard state.state.acknowledgedMarks == marks else { return .goOn }
      let seconds = image.entry(at: "a")?.modificationTime.map { "@\($0.seconds)" } ?? ""
      let bytes = (image.content(at: "a") ?? []).map { $0 == 0 ? UInt8(ascii: ".") : $0 }
      found.insert(String(decoding: bytes, as: UTF8.self) + seconds)
      return .goOn
    }
    return (found, plan.distinct)
  }

  @Test("fsync secures a chosen time; nothing and fdatasync do not")
  func syncs() throws {
    for model in PersistenceModel.stock {
      let none = try states(model) {
        $0.setTime("a", 5)
        $0.mark("set")
      }
      #expect(none.found == ["old", "old@5"], "\(model.name)")
      let full = try states(model) {
        $0.setTime("a", 5)
        $0.sync("a")
        $0.mark("synced")
      }
      #expect(full.found == ["old@5"], "\(model.name)")
      let data = try states(model) {
        $0.setTime("a", 5)
        $0.sync("a", dataOnly: true)
        $0.mark("synced")
      }
      #expect(
        data.found == (model.name == "strict" ? ["old@5"] : ["old", "old@5"]), "\(model.name)")
    }
  }

  @Test("a change of the file ends its chosen time, and a new size never comes with the old one")
  func changes() throws {
    for model in PersistenceModel.stock {
      let appended = try states(model) {
        $0.setTime("a", 5)
        $0.sync("a")
        $0.write("a", "new", at: 3)
        $0.mark("written")
      }
      #expect(appended.found.isSuperset(of: ["old@5", "oldnew"]), "\(model.name)")
      #expect(!appended.found.contains { $0.count > 5 && $0.hasSuffix("@5") }, "\(model.name)")
      let cut = try states(model) {
        $0.setTime("a", 5)
        $0.sync("a")
        $0.truncate("a", to: 1)
        $0.sync("a", dataOnly: true)
        $0.mark("cut")
      }
      #expect(cut.found == ["o"], "\(model.name)")
    }
  }

  @Test("by default no two states differ in times alone")
  func noMoreStates() throws {
    for model in PersistenceModel.stock {
      let plain = try states(model, comparesTimes: false) {
        $0.write("a", "new")
        $0.mark("1")
        $0.setMode("a", 0o600)
        $0.mark("2")
      }
      let timed = try states(model, comparesTimes: false) {
        $0.write("a", "new")
        $0.setTime("a", 5)
        $0.mark("1")
        $0.setTime("a", 6)
        $0.setMode("a", 0o600)
        $0.mark("2")
      }
      let told = try states(model) {
        $0.write("a", "new")
        $0.setTime("a", 5)
        $0.mark("1")
        $0.setTime("a", 6)
        $0.setMode("a", 0o600)
        $0.mark("2")
      }
      #expect(timed.distinct == plain.distinct, "\(model.name)")
      #expect(told.distinct > plain.distinct, "\(model.name)")
    }
  }

  private func seconds(_ path: String) -> Int {
    var attributes = stat()
    return unsafe lstat(path, &attributes) == 0 ? attributes.st_mtim.tv_sec : -1
  }

  @Test("a checker's directory has the chosen times of its state, and no other one's")
  func directories() throws {
    let folder = try TemporaryDirectory()
    var tree = TreeImage()
    let owner = Ownership(mode: 0o644, user: getuid(), group: getgid())
    let types: [(name: String, type: FileType)] = [
      ("f", .regular), ("d", .directory), ("l", .symbolicLink),
    ]
    for (index, entry) in types.enumerated() {
      let number = InodeNumber(rawValue: UInt64(index) + 2)
      var inode = InodeImage(type: entry.type, ownership: owner)
      if entry.type == .symbolicLink { inode.target = Array("f".utf8) }
      if entry.type == .directory { inode.ownership.mode = 0o755 }
      tree.inodes[number] = inode
      tree.inodes[.root]?.entries[FileName(entry.name)] = number
    }
    tree.inodes[.root]?.ownership.user = getuid()
    tree.inodes[.root]?.ownership.group = getgid()
    var chosen = tree
    for number in tree.inodes.keys {
      chosen.inodes[number]?.modificationTime = Timestamp(seconds: 5, nanoseconds: 1)
    }
    let names = ["f", "d", "l", "."]
    func times() -> [Int] { names.map { seconds("\(folder.path)/\($0)") } }
    let now = time(nil)
    for image in [chosen, tree, chosen] {
      try DirectoryUpdater.update(folder.path, to: image)
      if image == chosen {
        #expect(times() == [5, 5, 5, 5])
      } else {
        #expect(times().allSatisfy { $0 >= now })
      }
    }
    try DirectoryWriter(path: folder.path).write(tree)
    #expect(times().prefix(3).allSatisfy { $0 >= now })
    try DirectoryWriter(path: folder.path).write(chosen)
    #expect(times() == [5, 5, 5, 5])
  }

  @Test("a time is text and back, before 1970 too")
  func text() {
    let texts = [
      "0.000000000", "5.250000000", "-1.000000000", "-0.500000000", "-7.999999999",
      "9223372036854775807.000000001", "-9223372036854775808.000000000",
    ]
    for text in texts { #expect(Timestamp(seconds: text)?.secondsText == text) }
    let half = Timestamp(seconds: -1, nanoseconds: 500_000_000)
    #expect(Timestamp(seconds: "-0.500000000") == half)
    for text in ["", "5", "5.5", "5.25000000a", "-0.000000000", "+5.000000000", "x.000000000"] {
      #expect(Timestamp(seconds: text) == nil)
    }
  }
}
