// EncryptedFixtures.swift [U]: keys, seeded salts, and threads, for tests of encrypted databases.

import Glibc
import Synchronization

@testable import Engine

enum EncryptedFixtures {
  static let key: [UInt8] = (0..<64).map { UInt8($0) }
  static let otherKey: [UInt8] = (0..<64).map { UInt8(255 - $0) }

  /// Options with a key and a source of salts that goes on from session to session.
  static func options(
    _ entropy: SeededEntropy = SeededEntropy(1), key: [UInt8] = key, cacheBytes: Int = 64 << 20
  ) -> Database.Options {
    var options = Database.Options()
    options.encryptionKey = key
    options.entropy = entropy.source
    options.pageCacheBytesMax = cacheBytes
    return options
  }

  /// The cache of an open database.
  static func cache(_ database: Database) throws -> PlaintextCache {
    let found = database.state.withLock { $0.current.reader.plaintextCache }
    guard let found else { throw EngineError(code: .notEncrypted, message: "no cache") }
    return found
  }

  /// Where the root of a table stands, and how many sectors it has.
  static func root(_ database: Database, table: Int = 0) throws -> (offset: Int, sectors: Int) {
    try database.state.withLock { state throws -> (offset: Int, sectors: Int) in
      let record = state.current.group.tables[table]
      let reader = state.current.reader
      let section = reader.beginReading()
      defer { section.end() }
      let node = try reader.node(
        record.root, kind: record.level == 0 ? .leaf : .inner, level: record.level,
        newest: state.current.version)
      return (Int(node.ref.offsetBytes), Int(node.span.count))
    }
  }
}

/// Salts from a seed.
final class SeededEntropy: Sendable {
  private let random: Mutex<TestRandom>

  init(_ seed: UInt64) { random = Mutex(TestRandom(seed)) }

  var source: EntropySource {
    EntropySource { count throws(EngineError) in
      self.random.withLock { random in
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      }
    }
  }
}

/// Runs `body` on that many threads at once and waits for all.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  final class Work: Sendable {
    let index: Int
    let body: @Sendable (Int) -> Void
    init(_ index: Int, _ body: @escaping @Sendable (Int) -> Void) {
      self.index = index
      self.body = body
    }
  }
  var threads: [pthread_t] = []
  for index in 0..<count {
    var thread = pthread_t()
    let work = unsafe Unmanaged.passRetained(Work(index, body))
    let failure = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        let work = unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
        work.body(work.index)
        return nil
      }, work.toOpaque())
    precondition(failure == 0, "a thread could not be made")
    threads.append(thread)
  }
  for thread in threads { _ = pthread_join(thread, nil) }
}
