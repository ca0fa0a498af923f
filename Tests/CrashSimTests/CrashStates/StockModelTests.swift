// StockModelTests.swift: small workloads that tell the stock models apart. The expectations are the
// tables of docs/explanation/crash-model.md, so that the page and the code cannot differ.

import CrashStates
import Foundation
import LabCore
import Testing

@Suite("Stock models told apart")
struct StockModelTests {
  /// A workload and a tree that some models allow at its end.
  struct Case: Sendable {
    let name: String
    let files: [String: String]
    let state: String
    var isTorn = false
    let build: @Sendable (inout Recording) -> Void
  }

  static let cases: [Case] = [
    Case(name: "half-append", files: ["a": ""], state: "a=nnnnnnnnnnnnnnnn…4096") {
      $0.write("a", String(repeating: "n", count: 4097))
    },
    Case(name: "overtaking-overwrite", files: ["a": "1", "b": "1"], state: "a=1 b=2") {
      $0.write("a", "2")
      $0.write("b", "2")
    },
    Case(name: "mode-before-data", files: ["a": "1"], state: "a=1(0600)") {
      $0.write("a", "2")
      $0.setMode("a", 0o600)
    },
    Case(name: "size-in-page", files: ["a": "x"], state: "a=x.") { $0.write("a", "y", at: 1) },
    Case(name: "size-in-new-page", files: ["a": ""], state: "a=...") { $0.write("a", "new") },
    Case(name: "zeros-before-shrink", files: ["a": "old"], state: "a=o..") {
      $0.truncate("a", to: 1)
    },
    Case(name: "name-before-append", files: ["a": ""], state: "a= b=") {
      $0.write("a", "new")
      $0.create("b")
    },
    Case(name: "name-before-overwrite", files: [:], state: "a=one b=") {
      $0.create("a")
      $0.write("a", "one")
      $0.write("a", "two")
      $0.create("b")
    },
    Case(name: "replace-before-data", files: ["a": "old"], state: "a=") {
      $0.create("t")
      $0.write("t", "new")
      $0.rename("t", to: "a")
    },
    Case(name: "close-before-data", files: ["a": "old"], state: "a= b=") {
      $0.truncate("a", to: 0)
      $0.write("a", "new")
      $0.close("a")
      $0.create("b")
    },
    Case(name: "data-before-rename", files: ["a": "1", "x": ""], state: "a=2 x=") {
      $0.rename("x", to: "y")
      $0.write("a", "2")
    },
    Case(name: "other-directory-first", files: [:], state: "d/ y=") {
      $0.makeDirectory("d")
      $0.syncDirectory("d")
      $0.syncDirectory()
      $0.create("d/x")
      $0.create("y")
    },
    Case(name: "sync-overtakes", files: [:], state: "y=") {
      $0.create("x")
      $0.create("y")
      $0.sync("y")
      $0.mark("done")
    },
    Case(name: "synced-name-lost", files: [:], state: "") {
      $0.create("y")
      $0.sync("y")
      $0.mark("done")
    },
    Case(name: "half-rename", files: ["a": "1"], state: "a=1 b=1") { $0.rename("a", to: "b") },
    Case(name: "sync-again", files: ["a": "old"], state: "a=old") {
      $0.write("a", "new")
      $0.sync("a", flags: .failed)
      $0.sync("a")
      $0.mark("done")
    },
    Case(
      name: "torn-sector", files: ["a": "old!"], state: "a=....", isTorn: true
    ) { $0.write("a", "new!") },
    Case(name: "torn-neighbour", files: ["a": "old!"], state: "a=....", isTorn: true) {
      $0.write("a", "n")
    },
  ]

  static let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("docs/explanation/crash-model.md")

