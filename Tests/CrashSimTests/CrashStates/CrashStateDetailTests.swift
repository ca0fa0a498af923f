// CrashStateDetailTests.swift: parts of the exploration that whole runs hardly meet: bounds, what
// is left out on purpose, and what a state says of itself beside its content.

import LabCore
import Recording
import Testing

@testable import CrashStates

@Suite("Details of crash states")
struct CrashStateDetailTests {
  private static let page = String(repeating: "n", count: 4096)

  private func named(_ change: (inout PersistenceModel) -> Void) -> PersistenceModel {
    var model = PersistenceModel.posix
    model.name = "mine"
    change(&model)
    return model
  }

  // MARK: files and trees

  @Test("the bytes far behind what was written of a file are zeros")
  func holes() throws {
    var recording = Recording(files: ["a": "x"])
    recording.truncate("a", to: 1 << 30)
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: .strict, seed: Seed(rawValue: 1))
    var sizes: Set<UInt64> = []
    try enumerator.visit(enumerator.plan()) { (_, image) throws(LabError) in
      guard let entry = image.entry(at: "a") else { return .goOn }
      sizes.insert(entry.sizeBytes)
      let isLong = entry.sizeBytes > 1
      #expect(entry.bytes(1 << 29..<1 << 29 + 4) == (isLong ? [0, 0, 0, 0] : []))
      return .goOn
    }
    #expect(sizes == [1, 1 << 30])
  }

  @Test("a file of more than 64 TiB is refused by its size, not by the memory that is there")
  func reserve() {
    let content = ImageContent()
    let error = #expect(throws: LabError.self) { try content.reserve(1 << 46 + 1) }
    #expect(error?.message.contains("does not fit a crash image") == true)
  }

  @Test("two names of one file differ from two files with the same bytes, in any directory")
  func linkGroups() throws {
    func hash(_ recording: Recording) throws -> Set<ContentHash> {
      let enumerator = try CrashStateEnumerator(
        trace: recording.trace, model: .strict, seed: Seed(rawValue: 1))
      var found: Set<ContentHash> = []
      try enumerator.visit(enumerator.plan()) { (state, _) throws(LabError) in
        found.insert(state.contentHash)
        return .goOn
      }
      return found
    }
    for folder in ["", "d/"] {
      let (one, other) = (folder + "a", folder + "b")
      let linked = Recording(files: [one: "x"], directories: ["d"], links: [other: one])
      let apart = Recording(files: [one: "x", other: "x"], directories: ["d"])
      #expect(try hash(linked) != hash(apart), "in '\(folder)'")
      #expect(try hash(linked).count == 1)
    }
  }

  @Test("the room of saved bytes is there again once they are put back")
  func undoRoom() throws {
    let node = ImageNode(
      number: InodeNumber(rawValue: 7),
      image: InodeImage(type: .regular, ownership: Ownership(mode: 0o644)))
    try node.file.reserve(4096)
    var log = UndoLog()
    func place(_ record: UndoLog.Record?) -> Int? {
      if case .bytes(_, _, _, let saved, _, _)? = record { saved } else { nil }
    }
    try log.save(0..<100, of: node, hash: nil)
    try log.save(0..<50, of: node, hash: nil)
    #expect(log.records.map(place) == [0, 100])
    #expect(place(log.popLast()) == 100)
    try log.save(0..<10, of: node, hash: nil)
    #expect(log.records.map(place) == [0, 100])
  }

  @Test("no member of a set stands behind its end, also where the end is that of a word")
  func members() {
    for count in [1, 63, 64, 65, 128] {
      let all = KeptSet.all(count)
      #expect(all.hasMember(from: count - 1) && !all.hasMember(from: count))
      #expect(!KeptSet(count: count).hasMember(from: 0))
    }
  }

  // MARK: exploring

  @Test("what a drawn state keeps, loses and tears is each pending unit once")
  func drawn() throws {
    var recording = Recording(files: ["a": Self.page + Self.page, "b": Self.page])
    recording.write("a", Self.page + Self.page)
    recording.write("b", Self.page)
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: named { $0.dataUnitBytes = 4096 }, seed: Seed(rawValue: 1))
    let pending = enumerator.table.pendingUnits(at: 2)
    #expect(pending.count == 3)
    var torn = 0
    for seed in 0..<60 {
      let state = try enumerator.drawFinalState(Seed(rawValue: UInt64(seed)))
      let units = state.kept + state.lost + [state.torn?.unit].compactMap { $0 }
      #expect(units.sorted() == pending, "seed \(seed)")
      if state.torn != nil { torn += 1 }
    }
    #expect(torn > 0 && torn < 60)
  }

  @Test("only a write of which a part is lost makes a state one of a file in part")
  func tornFiles() throws {
    let old = String(repeating: "o", count: 4096)
    var recording = Recording(files: ["a": old + old, "b": old])
    recording.write("b", Self.page)
    recording.write("a", Self.page + Self.page)
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: named { $0.dataUnitBytes = 4096 }, seed: Seed(rawValue: 1),
      options: ExplorationOptions(exhaustiveUpTo: 0, tornUnits: 0))
    let run = try EnumerationRun(enumerator)
    var files: Set<InodeNumber> = []
    try run.enumerate(
      distinct: { (_, strategy, file, _) in
        guard let file else { return }
        #expect(strategy == .allButOne)
        files.insert(file)
      }, duplicate: { _, _ in })
    #expect(files == [recording["a"]])
  }

  @Test("at the end of a trace states are drawn once more, although nothing new is pending")
  func lastPoint() throws {
    var recording = Recording(files: ["a": String(repeating: "o", count: 60 * 512), "b": "b"])
    for sector in 0..<60 { recording.write("a", "n", at: UInt64(sector) * 512) }
    recording.close("b")
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: .posix, seed: Seed(rawValue: 1),
      options: ExplorationOptions(exhaustiveUpTo: 4, samplesPerCrashPoint: 8))
    var points: [Int: Int] = [:]
    try enumerator.visit(enumerator.plan()) { (state, _) throws(LabError) in
      points[state.state.crashPoint, default: 0] += 1
      return .goOn
    }
    #expect(points[61, default: 0] > 0)
  }

  @Test("after a mark only the last writes are torn, as many as the options say")
  func tornAfterMark() throws {
    var recording = Recording(files: ["a": String(repeating: "o", count: 20 * 4096)])
    for page in 0..<20 { recording.write("a", Self.page, at: UInt64(page) * 4096) }
    recording.mark("done")
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: named { $0.dataUnitBytes = 4096 }, seed: Seed(rawValue: 1),
      options: ExplorationOptions(exhaustiveUpTo: 0, tornUnits: 2))
    var torn: Set<Int> = []
    try enumerator.visit(enumerator.plan()) { (state, _) throws(LabError) in
      if state.state.crashPoint == 21, let unit = state.state.torn?.unit { torn.insert(unit) }
      return .goOn
    }
    #expect(torn == [18, 19])
  }

  @Test("without waves a plan visits states in their order, and none before itself")
  func visits() throws {
    var recording = Recording(files: ["a": "1"])
    for _ in 0..<4 { recording.write("a", "2") }
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: .posix, seed: Seed(rawValue: 1))
    let plan = try enumerator.plan()
    #expect(plan.waves == nil)
    #expect(plan.visits(0, before: 1) && !plan.visits(1, before: 0))
    #expect(!plan.visits(1, before: 1))
  }

  @Test("a window of many units that syncs make shorter, its first unit still pending")
  func shrinkingWindow() throws {
    func text(_ letter: String, sectors: Int) -> String {
      String(repeating: letter, count: sectors * 512)
    }
    // Only from 64 units on there are two images, and each sync but the first finds them in use.
    let sizes = ["b": 140, "c": 120, "d": 100]
    var recording = Recording(
      files: ["a": "o"].merging(sizes.mapValues { text("o", sectors: $0) }) { $1 })
    recording.write("a", "n")
    for (name, size) in sizes.sorted(by: { $0.key < $1.key }) {
      recording.write(name, text("n", sectors: size))
      if name != "d" { recording.sync(name) }
    }
    recording.mark("done")
    let final = try Possible(recording, .posix, exhaustiveUpTo: 4).final
    #expect(final.contains { $0.hasPrefix("a=o b=nnnn") && $0.contains("d=nnnn") })
    #expect(final.contains { $0.hasPrefix("a=n b=nnnn") && $0.contains("d=oooo") })
    #expect(final.allSatisfy { $0.contains("b=nnnn") && $0.contains("c=nnnn") })
  }

  // MARK: models

  @Test("models without sectors tear nothing")
  func tearing() throws {
    var recording = Recording(files: ["a": Self.page])
    recording.write("a", Self.page)
    for model in PersistenceModel.stock {
      let table = try UnitTable(trace: recording.trace, model: model)
      let unit = try #require(table.units.first)
      #expect(model.canTear(unit) == (model.sectorBytes != nil), "\(model.name)")
    }
  }

  @Test("a change of a name changes no file's content, and nothing changes the content of one")
  func changesContent() throws {
    var recording = Recording(files: ["a": Self.page])
    recording.create("b")
    recording.write("a", "n")
    recording.allocate("a", 0, 4096, zeroes: true)
    let table = try UnitTable(trace: recording.trace, model: .posix)
    let name = try #require(table.units.first)
    let data = try #require(table.units.first { $0.kind == .data })
    let zeros = try #require(table.units.first { $0.kind == .zero })
    #expect(zeros.changesContent(ofFileIn: data) && data.changesContent(ofFileIn: data))
    #expect(!name.changesContent(ofFileIn: data) && !data.changesContent(ofFileIn: name))
    #expect(!data.changesContent(ofFileIn: zeros))
  }

  @Test("fsync of a directory makes its entries durable, whichever call the trace has for it")
  func directorySyncs() throws {
    for isOfFile in [true, false] {
      var recording = Recording()
      recording.makeDirectory("d")
      recording.create("d/f")
      if isOfFile {
        recording.sync("d")
        recording.sync("")
      } else {
        recording.syncDirectory("d")
        recording.syncDirectory("")
      }
      recording.mark("synced")
      for model in PersistenceModel.stock {
        #expect(try Possible(recording, model).final == ["d/ d/f="], "\(model.name)")
      }
    }
  }

  @Test("what a failed sync drops is dropped from then on, and zeros are not")
  func dropped() throws {
    var recording = Recording(files: ["a": Self.page + Self.page])
    recording.write("a", "n")
    recording.allocate("a", 4096, 4096, zeroes: true)
    recording.sync("a", flags: .failed)
    recording.sync("a", flags: .failed)
    let table = try UnitTable(trace: recording.trace, model: .posix)
    for unit in table.units {
      let isDropped = unit.kind == .data
      #expect(table.droppedFrom[unit.id] == (isDropped ? 2 : UnitTable.never), "\(unit.kind)")
    }
  }

  @Test("a log of one inode after the other leaves an earlier file's name behind")
  func loggedApart() throws {
    var recording = Recording()
    recording.create("a")
    recording.create("b")
    recording.create("c")
    recording.sync("b")
    recording.sync("c")
    recording.mark("synced")
    #expect(try Possible(recording, .btrfs).final == ["b= c=", "a= b= c="])
  }

  @Test("a damaged write of one byte is not one that is gone: it waits for what is before it")
  func oneDamagedByte() throws {
    var recording = Recording(files: ["a": Self.page + Self.page])
    recording.write("a", "1")
    recording.write("a", "2", at: 5000)
    let damaging = named {
      $0.dataUnitBytes = 4096
      $0.sectorOverwriteIsAtomic = false
    }
    var ordered = damaging
    ordered.name = "ordered"
    ordered.metadataOrder = .perInode
    ordered.dataOrder = .perFile
    let table = try UnitTable(trace: recording.trace, model: damaging)
    let torn = TornWrite(unit: 1, keptSectors: 0..<0, rest: .zeros)
    for (kept, isAllowed) in [([0], true), ([], false)] {
      let state = try table.state(at: 2, keeping: kept, torn: torn)
      #expect(try table.allows(state, under: ordered) == isAllowed, "with \(kept)")
    }
    let gone = try table.state(at: 2, keeping: [])
    #expect(try table.allows(gone, under: ordered))
  }

  @Test("what a unit waits for may be gone when a later cut hides it, but not what that waits for")
  func hiddenChain() throws {
    func model(_ bytes: Int) -> PersistenceModel {
      named {
        $0.name = "blocks-\(bytes)"
        $0.dataUnitBytes = bytes
        $0.shrinkIsAtomic = true
      }
    }
    var recording = Recording(files: ["a": Self.page + Self.page])
    recording.write("a", "1", at: 4096)
    recording.write("a", "2", at: 5120)
    recording.truncate("a", to: 4608)
    recording.write("a", "3", at: 6144)
    let sectors = try UnitTable(trace: recording.trace, model: model(512))
    let pages = try UnitTable(trace: recording.trace, model: model(4096))
    let all = sectors.pendingUnits(at: 4)
    for (lost, isAllowed) in [([], true), ([1], true), ([0, 1], false), ([0], false)] {
      let state = try sectors.state(at: 4, keeping: all.filter { !lost.contains($0) })
      #expect(pages.allows(state, of: sectors) == isAllowed, "without \(lost)")
    }
  }
}
