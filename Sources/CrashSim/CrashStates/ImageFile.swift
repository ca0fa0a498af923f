// ImageFile.swift [U]: flat, growable buffers for sparse content: one file's bytes, and the undo
// log's bytes.
// Invariants: bytes never written read as zeros; memory is used for touched pages only (large
// buffers are lazily zeroed mappings), so a file of 1 TB with two written pages costs two pages;
// every access is checked against the capacity; pointers never leave a closure.
// Not Sendable: an image belongs to the thread that builds it.

import CSystem
import Glibc
import LabCore

/// A growable run of bytes that read as zeros until written.
///
/// Safety: owns its memory; no pointer to it leaves a closure.
@safe
final class FlatBuffer {
  static let pageBytes = 4096
  /// From this size on, memory is a separate mapping, whose untouched pages cost nothing.
  private static let mappedFrom = 1 << 20

  private var base: UnsafeMutableRawPointer?
  private(set) var capacityBytes = 0

  deinit { unsafe Self.release(base, capacityBytes) }

  /// Makes room for `countBytes`, keeping the bytes.
  /// - Complexity: O(pages with memory), without a copy, once it is a separate mapping.
  func reserve(_ countBytes: Int) throws(LabError) {
    guard countBytes > capacityBytes else { return }
    var capacity = max(capacityBytes, Self.pageBytes)
    while capacity < countBytes { capacity = capacity > Int.max / 4 ? countBytes : capacity * 2 }
    if let base = unsafe base, capacityBytes >= Self.mappedFrom {
      guard let moved = unsafe csystem_grow_mapping(base, capacityBytes, capacity) else {
        throw Self.noAddressSpace(capacity)
      }
      unsafe self.base = moved
    } else {
      let new = try unsafe Self.allocate(capacity)
      if let base = unsafe base { unsafe new.copyMemory(from: base, byteCount: capacityBytes) }
      unsafe Self.release(base, capacityBytes)
      unsafe base = new
    }
    capacityBytes = capacity
  }

  private static func noAddressSpace(_ count: Int) -> LabError {
    .lab("no address space for a file of \(count) bytes in a crash image (errno \(errno))")
  }