  /// The rows of the page's tables whose first cell is `key` in backquotes.
  private func rows(_ keys: [String]) throws -> [String: [[String]]] {
    let text = try String(contentsOf: Self.document, encoding: .utf8)
    var found: [String: [[String]]] = [:]
    for line in text.split(separator: "\n") where line.hasPrefix("|") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard let first = cells.first else { continue }
      let key = first.trimmingCharacters(in: CharacterSet(charactersIn: "`"))
      if keys.contains(key) { found[key, default: []].append(Array(cells.dropFirst())) }
    }
    return found
  }

  @Test("each workload's state is allowed by exactly the models that the page says")
  func allowed() throws {
    let documented = try rows(Self.cases.map(\.name))
    for item in Self.cases {
      var recording = Recording(files: item.files)
      item.build(&recording)
      let names = try PersistenceModel.stock.filter {
        try Possible(recording, $0, torn: item.isTorn).final.contains(item.state)
      }.map(\.name)
      // The row's last cells are the models, in the order of `stock`.
      let cells = try #require(documented[item.name]?.first, "\(item.name) is not documented")
      let marks = cells.suffix(PersistenceModel.stock.count)
      let expected = zip(PersistenceModel.stock, marks).filter { $1 == "yes" }.map { $0.0.name }
      #expect(names == expected, "\(item.name)")
      #expect(!names.isEmpty && names.count < PersistenceModel.stock.count, "\(item.name)")
    }
  }

  /// Models under which a write of two sectors to `a` can leave a content.
  private func models(
    _ files: [String: String], writingAt offset: UInt64, leaving isMeant: ([UInt8]) -> Bool
  ) throws -> [String] {
    var recording = Recording(files: files)
    recording.write("a", String(repeating: "n", count: 1024), at: offset)
    var names: [String] = []
    for model in PersistenceModel.stock {
      let enumerator = try CrashStateEnumerator(
        trace: recording.trace, model: model, seed: Seed(rawValue: 1))
      var isLeft = false
      try enumerator.visit(enumerator.plan()) { (_, image) throws(LabError) in
        if isMeant(image.content(at: "a") ?? []) { isLeft = true }
        return .goOn
      }
      if isLeft { names.append(model.name) }
    }
    return names
  }

  @Test("bytes that nobody wrote show where a model's disk was not written before, and only there")
  func staleBytes() throws {
    func isStale(_ bytes: [UInt8]) -> Bool { bytes.contains { ![0, 110, 111].contains($0) } }
    let page = ["a": String(repeating: "o", count: 1024)]
    #expect(
      try models(["a": ""], writingAt: 0, leaving: isStale)
        == ["ext4-writeback", "posix", "posix-damage"])
    #expect(try models(page, writingAt: 1024, leaving: isStale) == ["posix", "posix-damage"])
    #expect(try models(page, writingAt: 0, leaving: isStale) == ["posix-damage"])
  }

  @Test("a page that is new to its file comes whole where no old bytes show; an older one is torn")
  func newPages() throws {
    func isHalf(_ bytes: [UInt8]) -> Bool {
      bytes.count >= 1024 && bytes.suffix(1024).prefix(512).allSatisfy { $0 == 110 }
        && bytes.suffix(512).allSatisfy { $0 == 0 }
    }
    let weak = ["ext4-writeback", "posix", "posix-damage"]
    #expect(try models(["a": ""], writingAt: 0, leaving: isHalf) == weak)
    let page = ["a": String(repeating: "o", count: 1024)]
    #expect(try models(page, writingAt: 1024, leaving: isHalf) == ["ext4-ordered"] + weak)
  }

  @Test("btrfs: what a sync takes out of the journal's order leaves the rest in order")
  func orderBehindSync() throws {
    var recording = Recording()
    recording.create("v")
    recording.create("w")
    recording.create("x")
    recording.create("y")
    recording.sync("x")
    recording.create("z")
    recording.mark("done")
    let states = try Possible(recording, .btrfs).final
    #expect(
      states == ["x=", "v= x=", "v= w= x=", "v= w= x= y=", "v= w= x= y= z="])
  }

  @Test("btrfs: a synced file brings the new directories that lead to it, and nothing else in them")
  func syncedPath() throws {
    var recording = Recording()
    recording.makeDirectory("d")
    recording.create("d/w")
    recording.makeDirectory("d/e")
    recording.create("d/e/x")
    recording.sync("d/e/x")
    recording.mark("done")
    let states = try Possible(recording, .btrfs).final
    #expect(states == ["d/ d/e/ d/e/x=", "d/ d/e/ d/e/x= d/w="])
  }

  @Test("any two models differ in some workload")
  func allPairsDiffer() throws {
    let documented = try rows(Self.cases.map(\.name))
    let columns = PersistenceModel.stock.indices.map { index in
      Self.cases.map { item -> Bool in
        let cells = documented[item.name]?.first?.suffix(PersistenceModel.stock.count) ?? []
        return Array(cells)[index] == "yes"
      }
    }
    #expect(Set(columns).count == PersistenceModel.stock.count)
  }

  @Test("what one model allows and another does not never contradicts which is stronger")
  func columnsFollowStrength() throws {
    let documented = try rows(Self.cases.map(\.name))
    for (strong, weak) in PersistenceModel.strongerPairs {
      for item in Self.cases {
        let cells = Array(
          try #require(documented[item.name]?.first).suffix(PersistenceModel.stock.count))
        func allows(_ model: PersistenceModel) -> Bool {
          zip(PersistenceModel.stock, cells).contains { $0.0 == model && $0.1 == "yes" }
        }
        #expect(!allows(strong) || allows(weak), "\(item.name): \(strong.name), \(weak.name)")
      }
    }
  }

  @Test("the page gives every parameter of every stock model, and its default")
  func parametersAreDocumented() throws {
    let documented = try rows(ModelParameter.all.map(\.key))
    for parameter in ModelParameter.all {
      let found = try #require(documented[parameter.key], "\(parameter.key) is not documented")
      // One row of meaning and source with the default, and one in each half of the stock table.
      try #require(found.count == 3, "\(parameter.key) has \(found.count) rows")
      for word in parameter.words {
        #expect(found[0][0].contains("`\(word)`"), "\(parameter.key): \(word)")
      }
      #expect(
        found[0][1] == "`\(parameter.word(.posix))`", "\(parameter.key): the default of the page")
      let cells = found[1] + found[2]
      #expect(cells == PersistenceModel.stock.map { parameter.word($0) }, "\(parameter.key)")
    }
  }
}
