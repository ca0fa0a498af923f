// Syscalls+Memory.swift [U]: memory that is given back piece by piece, and unforeseeable bytes.

import Glibc

extension Syscalls {
  /// Bytes from the kernel's random number generator; getentropy(3) gives 256 at most.
  static func randomBytes(_ count: Int) -> Result<[UInt8], Errno> {
    precondition(count <= 256, "salts are short")
    var bytes = [UInt8](repeating: 0, count: count)
    guard unsafe getentropy(&bytes, count) == 0 else { return .failure(Errno(errno)) }
    return .success(bytes)
  }

  /// Zeroed memory that costs nothing before it is touched.
  ///
  /// Small pages only: a huge one would bring 2 MiB into memory for one node. Core dumps leave it
  /// out.
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

  /// Gives memory of `reserve` back for good.
  @unsafe static func unreserve(_ address: UnsafeMutableRawPointer, _ sizeBytes: Int) {
    _ = unsafe munmap(address, sizeBytes)
  }

  /// Gives the pages of a part of such memory back; the part reads as zeros afterwards if its
  /// bytes were made 0 before.
  @unsafe static func giveBack(_ address: UnsafeMutableRawPointer, _ sizeBytes: Int) {
    // With pages larger than a sector the ends would take neighbours along; the bytes are 0 either
    // way, only the memory stays.
    guard sysconf(Int32(_SC_PAGESIZE)) == Layout.sectorSizeBytes else { return }
    _ = unsafe madvise(address, sizeBytes, MADV_DONTNEED)
  }

  /// Makes memory 0 that nobody reads afterwards, which a plain store may be optimised away for.
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
