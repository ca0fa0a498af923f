// DatabaseTests.swift: databases, scopes, collections, batches and maintenance.

import DocumentDatabase
import Foundation
import Testing

@Suite("a database")
struct DatabaseTests {
  @Test("is created, found, closed and deleted")
  func life() throws {
    let test = try TestDatabase()
    let database = test.database
    #expect(database.name == "test")
    #expect(database.path == test.directory + "/test.cblite2/")
    #expect(Database.exists(withName: "test", inDirectory: test.directory))
    #expect(!Database.exists(withName: "other", inDirectory: test.directory))
    try database.close()
    #expect(database.path == nil)
    #expect(code { _ = try database.defaultCollection() } == CBLError.notOpen)
    let again = try test.reopened()
    try again.delete()
    #expect(!Database.exists(withName: "test", inDirectory: test.directory))
    #expect(
      code { try Database.delete(withName: "test", inDirectory: test.directory) }
        == CBLError.notFound)
  }

  @Test("has a name that is a file's")
  func names() throws {
    let test = try TestDatabase()
    for name in ["", "a/b", "a\0b", String(repeating: "x", count: 201)] {
      let found = code { _ = try Database(name: name, config: test.config) }
      #expect(found == CBLError.invalidParameter, "\(name)")
    }
  }

  @Test("keeps what was saved when it is opened again")
  func reopening() throws {
    let test = try TestDatabase(fullSync: true)
    try test.fill([#"{"name": "Ann"}"#])
    try test.database.close()
    let again = try test.reopened()
    let found = try again.defaultCollection().document(id: "1")
    #expect(found?.string(forKey: "name") == "Ann")
    #expect(again.config.fullSync)
    try again.close()
  }

  @Test("has scopes and collections")
  func collections() throws {
    let test = try TestDatabase()
    let database = test.database
    let chairs = try database.createCollection(name: "chairs", scope: "inventory")
    try database.createCollection(name: "widgets")
    #expect(chairs.fullName == "inventory.chairs")
    #expect(chairs.name == "chairs" && chairs.scope.name == "inventory")
    #expect(try database.scopes().map(\.name) == ["_default", "inventory"])
    #expect(try database.collections().map(\.name) == ["_default", "widgets"])
    #expect(try database.scope(name: "inventory")?.collections() == [chairs])
    #expect(try database.scope(name: "none") == nil)
    #expect(try database.defaultScope().collection(name: "widgets")?.name == "widgets")
    #expect(try database.collection(name: "chairs", scope: "inventory") == chairs)
    #expect(try database.collection(name: "chairs") == nil)
    #expect(
      try database.defaultCollection().name == DocumentDatabase.Collection.defaultCollectionName)
    try chairs.save(document: MutableDocument(id: "a"))
    #expect(chairs.count == 1)
    try database.deleteCollection(name: "chairs", scope: "inventory")
    #expect(chairs.count == 0)
    #expect(code { try chairs.save(document: MutableDocument(id: "b")) } == CBLError.notOpen)
    #expect(try database.collection(name: "chairs", scope: "inventory") == nil)
    #expect(code { try database.createCollection(name: "_x") } == CBLError.invalidParameter)
    #expect(
      code { try database.deleteCollection(name: "_default") } == CBLError.invalidParameter)
    try test.check()
  }

  @Test("runs a batch as one transaction")
  func batch() throws {
    struct Refusal: Error {}
    let test = try TestDatabase()
    let collection = try test.collection()
    let document = MutableDocument(id: "a")
    #expect(throws: Refusal.self) {
      try test.database.inBatch {
        try collection.save(document: document)
        #expect(try collection.document(id: "a") != nil, "the batch sees its own changes")
        throw Refusal()
      }
    }
    #expect(collection.count == 0)
    #expect(document.revisionID == nil && document.sequence == 0, "the document is as before")
    let saved = try test.database.inBatch {
      try collection.save(document: document)
      #expect(throws: Refusal.self) {
        try test.database.inBatch {
          try collection.save(document: MutableDocument(id: "b"))
          throw Refusal()
        }
      }
      try collection.save(document: document)
      return document.sequence
    }
    #expect(collection.count == 1 && saved == 2)
    try test.check()
  }

  @Test("is copied while it is in use")
  func copy() throws {
    let test = try TestDatabase()
    let collection = try test.collection()
    let document = MutableDocument(id: "a", data: ["name": "Ann"])
    document.setBlob(Blob(contentType: "text/plain", data: Data("hello".utf8)), forKey: "file")
    try collection.save(document: document)
    let path = try #require(test.database.path)
    try Database.copy(fromPath: path, toDatabase: "copy", withConfig: test.config)
    let copy = try Database(name: "copy", config: test.config)
    let found = try copy.defaultCollection().document(id: "a")
    #expect(found?.revisionID == document.revisionID)
    #expect(found?.blob(forKey: "file")?.content == Data("hello".utf8))
    try copy.defaultCollection().save(document: MutableDocument(id: "b"))
    #expect(collection.count == 1)
    try copy.performMaintenance(type: .integrityCheck)
    try copy.close()
    let again = code {
      try Database.copy(fromPath: path, toDatabase: "copy", withConfig: test.config)
    }
    #expect(again == CBLError.invalidParameter)
    let names = try FileManager.default.contentsOfDirectory(atPath: test.directory).sorted()
    #expect(names == ["copy.cblite2", "test.cblite2"])
  }

  @Test("is maintained, but not in a batch")
  func maintenance() throws {
    let test = try TestDatabase()
    let types: [Database.MaintenanceType] = [
      .compact, .reindex, .integrityCheck, .optimize, .fullOptimize,
    ]
    #expect(types == Database.MaintenanceType.allCases)
    for type in types { try test.database.performMaintenance(type: type) }
    try test.check()
    try test.database.inBatch {
      let found = code { try test.database.performMaintenance(type: .compact) }
      #expect(found == CBLError.transactionNotClosed)
    }
  }

  @Test("has errors with domain, code and message")
  func errors() throws {
    let test = try TestDatabase()
    let error = #expect(throws: DatabaseError.self) { try test.collection().purge(id: "none") }
    #expect(error?.code == CBLError.notFound && error?.code == 7)
    #expect(DatabaseError.errorDomain == "CouchbaseLite")
    #expect(error?.localizedDescription.contains("none") == true)
  }
}
