// Syscalls+Memory.swift [U]: memory that can be freed in parts, a file's pages in memory, and
// random bytes.

import Glibc

extension Syscalls {
  /// Bytes from the kernel's random number generator; getentropy(3) gives 256 at most.
  static func randomBytes(_ count: Int) -> Result<[UInt8], Errno> {
    precondition(count <= 256, "salts are short")
    var bytes = [UInt8](repeating: 0, count: count)
    guard unsafe getentropy(&bytes, count) == 0 else { return .failure(Errno(errno)) }
    return .success(bytes)
  }

  /// Drops clean cached pages of a range, so that the next read comes from the medium.
  ///
  /// The kernel drops whole folios only. They are aligned to their size and at most as large as a
  /// huge page, so more is dropped only while something of the range is still in memory: to read
  /// 2 MiB anew takes longer than all else of an open. Advice: it cannot fail in a way that
  /// matters.
  static func forgetCache(_ fd: Int32, from offsetBytes: UInt64, count: UInt64) {
    func range(of folioBytes: UInt64) -> Range<UInt64> {
      let end = (offsetBytes + count + folioBytes - 1) / folioBytes * folioBytes
      return offsetBytes / folioBytes * folioBytes..<end
    }
    for folioBytes: UInt64 in [4096, 65536, 2 << 20] {
      let dropped = range(of: folioBytes)
      let size = off_t(dropped.upperBound - dropped.lowerBound)
      _ = posix_fadvise(fd, off_t(dropped.lowerBound), size, POSIX_FADV_DONTNEED)
      if !isCached(fd, range(of: 4096)) { return }
    }
  }

  /// Whether a page of the range is in memory, as far as the kernel tells: for files of others it
  /// says that all are.
  private static func isCached(_ fd: Int32, _ range: Range<UInt64>) -> Bool {
    let sizeBytes = Int(range.upperBound - range.lowerBound)
    guard
      let address = unsafe mmap(
        nil, sizeBytes, PROT_READ, MAP_SHARED, fd, off_t(range.lowerBound)),
      unsafe address != MAP_FAILED
    else { return true }
    defer { _ = unsafe munmap(address, sizeBytes) }
    var pages = [UInt8](repeating: 1, count: sizeBytes / 4096)
    return unsafe mincore(address, sizeBytes, &pages) != 0 || pages.contains { $0 & 1 != 0 }
  }

  /// Zeroed memory that costs nothing before it is touched.
  ///
  /// Small pages only: a huge one would bring 2 MiB into memory for one node. It is excluded from
  /// core dumps.
  @unsafe static func reserve(_ sizeBytes: Int) throws(Errno) -> UnsafeMutableRawPointer {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    guard let address = unsafe mmap(nil, sizeBytes, PROT_READ | PROT_WRITE, flags, -1, 0),
      unsafe address != MAP_FAILED
    else { throw Errno(errno) }
    // Advice: a kernel that does not follow it costs memory, not correctness.
    _ = unsafe madvise(address, sizeBytes, MADV_NOHUGEPAGE)
    _ = unsafe madvise(address, sizeBytes, MADV_DONTDUMP)
    return unsafe address
  }

  /// Frees memory of `reserve`, address space included.
  @unsafe static func unreserve(_ address: UnsafeMutableRawPointer, _ sizeBytes: Int) {
    _ = unsafe munmap(address, sizeBytes)
  }

  /// Frees the pages of a part of such memory; the part reads as zeros afterwards if its bytes were
  /// zeroed before.
  @unsafe static func giveBack(_ address: UnsafeMutableRawPointer, _ sizeBytes: Int) {
    // With pages larger than a sector the ends would take neighbours along; the bytes are 0 either
    // way, only the memory stays.
    guard sysconf(Int32(_SC_PAGESIZE)) == Layout.sectorSizeBytes else { return }
    _ = unsafe madvise(address, sizeBytes, MADV_DONTNEED)
  }

  /// Zeroes memory that is not read afterwards, where the compiler could remove plain stores.
  @unsafe static func wipe(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let start = buffer.baseAddress else { return }
    unsafe explicit_bzero(start, buffer.count)
  }

  /// A number that is the calling thread's alone, and not 0.
  static var threadNumber: UInt64 { UInt64(pthread_self()) }

  /// Lets other threads run.
  static func pause(_ round: Int) {
    if round < 16 { sched_yield() } else { usleep(50) }
  }
}
