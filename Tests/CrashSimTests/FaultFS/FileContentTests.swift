// FileContentTests.swift [U]: pages that a recording lends to a file read as if they were copied,
// whatever is done to the file, and let the recording go when they are asked to.

import Glibc
import Testing

@testable import LabCore
@testable import Recording

@Suite("Contents of files, with lent pages")
struct FileContentTests {
  private static let spaceBytes = 3 * FileContent.chunkBytes
  private static let pageBytes = FileContent.pageBytes

  /// Writes to a content as a recording does: the bytes are in a piece, too.
  private struct Writer {
    let content: FileContent
    let pieces = PayloadPieces()
    var piece: PayloadPiece?

    mutating func write(_ bytes: [UInt8], at offset: Int, isLent: Bool) throws {
      let span = unsafe bytes.span.bytes
      var place = isLent ? append(bytes) : nil
      if isLent, place == nil {
        piece = pieces.take()
        place = append(bytes)
      }
      guard let piece, let place else { return try content.write(bytes, at: UInt64(offset)) }
      _ = try unsafe content.writePart(
        span, at: UInt64(offset),
        lent: LentBytes(piece: piece, start: UnsafeRawPointer(piece.memory) + place))
    }

    private func append(_ bytes: [UInt8]) -> Int? {
      unsafe bytes.withUnsafeBytes { unsafe piece?.append($0) }
    }
  }

  @Test("against an array of bytes: writes, cuts, holes and reads in any order", arguments: 1...60)
  func model(_ seed: Int) throws {
    var random = PRNG(Seed(rawValue: UInt64(seed)))
    let quota = MemoryQuota(limitBytes: 1 << 30)
    // Some files lie in the sparse part.
    let base = seed % 3 == 0 ? 70_000 * FileContent.chunkBytes : 0
    var writer = Writer(content: FileContent(quota: quota))
    let content = writer.content
    var model: [UInt8] = []
    for step in 0..<120 {
      let page = random.below(Self.spaceBytes / Self.pageBytes)
      let count = random.below(4) + 1
      let offset = page * Self.pageBytes + (random.below(2) == 0 ? 0 : random.below(5000))
      switch random.below(12) {
      case 0...5:
        let isWhole = random.below(4) != 0
        let start = isWhole ? page * Self.pageBytes : offset
        let length = isWhole ? count * Self.pageBytes : random.below(9000) + 1
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 / 7 &+ step &* 31) }
        try writer.write(bytes, at: base + start, isLent: random.below(5) != 0)
        if model.count < start + length {
          model += [UInt8](repeating: 0, count: start + length - model.count)
        }
        model.replaceSubrange(start..<start + length, with: bytes)
      case 6:
        try content.truncate(to: UInt64(base + offset))
        if offset < model.count {
          model.removeSubrange(offset...)
        } else {
          model += [UInt8](repeating: 0, count: offset - model.count)
        }
      case 7:
        content.punch(UInt64(base + offset), UInt64(count * 3000))
        for index in offset..<max(offset, min(offset + count * 3000, model.count)) {
          model[index] = 0
        }
      case 8: try content.allocate(UInt64(base + offset), UInt64(count * 3000))
      case 9: content.settle()
      default:
        let range = min(offset, model.count)..<min(offset + count * 3000, model.count)
        #expect(
          content.read(at: UInt64(base + offset), count: count * 3000) == Array(model[range]))
      }
    }
    let size = base + model.count
    #expect(content.sizeBytes == UInt64(model.isEmpty && content.sizeBytes == 0 ? 0 : size))
    if seed % 2 == 0 { content.settle() }
    #expect(content.read(at: UInt64(base), count: Self.spaceBytes * 2) == model)
    var extents = [UInt8](repeating: 0, count: model.count)
    for extent in content.extents(in: PayloadStore()) {
      let start = Int(extent.offsetBytes) - base
      extents.replaceSubrange(start..<start + extent.bytes.count, with: extent.bytes)
    }
    #expect(extents == model)
    try content.truncate(to: 0)
    #expect(quota.usedBytes == 0 && content.pageCount == 0)
  }

  @Test("a piece is held as long as pages of it are lent, and no longer")
  func lifetime() throws {
    var writer = Writer(content: FileContent(quota: MemoryQuota(limitBytes: 1 << 20)))
    let bytes = [UInt8](repeating: 7, count: 2 * Self.pageBytes)
    try writer.write(bytes, at: Self.pageBytes, isLent: true)
    weak let piece = writer.piece
    writer.piece = nil
    #expect(piece != nil)
    writer.content.settle()
    #expect(piece == nil)
    #expect(
      writer.content.read(at: 0, count: 1 << 20) == [UInt8](repeating: 0, count: 4096) + bytes)
    // One page of it overwritten, and the other cut.
    try writer.write(bytes, at: 0, isLent: true)
    weak let other = writer.piece
    writer.piece = nil
    try writer.write([UInt8](repeating: 8, count: Self.pageBytes), at: 0, isLent: true)
    #expect(other != nil)
    try writer.content.truncate(to: 0)
    writer.piece = nil
    #expect(other == nil)
  }

  @Test("a quota that has no room for a lent page says so, and nothing changes")
  func quota() throws {
    let quota = MemoryQuota(limitBytes: UInt64(Self.pageBytes))
    var writer = Writer(content: FileContent(quota: quota))
    let page = [UInt8](repeating: 1, count: Self.pageBytes)
    try writer.write(page, at: 0, isLent: true)
    #expect(throws: ErrorNumber(ENOSPC)) { try writer.write(page, at: 4096, isLent: true) }
    #expect(throws: ErrorNumber(ENOSPC)) {
      try writer.write(page + page, at: 1 << 40, isLent: true)
    }
    #expect(writer.content.sizeBytes == 4096)
    #expect(writer.content.read(at: 0, count: 9000) == page)
  }

  @Test("once a recording is more than memory is to hold, nothing is lent any more")
  func scarceMemory() throws {
    let recorder = TraceRecorder(
      limitBytes: 1 << 30, memoryBytesMax: 2 * PayloadPieces.pieceBytes, clockNanoseconds: { 0 })
    recorder.begin(TreeImage())
    let bytes = [UInt8](repeating: 3, count: PayloadPieces.pieceBytes / 2)
    var told: [String] = []
    for _ in 0..<8 {
      let kept = unsafe recorder.keep(bytes.span.bytes)
      let isLent = kept?.loan != nil
      told.append(kept?.endsLoans == true ? "end" : isLent ? "lent" : "copied")
    }
    #expect(told == ["lent", "lent", "lent", "lent", "end", "copied", "copied", "copied"])
    _ = recorder.end()
  }
}
