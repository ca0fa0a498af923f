// DatabaseTests.swift: open, commit, snapshot and reopen over a real file.

import Glibc
import Requirements
import Testing

@testable import Engine

@Suite("Database")
struct DatabaseTests {
  @Test("a new file is an empty database of version 1")
  func newFile() throws {
    try withTemporaryFolder { folder in
      let database = try Database.open(path: folder + "/a.realm")
      #expect(database.version == .first)
      #expect(try database.verify().tables == 0)
      try database.close()
    }
  }

  @Test("committed rows are there after a reopen")
  func reopen() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      let database = try Database.open(path: path)
      let write = try database.beginWrite()
      try write.createTable(Fixtures.dogs)
      for key in 0..<1000 {
        try write.insert(into: "Dog", key: Int64(key), Fixtures.dog(key))
      }
      #expect(try write.commit().rawValue == 2)
      let hash = try database.snapshot().contentHash()
      try database.verify()
      try database.close()

      let again = try Database.open(path: path)
      let snapshot = try again.snapshot()
      #expect(snapshot.version.rawValue == 2)
      #expect(try snapshot.count(of: "Dog") == 1000)
      #expect(try snapshot.row(in: "Dog", key: 17) == Fixtures.dog(17))
      #expect(try snapshot.row(in: "Dog", key: 1000) == nil)
      #expect(try snapshot.contentHash() == hash)
      var next: Int64 = 0
      try snapshot.forEach(in: "Dog") { key, values in
        #expect(key == next && values == Fixtures.dog(Int(key)))
        next += 1
      }
      #expect(next == 1000)
      snapshot.release()
      try again.verify()
      try again.close()
    }
  }

  @Test("a handle that does not share its file keeps all others out, and is kept out by them")
  func locked() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      var alone = Database.Options()
      alone.isShared = false
      for (first, second) in [(alone, alone), (alone, .init()), (.init(), alone)] {
        let database = try Database.open(path: path, options: first)
        let error = #expect(throws: EngineError.self) {
          try Database.open(path: path, options: second)
        }
        #expect(error?.code == .locked)
        #expect(error?.message.contains(path) == true)
        try database.verify()
        try database.close()
      }
    }
  }

  @Test("readers and verify go on while a writer commits")
  func concurrentReaders() async throws {
    let folder = try TestFolder.make()
    defer { removeFolder(folder) }
    let database = try Database.open(path: folder + "/a.realm")
    let first = try database.beginWrite()
    try first.createTable(Fixtures.dogs)
    for key in 0..<500 { try first.insert(into: "Dog", key: Int64(key), Fixtures.dog(key)) }
    try first.commit()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for reader in 0..<3 {
        group.addTask {
          for round in 0..<150 {
            let snapshot = try database.snapshot()
            let hash = try snapshot.contentHash()
            #expect(try snapshot.count(of: "Dog") == 500)
            if (round + reader) % 3 == 0 { #expect(try database.verify().rows == 500) }
            #expect(try snapshot.contentHash() == hash)
            snapshot.release()
          }
        }
      }
      for round in 0..<300 {
        let write = try database.beginWrite()
        try write.update(in: "Dog", key: Int64(round), Fixtures.dog(round + 7))
        try write.commit()
      }
      try await group.waitForAll()
    }
    #expect(try database.verify().rows == 500)
    try database.close()
  }
}
