// TestDatabase.swift: a database over a test backend with a model beside it.

import Testing

@testable import Engine

/// A database and what it should hold.
struct TestDatabase {
  let backend: TestBackend
  let database: Database
  var model: [Int64: [Value]] = [:]

  init(_ backend: TestBackend = TestBackend(), options: Database.Options = .init()) throws {
    self.backend = backend
    database = try Database.open(backend: backend, options: options)
    if database.version == .first {
      let write = try database.beginWrite()
      try write.createTable(Fixtures.dogs)
      try write.commit()
    }
  }

  /// Commits rows in one transaction.
  mutating func put(_ keys: some Sequence<Int>, round: Int = 0) throws {
    let write = try database.beginWrite()
    for key in keys {
      model[Int64(key)] = Fixtures.dog(key + round)
      try write.upsert(into: "Dog", key: Int64(key), Fixtures.dog(key + round))
    }
    try write.commit()
  }

  static func hash(_ model: [Int64: [Value]]) -> UInt64 {
    var hasher = ContentHasher()
    hasher.beginTable(Fixtures.dogs)
    for (key, values) in model { hasher.combine(key: key, values) }
    return hasher.finalize()
  }

  /// The content is the model's, and every byte is accounted for.
  func check(_ location: SourceLocation = #_sourceLocation) throws {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    #expect(try snapshot.count(of: "Dog") == model.count, sourceLocation: location)
    #expect(try snapshot.contentHash() == Self.hash(model), sourceLocation: location)
    #expect(
      try database.verify().rows == UInt64(model.count), sourceLocation: location)
  }
}

/// The code of the error that a call throws, or nil.
func errorCode<Result>(_ call: () throws -> Result) -> EngineError.Code? {
  do {
    _ = try call()
    return nil
  } catch { return (error as? EngineError)?.code }
}
