// PayloadPieces.swift: [U] the memory of recorded payloads, used again by later recordings, and
// made ahead of need by a thread that waits for nothing else: the kernel clears each page that it
// gives, which takes longer than to copy a payload into it.
// Safety: a piece has one owner: this object, or the store that took it.

import Dispatch
import Glibc
import Synchronization

/// Pieces of memory that nobody fills just now.
@safe final class PayloadPieces: @unchecked Sendable {
  /// A write is at most 1 MiB.
  static let pieceBytes = 2 << 20
  /// Kept for the next recording.
  private static let spareMax = 4
  /// MADV_POPULATE_WRITE of madvise(2), Linux 5.14, which Glibc's module does not know.
  private static let populateWrite: Int32 = 23

  // @unchecked: pointers go in and out under the lock.
  @safe private struct Spare: @unchecked Sendable {
    let memory: UnsafeMutableRawPointer
  }

  private let spares = Mutex<[Spare]>([])
  private let isShort = DispatchSemaphore(value: 0)

  deinit { spares.withLock { for spare in $0 { unsafe Self.free(spare.memory) } } }

  /// Hands out a piece, whose bytes are anything.
  /// - Returns: `pieceBytes` bytes, or nil when there is no memory.
  func take() -> UnsafeMutableRawPointer? {
    let (spare, isLast) = spares.withLock { spares in (spares.popLast(), spares.isEmpty) }
    if isLast { isShort.signal() }
    if let spare { return unsafe spare.memory }
    return unsafe Self.make()
  }

  /// Takes pieces back.
  func give(_ pieces: [UnsafeMutableRawPointer]) {
    spares.withLock { spares in
      for index in unsafe pieces.indices {
        let piece = unsafe pieces[index]
        if spares.count < Self.spareMax {
          spares.append(unsafe Spare(memory: piece))
        } else {
          unsafe Self.free(piece)
        }
      }
    }
  }

  /// Makes a piece whenever the last one was taken; for a thread of its own.
  func makeAhead() -> Never {
    while true {
      isShort.wait()
      guard spares.withLock(\.isEmpty), let piece = unsafe Self.make() else { continue }
      unsafe give([piece])
    }
  }

  static func make() -> UnsafeMutableRawPointer? {
    let piece = unsafe mmap(
      nil, pieceBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let piece = unsafe piece, unsafe piece != MAP_FAILED else { return nil }
    // All pages at once instead of a fault for each; an older kernel refuses, and is only slower.
    // Huge pages were faster on a fresh machine and far slower on a fragmented one.
    unsafe _ = madvise(piece, pieceBytes, populateWrite)
    return unsafe piece
  }

  static func free(_ piece: UnsafeMutableRawPointer) { unsafe _ = munmap(piece, pieceBytes) }
}
