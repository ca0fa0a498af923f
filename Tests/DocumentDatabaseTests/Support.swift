// Support.swift: what the tests of the document database share. These tests import the library as a
// program does: nothing here uses `@testable`.

import DocumentDatabase
import Foundation
import Synchronization
import Testing

/// A folder with a database, both gone with the object.
final class TestDatabase: Sendable {
  let directory: String
  let database: Database

  init(fullSync: Bool = false) throws {
    directory = Self.memory.appending(path: "documents-" + UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    var config = DatabaseConfiguration()
    config.directory = directory
    config.fullSync = fullSync
    database = try Database(name: "test", config: config)
  }

  deinit {
    try? database.close()
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// Syncs cost nothing in memory, and no test here is about them.
  private static let memory =
    FileManager.default.isWritableFile(atPath: "/dev/shm")
    ? URL(filePath: "/dev/shm") : FileManager.default.temporaryDirectory

  var config: DatabaseConfiguration { database.config }

  func collection() throws -> DocumentDatabase.Collection { try database.defaultCollection() }

  /// A second handle of the same database.
  func reopened() throws -> Database { try Database(name: "test", config: config) }

  /// Saves documents of JSON under the IDs `1`, `2` and so on.
  func fill(_ texts: [String]) throws {
    let collection = try collection()
    try database.inBatch {
      for (index, json) in texts.enumerated() {
        try collection.save(document: try MutableDocument(id: "\(index + 1)", json: json))
      }
    }
  }

  /// The end of each test that changes something.
  func check() throws { try database.performMaintenance(type: .integrityCheck) }
}

/// The code of the error that a call throws; nil when it throws none of the library's.
func code(_ body: () throws -> Void) -> Int? {
  do { try body() } catch {
    let error = error as NSError
    return error.domain == CBLError.domain ? error.code : nil
  }
  return nil
}

/// What listeners report, for tests that wait for it.
final class Arrivals<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])
  let queue = DispatchQueue(label: "arrivals")

  func add(_ value: Value) { values.withLock { $0.append(value) } }

  /// Waits until there are enough values.
  /// - Returns: The values; fewer after ten seconds.
  func wait(for count: Int) -> [Value] {
    let end = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < end {
      let found = values.withLock { $0 }
      if found.count >= count { return found }
      usleep(2000)
    }
    return values.withLock { $0 }
  }
}
