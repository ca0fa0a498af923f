// XRayDetailTests.swift: what the second reader of the format refuses, at the bounds that its
// document has: flags, spans, arrays, dates, and nodes that another version made.

import Engine
import Testing

@testable import CrashStates
@testable import LabCore
@testable import Oracles

@Suite("Details of the X-ray")
struct XRayDetailTests {
  @Test("a slot has one flag, and a slot with any other is none")
  func slotFlags() throws {
    let image = SealedImage(try XRayFixture.small())
    let version = try #require(image.xray.chosen?.version)
    for (flags, isValid) in [(UInt64(0), true), (2, false), (3, false)] {
      var changed = image
      for copy in 0..<2 {
        let at = 4096 * (1 + Int(version % 2)) + 2048 * copy
        changed.set(at + 48, flags)
        changed.set(at, XRayBytes.checksum(of: Array(changed.bytes[at + 8..<at + 96])))
      }
      let found = XRay(changed.bytes).chosen?.version
      #expect((found == version) == isValid, "flags \(flags)")
    }
  }

  @Test("a span of no sectors is a fault wherever it begins")
  func emptySpan() throws {
    let image = SealedImage(try XRayFixture.small())
    let span = try #require(image.xray.spans.first)
    let list = try image.ref(of: .freeList)
    let place = try #require(
      stride(from: list + 48, to: list + Int(image.number(list + 24, 4)), by: 8).first {
        image.number($0) == span.start | span.count << 36
      })
    var changed = image
    changed.set(place, span.start)
    changed.seal(list)
    let faults = XRay(changed.bytes).faults
    #expect(faults.first?.message.contains("sectors \(span.start) + 0 are outside") == true)
  }

  @Test("numbers of four bytes that are all one have a base of four bytes")
  func constantFloats() throws {
    let backend = ImageBackend()
    let database = try Database.open(backend: backend)
    let write = try database.beginWrite()
    try write.createTable(
      TableSchema(name: "T", columns: [ColumnSchema(name: "f", type: .float)]))
    for key in 0..<4 { try write.insert(into: "T", key: Int64(key), [.float(1.5)]) }
    try write.commit()
    try database.close()
    let image = SealedImage(backend.bytes)
    let leaf = try image.ref(of: .leaf)
    // Descriptors of 16 bytes: base 8, offset 4, width, kind, column.
    let place = try #require(
      stride(from: leaf + 48, to: leaf + 48 + 64, by: 16).first { image.bytes[$0 + 13] == 8 })
    #expect(image.bytes[place + 12] == 0)
    for (base, isSound) in [(UInt64(Float(2.5).bitPattern), true), (1 << 32, false)] {
      var changed = image
      changed.set(place, base)
      changed.seal(leaf)
      let faults = XRay(changed.bytes).faults
      #expect(faults.isEmpty == isSound, "base \(base): \(faults)")
    }
  }

  @Test("a commit of one sync has arrived when its fresh nodes are of its version")
  func freshVersions() throws {
    let images = try XRayFixture.life(.checksummed).map { SealedImage($0) }
    let image = try #require(
      images.last { $0.xray.chosen?.isOneSync == true && $0.xray.chosen.map { $0.version > 4 }! })
    let version = try #require(image.xray.chosen?.version)
    let fresh = image.xray.nodes.filter {
      image.number(Int($0.refBytes) + 16) == version && ![.group, .freeList].contains($0.kind)
    }
    let node = try #require(fresh.first)
    var same = image
    same.sealAll()
    #expect(same.bytes == image.bytes)
    var changed = image
    changed.set(Int(node.refBytes) + 16, version - 1)
    changed.sealAll()
    #expect(changed.bytes != image.bytes)
    let found = XRay(changed.bytes)
    #expect(found.chosen?.version != version, "\(found.faults)")
    #expect(EngineSight(changed.bytes).version != version)
  }

  @Test("fine dates are ones that nanoseconds cannot express, and nothing else")
  func fineDates() throws {
    /// The rest of a second as the format has it for a date whose seconds since 2001 are these.
    func rest(_ time: Double) -> Int64 { Int64(bitPattern: time.bitPattern ^ 0x7ffc << 48) }
    #expect(throws: Never.self) { try XRayDates.date(.max, rest(0x1p62 * 8)) }
    // Between, seconds and nanoseconds say all.
    for time in [0x1p30 + 0.5, 0x1p40, 0x1p52 + 0.5] {
      let seconds = Int64(time) + 978_307_200
      #expect(throws: XRayFault.self, "\(time)") { try XRayDates.date(seconds, rest(time)) }
    }
  }

  @Test("no date that is not a number stands before another")
  func notNumbers() {
    let nan = Int64(bitPattern: 0x7ff8 << 48 ^ 0x7ffc << 48)
    #expect(!XRayDates.precedes(nan, nan, in: .min))
    let number = Int64(bitPattern: (0x1p63 as Double).bitPattern ^ 0x7ffc << 48)
    #expect(XRayDates.precedes(nan, number, in: .min))
    #expect(!XRayDates.precedes(number, nan, in: .min))
  }

  @Test("a crash image's file that ends within a page is loaded to its last byte")
  func partOfAPage() throws {
    let text = (0..<5000).map { UInt8(truncatingIfNeeded: $0 * 7 + 1) }
    var recording = CrashSimTests.Recording(files: ["a": ""])
    recording.write(recording["a"], text, at: 0)
    let enumerator = try CrashStateEnumerator(
      trace: recording.trace, model: .strict, seed: Seed(rawValue: 1))
    let backend = ImageBackend()
    var sizes: Set<Int> = []
    try enumerator.visit(enumerator.plan()) { (_, image) throws(LabError) in
      #expect(try backend.load(image, at: "a"))
      #expect(backend.bytes == Array(text.prefix(backend.bytes.count)))
      sizes.insert(backend.bytes.count)
      return .goOn
    }
    #expect(sizes == [0, 5000])
  }
}
