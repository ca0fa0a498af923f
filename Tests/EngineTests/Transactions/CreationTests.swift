// CreationTests.swift: [U] files that a crash left while they were being made.

import Glibc
import Testing

@testable import Engine

@Suite("Creation")
struct CreationTests {
  @Test("a left-over of an interrupted creation is replaced, and swept when it is in the way")
  func leftOver() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      for content in [[UInt8](), [1, 2, 3], [UInt8](repeating: 0, count: 65_536)] {
        try writeFile(path + ".creating", content)
        let database = try Database.open(path: path)
        #expect(fileNames(in: folder) == ["a.realm", "a.realm.lock"])
        try database.verify()
        try database.close()
        _ = unsafe unlink(path)
      }
      try Database.open(path: path).close()
      try writeFile(path + ".creating", [9])
      let database = try Database.open(path: path)
      #expect(fileNames(in: folder) == ["a.realm", "a.realm.lock"])
      try database.verify()
      try database.close()
    }
  }

  @Test("a missing file is an error when the caller wants it so")
  func missing() throws {
    try withTemporaryFolder { folder in
      var options = Database.Options()
      options.createsMissing = false
      #expect(errorCode { try Database.open(path: folder + "/a", options: options) } == .io)
      #expect(errorCode { try Database.open(path: folder + "/no/a") } == .io)
      #expect(fileNames(in: folder) == [])
    }
  }

  @Test("a file that lost all its bytes is an error when missing ones are not created")
  func emptied() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a.realm"
      var options = Database.Options()
      options.createsMissing = false
      for content in [[UInt8](), [UInt8](repeating: 0, count: 4096)] {
        try writeFile(path, content)
        #expect(errorCode { try Database.open(path: path, options: options) } == .notADatabase)
        #expect(
          errorCode { try Database.open(backend: TestBackend(content), options: options) }
            == .notADatabase)
      }
      // Who may create one makes it the empty database.
      try Database.open(path: path).close()
      try Database.open(path: path, options: options).close()
    }
  }

  @Test("a database that lost its bytes is never taken for a creation")
  func damagedIsNotUnfinished() throws {
    var test = try TestDatabase()
    try test.put(0..<10)
    let bytes = test.backend.bytes
    for cleared in [[0], [0, 1], [0, 2], [1, 2], [0, 1, 2], [1], [0, 3], [0, 2, 3]] {
      var image = bytes
      for sector in cleared {
        image.replaceSubrange(
          sector * 4096..<(sector + 1) * 4096, with: [UInt8](repeating: 0, count: 4096))
      }
      guard let database = try? Database.open(backend: TestBackend(image)) else { continue }
      #expect(database.version.rawValue > 1)
    }
    for size in stride(from: 4096, to: bytes.count, by: 4096) {
      let database = try? Database.open(backend: TestBackend(Array(bytes[..<size])))
      #expect(database.map { $0.version.rawValue > 1 } ?? true)
    }
    try test.check()
  }

  private func writeFile(_ path: String, _ bytes: [UInt8]) throws {
    let file = unsafe try #require(fopen(path, "w"))
    _ = unsafe fwrite(bytes, 1, bytes.count, file)
    _ = unsafe fclose(file)
  }
}
