// PageCacheTests.swift [U]: what an open leaves in the kernel's page cache, and reads ahead.

import Glibc
import Testing

@testable import Engine

@Suite("Page cache")
struct PageCacheTests {
  /// Which pages of a file are in memory.
  private static func cached(_ path: String) throws -> [Bool] {
    let descriptor = try Syscalls.open(path, writable: true).get()
    defer { Syscalls.close(descriptor) }
    let size = fileSizeBytes(path)
    guard let address = unsafe mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0),
      unsafe address != MAP_FAILED
    else { throw EngineError.syscall("mmap", path, errno: errno) }
    defer { _ = unsafe munmap(address, size) }
    var pages = [UInt8](repeating: 0, count: (size + 4095) / 4096)
    try #require(unsafe mincore(address, size, &pages) == 0)
    return pages.map { $0 & 1 != 0 }
  }

  /// Whether pages of a file can leave memory: on a file system without a medium they stay.
  private static func canLeave(_ descriptor: Int32, _ path: String) throws -> Bool {
    defer { _ = try? fileBytes(path) }
    try #require(posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0)
    return try cached(path).allSatisfy { !$0 }
  }

  private static func fill(_ database: Database, rows: Int) throws {
    let write = try database.beginWrite()
    try write.createTable(Fixtures.dogs)
    for key in 0..<rows {
      try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key))
    }
    try write.commit()
  }

  @Test("what is forgotten leaves memory with the folios that it is in, and nothing else does")
  func forgets() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/file"
      try overwrite(path, [UInt8](repeating: 1, count: 8 << 20))
      let descriptor = try Syscalls.open(path).get()
      defer { Syscalls.close(descriptor) }
      #expect(Syscalls.syncAll(descriptor) == nil)
      let canLeave = try Self.canLeave(descriptor, path)
      for offset in [0, 6 << 20] {
        Syscalls.forgetCache(descriptor, from: UInt64(offset), count: 12_288)
        let pages = try Self.cached(path)
        let first = offset / 4096
        #expect(pages[first..<first + 3].allSatisfy { $0 != canLeave }, "at \(offset)")
        #expect(pages[(2 << 20) / 4096..<(6 << 20) / 4096].allSatisfy { $0 }, "at \(offset)")
      }
    }
  }

  @Test("an open keeps what is not near the header")
  func opens() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let database = try Database.open(path: path)
      try Self.fill(database, rows: 200_000)
      try database.close()
      // Everything is in memory, and nothing waits to be written.
      _ = try fileBytes(path)
      let descriptor = try Syscalls.open(path).get()
      #expect(Syscalls.syncAll(descriptor) == nil)
      Syscalls.close(descriptor)
      let size = fileSizeBytes(path)
      try #require(size > 3 << 20, "\(size)")
      let again = try Database.open(path: path)
      let pages = try Self.cached(path)
      #expect(pages[((2 << 20) / 4096)...].allSatisfy { $0 })
      try again.close()
    }
  }

  /// The advice on the mapping of a file: `VmFlags` of smaps (proc(5)), `rr` for none read ahead.
  private static func flags(ofMapping path: String) throws -> [Substring] {
    let text = String(decoding: try fileContent("/proc/self/smaps"), as: UTF8.self)
    var isFile = false
    for line in text.split(separator: "\n") {
      if line.contains(" r--s ") || line.contains(" rw-s ") {
        isFile = line.hasSuffix(path)
      } else if isFile, line.hasPrefix("VmFlags:") {
        return line.split(separator: " ")
      }
    }
    return []
  }

  private static func fileContent(_ path: String) throws -> [UInt8] {
    let descriptor = try Syscalls.open(path, writable: false).get()
    defer { Syscalls.close(descriptor) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe read(descriptor, &part, part.count)
      if count <= 0 { return bytes }
      bytes += part[..<count]
    }
  }

  @Test("a handle reads ahead or does not, in a longer file too", arguments: [true, false])
  func advice(readsAhead: Bool) throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      var options = Database.Options()
      options.readsAhead = readsAhead
      let database = try Database.open(path: path, options: options)
      try Self.fill(database, rows: 2_000)
      #expect(try Self.flags(ofMapping: path).contains("rr") == !readsAhead)
      #expect(try Self.flags(ofMapping: path + ".lock").contains("rr"))
      try database.close()
      let again = try Database.open(path: path, options: options)
      #expect(try Self.flags(ofMapping: path).contains("rr") == !readsAhead)
      try again.close()
    }
  }
}
