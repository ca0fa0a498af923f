// WriteCopyTests.swift: copies of a version under a name of their own.

import Testing

@testable import Engine

@Suite("Copies of a database")
struct WriteCopyTests {
  private func withFilled(_ body: (Database, String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let database = try Database.open(path: folder + "/a.realm")
      try Everything.fill(database, rows: 64)
      try body(database, folder)
      try database.close()
    }
  }

  @Test("a copy has the version and the content, and two copies are equal")
  func isEqual() throws {
    try withFilled { database, folder in
      let content = try Content(database)
      try database.writeCopy(to: folder + "/b", encryptionKey: nil)
      try database.writeCopy(to: folder + "/c", encryptionKey: nil)
      #expect(try Content(path: folder + "/b") == content)
      #expect(try fileBytes(folder + "/b") == fileBytes(folder + "/c"))
      #expect(try Content(database) == content)
      #expect(fileNames(in: folder).filter { $0.contains("copying") } == [])
    }
  }

  @Test("a snapshot's copy is of its version, whatever was committed since")
  func isOfSnapshot() throws {
    try withFilled { database, folder in
      let content = try Content(database)
      let snapshot = try database.snapshot()
      let open = try database.beginWrite()
      try open.removeTable("Everything")
      try open.commit()
      // A writer may be at work, too.
      let write = try database.beginWrite()
      try write.insert(into: "Dog", key: -5, Fixtures.dog(5))
      try snapshot.writeCopy(to: folder + "/b", encryptionKey: nil)
      try write.commit()
      snapshot.release()
      #expect(
        errorCode { try snapshot.writeCopy(to: folder + "/c", encryptionKey: nil) } == .closed)
      #expect(try Content(path: folder + "/b") == content)
      #expect(try Content(database).version == content.version.next.next)
    }
  }

  @Test("a database in memory can be copied to a file")
  func isOfMemory() throws {
    try withTemporaryFolder { folder in
      let database = try Database.open(backend: TestBackend())
      try Everything.fill(database, rows: 40)
      try database.writeCopy(to: folder + "/b", encryptionKey: nil)
      #expect(try Content(path: folder + "/b") == Content(database))
    }
  }

  @Test("nothing is written over, be it a file, a folder or a link that leads nowhere")
  func destinationIsTaken() throws {
    try withFilled { database, folder in
      try overwrite(folder + "/file", [1, 2, 3])
      try makeFolder(folder + "/folder")
      defer { removeFolder(folder + "/folder") }
      try makeLink(folder + "/link", to: folder + "/nowhere")
      for name in ["file", "folder", "link", "a.realm"] {
        #expect(
          errorCode { try database.writeCopy(to: folder + "/" + name, encryptionKey: nil) }
            == .fileExists)
      }
      #expect(try fileBytes(folder + "/file") == [1, 2, 3])
      #expect(fileNames(in: folder).filter { $0.contains("copying") || $0 == "nowhere" } == [])
    }
  }

  @Test("a file that takes the name during the copy is not written over")
  func destinationIsTakenLate() throws {
    try withTemporaryFolder { folder in
      var options = Database.Options()
      options.newFileFailpoint = { step throws(EngineError) in
        guard step == .name else { return }
        if case .success(let made) = Syscalls.create(folder + "/b", mode: 0o600) {
          Syscalls.close(made)
        }
      }
      let database = try Database.open(path: folder + "/a.realm", options: options)
      #expect(
        errorCode { try database.writeCopy(to: folder + "/b", encryptionKey: nil) } == .fileExists)
      #expect(fileSizeBytes(folder + "/b") == 0)
      #expect(fileNames(in: folder).filter { $0.contains("copying") } == [])
      try database.close()
    }
  }

  @Test("into a missing folder, into one that takes no files")
  func folderIsUnusable() throws {
    try withFilled { database, folder in
      for path in [folder + "/missing/b", "/proc/b", "/sys/b"] {
        #expect(errorCode { try database.writeCopy(to: path, encryptionKey: nil) } == .io)
      }
    }
  }

  @Test("a left-over of the temporary name is removed, one in use is respected")
  func leftOver() throws {
    try withFilled { database, folder in
      // The left-over has the name of another database as well: it must not be emptied.
      try database.writeCopy(to: folder + "/b", encryptionKey: nil)
      try makeHardLink(folder + "/c.copying", to: folder + "/b")
      try database.writeCopy(to: folder + "/c", encryptionKey: nil)
      #expect(try fileBytes(folder + "/b") == fileBytes(folder + "/c"))
      try overwrite(folder + "/d.copying", [1])
      let user = try FileBackend(
        locking: try Syscalls.open(folder + "/d.copying").get(), opened: folder + "/d.copying",
        path: "d", lock: .exclusive)
      #expect(
        errorCode { try database.writeCopy(to: folder + "/d", encryptionKey: nil) } == .locked)
      user.close()
      try database.writeCopy(to: folder + "/d", encryptionKey: nil)
      #expect(try Content(path: folder + "/d") == Content(database))
    }
  }

  @Test("a copy can be read by those who can read the database")
  func keepsMode() throws {
    try withFilled { database, folder in
      for mode: UInt32 in [0o600, 0o640] {
        try setMode(mode, of: folder + "/a.realm")
        try database.writeCopy(to: folder + "/\(mode)", encryptionKey: nil)
        #expect(Syscalls.attributes(path: folder + "/\(mode)")?.mode == mode)
      }
    }
  }

  @Test("a transaction's copy has its changes, which are the database's only when it commits")
  func isOfTransaction() throws {
    try withFilled { database, folder in
      let before = try Content(database)
      let write = try database.beginWrite()
      try Everything.change(write)
      try write.writeCopy(to: folder + "/b", encryptionKey: nil)
      #expect(try Content(database) == before)
      let copied = try Content(path: folder + "/b")
      // The transaction goes on, and what it does next is in the next copy only.
      try write.delete(from: "Dog", key: 3)
      try write.writeCopy(to: folder + "/c", encryptionKey: nil)
      try write.commit()
      let after = try Content(database)
      #expect(try Content(path: folder + "/c") == after)
      #expect(copied.version == after.version)
      #expect(copied != after)
      try database.verify()
    }
  }

  @Test("a transaction that copied and was cancelled leaves nothing behind")
  func cancelledAfterCopy() throws {
    try withFilled { database, folder in
      let before = try Content(database)
      for round in 0..<3 {
        let write = try database.beginWrite()
        try Everything.change(write)
        try write.writeCopy(to: folder + "/copy-\(round)", encryptionKey: nil)
        write.cancel()
      }
      #expect(try Content(database) == before)
      #expect(try Content(path: folder + "/copy-0") == Content(path: folder + "/copy-2"))
      try database.verify()
      // What the copies were written over is used by what comes next.
      let write = try database.beginWrite()
      try Everything.change(write)
      try write.commit()
      #expect(try Content(database) == Content(path: folder + "/copy-0"))
      try database.verify()
    }
    try withTemporaryFolder { folder in
      let database = try Database.open(path: folder + "/a.realm")
      try Everything.fill(database, rows: 64)
      let write = try database.beginWrite()
      try Everything.change(write)
      #expect(
        errorCode { try write.writeCopy(to: folder + "/a.realm", encryptionKey: nil) }
          == .fileExists)
      try write.writeCopy(to: folder + "/b", encryptionKey: nil)
      try write.commit()
      let content = try Content(database)
      #expect(errorCode { try write.writeCopy(to: folder + "/c", encryptionKey: nil) } == .closed)
      try database.close()
      #expect(try Content(path: folder + "/a.realm") == content)
      #expect(try Content(path: folder + "/b") == content)
    }
  }

  @Test("an encrypted database's transaction is copied under any key, or none")
  func isOfEncryptedTransaction() throws {
    try withTemporaryFolder { folder in
      let key = [UInt8](repeating: 7, count: 64)
      var options = Database.Options()
      options.encryptionKey = key
      let database = try Database.open(path: folder + "/a.realm", options: options)
      try Everything.fill(database, rows: 64)
      let write = try database.beginWrite()
      try Everything.change(write)
      try write.writeCopy(to: folder + "/plain", encryptionKey: nil)
      try write.writeCopy(to: folder + "/sealed", encryptionKey: key)
      try write.commit()
      let content = try Content(database)
      try database.verify()
      #expect(try Content(path: folder + "/plain") == content)
      let sealed = try Database.open(path: folder + "/sealed", options: options)
      #expect(try Content(sealed) == content)
    }
  }
}
