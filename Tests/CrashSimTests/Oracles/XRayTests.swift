// XRayTests.swift: the second reader of the format reads what the engine writes, byte by byte as
// the document says; it finds what is planted; and no bytes make it trap or make the two differ.

import Engine
import Foundation
import TestSupport
import Testing

@testable import LabCore
@testable import Oracles

@Suite("X-ray")
struct XRayTests {
  // MARK: - The document

  @Test("the checksum and the hash of indexes have the document's values, and the engine's")
  func checksums() throws {
    var generator = PRNG(Seed(rawValue: 8412))
    for count in 0..<300 {
      let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      #expect(XRayBytes.checksum(of: bytes) == RawBytes.over(bytes) { Checksum.of($0) })
    }
    #expect(XRayBytes.indexHash(of: []) == 1)
    #expect(XRayValue.int(0).image == 1 << 63)
    #expect(XRayValue.null.image == 0)
    #expect(XRayValue.bool(true).image == 2)
  }

  @Test("a file made by hand from the document is sound, to both readers")
  func golden() {
    var image = [UInt8](repeating: 0, count: 16384)
    func set(_ offset: Int, _ number: UInt64, _ count: Int = 8) {
      for place in 0..<count {
        image[offset + place] = UInt8(truncatingIfNeeded: number >> UInt64(8 * place))
      }
    }
    image.replaceSubrange(0..<8, with: Array("FAULTLN".utf8) + [0x9a])
    for (offset, number) in [(16, 2), (20, 4096), (24, 1), (28, 3)] {
      set(offset, UInt64(number), 4)
    }
    set(8, XRayBytes.checksum(of: Array(image[16..<64])))
    // The group: no free list, next table id 1, no tables.
    set(12288 + 8, 12288)
    set(12288 + 16, 7)
    set(12288 + 24, 72, 4)
    image[12288 + 28] = 1
    set(12288 + 64, 1, 4)
    let sum = XRayBytes.checksum(of: Array(image[12288 + 8..<12288 + 72]))
    set(12288, sum)
    for copy in 0..<2 {
      let at = 8192 + 2048 * copy
      set(at + 8, 1, 4)
      set(at + 12, UInt64(copy), 4)
      for (offset, number) in [(16, 7), (24, 12288), (32, sum), (40, 16384)] {
        set(at + offset, UInt64(number))
      }
      set(at, XRayBytes.checksum(of: Array(image[at + 8..<at + 96])))
    }
    let xray = XRay(image)
    #expect(xray.faults == [] && xray.chosen?.version == 7 && xray.slots.first == .empty)
    #expect(xray.nodes.map(\.kind) == [.group])
    #expect(EngineSight(image).version == 7 && EngineSight(image).fault == nil)
    // One sector more that nobody names.
    for copy in 0..<2 {
      let at = 8192 + 2048 * copy
      set(at + 40, 20480)
      set(at, XRayBytes.checksum(of: Array(image[at + 8..<at + 96])))
    }
    image += [UInt8](repeating: 0, count: 4096)
    #expect(XRay(image).faults.first?.message.contains("neither reachable nor free") == true)
    #expect(EngineSight(image).fault != nil)
  }

  // MARK: - What the engine writes

  @Test(
    "every type, collection, index and change of the schema reads as the engine reads it",
    arguments: [CommitProtocol.twoPhase, .checksummed])
  func life(_ commitProtocol: CommitProtocol) throws {
    var kinds: Set<XRay.Kind> = []
    for (step, image) in try XRayFixture.life(commitProtocol).enumerated() {
      let engine = EngineSight(image)
      let sight = XRaySight(image)
      #expect(engine.fault == nil, "step \(step)")
      #expect(sight.xray.faults == [], "step \(step)")
      #expect(sight.xray.chosen?.version == engine.version)
      #expect(sight.contentHash == engine.contentHash, "step \(step)")
      #expect(XRayOracle.judge(sight, engine.recovered) == nil)
      kinds.formUnion(sight.xray.nodes.map(\.kind))
    }
    #expect(kinds == Set(XRay.Kind.allCases))
  }

  @Test("both refuse a commit of one sync when any sector of it is missing")
  func tornCommit() throws {
    let images = try XRayFixture.life(.checksummed)
    var torn = 0
    for (old, new) in zip(images, images.dropFirst()) where old.count == new.count {
      guard XRay(new).chosen?.isOneSync == true, let version = XRay(old).chosen?.version,
        XRay(new).chosen?.version == version + 1
      else { continue }
      for start in stride(from: 12288, to: new.count, by: 4096)
      where old[start..<start + 4096] != new[start..<start + 4096] {
        var image = new
        image.replaceSubrange(start..<start + 4096, with: old[start..<start + 4096])
        let sight = XRaySight(image)
        let engine = EngineSight(image)
        #expect(sight.xray.faults == [] && sight.xray.chosen?.version == version, "\(start)")
        #expect(engine.fault == nil && engine.version == version)
        #expect(XRayOracle.judge(sight, engine.recovered) == nil)
        torn += 1
      }
    }
    #expect(torn > 20, "\(torn)")
  }

