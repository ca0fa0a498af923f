// PlaintextCacheTests.swift [U]: decrypted nodes take bounded memory, readers are never robbed
// of what they read, and what leaves memory is made 0 first.

import Glibc
import Synchronization
import Testing

@testable import Engine

@Suite("Plaintext cache")
struct PlaintextCacheTests {
  private static let bound = 1 << 20
  private static let options = EncryptedFixtures.options(cacheBytes: bound)
  /// What a lookup reads beside the bound: a path of nodes, and what four threads have in flight.
  private static let slack = 64 << 10

  /// A file of more than ten times the bound.
  private static func large(_ rows: Int = 120_000) throws -> TestDatabase {
    var test = try TestDatabase(options: options)
    let text = String(repeating: "x", count: 90)
    let write = try test.database.beginWrite()
    for key in 0..<rows {
      let values: [Value] = [.int(Int64(key % 100)), .string("\(key) \(text)")]
      test.model[Int64(key)] = values
      try write.insert(into: "Dog", key: Int64(key), values)
    }
    try write.commit()
    return test
  }

  /// Bytes of the cache's memory that the kernel holds pages for.
  private static func residentPages(_ cache: PlaintextCache) -> Int {
    let bytes = cache.bytes(cache.capacityBytes)
    var pages = [UInt8](repeating: 0, count: bytes.count / 4096)
    let result = unsafe mincore(
      UnsafeMutableRawPointer(mutating: bytes.base), bytes.count, &pages)
    precondition(result == 0, "mincore")
    return pages.reduce(0) { $0 + Int($1 & 1) } * 4096
  }

  @Test("scans and lookups of a file ten times the bound stay within it, by count and by mincore")
  func bounded() throws {
    let test = try Self.large()
    #expect(test.backend.bytes.count > 10 * Self.bound)
    let cache = try EncryptedFixtures.cache(test.database)
    let snapshot = try test.database.snapshot()
    #expect(try snapshot.contentHash() == TestDatabase.hash(test.model))
    #expect(cache.peakBytes <= Self.bound + Self.slack)
    var rows = 0
    var pages = 0
    try snapshot.forEach(in: "Dog") { _, _ throws(EngineError) in
      rows += 1
      if rows % 10_000 == 0 { pages = max(pages, Self.residentPages(cache)) }
    }
    #expect(rows == test.model.count)
    var random = TestRandom(3)
    for _ in 0..<5000 {
      let key = Int64(random.below(test.model.count))
      #expect(try snapshot.row(in: "Dog", key: key) == test.model[key])
    }
    snapshot.release()
    try test.database.verify()
    #expect(cache.peakBytes <= Self.bound + Self.slack, "peak \(cache.peakBytes)")
    #expect(cache.residentBytes <= Self.bound)
    #expect(pages > Self.bound / 2, "mincore sees the cache: \(pages)")
    #expect(max(pages, Self.residentPages(cache)) <= Self.bound + Self.slack, "pages \(pages)")
    #expect(cache.unguardedLoads == 0)
  }

