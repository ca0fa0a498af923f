// FailedSyncPageTests.swift: a sync of a commit fails, and some of its pages are on the medium. Who
// opens the file then, in the same cache, sees the version before or the one that failed, whole;
// and what it has shown does not go back when the power is cut. Nodes are near
// the header, which an opener has the cache forget anyway, and far from it.

import Testing

@testable import Engine

@Suite("Pages of failed syncs")
struct FailedSyncPageTests {
  private static let texts = TableSchema(
    name: "Text", columns: [ColumnSchema(name: "text", type: .string)])

  private typealias Model = [Int64: String]

  private static func text(_ key: Int64, _ round: Int) -> String {
    "\(round) " + String(repeating: "\(key % 10)", count: 3000)
  }

  private static func hash(_ model: Model) -> UInt64 {
    var hasher = ContentHasher()
    hasher.beginTable(texts)
    for (key, text) in model { hasher.combine(key: key, [.string(text)]) }
    return hasher.finalize()
  }

  private static func write(
    _ keys: some Sequence<Int64>, round: Int, _ database: Database, _ model: inout Model
  ) throws {
    let write = try database.beginWrite()
    for key in keys {
      model[key] = text(key, round)
      try write.upsert(into: "Text", key: key, [.string(text(key, round))])
    }
    try write.commit()
  }

  /// What an opener finds in a file: its version, and whether its content is a model's.
  private static func open(
    _ backend: MediumBackend, _ options: Database.Options
  ) throws -> (database: Database, hash: UInt64) {
    let database = try Database.open(backend: backend, options: options)
    try database.verify()
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    return (database, try snapshot.contentHash())
  }

  /// Commits with a sync that fails, opens, cuts the power, opens.
  /// - Returns: Number of dirty pages of the failed sync, and the largest one's number; nil when
  ///   the commit has fewer syncs.
  private static func run(
    _ base: (bytes: [UInt8], model: Model), _ options: Database.Options, sync: Int,
    arrives: @escaping (Int) -> Bool, _ what: String
  ) throws -> (count: Int, last: Int)? {
    let backend = MediumBackend(base.bytes)
    let database = try Database.open(backend: backend, options: options)
    var changed = base.model
    // The first commit of a handle has two syncs with either protocol.
    try write([0], round: 0, database, &changed)
    let before = database.version
    backend.failingSync = sync
    backend.arrives = arrives
    let keys = (0..<6).map { Int64($0 * base.model.count / 6) }
    guard errorCode({ try write(keys, round: 1, database, &changed) }) == .io else { return nil }
    backend.failingSync = nil
    try database.close()
    // What every opener does, who is the only one.
    backend.forgetCache(at: 0, count: UInt64(Layout.headerSizeBytes))
    let (again, found) = try open(backend, options)
    let shown = again.version
    #expect(shown == before || shown == before.next, "\(what)")
    var model = shown == before ? base.model : changed
    #expect(found == hash(model), "\(what): an opener sees version \(shown.rawValue) otherwise")
    let cut = try open(MediumBackend(backend.afterPowerCut), options)
    #expect(cut.database.version >= shown, "\(what): version \(shown.rawValue) was shown")
    #expect(cut.hash == hash(shown == cut.database.version ? model : changed), "\(what)")
    try write([1, 2, 3], round: 2, again, &model)
    let later = try open(MediumBackend(backend.afterPowerCut), options)
    #expect(later.database.version == again.version && later.hash == hash(model), "\(what)")
    let pages = backend.pagesOfFailure
    return (pages.count, pages.last ?? 0)
  }

  private static func base(
    rows: Int, _ options: Database.Options
  ) throws -> (bytes: [UInt8], model: Model) {
    let backend = MediumBackend()
    let database = try Database.open(backend: backend, options: options)
    let begun = try database.beginWrite()
    try begun.createTable(texts)
    try begun.commit()
    var model = Model()
    try write((0..<Int64(rows)).map { $0 }, round: 0, database, &model)
    try database.close()
    return (backend.afterPowerCut, model)
  }

  @Test("each page lost alone, kept alone, and drawn ones: what an opener shows does not go back")
  func subsets() throws {
    for commitProtocol in [CommitProtocol.twoPhase, .checksummed] {
      for rows in [30, 900] { try Self.subsets(commitProtocol, rows: rows) }
    }
  }

  private static func subsets(_ commitProtocol: CommitProtocol, rows: Int) throws {
    var options = Database.Options()
    options.commitProtocol = commitProtocol
    let base = try base(rows: rows, options)
    var sync = 0
    while let pages = try run(base, options, sync: sync, arrives: { _ in false }, "none") {
      if rows == 900, sync == 0 { #expect(pages.last * 4096 > 2 << 20) }
      func check(_ what: String, _ arrives: @escaping (Int) -> Bool) throws {
        let what = "\(commitProtocol), \(rows) rows, sync \(sync), \(what)"
        #expect(try run(base, options, sync: sync, arrives: arrives, what) != nil)
      }
      try check("all") { _ in true }
      for page in 0..<pages.count {
        try check("lost \(page)") { $0 != page }
        try check("kept \(page)") { $0 == page }
      }
      for seed in 0..<UInt64(TableSize.isFull ? 60 : 6) {
        var random = TestRandom(seed)
        let kept = (0..<pages.count).map { _ in random.below(2) == 0 }
        try check("seed \(seed)") { kept[$0] }
      }
      sync += 1
    }
    #expect(sync == (commitProtocol == .twoPhase ? 2 : 1))
  }
}
