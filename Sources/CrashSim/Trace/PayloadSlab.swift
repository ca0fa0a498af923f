// PayloadSlab.swift: [U] where a recording keeps the bytes of writes until it ends: large pieces of
// memory, filled one after another, so that recording a write is a copy and no allocation.
// Invariants: bytes of a write lie in one piece; nothing moves or changes before the slab is freed.
// Safety: pieces are freed with the slab only; places are given out by `append` and read by
// `bytes`, which checks them.

/// Bytes of recorded writes.
@safe struct PayloadSlab: ~Copyable {
  /// Where the bytes of one write lie.
  struct Place {
    fileprivate let piece: Int32
    fileprivate let offset: UInt32
    let countBytes: Int
  }

  private static let pieceBytes = PayloadPieces.pieceBytes
  /// Where pieces come from and go to; nil makes and frees them.
  private let source: PayloadPieces?
  private var pieces: [UnsafeMutableRawPointer] = unsafe []
  private var used = 0

  /// Makes an empty one.
  init(source: PayloadPieces? = nil) { self.source = source }

  deinit {
    if let source { return unsafe source.give(pieces) }
    for index in unsafe pieces.indices { unsafe PayloadPieces.free(pieces[index]) }
  }

  /// Copies bytes in.
  /// - Returns: Their place, or nil when they do not fit a piece or there is no memory.
  mutating func append(_ bytes: RawSpan) -> Place? {
    let count = bytes.byteCount
    guard count <= Self.pieceBytes else { return nil }
    if unsafe pieces.isEmpty || used + count > Self.pieceBytes {
      let made = if let source { unsafe source.take() } else { unsafe PayloadPieces.make() }
      guard let piece = unsafe made else { return nil }
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
}