  @Test("rows are the values that were put")
  func rows() throws {
    let backend = ImageBackend()
    let database = try Database.open(backend: backend)
    try XRayFixture.fill(database, keys: -5..<20)
    try database.close()
    var rows: [Int64: [Value]] = [:]
    let xray = XRay(backend.bytes) { table, key, row in
      if table.name == "Everything" { rows[key] = row.map(\.engineValue) }
    }
    #expect(xray.faults == [] && xray.rowCount == 45 && rows.count == 25)
    for key in -5..<20 { #expect(rows[Int64(key)] == XRayFixture.row(key)) }
    let table = try #require(xray.tables.last)
    #expect(table.columns.map(\.name) == XRayFixture.schema.columns.map(\.name))
    #expect(table.columns.first?.targetName == "Dog")
  }

  @Test("compacted files and copies are sound; of an encrypted one it sees the slots")
  func copies() throws {
    let folder = try TemporaryDirectory()
    let database = try Database.open(path: folder.file("data.realm"))
    try XRayFixture.fill(database, keys: 0..<20)
    let hash = try contentHash(database)
    let key = (0..<64).map { UInt8($0) }
    try database.writeCopy(to: folder.file("plain.realm"), encryptionKey: nil)
    try database.writeCopy(to: folder.file("sealed.realm"), encryptionKey: key)
    _ = try database.compact()
    try database.close()
    for name in ["plain.realm", "data.realm"] {
      let sight = XRaySight(Array(try Data(contentsOf: URL(fileURLWithPath: folder.file(name)))))
      #expect(sight.xray.faults == [] && sight.contentHash == hash, "\(name)")
    }
    let sealed = Array(
      try Data(contentsOf: URL(fileURLWithPath: folder.file("sealed.realm"))))
    let sight = XRaySight(sealed)
    #expect(sight.xray.isEncrypted && sight.xray.faults == [] && sight.contentHash == nil)
    let engine = EngineSight(sealed, key: key)
    #expect(engine.fault == nil && sight.xray.chosen?.version == engine.version)
    #expect(XRayOracle.judge(sight, engine.recovered) == nil)
  }

  @Test("in an encrypted file a version of one sync may be one that recovery refuses")
  func encryptedOneSync() throws {
    // Found by drawn histories (seed 11): the X-ray, which has no key, called the older version
    // wrong where a node of the newest one had been lost.
    let folder = try TemporaryDirectory()
    let path = folder.file("data.realm")
    let key = (0..<64).map { UInt8($0) }
    func image(_ commitProtocol: CommitProtocol) throws -> [UInt8] {
      var options = Database.Options()
      options.encryptionKey = key
      options.commitProtocol = commitProtocol
      let database = try Database.open(path: path, options: options)
      for key in Int64(0)..<4 {
        let writer = try database.beginWrite()
        if key == 0 {
          try writer.createTable(
            TableSchema(name: "T", columns: [ColumnSchema(name: "n", type: .int)]))
        }
        try writer.insert(into: "T", key: key, [.int(7)])
        _ = try writer.commit()
      }
      try database.close()
      let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
      try FileManager.default.removeItem(atPath: path)
      return bytes
    }
    let bytes = try image(.checksummed)
    let newest = try #require(XRay(bytes).chosen)
    #expect(newest.isOneSync)
    var damaged = bytes
    damaged[Int(newest.top.refBytes) + 100] ^= 1
    let engine = EngineSight(damaged, key: key)
    #expect(engine.fault == nil && engine.version == newest.version - 1)
    #expect(XRayOracle.judge(XRaySight(damaged), engine.recovered) == nil)
    var older = engine.recovered
    older.version = newest.version - 2
    #expect(XRayOracle.judge(XRaySight(damaged), older)?.oracle == .structure)
    // With two syncs nothing of the newest version can be missing.
    let durable = try image(.twoPhase)
    var seen = EngineSight(durable, key: key).recovered
    seen.version = try #require(seen.version) - 1
    #expect(XRayOracle.judge(XRaySight(durable), seen)?.oracle == .structure)
  }

  // MARK: - What is planted

  @Test("a value that was changed under right checksums is other content, to both")
  func changedValue() throws {
    let image = try XRayFixture.small()
    var changed = SealedImage(image)
    let leaf = try changed.ref(of: .leaf)
    let text = try #require(
      (leaf..<leaf + 8192).first { changed.bytes[$0...].starts(with: Array("s12s12".utf8)) })
    changed.bytes[text] = UInt8(ascii: "S")
    changed.seal(leaf)
    // The string is indexed, so both find it; the content of an unindexed column is the oracles'.
    let sight = XRaySight(changed.bytes)
    #expect(sight.xray.faults.first?.message.contains("no row gives") == true)
    #expect(EngineSight(changed.bytes).fault != nil)
    let violation = XRayOracle.judge(sight, EngineSight(image).recovered)
    #expect(violation?.oracle == .structure && violation?.got.contains("the X-ray says") == true)
  }

