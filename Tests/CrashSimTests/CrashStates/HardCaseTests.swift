// HardCaseTests.swift: [U] sequences that models and images get wrong easily.

import Testing

@testable import CrashStates
@testable import LabCore

@Suite("Hard cases of crash states")
struct HardCaseTests {
  private func final(
    _ model: PersistenceModel, files: [String: String] = [:], _ build: (inout Recording) -> Void
  ) throws -> Set<String> {
    var recording = Recording(files: files)
    build(&recording)
    return try Possible(recording, model).final
  }

  @Test("what a truncate cut off does not come back when the file grows again")
  func shrinkThenExtend() throws {
    for model in PersistenceModel.stock {
      let states = try final(model, files: ["a": "abcd"]) {
        $0.truncate("a", to: 1)
        $0.truncate("a", to: 4)
      }
      #expect(states == ["a=abcd", "a=a", "a=a..."])
    }
  }

  @Test("data written before a truncate does not come back after it became durable by another sync")
  func durableCutOfPendingData() throws {
    let states = try final(.ext4Ordered, files: ["a": "x", "b": ""]) {
      $0.write("a", "yyyy", at: 2)
      $0.truncate("a", to: 3)
      $0.create("m")
      $0.syncDirectory()
      $0.truncate("a", to: 5)
      $0.mark("done")
    }
    #expect(states == ["a=x.. b= m=", "a=x.y b= m=", "a=x.... b= m=", "a=x.y.. b= m="])
  }

  @Test("a truncate may persist without the data before it")
  func truncateOvertakesData() throws {
    let states = try final(.ext4Ordered, files: ["a": ""]) {
      $0.write("a", "abcd")
      $0.truncate("a", to: 2)
    }
    // The zeros of the cut page may come before the new size: four bytes, two of them cut.
    #expect(states == ["a=", "a=abcd", "a=..", "a=ab", "a=....", "a=ab.."])
  }

  @Test("what a truncate zeroes is gone with it, and later data in the page stays")
  func zeroesOfTruncate() throws {
    let build: (inout Recording) -> Void = {
      $0.truncate("a", to: 1)
      $0.truncate("a", to: 0)
      $0.write("a", "new")
      $0.sync("a")
      $0.mark("done")
    }
    for model in PersistenceModel.stock {
      let states = try final(model, files: ["a": "old"], build)
      #expect(states == ["a=new"], "\(model)")
    }
    let rewritten = try final(.xfs, files: ["a": "old!"]) {
      $0.truncate("a", to: 2)
      $0.write("a", "w", at: 2)
    }
    #expect(rewritten == ["a=old!", "a=ol..", "a=ol", "a=olw.", "a=olw"])
  }

  @Test("link and unlink of one inode")
  func linkAndUnlink() throws {
    let build: (inout Recording) -> Void = {
      $0.link("a", to: "b")
      $0.remove("a")
    }
    #expect(try final(.ext4Ordered, files: ["a": "1"], build) == ["a=1", "a=1 b=1", "b=1"])
    #expect(try final(.posix, files: ["a": "1"], build) == ["a=1", "a=1 b=1", "b=1", ""])
  }

  @Test("hard links differ from equal copies")
  func hardLinks() throws {
    var linked = Recording(files: ["a": "1"])
    linked.link("a", to: "b")
    let copied = Recording(files: ["a": "1", "b": "1"])
    let hashes = try [linked, copied].map { recording in
      let table = try UnitTable(trace: recording.trace, model: .strict)
      let point = table.crashPointCount - 1
      let state = try table.state(at: point, keeping: table.pendingUnits(at: point))
      return try CrashPointImages(table: table, at: point).contentHash(of: state)
    }
    #expect(hashes[0] != hashes[1])
  }

  @Test("unlink of a never-synced file, and the same name again")
  func recreated() throws {
    for model in PersistenceModel.stock {
      let states = try final(model) {
        $0.create("a")
        $0.write("a", "1")
        $0.remove("a")
        $0.create("a")
        $0.write("a", "2")
        $0.syncDirectory()
        $0.mark("done")
      }
      #expect(states.contains("a=2"))
      #expect(!states.contains("a=1"))
      #expect(!states.contains(""))
    }
  }