  @Test("four threads read at random while nodes come and go, and every row is right")
  func threads() throws {
    let test = try Self.large()
    let cache = try EncryptedFixtures.cache(test.database)
    let database = test.database
    let count = test.model.count
    let model = test.model
    let failures = Mutex<[String]>([])
    onThreads(4) { index in
      var random = TestRandom(UInt64(index) + 100)
      do {
        let snapshot = try database.snapshot()
        defer { snapshot.release() }
        for round in 0..<4000 {
          // Some stay in a small range, so that what leaves is asked for again.
          let key = Int64(random.below(round % 2 == 0 ? 4000 : count))
          let row = try snapshot.row(in: "Dog", key: key)
          if row != model[key] {
            failures.withLock { $0.append("key \(key): \(row?.description ?? "nil")") }
            return
          }
        }
        if index == 0 { _ = try snapshot.contentHash() }
      } catch { failures.withLock { $0.append("\(error)") } }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(cache.residentBytes <= Self.bound)
    // On a machine so busy that a thread stands still for 20 ms inside a lookup, the others go on.
    let isBusy = cache.vainWaits.load(ordering: .relaxed) > 0
    #expect(cache.peakBytes <= 2 * Self.bound || isBusy, "peak \(cache.peakBytes)")
    #expect(cache.unguardedLoads == 0)
    print("four threads: \(cache.loads) loads, peak \(cache.peakBytes) of \(Self.bound) bytes")
  }

  @Test("a view stays whole until its section ends, however much is read meanwhile")
  func sectionKeeps() throws {
    let test = try Self.large(60_000)
    let state = test.database.state.withLock { $0.current }
    let record = state.group.tables[0]
    let cache = try EncryptedFixtures.cache(test.database)
    let section = state.reader.beginReading()
    var link = record.root
    for level in stride(from: record.level, to: 0, by: -1) {
      let node = try state.reader.node(link, kind: .inner, level: level, newest: state.version)
      link = try InnerView(node).link(0)
    }
    let leaf = try state.reader.node(link, kind: .leaf, newest: state.version)
    let before = leaf.bytes.array
    let snapshot = try test.database.snapshot()
    _ = try snapshot.contentHash()
    #expect(leaf.bytes.array == before)
    #expect(cache.residentBytes > 2 * Self.bound, "the section kept everything")
    section.end()
    #expect(cache.residentBytes <= Self.bound)
    _ = try snapshot.contentHash()
    snapshot.release()
    // The leaf left memory with the rest, and its bytes were made 0.
    #expect(leaf.bytes.isAllZero)
    try test.check()
  }

  @Test("a section held by an object keeps its views as long as the object")
  func hold() throws {
    let test = try Self.large(30_000)
    let state = test.database.state.withLock { $0.current }
    let record = state.group.tables[0]
    var hold = state.reader.holdReading()
    #expect(hold != nil)
    let root = try state.reader.node(
      record.root, kind: .inner, level: record.level, newest: state.version)
    try test.check()
    #expect(root.bytes.uint64(NodeField.ref) == record.root.ref.offsetBytes)
    hold = nil
    try test.check()
    #expect(try EncryptedFixtures.cache(test.database).residentBytes <= Self.bound)
    #expect(NodeReader(try TestBackend([]).map()).holdReading() == nil)
  }

  @Test("a read outside of any section ends eviction, and is counted")
  func unguarded() throws {
    let test = try Self.large(30_000)
    let state = test.database.state.withLock { $0.current }
    let cache = try EncryptedFixtures.cache(test.database)
    try test.check()
    let record = state.group.tables[0]
    let tree = BPlusTree(
      reader: state.reader, root: record.root, level: record.level, shape: record.shape,
      newest: state.version)
    #expect(cache.unguardedLoads == 0)
    var views: [LeafView] = []
    try tree.forEachLeaf { leaf throws(EngineError) in views.append(leaf) }
    #expect(cache.unguardedLoads > 0)
    try test.check()
    #expect(views.reduce(0) { $0 + $1.count } == test.model.count)
    #expect(views.allSatisfy { $0.node.bytes.uint64(NodeField.ref) == $0.node.ref.offsetBytes })
    #expect(cache.residentBytes > 2 * Self.bound)
  }

  @Test("a file that outgrows its cache gets a larger one, and both stay bounded")
  func outgrown() throws {
    let small = try TestDatabase(options: Self.options)
    let state = small.database.state.withLock { $0.current }
    let cipher = try #require(state.reader.cipher)
    let reader = try NodeReader.make(
      state.reader.mapping, cipher: cipher, cacheBytesMax: Self.bound, capacityBytesMin: 65_536)
    let old = try #require(reader.plaintextCache)
    #expect(old.capacityBytes == 131_072)
    let bytes = small.backend.bytes + [UInt8](repeating: 0, count: 200_000)
    let larger = try reader.remapped(try TestBackend(bytes).map())
    let new = try #require(larger.plaintextCache)
    #expect(new !== old)
    #expect(new.capacityBytes >= 2 * bytes.count)
    for current in [reader, larger] {
      let section = current.beginReading()
      defer { section.end() }
      let top = try current.node(state.slot.top, kind: .group, newest: state.version)
      #expect(top.header.count == 1)
    }
    let same = try larger.remapped(try TestBackend(bytes).map())
    #expect(same.plaintextCache === new)
    try small.check()
  }

  /// What a lookup of every row costs while another thread's `stay` sits in `body`.
  private static func whileAnotherStays(
    _ test: TestDatabase, _ stay: @escaping @Sendable (Database, () -> Void) throws -> Void
  ) throws -> PlaintextCache {
    let database = test.database
    let cache = try EncryptedFixtures.cache(database)
    let rows = test.model.count
    final class Shared: Sendable {
      let phase = Atomic<Int>(0)
      let failures = Mutex<[String]>([])
    }
    let shared = Shared()
    onThreads(2) { index in
      do {
        if index == 0 {
          try stay(database) {
            shared.phase.store(1, ordering: .sequentiallyConsistent)
            while shared.phase.load(ordering: .sequentiallyConsistent) == 1 { sched_yield() }
          }
        } else {
          while shared.phase.load(ordering: .sequentiallyConsistent) == 0 { sched_yield() }
          let snapshot = try database.snapshot()
          for key in 0..<rows { _ = try snapshot.row(in: "Dog", key: Int64(key)) }
          snapshot.release()
        }
      } catch { shared.failures.withLock { $0.append("\(error)") } }
      shared.phase.store(2, ordering: .sequentiallyConsistent)
    }
    #expect(shared.failures.withLock { $0 } == [])
    #expect(cache.residentBytes <= bound)
    return cache
  }

  @Test("a reader that sits in its section is waited for once, not by every operation")
  func slowReader() throws {
    let test = try Self.large(30_000)
    let cache = try Self.whileAnotherStays(test) { database, stay in
      let reader = database.state.withLock { $0.current.reader }
      let section = reader.beginReading()
      stay()
      section.end()
    }
    #expect(cache.peakBytes > 2 * Self.bound, "the slow reader kept what it might have seen")
    #expect((1...3).contains(cache.vainWaits.load(ordering: .relaxed)))
    try test.check()
  }

  @Test("a caller that stays in the body of a scan keeps nothing in memory")
  func slowCaller() throws {
    let test = try Self.large(30_000)
    let cache = try Self.whileAnotherStays(test) { database, stay in
      let snapshot = try database.snapshot()
      defer { snapshot.release() }
      var rows = 0
      try snapshot.forEach(in: "Dog") { _, _ throws(EngineError) in
        if rows == 1000 { stay() }
        rows += 1
      }
    }
    #expect(cache.peakBytes <= Self.bound + Self.slack, "peak \(cache.peakBytes)")
    #expect(cache.vainWaits.load(ordering: .relaxed) == 0)
    try test.check()
  }

  @Test("a link of another sealing is not served from memory")
  func otherSealing() throws {
    let test = try Self.large(2000)
    try test.check()
    let state = test.database.state.withLock { $0.current }
    let section = state.reader.beginReading()
    defer { section.end() }
    var top = state.slot.top
    _ = try state.reader.node(top, kind: .group, newest: state.version)
    top.checksum ^= 2
    #expect(
      errorCode { try state.reader.node(top, kind: .group, newest: state.version) }
        == .rolledBackNode)
  }

