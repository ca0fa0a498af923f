// PayloadPieces.swift: [U] the memory of recorded payloads, used again by later recordings, and
// made ahead of need by a thread that waits for nothing else: the kernel clears each page that it
// gives, which takes longer than to copy a payload into it.
// Safety: memory is a spare of `PayloadPieces`, or has one `PayloadPiece`, which gives it back when
// its last user has gone; bytes of a piece before `usedBytes` are never written again.

import CSystem
import Dispatch
import Glibc
import Synchronization

/// A piece of memory that is filled from its beginning on.
///
/// @unchecked: one thread fills it, behind `usedBytes`, while others read what is before.
@safe final class PayloadPiece: @unchecked Sendable {
  let memory: UnsafeMutableRawPointer
  /// Number of bytes from the beginning that stay; who fills the piece goes on behind them.
  private(set) var usedBytes = 0
  private let source: PayloadPieces

  fileprivate init(_ memory: UnsafeMutableRawPointer, from source: PayloadPieces) {
    unsafe self.memory = unsafe memory
    self.source = source
  }

  deinit { unsafe source.give(memory) }

  /// Copies bytes behind those that stay.
  /// - Returns: Where they begin, or nil when they do not fit.
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

/// Bytes in a piece that stay as long as it is held.
@safe package struct LentBytes {
  let piece: PayloadPiece
  let start: UnsafeRawPointer
}

/// Memory that will be written soon, and is not in the CPU's cache.
///
/// Who copies into such memory waits for it at what comes next, a lock or a reference count. The
/// CPU fetches it beside other work, but no more than some lines at once: so parts of it are asked
/// for now and then.
@safe struct MemoryAhead {
  /// A part of the first cache.
  private static let bytesMax = 8192
  /// At once: 16 lines.
  private static let stepBytes = 1024
  private var start: UnsafeRawPointer?
  private var leftBytes = 0

  package init() { unsafe start = nil }

  /// What follows a payload in its piece: the next one is likely as long.
  package init(behind count: Int, in piece: PayloadPiece) {
    unsafe start = UnsafeRawPointer(piece.memory) + piece.usedBytes
    leftBytes = min(count, Self.bytesMax, PayloadPieces.pieceBytes - piece.usedBytes)
  }

  /// Asks for the next part.
  ///
  /// Memory that is gone by now does no harm: nothing is read.
  @inline(__always)
  mutating func fetch() {
    guard leftBytes > 0, let from = unsafe start else { return }
    let count = min(leftBytes, Self.stepBytes)
    unsafe csystem_prefetch_for_writing(from, count)
    unsafe start = from + count
    leftBytes -= count
  }
}

/// Pieces of memory that nobody fills just now.
@safe package final class PayloadPieces: @unchecked Sendable {
  /// A write is at most 1 MiB.
  static let pieceBytes = 2 << 20
  /// Kept for the next recording.
  private static let spareMax = 4
  /// Made ahead.
  private static let aheadMax = 2
  /// MADV_POPULATE_WRITE of madvise(2), Linux 5.14, which Glibc's module does not know.
  private static let populateWrite: Int32 = 23

  // @unchecked: pointers go in and out under the lock.
  @safe private struct Spare: @unchecked Sendable {
    let memory: UnsafeMutableRawPointer
  }

  private let spares = Mutex<[Spare]>([])
  private let isShort = DispatchSemaphore(value: 0)

  package init() {}

  deinit { spares.withLock { for spare in $0 { unsafe Self.free(spare.memory) } } }

  /// Hands out a piece, whose bytes are anything.
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

  /// Makes a piece whenever few are left; for a thread of its own.
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
    // All pages at once instead of a fault for each; an older kernel refuses, and is only slower.
    // Huge pages were faster on a fresh machine and far slower on a fragmented one.
    unsafe _ = madvise(piece, pieceBytes, populateWrite)
    return unsafe piece
  }

  private static func free(_ piece: UnsafeMutableRawPointer) {
    unsafe _ = munmap(piece, pieceBytes)
  }
}
