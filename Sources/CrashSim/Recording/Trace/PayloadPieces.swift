// PayloadPieces.swift: [U] the memory of recorded payloads, reused by later recordings and
// allocated in advance by a dedicated thread: the kernel clears each page that it provides, which
// takes longer than copying a payload into it.
// Safety: memory is a spare of `PayloadPieces` or owned by one `PayloadPiece`, which returns it on
// deinit; the first `usedBytes` of a piece are never written again.

import CSystem
import Dispatch
import Glibc
import Synchronization

/// A piece of memory that is filled from its start.
///
/// @unchecked: one thread fills it after `usedBytes` while others read what is before.
@safe final class PayloadPiece: @unchecked Sendable {
  let memory: UnsafeMutableRawPointer
  /// Number of bytes at the start that no longer change; appending continues after them.
  private(set) var usedBytes = 0
  private let source: PayloadPieces

  fileprivate init(_ memory: UnsafeMutableRawPointer, from source: PayloadPieces) {
    unsafe self.memory = unsafe memory
    self.source = source
  }

  deinit { unsafe source.give(memory) }

  /// Copies bytes after the used ones.
  /// - Returns: Their offset, or nil when they do not fit.
  func append(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.count <= PayloadPieces.pieceBytes - usedBytes else { return nil }
    let offset = usedBytes
    if let base = bytes.baseAddress {
      unsafe (memory + offset).copyMemory(from: base, byteCount: bytes.count)
    }
    usedBytes += bytes.count
    return offset
  }
}

/// Bytes in a piece that stay unchanged as long as it is retained.
@safe package struct LentBytes {
  let piece: PayloadPiece
  let start: UnsafeRawPointer
}

/// Memory that will be written soon and is not in the CPU's cache.
///
/// Copying into such memory delays the next lock or reference count until it arrives. The CPU can
/// fetch it in parallel to other work, but only some lines at once: so parts of it are prefetched
/// now and then.
@safe struct MemoryAhead {
  /// A part of the first-level cache.
  private static let bytesMax = 8192
  /// Per step: 16 lines.
  private static let stepBytes = 1024
  private var start: UnsafeRawPointer?
  private var leftBytes = 0

  package init() { unsafe start = nil }

  /// The memory after a payload in its piece: the next payload is likely as long.
  package init(behind count: Int, in piece: PayloadPiece) {
    unsafe start = UnsafeRawPointer(piece.memory) + piece.usedBytes
    leftBytes = min(count, Self.bytesMax, PayloadPieces.pieceBytes - piece.usedBytes)
  }

  /// Prefetches the next part.
  ///
  /// Memory that has been freed meanwhile does no harm: nothing is read.
  @inline(__always)
  mutating func fetch() {
    guard leftBytes > 0, let from = unsafe start else { return }
    let count = min(leftBytes, Self.stepBytes)
    unsafe csystem_prefetch_for_writing(from, count)
    unsafe start = from + count
    leftBytes -= count
  }
}

/// Pieces of memory that are not being filled.
@safe package final class PayloadPieces: @unchecked Sendable {
  /// A write is at most 1 MiB, so each piece fits at least two.
  static let pieceBytes = 2 << 20
  /// Pieces kept for the next recording.
  private static let spareMax = 4
  /// Pieces allocated in advance.
  private static let aheadMax = 2
  /// MADV_POPULATE_WRITE of madvise(2), Linux 5.14, missing in the Glibc module.
  private static let populateWrite: Int32 = 23

  // @unchecked: pointers are added and removed under the lock.
  @safe private struct Spare: @unchecked Sendable {
    let memory: UnsafeMutableRawPointer
  }

  private let spares = Mutex<[Spare]>([])
  private let isShort = DispatchSemaphore(value: 0)

  package init() {}

  deinit { spares.withLock { for spare in $0 { unsafe Self.free(spare.memory) } } }

  /// Returns a piece with arbitrary content.
  /// - Returns: An unused piece, or nil when there is no memory.
  func take() -> PayloadPiece? {
    let (spare, isFew) = spares.withLock { spares in
      (spares.popLast(), spares.count < Self.aheadMax)
    }
    if isFew { isShort.signal() }
    guard let memory = unsafe spare?.memory ?? Self.make() else { return nil }
    return unsafe PayloadPiece(memory, from: self)
  }

  /// Takes memory back.
  fileprivate func give(_ memory: UnsafeMutableRawPointer) {
    let isKept = spares.withLock { spares in
      if spares.count >= Self.spareMax { return false }
      spares.append(unsafe Spare(memory: memory))
      return true
    }
    if !isKept { unsafe Self.free(memory) }
  }

  /// Allocates a piece whenever few are left; runs on a thread of its own.
  package func makeAhead() -> Never {
    while true {
      isShort.wait()
      let isFew = spares.withLock { $0.count < Self.aheadMax }
      guard isFew, let memory = unsafe Self.make() else { continue }
      unsafe give(memory)
    }
  }

  private static func make() -> UnsafeMutableRawPointer? {
    let piece = unsafe mmap(
      nil, pieceBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let piece = unsafe piece, unsafe piece != MAP_FAILED else { return nil }
    // All pages at once instead of a fault for each; an older kernel rejects it, which is only
    // slower. Huge pages were faster on a fresh machine and far slower on a fragmented one.
    unsafe _ = madvise(piece, pieceBytes, populateWrite)
    return unsafe piece
  }

  private static func free(_ piece: UnsafeMutableRawPointer) {
    unsafe _ = munmap(piece, pieceBytes)
  }
}
