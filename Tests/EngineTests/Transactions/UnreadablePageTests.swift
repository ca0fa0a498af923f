// UnreadablePageTests.swift: [U] a page that the medium does not give, or that somebody cut off, is
// an error of the call that needs it: never a signal, never a wrong answer, never a lost version.

import Glibc
import Testing

@testable import Engine

@Suite("Pages that cannot be read")
struct UnreadablePageTests {
  private static let key = (0..<64).map { UInt8($0) }

  private static func options(_ isEncrypted: Bool) -> Database.Options {
    var options = Database.Options()
    if isEncrypted { options.encryptionKey = key }
    return options
  }

  private static func make(_ path: String, _ options: Database.Options) throws -> Content {
    let database = try Database.open(path: path, options: options)
    defer { try? database.close() }
    try Everything.fill(database, rows: 8, dogs: 300)
    return try Content(database)
  }

  /// Every way to read, under its name.
  private static func readings(
    _ snapshot: Snapshot, _ table: TableReader
  ) -> [(name: String, read: () throws -> Void)] {
    let path = CollectionPath(table: "Everything", key: 5, column: "list of int")
    let links = CollectionPath(table: "Everything", key: 5, column: "links")
    return [
      ("row", { _ = try snapshot.row(in: "Dog", key: 0) }),
      ("forEach", { try snapshot.forEach(in: "Everything") { _, _ in } }),
      ("contentHash", { _ = try snapshot.contentHash() }),
      ("find", { _ = try table.find(0) }),
      ("count", { _ = try table.count(table.column("age", of: Int64.self), where: .less(7)) }),
      ("sum", { _ = try table.sum(table.column("age", of: Int64.self)) }),
      ("text", { _ = try table.count(table.column("name", of: String.self), equalTo: "x") }),
      ("element", { _ = try snapshot.element(at: 300, of: path) }),
      ("link", { _ = try snapshot.element(at: 300, of: links) }),
      (
        "keys",
        { _ = try snapshot.keys(in: "Everything", column: "int", equalTo: .int(1)) }
      ),
      ("writeCopy", { try snapshot.writeCopy(to: "/nowhere/copy", encryptionKey: nil) }),
    ]
  }