  @Test("every byte that goes back to the system is 0")
  func wiped() throws {
    let test = try Self.large(30_000)
    let state = test.database.state.withLock { $0.current }
    let cipher = try #require(state.reader.cipher)
    let seen = Mutex((bytes: 0, isZero: true))
    var leaves: [(link: NodeLink, sizeBytes: Int)] = []
    let section = state.reader.beginReading()
    let record = state.group.tables[0]
    let tree = BPlusTree(
      reader: state.reader, root: record.root, level: record.level, shape: record.shape,
      newest: state.version)
    let base = test.backend.bytes
    try tree.forEachLeaf { leaf throws(EngineError) in
      // A sealed leaf's link is its ref and the first bytes of its tag.
      let span = leaf.node.span
      let tag = base[Int(span.end) * 4096 - 16..<Int(span.end) * 4096 - 8]
      leaves.append(
        (
          NodeLink(ref: leaf.node.ref, checksum: tag.reversed().reduce(0) { $0 << 8 | UInt64($1) }),
          Int(span.count) * 4096
        ))
    }
    section.end()
    let all = leaves.reduce(0) { $0 + $1.sizeBytes }
    do {
      let cache = try PlaintextCache(
        sizeBytes: state.reader.mapping.count, boundBytes: Self.bound
      ) { bytes in
        seen.withLock { seen in
          seen.bytes += bytes.count
          seen.isZero = seen.isZero && bytes.isAllZero
        }
      }
      for (link, _) in leaves {
        let index = cache.sections.begin()
        try cache.load(link, from: state.reader.mapping.bytes, cipher: cipher, again: false)
        cache.sections.end(index)
      }
      #expect(all > 2 * Self.bound)
      #expect(seen.withLock { $0.bytes } > Self.bound, "evicted")
    }
    // The rest went with the cache.
    #expect(seen.withLock { $0.bytes } == all)
    #expect(seen.withLock { $0.isZero })
    try test.check()
  }

  @Test("sections beyond the number of slots are still safe")
  func manySections() throws {
    let sections = ReadSections()
    #expect(sections.oldest == .max)
    let first = sections.begin()
    let stamp = sections.stamp
    sections.advance()
    var others = (0..<200).map { _ in sections.begin() }
    #expect(others.contains(ReadSections.unslottedIndex))
    #expect(sections.oldest == 0)
    for index in others where index == ReadSections.unslottedIndex { sections.end(index) }
    others.removeAll { $0 == ReadSections.unslottedIndex }
    #expect(sections.oldest == stamp)
    sections.refresh(first)
    #expect(sections.oldest == stamp + 1)
    for index in others { sections.end(index) }
    sections.end(first)
    #expect(sections.oldest == .max)
  }

  @Test("sectors that are written over show the new node, however often")
  func reusedSectors() throws {
    var test = try TestDatabase(options: Self.options)
    for round in 0..<60 {
      try test.put(0..<40 + round * 7 % 300, round: round)
      if round % 5 == 4 {
        let write = try test.database.beginWrite()
        let long = String(repeating: "r\(round)", count: 2000 + round * 100)
        test.model[5000] = [.int(1), .string(long)]
        try write.upsert(into: "Dog", key: 5000, [.int(1), .string(long)])
        try write.commit()
      }
      try test.check()
    }
    #expect(try EncryptedFixtures.cache(test.database).unguardedLoads == 0)
  }
}