  @Test("a write after unlink changes nothing that can be seen")
  func writeAfterUnlink() throws {
    for model in PersistenceModel.stock {
      var recording = Recording(files: ["a": "1"])
      let inode = recording["a"]
      recording.remove("a")
      recording.syncDirectory()
      recording.write(inode, [65], at: 0)
      recording.mark("done")
      #expect(try Possible(recording, model).final == [""])
    }
  }

  @Test("a zero-length write is nothing")
  func zeroLengthWrite() throws {
    for model in PersistenceModel.stock {
      var recording = Recording(files: ["a": "1"])
      recording.write("a", "", at: 100)
      #expect(try UnitTable(trace: recording.trace, model: model).units.isEmpty)
    }
  }

  @Test("fallocate grows at once; data in it may be missing")
  func allocateThenWrite() throws {
    let states = try final(.ext4Ordered, files: ["a": ""]) {
      $0.allocate("a", 0, 4)
      $0.write("a", "data")
    }
    #expect(states == ["a=", "a=....", "a=data"])
  }

  @Test("fallocate beyond the end without growth takes the order from data and size")
  func preallocation() throws {
    let states = try final(.ext4Ordered, files: ["a": ""]) {
      $0.allocate("a", 0, 4096, keepsSize: true)
      $0.write("a", "x")
    }
    #expect(states == ["a=", "a=.", "a=x"])
  }

  @Test("a punched hole comes after the data before it and before the data after it")
  func punch() throws {
    for model in [PersistenceModel.ext4Ordered, .posix] {
      let states = try final(model, files: ["a": "aaaa"]) {
        $0.write("a", "bb")
        $0.allocate("a", 0, 4, zeroes: true)
        $0.write("a", "c", at: 1)
      }
      #expect(states == ["a=aaaa", "a=bbaa", "a=....", "a=.c.."])
    }
  }

  @Test("a directory whose own entry is not durable hides what was synced in it")
  func unreachableDirectory() throws {
    let build: (inout Recording) -> Void = {
      $0.makeDirectory("d")
      $0.create("d/f")
      $0.write("d/f", "x")
      $0.sync("d/f")
      $0.syncDirectory("d")
      $0.mark("done")
    }
    #expect(try final(.posix, build) == ["", "d/ d/f=x"])
    #expect(try final(.ext4Ordered, build) == ["d/ d/f=x"])
  }

  @Test("a sparse file of a terabyte costs only what was touched")
  func sparse() throws {
    var recording = Recording(files: ["a": "x"])
    recording.write("a", "y", at: 1 << 40)
    recording.truncate("a", to: 10)
    let table = try UnitTable(trace: recording.trace, model: .ext4Ordered)
    let state = try table.state(at: 1, keeping: [0, 1])
    try CrashPointImages(table: table, at: 1).withImage(of: state) { (image) throws(LabError) in
      #expect(image.entry(at: "a")?.sizeBytes == (1 << 40) + 1)
      #expect(image.entry(at: "a")?.extents.count == 2)
      let last = try unsafe image.withFile(at: "a") { bytes, count in unsafe bytes[count - 1] }
      #expect(last == UInt8(ascii: "y"))
    }
  }

  @Test("trees share the blocks that no state changes, and no other")
  func sharedBlocks() throws {
    let size = 4 << 20
    var recording = Recording(files: ["a": String(repeating: "x", count: size - 1) + "z"])
    recording.write("a", "y", at: 1 << 20)
    recording.truncate("a", to: UInt64(size) - 1)
    let initial = recording.trace.initial
    let before = try #require(initial.inodes[recording["a"]]?.extents)
    let table = try UnitTable(trace: recording.trace, model: .ext4Ordered)
    let images = try CrashPointImages(table: table, at: 2)
    let units = Array(table.units.indices)
    // All, none and all again: what was changed and taken back is not shared, and right.
    for kept in [[], units, [], units] {
      let state = try table.state(at: 2, keeping: kept)
      let tree = try images.withImage(of: state) { (image) throws(LabError) in image.treeImage() }
      var expected = initial
      if !kept.isEmpty {
        for case .operation(let operation) in recording.trace.events.map(\.body) {
          expected.apply(operation)
        }
      }
      #expect(tree.inodes == expected.inodes)
      let after = try #require(tree.inodes[recording["a"]]?.extents)
      #expect(after[0].payload === before[0].payload && after[2].payload === before[2].payload)
      #expect(kept.isEmpty || after[1].payload !== before[1].payload)
    }
  }