  @Test("behind the end of a file that was cut, every read and every commit is an error")
  func cutFile() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let content = try Self.make(path, .init())
      let bytes = try fileBytes(path)
      let database = try Database.open(path: path)
      let snapshot = try database.snapshot()
      let table = try snapshot.reader(for: "Dog")
      let place = try #require(try table.find(0))
      let age = try table.column("age", of: Int64.self)
      // Everything was read and verified once: no checksum is compared again.
      _ = try snapshot.contentHash()
      let write = try database.beginWrite()
      try write.upsert(into: "Dog", key: 0, Fixtures.dog(77))
      try cut(path, to: Layout.headerSizeBytes)
      #expect(errorCode { try table.int(at: place, age) } == .io)
      for (name, read) in Self.readings(snapshot, table) where name != "writeCopy" {
        #expect(errorCode(read) == .io, "\(name)")
      }
      #expect(
        errorCode { try snapshot.writeCopy(to: folder + "/copy", encryptionKey: nil) } == .io)
      #expect(fileNames(in: folder).filter { $0.contains("copy") } == [])
      #expect(errorCode { try write.row(in: "Dog", key: 9) } == .io)
      #expect(errorCode { try write.upsert(into: "Dog", key: 9, Fixtures.dog(1)) } == .io)
      #expect(errorCode { try write.commit() } == .io)
      #expect(errorCode { try database.beginWrite() } == .io)
      #expect(errorCode { try database.verify() } == .io)
      snapshot.release()
      try database.close()
      // What was cut comes back: nothing of the failed commit did.
      try overwrite(path, bytes)
      #expect(try Content(path: path) == content)
    }
  }

  @Test("a commit whose transaction read all it needed does not take zeros for content either")
  func cutBeforeCommit() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let content = try Self.make(path, .init())
      let bytes = try fileBytes(path)
      let database = try Database.open(path: path)
      let write = try database.beginWrite()
      try write.upsert(into: "Dog", key: 0, Fixtures.dog(77))
      try cut(path, to: Layout.headerSizeBytes)
      #expect(errorCode { try write.commit() } == .io)
      try database.close()
      try overwrite(path, bytes)
      #expect(try Content(path: path) == content)
    }
  }

  @Test(
    "whatever page is missing, a session is right or says so, and the file stays whole",
    arguments: [false, true])
  func everyPage(isEncrypted: Bool) throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let options = Self.options(isEncrypted)
      let content = try Self.make(path, options)
      let bytes = try fileBytes(path)
      let pages = bytes.count / 4096
      var tried = 0
      var refused = 0
      // The header, and every third page behind it.
      for page in 0..<pages where page < 3 || page % 3 == 0 {
        tried += 1
        try overwrite(path, bytes)
        try cut(path, to: bytes.count)
        let backend = try UnreadableBackend(path)
        backend.page = page
        var committed: Version?
        do {
          let database = try Database.open(backend: backend, options: options)
          #expect(try Content(database) == content, "page \(page)")
          let write = try database.beginWrite()
          try write.upsert(into: "Dog", key: 1, Fixtures.dog(1))
          try write.delete(from: "Everything", key: 5)
          committed = try write.commit()
        } catch let error as EngineError {
          refused += 1
          #expect(error.code == .io && error.errno == EIO, "page \(page): \(error)")
        }
        let after = try Content(path: path, options)
        #expect(after.version == committed ?? content.version, "page \(page)")
        if committed == nil { #expect(after == content, "page \(page)") }
      }
      // A page that nothing leads to is missed by nobody.
      #expect(refused > tried / 4 && refused < tried, "\(refused) of \(tried)")
    }
  }

  @Test("what a caller's code is given before the error is right")
  func given() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      _ = try Self.make(path, .init())
      let bytes = try fileBytes(path)
      var given = 0
      for page in 3..<bytes.count / 4096 {
        let backend = try UnreadableBackend(path)
        let database = try Database.open(backend: backend)
        let snapshot = try database.snapshot()
        let dogs = try snapshot.reader(for: "Dog")
        let age = try dogs.column("age", of: Int64.self)
        // Every node is verified by that: from here on no checksum is compared.
        var rows: [Int64: [Value]] = [:]
        var keys: Set<Int64> = []
        try snapshot.forEach(in: "Everything") { key, values in rows[key] = values }
        try dogs.forEach(age, where: .atLeast(0)) { keys.insert($0.key) }
        let list = CollectionPath(table: "Everything", key: 5, column: "dictionary of string")
        var elements: [String: Value] = [:]
        try snapshot.forEach(in: list) { key, value in elements[key ?? ""] = value }
        try backend.lose(page)
        try? snapshot.forEach(in: "Everything") { key, values in
          given += 1
          #expect(rows[key] == values, "without page \(page)")
        }
        try? dogs.forEach(age, where: .atLeast(0)) {
          given += 1
          #expect(keys.contains($0.key), "without page \(page)")
        }
        try? snapshot.forEach(in: list) { key, value in
          given += 1
          #expect(elements[key ?? ""] == value, "without page \(page)")
        }
        snapshot.release()
        try database.close()
      }
      #expect(given > 1000, "\(given)")
    }
  }

  @Test("a header that cannot be read is not taken for a creation that did not end")
  func header() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let content = try Self.make(path, .init())
      for page in 0..<Layout.headerSizeBytes / 4096 {
        let backend = try UnreadableBackend(path)
        backend.page = page
        #expect(errorCode { try Database.open(backend: backend) } == .io, "page \(page)")
        #expect(backend.writes == 0)
        #expect(FileInspection.inspect(try backend.map()).corruption?.code == .io)
      }
      #expect(try Content(path: path) == content)
    }
  }

  @Test("each of many mappings knows its own faults, and their places are used again")
  func manyMappings() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/file"
      try overwrite(path, [UInt8](repeating: 1, count: 8192))
      for _ in 0..<3 {
        let backends = try (0..<300).map { _ in try UnreadableBackend(path) }
        for index in backends.indices where index % 3 == 0 { backends[index].page = 1 }
        let mappings = try backends.map { try $0.map() }
        #expect(mappings.allSatisfy { $0.readError == nil })
        for (index, mapping) in mappings.enumerated() {
          #expect(mapping.bytes.uint8(4096) == (index % 3 == 0 ? 0 : 1))
          #expect((mapping.readError?.code == .io) == (index % 3 == 0))
        }
        #expect(mappings[0].readError?.message.contains("at offset 4096") == true)
      }
    }
  }

  @Test("a fault in a mapping of somebody else ends the process, as it would without the engine")
  func foreignFault() async {
    await #expect(processExitsWith: .signal(SIGBUS)) {
      try withTemporaryFolder { folder in
        let database = try Database.open(path: folder + "/a.realm")
        let descriptor = try Syscalls.open(folder + "/other", creating: true).get()
        let address = unsafe mmap(nil, 4096, PROT_READ, MAP_SHARED, descriptor, 0)
        print(unsafe address?.load(as: UInt8.self) ?? 0)
        try database.close()
      }
    }
  }
}

private func cut(_ path: String, to sizeBytes: Int) throws {
  guard unsafe truncate(path, off_t(sizeBytes)) == 0 else { throw Syscalls.Errno(errno) }
}
