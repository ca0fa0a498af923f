// PayloadSlab.swift: [U] where a recording keeps the bytes of writes until it ends: large pieces of
// memory, filled one after another, so that recording a write is a copy and no allocation.
// Invariants: bytes of a write lie in one piece; nothing moves or changes before the slab is freed.
// Safety: pieces are freed with the slab only; places are given out by `append` and read by
// `bytes`, which checks them.

import Glibc

/// Bytes of recorded writes.
@safe struct PayloadSlab: ~Copyable {
  /// Where the bytes of one write lie.
  struct Place {
    fileprivate let piece: Int32
    fileprivate let offset: UInt32
    let countBytes: Int
  }

  /// A write is at most 1 MiB.
  private static let pieceBytes = 2 << 20
  /// MADV_POPULATE_WRITE of madvise(2), Linux 5.14, which Glibc's module does not know.
  private static let populateWrite: Int32 = 23

  private var pieces: [UnsafeMutableRawPointer] = unsafe []
  private var used = 0

  deinit {
    for index in unsafe pieces.indices { unsafe munmap(pieces[index], Self.pieceBytes) }
  }

  /// Copies bytes in.
  /// - Returns: Their place, or nil when they do not fit a piece or there is no memory.
  mutating func append(_ bytes: RawSpan) -> Place? {
    let count = bytes.byteCount
    guard count <= Self.pieceBytes else { return nil }
    if unsafe pieces.isEmpty || used + count > Self.pieceBytes {
      guard let piece = unsafe Self.makePiece() else { return nil }
      unsafe pieces.append(piece)
      used = 0
    }
    let piece = unsafe pieces.count - 1
    unsafe bytes.withUnsafeBytes { source in
      if let base = source.baseAddress {
        unsafe (pieces[piece] + used).copyMemory(from: base, byteCount: count)
      }
    }
    let place = Place(piece: Int32(piece), offset: UInt32(used), countBytes: count)
    used += count
    return place
  }

  /// The bytes at a place.
  borrowing func bytes(at place: Place) -> [UInt8] {
    precondition(Int(place.offset) + place.countBytes <= Self.pieceBytes, "a place of this slab")
    let start = unsafe pieces[Int(place.piece)] + Int(place.offset)
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: place.countBytes))
  }

  private static func makePiece() -> UnsafeMutableRawPointer? {
    let piece = unsafe mmap(
      nil, pieceBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let piece = unsafe piece, unsafe piece != MAP_FAILED else { return nil }
    // All pages at once instead of a fault for each; an older kernel refuses, and is only slower.
    // Huge pages were faster on a fresh machine and far slower on a fragmented one.
    unsafe _ = madvise(piece, pieceBytes, populateWrite)
    return unsafe piece
  }
}
