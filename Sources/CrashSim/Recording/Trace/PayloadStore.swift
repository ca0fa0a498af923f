// PayloadStore.swift: [U] memory for the bytes of recorded writes: pieces that the kernel populates
// at once, where one array per write would cost a page fault each. Above a limit the oldest pieces
// move to a file without a name, so that recordings may be larger than memory.
// Safety: one thread appends; places come from `append` and are checked by `bytes`, which any
// thread may call once appending has ended. The store retains its pieces until it is freed or they
// are in the file; any other reader of a piece retains it.

import CSystem
import Foundation
import Glibc
import LabCore

/// Bytes of recorded writes.
@safe package final class PayloadStore: @unchecked Sendable {
  /// The position of one write's bytes.
  struct Place: Sendable {
    fileprivate let piece: Int32
    fileprivate let offset: UInt32
    let countBytes: Int
  }

  /// A recording keeps this much in memory, where it is fast, before it uses the file.
  static let memoryBytesMax = 256 << 20

  private static let pieceBytes = PayloadPieces.pieceBytes
  /// Pieces are taken from here and returned to it.
  private let source: PayloadPieces
  private let memoryPiecesMax: Int
  /// The pieces in memory: all those after the ones in the file.
  private var pieces: [PayloadPiece] = []
  /// Number of pieces in the file, each at its index times the piece size.
  private var filedCount = 0
  private var descriptor: Int32 = -1
  private var hasNoFile = false
  private let wrappedBytesMax: Int
  private var wrappedBytes = 0

  private let directory: String

  /// Makes an empty store, with its file in a directory.
  init(
    source: PayloadPieces = PayloadPieces(), memoryBytesMax: Int = PayloadStore.memoryBytesMax,
    wrappedBytesMax: Int = 0, directory: String = RunDirectory.diskRoot
  ) {
    self.source = source
    self.directory = directory
    self.wrappedBytesMax = wrappedBytesMax
    memoryPiecesMax = max(1, memoryBytesMax / Self.pieceBytes)
  }

  /// Makes an empty store for wrapped bytes: this many of them stay in arrays of their own, all
  /// others go to the file.
  package convenience init(wrappingUpTo wrappedBytesMax: Int) {
    self.init(memoryBytesMax: 0, wrappedBytesMax: wrappedBytesMax)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// True when the bytes are too many for a second copy.
  var isLarge: Bool { filedCount > 0 }

  /// Wraps bytes: in an array of their own, or in this store once the wrapped bytes exceed what
  /// memory should hold.
  package func payload(_ bytes: [UInt8]) -> Payload {
    wrappedBytes += bytes.count
    guard wrappedBytes > wrappedBytesMax, let place = unsafe append(bytes.span.bytes) else {
      return Payload(bytes)
    }
    return Payload(self, place)
  }

  /// Copies bytes in.
  /// - Returns: Their place, or nil when they do not fit in a piece or there is no memory.
  func append(_ bytes: RawSpan) -> Place? {
    unsafe bytes.withUnsafeBytes { bytes in
      var offset = unsafe pieces.last?.append(bytes)
      if offset == nil, bytes.count <= Self.pieceBytes {
        evict()
        guard let piece = source.take() else { return nil }
        pieces.append(piece)
        offset = unsafe piece.append(bytes)
      }
      guard let offset else { return nil }
      return Place(
        piece: Int32(filedCount + pieces.count - 1), offset: UInt32(offset),
        countBytes: bytes.count)
    }
  }

  /// Where the next bytes will likely be copied, after `count` bytes were.
  func memoryAhead(behind count: Int) -> MemoryAhead {
    pieces.last.map { MemoryAhead(behind: count, in: $0) } ?? MemoryAhead()
  }

  /// The piece of a place and the offset in it; nil when it is in the file.
  func memory(of place: Place) -> LentBytes? {
    let index = Int(place.piece) - filedCount
    guard pieces.indices.contains(index) else { return nil }
    let piece = pieces[index]
    return unsafe LentBytes(
      piece: piece, start: UnsafeRawPointer(piece.memory) + Int(place.offset))
  }

  /// The bytes at a place.
  /// - Complexity: O(bytes); a system call when they are in the file.
  func bytes(at place: Place) -> [UInt8] {
    precondition(Int(place.offset) + place.countBytes <= Self.pieceBytes)
    if let lent = memory(of: place) {
      return unsafe Array(UnsafeRawBufferPointer(start: lent.start, count: place.countBytes))
    }
    let offset = Int(place.piece) * Self.pieceBytes + Int(place.offset)
    return unsafe [UInt8](unsafeUninitializedCapacity: place.countBytes) { buffer, count in
      while count < place.countBytes {
        let got = unsafe pread(
          descriptor, buffer.baseAddress.map { unsafe $0 + count }, place.countBytes - count,
          off_t(offset + count))
        if got < 0, errno == EINTR { continue }
        // The file is private and long enough, so its medium has failed.
        precondition(got > 0, "cannot read the lab's own file of payloads: \(lastError())")
        count += got
      }
    }
  }

  /// Moves the oldest piece to the file once memory holds the maximum number.
  private func evict() {
    guard pieces.count >= memoryPiecesMax, moveToFile(pieces[0]) else { return }
    filedCount += 1
    pieces.removeFirst()
  }

  /// Writes a piece after those in the file.
  /// - Returns: False without a file or space for it; then everything stays in memory.
  private func moveToFile(_ piece: PayloadPiece) -> Bool {
    guard !hasNoFile else { return false }
    if descriptor < 0 { descriptor = unsafe csystem_unnamed_file(directory) }
    var written = 0
    while descriptor >= 0, written < Self.pieceBytes {
      let count = unsafe pwrite(
        descriptor, piece.memory + written, Self.pieceBytes - written,
        off_t(filedCount * Self.pieceBytes + written))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      written += count
    }
    hasNoFile = written < Self.pieceBytes
    return !hasNoFile
  }
}