  @Test("an image beyond the limit is refused")
  func limit() throws {
    var recording = Recording(files: ["a": ""])
    recording.write("a", String(repeating: "x", count: 64 * 1024))
    let table = try UnitTable(trace: recording.trace, model: .strict)
    let images = try CrashPointImages(
      table: table, at: 1, limits: ImageLimits(touchedBytes: 8192))
    #expect(throws: LabError.self) {
      try images.contentHash(of: table.state(at: 1, keeping: [0]))
    }
  }

  @Test("a torn write damages its own bytes, and whole sectors without powersafe overwrite")
  func tornSectors() throws {
    var recording = Recording(files: ["a": String(repeating: "o", count: 1100)])
    recording.write("a", String(repeating: "n", count: 1000), at: 50)
    func content(
      _ torn: TornWrite, _ model: PersistenceModel = .posixDamage
    ) throws -> [UInt8] {
      var model = model
      model.dataUnitBytes = 4096
      let table = try UnitTable(trace: recording.trace, model: model)
      let state = try table.state(at: 1, keeping: [], torn: torn)
      return try CrashPointImages(table: table, at: 1).withImage(of: state) {
        $0.content(at: "a") ?? []
      }
    }
    let old = try content(TornWrite(unit: 0, keptSectors: 1..<2, rest: .old))
    #expect(old[511] == 111 && old[512] == 110 && old[1023] == 110 && old[1024] == 111)
    let zeros = try content(TornWrite(unit: 0, keptSectors: 1..<2, rest: .zeros))
    #expect(zeros[0] == 0 && zeros[511] == 0 && zeros[512] == 110 && zeros[1099] == 0)
    var powersafe = PersistenceModel.posix
    powersafe.sectorOverwriteIsAtomic = false
    let confined = try content(
      TornWrite(unit: 0, keptSectors: 1..<2, rest: .zeros), powersafe)
    #expect(confined[49] == 111 && confined[50] == 0 && confined[512] == 110)
    #expect(confined[1049] == 0 && confined[1050] == 111 && confined[1099] == 111)
    let inPlace = try content(
      TornWrite(unit: 0, keptSectors: 1..<2, rest: .zeros), .ext4Ordered)
    #expect(inPlace == old)
    let garbage = TornWrite(unit: 0, keptSectors: 0..<1, rest: .garbage(Seed(rawValue: 3)))
    #expect(try content(garbage) == content(garbage))
    #expect(try content(garbage).count == 1100)
  }

  @Test("where sectors are atomic, space that is new to the file may still hold garbage")
  func tornGrowth() throws {
    var recording = Recording(files: ["a": String(repeating: "o", count: 600)])
    recording.write("a", String(repeating: "n", count: 1000), at: 500)
    var model = PersistenceModel.posix
    model.dataUnitBytes = 4096
    let table = try UnitTable(trace: recording.trace, model: model)
    // The size arrived, and of the data nothing: sectors 0 and 1 had bytes before, 2 had not.
    let torn = TornWrite(unit: 0, keptSectors: 0..<0, rest: .garbage(Seed(rawValue: 3)))
    let state = try table.state(at: 1, keeping: [1], torn: torn)
    let found = try CrashPointImages(table: table, at: 1).withImage(of: state) {
      $0.content(at: "a") ?? []
    }
    #expect(found.count == 1500 && found[599] == 111 && found[600..<1024].allSatisfy { $0 == 0 })
    #expect(Set(found[1024...]).count > 50)
    // A disk that destroys what it overwrites is another model.
    let damage = try UnitTable(trace: recording.trace, model: .posixDamage)
    let everywhere = TornWrite(unit: 0, keptSectors: 0..<0, rest: .zeros)
    let destroyed = try damage.state(at: 1, keeping: [], torn: everywhere)
    #expect(!table.allows(destroyed, of: damage))
  }
}
