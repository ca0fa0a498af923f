// PublicationTests.swift [U]: readers find a whole version, whatever store a writer died behind.
// Safety: buffers are passed on during the call.

import Synchronization
import Testing

@testable import Engine

@Suite("Publication")
struct PublicationTests {
  private static func slot(_ version: UInt64) -> RootSlot {
    RootSlot(
      version: Version(rawValue: version),
      top: NodeLink(ref: Ref(sector: version + 3), checksum: version &* 0x9e37_79b9),
      logicalSizeBytes: 4096 * (version + 10))
  }

  @Test("a publication that stops behind any store leaves the old version or the new one, whole")
  func torn() throws {
    for first: UInt64 in 5...8 {
      let count = Publication.stores(Self.slot(first + 1)).count
      for done in 0...count {
        let region = try SharedRegion(descriptor: -1, path: "memory")
        let publication = Publication(region: region)
        publication.publish(Self.slot(first - 1))
        publication.publish(Self.slot(first))
        for store in Publication.stores(Self.slot(first + 1))[..<done] {
          region.store(store.value, at: store.offset)
        }
        let version = publication.version
        #expect(version.rawValue == (done == count ? first + 1 : first))
        #expect(publication.record(of: version) == Self.slot(version.rawValue))
        // The next writer begins again from the start, and nobody notices the rest.
        publication.publish(Self.slot(first + 1))
        #expect(publication.record(of: publication.version) == Self.slot(first + 1))
      }
    }
  }

  @Test("a record of which a word is another one's is not a record")
  func mixture() throws {
    for offset in stride(from: 0, to: Layout.slotRecordBytes, by: 8) {
      let region = try SharedRegion(descriptor: -1, path: "memory")
      let publication = Publication(region: region)
      publication.publish(Self.slot(6))
      let place = RegionLayout.recordOffsets[0] + offset
      region.store(region.load(place) ^ 1 << 40, at: place)
      #expect(publication.record(of: Version(rawValue: 6)) == nil)
    }
  }

  @Test("a reader that commits overtook before it could say what it pins takes the newer version")
  func recheck() throws {
    // The reader reads version v. Before it stores v in its slot, v + 1 … v + 4 are committed and
    // use the sectors of v again. Only the second look at the published version saves the reader.
    try withAccounts { path in
      let writer = try Database.open(path: path, options: Self.elsewhere())
      let overtakes = Atomic<Int>(0)
      var options = Self.elsewhere()
      options.coordination.beforePin = {
        guard overtakes.add(1, ordering: .relaxed).newValue <= 3 else { return }
        for key in 0..<4 {
          #expect(throws: Never.self) { try Accounts.mark(Int64(key), in: writer) }
        }
      }
      let reader = try Database.open(path: path, options: options)
      let snapshot = try reader.snapshot()
      #expect(overtakes.load(ordering: .relaxed) == 4)
      #expect(snapshot.version == writer.version)
      #expect(try snapshot.count(of: "Mark") == 4)
      #expect(reader.statistics().pinnedVersions == [snapshot.version])
      snapshot.release()
      try reader.close()
      try writer.close()
    }
  }

  private static func elsewhere() -> Database.Options {
    var options = Database.Options()
    options.coordination.registry = CoordinationRegistry()
    return options
  }

  @Test("what is published is durable: after two syncs of a commit, or one of a take-over")
  func publishedIsDurable() throws {
    try withAccounts { path in
      let log = EventLog()
      var options = Database.Options()
      options.coordination.decorate = { LoggingBackend($0, log) }
      options.coordination.beforePublishStore = { if $0 == 0 { log.append("publish") } }
      let database = try Database.open(path: path, options: options)
      log.clear()
      try Accounts.mark(1, in: database)
      #expect(log.taken() == ["nodes", "sync", "slot", "sync", "publish"])
      database.publication.writer = ProcessOwner(pid: 9, startTime: 9)
      try database.beginWrite().cancel()
      #expect(log.taken() == ["sync", "publish"])
      #expect(database.publication.takeoverCount == 1)
      try database.beginWrite().cancel()
      #expect(log.taken() == [])
      try database.close()
    }
  }
}

/// What happened, in order; writes of nodes that follow each other are one entry.
private final class EventLog: Sendable {
  private let events = Mutex<[String]>([])
  func append(_ event: String) {
    events.withLock { if event != "nodes" || $0.last != "nodes" { $0.append(event) } }
  }
  func clear() { events.withLock { $0 = [] } }
  func taken() -> [String] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}

private final class LoggingBackend: StorageBackend {
  private let inner: any StorageBackend
  private let log: EventLog
  init(_ inner: any StorageBackend, _ log: EventLog) {
    self.inner = inner
    self.log = log
  }
  var path: String { inner.path }
  func sizeBytes() throws(EngineError) -> UInt64 { try inner.sizeBytes() }
  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    log.append(offsetBytes < UInt64(Layout.headerSizeBytes) ? "slot" : "nodes")
    try unsafe inner.write(bytes, at: offsetBytes)
  }
  func allocate(upTo sizeBytes: UInt64) throws(EngineError) {
    try inner.allocate(upTo: sizeBytes)
  }
  func truncate(to sizeBytes: UInt64) throws(EngineError) {
    try inner.truncate(to: sizeBytes)
  }
  func sync() throws(EngineError) {
    log.append("sync")
    try inner.sync()
  }
  func map() throws(EngineError) -> MappedFile { try inner.map() }
  func close() { inner.close() }
}
