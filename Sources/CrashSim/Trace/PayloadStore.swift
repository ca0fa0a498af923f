// PayloadStore.swift: [U] memory for the bytes of recorded writes, each copied once: pieces that
// the kernel fills at once, where an array for each write would cost a page fault for each. Beyond
// a bound the oldest pieces go to a file without a name, so that recordings may be larger than
// memory.
// Safety: one thread appends; places are given out by `append` and read by `bytes`, which checks
// them, from any thread once nothing is appended any more. Pieces are freed with the store.

import CSystem
import Foundation
import Glibc

/// Bytes of recorded writes.
@safe final class PayloadStore: @unchecked Sendable {
  /// Where the bytes of one write lie.
  struct Place: Sendable {
    fileprivate let piece: Int32
    fileprivate let offset: UInt32
    let countBytes: Int
  }

  /// A recording holds so much in memory, where it is fast, before it uses the file.
  static let memoryBytesMax = 256 << 20

  private static let pieceBytes = PayloadPieces.pieceBytes
  /// Where pieces come from and go to; nil makes and frees them.
  private let source: PayloadPieces?
  private let memoryPiecesMax: Int
  /// The pieces that are in memory: all behind those in the file.
  private var pieces: [UnsafeMutableRawPointer] = unsafe []
  /// Number of pieces in the file, each at its number times its size.
  private var filedCount = 0
  private var descriptor: Int32 = -1
  private var hasNoFile = false
  private var used = 0
  private var wrappedBytes = 0

  private let directory: String

  /// Makes an empty one, whose file will lie in a directory.
  init(
    source: PayloadPieces? = nil, memoryBytesMax: Int = PayloadStore.memoryBytesMax,
    directory: String = RunDirectory.diskRoot
  ) {
    self.source = source
    self.directory = directory
    memoryPiecesMax = max(1, memoryBytesMax / Self.pieceBytes)
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    if let source { return unsafe source.give(pieces) }
    for index in unsafe pieces.indices { unsafe PayloadPieces.free(pieces[index]) }
  }

  /// True when the bytes are too many to be held twice.
  var isLarge: Bool { filedCount > 0 }

  /// Wraps bytes that were read: in an array of their own, or here, once all that were wrapped are
  /// more than memory should hold.
  func payload(_ bytes: [UInt8]) -> Payload {
    wrappedBytes += bytes.count
    guard wrappedBytes > Self.memoryBytesMax, let place = unsafe append(bytes.span.bytes) else {
      return Payload(bytes)
    }
    return Payload(self, place)
  }

  /// Copies bytes in.
  /// - Returns: Their place, or nil when they do not fit a piece or there is no memory.
  func append(_ bytes: RawSpan) -> Place? {
    let count = bytes.byteCount
    guard count <= Self.pieceBytes else { return nil }
    if unsafe pieces.isEmpty || used + count > Self.pieceBytes {
      guard let piece = unsafe makePiece() else { return nil }
      unsafe pieces.append(piece)
      used = 0
    }
    let last = unsafe pieces.count - 1
    unsafe bytes.withUnsafeBytes { source in
      if let base = source.baseAddress {
        unsafe (pieces[last] + used).copyMemory(from: base, byteCount: count)
      }
    }
    let place = Place(
      piece: Int32(filedCount + last), offset: UInt32(used), countBytes: count)
    used += count
    return place
  }

  /// The bytes at a place.
  /// - Complexity: O(bytes); a system call when they are in the file.
  func bytes(at place: Place) -> [UInt8] {
    precondition(Int(place.offset) + place.countBytes <= Self.pieceBytes)
    guard place.piece < filedCount else {
      let start = unsafe pieces[Int(place.piece) - filedCount] + Int(place.offset)
      return unsafe Array(UnsafeRawBufferPointer(start: start, count: place.countBytes))
    }
    let offset = Int(place.piece) * Self.pieceBytes + Int(place.offset)
    return unsafe [UInt8](unsafeUninitializedCapacity: place.countBytes) { buffer, count in
      while count < place.countBytes {
        let got = unsafe pread(
          descriptor, buffer.baseAddress.map { unsafe $0 + count }, place.countBytes - count,
          off_t(offset + count))
        if got < 0, errno == EINTR { continue }
        // The file is ours alone and this long, so its medium has failed under the lab.
        precondition(got > 0, "cannot read the lab's own file of payloads: \(lastError())")
        count += got
      }
    }
  }

  /// Memory for the next piece: that of the oldest one, once there is enough of it.
  private func makePiece() -> UnsafeMutableRawPointer? {
    if unsafe pieces.count >= memoryPiecesMax, unsafe moveToFile(pieces[0]) {
      filedCount += 1
      return unsafe pieces.removeFirst()
    }
    return if let source { unsafe source.take() } else { unsafe PayloadPieces.make() }
  }

  /// Writes a piece behind those that are in the file.
  /// - Returns: False when there is no file or no room for it; then all stays in memory.
  private func moveToFile(_ piece: UnsafeMutableRawPointer) -> Bool {
    guard !hasNoFile else { return false }
    if descriptor < 0 { descriptor = unsafe csystem_unnamed_file(directory) }
    var written = 0
    while descriptor >= 0, written < Self.pieceBytes {
      let count = unsafe pwrite(
        descriptor, piece + written, Self.pieceBytes - written,
        off_t(filedCount * Self.pieceBytes + written))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      written += count
    }
    hasNoFile = written < Self.pieceBytes
    return !hasNoFile
  }
}