  @Test("an engine that misreads a value is found: same version, other content")
  func misreading() throws {
    let image = try XRayFixture.small()
    var seen = EngineSight(image).recovered
    #expect(XRayOracle.judge(XRaySight(image), seen) == nil)
    seen.contentHash = 1
    #expect(
      XRayOracle.judge(XRaySight(image), seen)?.got.contains("the X-ray reads") == true)
    seen.version = 2
    #expect(
      XRayOracle.judge(XRaySight(image), seen)?.got.contains("finds version 4") == true)
    seen.damage = "anything"
    #expect(XRayOracle.judge(XRaySight(image), seen)?.promised.contains("sound") == true)
    seen = RecoveredState()
    seen.wasCreated = true
    #expect(XRayOracle.judge(XRaySight(image), seen)?.got == "open made a new database")
  }

  @Test("a leaked sector is a violation even when the engine does not verify")
  func leakedSector() throws {
    let run = try RecordedRun.ordinary()
    var leaked = SealedImage(try #require(run.images.last))
    let list = try leaked.ref(of: .freeList)
    let count = leaked.number(list + 32, 4)
    leaked.set(list + 32, count - 1, 4)
    // The spans behind the one that goes move up, as a writer would write them.
    let links = Int(leaked.number(list + 36, 4) + leaked.number(list + 48, 4))
    let start = list + 56 + 16 * links
    let end = list + Int(leaked.number(list + 24, 4))
    leaked.bytes.replaceSubrange(
      start..<end, with: Array(leaked.bytes[start + 24..<end]) + [UInt8](repeating: 0, count: 24))
    leaked.seal(list)
    var options = EngineCheck.Options()
    options.verifies = false
    options.usableEvery = 0
    let found = judge(try run.check(options), leaked.bytes, marksSeen: run.marks.count)
    #expect(found.map(\.oracle) == [.structure], "\(found)")
    #expect(found.first?.got.contains("neither reachable nor free") == true, "\(found)")
    options.xrayEvery = 0
    #expect(judge(try run.check(options), leaked.bytes, marksSeen: run.marks.count) == [])
  }

  @Test("an index entry that is off by one is found")
  func indexEntry() throws {
    for byte in 0..<64 {
      var changed = SealedImage(try Self.smallImage.get())
      let leaf = try changed.ref(of: .indexLeaf)
      changed.bytes[leaf + 96 + byte] ^= 1
      changed.seal(leaf)
      let xray = XRay(changed.bytes)
      #expect(!xray.isSound, "byte \(byte)")
      #expect(EngineSight(changed.bytes).fault != nil, "byte \(byte)")
    }
  }

  private static let smallImage = Result { try XRayFixture.small() }

  // MARK: - Hostile bytes

  @Test("random mutants: neither traps, and both say the same")
  func mutants() throws {
    try compare(count: FullSize.isOn ? 20_000 : 5_000, seed: 8412) { image, generator in
      var bytes = image.bytes
      for _ in 0...generator.below(4) {
        let sector = generator.below(bytes.count / 4096) * 4096
        let place =
          generator.below(3) == 0 ? generator.below(bytes.count) : sector + generator.below(96)
        bytes[place] = UInt8(truncatingIfNeeded: generator.next())
      }
      if generator.below(40) == 0 { bytes = Array(bytes.prefix(generator.below(bytes.count))) }
      return bytes
    }
  }

  @Test("mutants with right checksums: neither traps, and both say the same")
  func sealedMutants() throws {
    try compare(count: 4000, seed: 7) { image, generator in
      var changed = image
      let node = image.xray.nodes[generator.below(image.xray.nodes.count)]
      let start = Int(node.refBytes)
      for _ in 0...generator.below(2) {
        let size = generator.below(2) == 0 ? min(node.sizeBytes, 160) : node.sizeBytes
        let place = start + 8 + generator.below(size - 8)
        let bit = UInt8(1) << UInt8(generator.below(8))
        changed.bytes[place] =
          generator.below(2) == 0
          ? changed.bytes[place] ^ bit : UInt8(truncatingIfNeeded: generator.next())
      }
      changed.seal(start)
      return changed.bytes
    }
  }

  private func compare(
    count: Int, seed: UInt64, _ mutate: (SealedImage, inout PRNG) -> [UInt8]
  ) throws {
    let image = SealedImage(try Self.smallImage.get())
    let backend = ImageBackend()
    var generator = PRNG(Seed(rawValue: seed))
    var damaged = 0
    var differences: [String: Int] = [:]
    for round in 0..<count {
      let bytes = mutate(image, &generator)
      let sight = XRaySight(bytes)
      let engine = EngineSight(bytes, backend: backend)
      damaged += sight.xray.isSound ? 0 : 1
      if let violation = XRayOracle.judge(sight, engine.recovered) {
        let text = String("\(violation)".map { $0.isNumber ? "9" : $0 })
        if differences[text] == nil { print("seed=\(seed) round=\(round): \(violation)") }
        differences[text, default: 0] += 1
      }
    }
    #expect(differences.isEmpty, "\(differences)")
    #expect(damaged > count / 4)
  }
}

private func contentHash(_ database: Database) throws -> UInt64 {
  let snapshot = try database.snapshot()
  defer { snapshot.release() }
  return try snapshot.contentHash()
}
