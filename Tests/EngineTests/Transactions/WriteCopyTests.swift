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
}