  private static func allocate(_ count: Int) throws(LabError) -> UnsafeMutableRawPointer {
    if count < mappedFrom {
      guard let memory = unsafe calloc(1, count) else {
        throw .lab("out of memory: \(count) bytes for a crash image")
      }
      return unsafe memory
    }
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    let memory = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, flags, -1, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
      throw noAddressSpace(count)
    }
    return unsafe memory
  }

  private static func release(_ memory: UnsafeMutableRawPointer?, _ count: Int) {
    guard let memory = unsafe memory else { return }
    if count < mappedFrom { unsafe free(memory) } else { _ = unsafe munmap(memory, count) }
  }

  /// Copies bytes in.
  func write(_ bytes: [UInt8], _ slice: Range<Int>, at offset: Int) {
    unsafe bytes.withUnsafeBytes { unsafe write($0, slice, at: offset) }
  }

  /// Copies bytes in.
  func write(_ bytes: UnsafeRawBufferPointer, _ slice: Range<Int>, at offset: Int) {
    precondition(offset >= 0 && offset + slice.count <= capacityBytes, "write beyond the buffer")
    precondition(slice.lowerBound >= 0 && slice.upperBound <= bytes.count, "beyond the payload")
    guard let base = unsafe base, let source = bytes.baseAddress, !slice.isEmpty else { return }
    // Safety: both ranges were checked above.
    unsafe (base + offset).copyMemory(from: source + slice.lowerBound, byteCount: slice.count)
  }

  /// Makes a range read as zeros.
  func zero(_ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= capacityBytes, "beyond the buffer")
    if let base = unsafe base { unsafe memset(base + range.lowerBound, 0, range.count) }
  }

  /// Copies a range to another buffer that is large enough.
  func copy(_ range: Range<Int>, to other: FlatBuffer, at offset: Int) {
    precondition(range.lowerBound >= 0 && range.upperBound <= capacityBytes, "beyond the buffer")
    precondition(offset >= 0 && offset + range.count <= other.capacityBytes, "no room")
    guard let base = unsafe base, let target = unsafe other.base else { return }
    unsafe (target + offset).copyMemory(from: base + range.lowerBound, byteCount: range.count)
  }

  /// Calls a closure with the first `countBytes`, which must not leave it.
  func withBytes<Result>(
    _ countBytes: Int, _ body: (UnsafeRawBufferPointer) throws(LabError) -> Result
  ) throws(LabError) -> Result {
    precondition(countBytes <= capacityBytes, "beyond the buffer")
    return try unsafe body(UnsafeRawBufferPointer(start: base, count: countBytes))
  }

  /// A copy of a range.
  func bytes(_ range: Range<Int>) -> [UInt8] {
    precondition(range.lowerBound >= 0 && range.upperBound <= capacityBytes, "beyond the buffer")
    guard let base = unsafe base else { return [] }
    return unsafe [UInt8](
      UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
  }

  /// Hash of a range that starts at a page; 0 when it is all zeros.
  /// - Complexity: O(range), about eight bytes per nanosecond and more.
  func hash(_ range: Range<Int>) -> UInt64 {
    precondition(range.lowerBound >= 0 && range.upperBound <= capacityBytes, "beyond the buffer")
    guard let base = unsafe base else { return 0 }
    let start = unsafe base + range.lowerBound
    var lanes: (UInt64, UInt64) = (0x2d35_8dcc_aa6c_78a5, 0x8bb8_4b93_962e_acc9)
    var any: UInt64 = 0
    var at = 0
    // Safety: 32 (then 1) bytes from `at` lie inside the range.
    while at + 32 <= range.count {
      let a = unsafe start.loadUnaligned(fromByteOffset: at, as: UInt64.self)
      let b = unsafe start.loadUnaligned(fromByteOffset: at + 8, as: UInt64.self)
      let c = unsafe start.loadUnaligned(fromByteOffset: at + 16, as: UInt64.self)
      let d = unsafe start.loadUnaligned(fromByteOffset: at + 24, as: UInt64.self)
      any |= a | b | c | d
      lanes.0 = foldedProduct(a ^ lanes.0, b ^ 0x4b33_a62e_d433_d4a3) &+ b
      lanes.1 = foldedProduct(c ^ lanes.1, d ^ 0x4d5a_2da5_1de1_aa47) &+ d
      at += 32
    }
    while at < range.count {
      let byte = UInt64(unsafe start.load(fromByteOffset: at, as: UInt8.self))
      any |= byte
      lanes.0 = foldedProduct(lanes.0 ^ byte, 0x4b33_a62e_d433_d4a3) &+ UInt64(at)
      at += 1
    }
    guard any != 0 else { return 0 }
    let mixed = foldedProduct(lanes.0 ^ 0xa076_1d64_78bd_642f, lanes.1 ^ 0xe703_7ed1_a0b4_28db)
    // 0 stands for zeros here, and `max` for zeros where 0 means unknown.
    return mixed == 0 || mixed == .max ? 1 : mixed
  }
}

extension CrashImage {
  /// Calls a closure with all bytes of a regular file, holes included, without copying them.
  ///
  /// The pointer must not leave the closure. Names are followed byte by byte, symbolic links are
  /// not.
  /// - Parameters:
  ///   - path: Names separated by `/`, from the image's root.
  ///   - body: Called with the bytes and their count.
  /// - Returns: The closure's result, or nil when no regular file has that path.
  /// - Throws: `LabError` when the file does not fit the address space, and whatever the closure
  ///   throws.
  /// - Complexity: O(path) if the file was requested before, otherwise O(its touched pages).
  public func withFile<Result>(
    at path: String, _ body: (UnsafeRawBufferPointer, Int) throws(LabError) -> Result
  ) throws(LabError) -> Result? {
    guard let node = node(at: path), node.type == .regular else { return nil }
    return try unsafe Self.withContent(of: node) { (bytes) throws(LabError) in
      try unsafe body(bytes, bytes.count)
    }
  }

  package static func withContent<Result>(
    of node: ImageNode, _ body: (UnsafeRawBufferPointer) throws(LabError) -> Result
  ) throws(LabError) -> Result {
    try node.file.reserve(node.sizeBytes)
    return try unsafe node.file.buffer.withBytes(Int(node.sizeBytes), body)
  }
}

extension CrashImage.Entry {
  /// Calls a closure with all bytes of a regular file, holes included; empty for other types.
  ///
  /// The pointer must not leave the closure.
  /// - Throws: `LabError` when the file does not fit the address space, and whatever the closure
  ///   throws.
  public func withContent<Result>(
    _ body: (UnsafeRawBufferPointer) throws(LabError) -> Result
  ) throws(LabError) -> Result {
    try unsafe CrashImage.withContent(of: node, body)
  }
}
