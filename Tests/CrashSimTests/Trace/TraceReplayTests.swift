// TraceReplayTests.swift: the content of a file as extents, held against a plain array of bytes.

import Testing

@testable import LabCore
@testable import Recording

@Suite("TraceReplay")
struct TraceReplayTests {
  @Test("random writes, cuts and holes agree with an array", arguments: 0..<12)
  func randomContent(_ seed: UInt64) throws {
    var random = PRNG(Seed(rawValue: seed))
    var image = InodeImage(type: .regular, ownership: Ownership(mode: 0o644))
    let content = FileContent(quota: MemoryQuota(limitBytes: 1 << 30))
    // With odd seeds the changes lie around the place where an extent must end.
    let base = seed % 2 == 0 ? 0 : Int(Extent.blockBytes) - 100_000
    var model: [UInt8] = []
    for _ in 0..<80 {
      let offset = base + random.below(200_000)
      let count = random.below(random.below(4) == 0 ? 100_000 : 5000)
      switch random.below(6) {
      case 0:
        image.truncate(to: UInt64(offset))
        try content.truncate(to: UInt64(offset))
        model = Array(model.prefix(offset))
        model += [UInt8](repeating: 0, count: offset - model.count)
      case 1:
        image.zero(from: UInt64(offset), to: UInt64(offset + count))
        content.punch(UInt64(offset), UInt64(count))
        for index in offset..<max(offset, min(offset + count, model.count)) { model[index] = 0 }
      default:
        let bytes = (0..<count).map { _ in random.below(3) == 0 ? 0 : UInt8(random.below(256)) }
        image.write(bytes, at: UInt64(offset))
        try content.write(bytes, at: UInt64(offset))
        if !bytes.isEmpty, model.count < offset + count {
          model += [UInt8](repeating: 0, count: offset + count - model.count)
        }
        if !bytes.isEmpty { model.replaceSubrange(offset..<offset + count, with: bytes) }
      }
    }
    #expect(image.sizeBytes == UInt64(model.count) && content.sizeBytes == UInt64(model.count))
    #expect(content.read(at: 0, count: model.count + 10) == model)
    var flat = [UInt8](repeating: 0, count: model.count)
    var end: UInt64 = 0
    for extent in image.extents {
      #expect(extent.offsetBytes >= end && !extent.bytes.isEmpty)
      #expect(
        extent.offsetBytes / Extent.blockBytes == (extent.endBytes - 1) / Extent.blockBytes)
      end = extent.endBytes
      flat.replaceSubrange(Int(extent.offsetBytes)..<Int(extent.endBytes), with: extent.bytes)
    }
    #expect(flat == model)
    var tree = TreeImage()
    tree.inodes[InodeNumber(rawValue: 2)] = image
    let store = PayloadStore(wrappingUpTo: seed % 3 == 0 ? 0 : 1 << 20)
    #expect(
      tree.normalized().inodes[InodeNumber(rawValue: 2)]?.extents == content.extents(in: store))
  }
}
