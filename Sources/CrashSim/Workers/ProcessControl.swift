// ProcessControl.swift [U]: a worker's operations on its own process: it exits without closing
// anything, forks, or sets a limit for itself. Safety: limits and statuses are read and written in
// place, by calls that keep no pointer.

import CSystem
import Glibc
import LabCore
import Workload

/// Controls a worker's own process.
enum ProcessControl {
  /// Exits like a program that calls `_exit`: only the kernel closes or flushes anything.
  static func exitAtOnce() -> Never { _exit(0) }

  // MARK: - Limits

  /// Heap reserved for a process whose address space is limited.
  private static let heapReserveBytes = 128 << 20

  /// Limits a resource, in addition to what is in use; called on the process's first thread, whose
  /// heap is that of the whole process.
  static func apply(_ limit: ProcessLimit) -> WorkerAnswer {
    let resource: csystem_resource
    var bound = UInt64.max
    switch limit.resource {
    case .descriptors:
      resource = CSYSTEM_DESCRIPTORS
      if let count = limit.count { bound = descriptorBound(leaving: count) }
    case .fileBytes:
      // Otherwise exceeding the limit kills the process; programs that want an error do this.
      signal(SIGXFSZ, SIG_IGN)
      resource = CSYSTEM_FILE_BYTES
      if let count = limit.count { bound = count }
    case .memoryBytes:
      resource = CSYSTEM_MEMORY_BYTES
      if let count = limit.count {
        // Swift cannot continue without heap, so there is enough of it; mappings must do without.
        csystem_reserve_heap(heapReserveBytes)
        let (sum, overflow) = memoryBytes().addingReportingOverflow(count)
        bound = overflow ? .max : sum
      }
    }
    guard csystem_limit(resource, bound) == 0 else {
      return .failed(
        code: WorkerAnswer.protocolCode,
        message: "cannot bound \(limit.resource.rawValue): \(describe(errno: errno))")
    }
    return .done()
  }

  /// Where the search for free descriptors ends.
  private static let descriptorsMax: Int32 = 1 << 16

  /// The limit below which this many descriptors are free.
  private static func descriptorBound(leaving count: UInt64) -> UInt64 {
    var free: UInt64 = 0
    for number in 0..<descriptorsMax where fcntl(number, F_GETFD) < 0 {
      if free == count { return UInt64(number) }
      free += 1
    }
    return .max
  }

  /// Bytes of address space in use; 0 without /proc.
  private static func memoryBytes() -> UInt64 {
    let descriptor = unsafe csystem_open("/proc/self/statm", O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return 0 }
    defer { Glibc.close(descriptor) }
    guard let text = try? Descriptors.read(descriptor, limitBytes: 256),
      let word = text.split(separator: UInt8(ascii: " ")).first,
      let pages = UInt64(String(decoding: word, as: UTF8.self))
    else { return 0 }
    return pages * UInt64(sysconf(Int32(_SC_PAGESIZE)))
  }

  // MARK: - Forks

  /// Runs work in a child of fork, and waits for its end.
  /// - Parameter work: Runs in the child; it must not lock anything that other threads may hold.
  /// - Returns: The child's answer, or nil when there was none within ten seconds; the child is
  ///   then killed.
  static func inChild(_ work: () -> String) -> String? {
    guard let (input, output) = try? Descriptors.makePipe() else { return nil }
    let child = csystem_fork()
    if child == 0 {
      try? LineChannel(input: input, output: output).write(Array(work().utf8))
      _exit(0)
    }
    Glibc.close(output)
    defer { Glibc.close(input) }
    guard child > 0 else { return nil }
    defer {
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
    }
    var text: [UInt8] = []
    while !Descriptors.wait([input], timeoutMilliseconds: 10_000).isEmpty {
      guard let chunk = try? Descriptors.read(input, limitBytes: 4096) else { return nil }
      if chunk.isEmpty { return text.isEmpty ? nil : String(decoding: text, as: UTF8.self) }
      text += chunk
    }
    return nil
  }
}
