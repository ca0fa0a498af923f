// WriterLockTests.swift [U]: one writer at a time, in the order in which they came.
// Safety: a transaction is moved to a thread that alone uses it.

import Glibc
import Synchronization
import Testing

@testable import Engine

@Suite("Writer lock")
struct WriterLockTests {
  private static func elsewhere() -> Database.Options {
    var options = Database.Options()
    options.coordination.registry = CoordinationRegistry()
    return options
  }

  @Test("threads get the lock in the order in which they came")
  func order() throws {
    let lock = WriterLock(descriptor: -1, path: "memory")
    let order = Order()
    try lock.lock(timeoutMilliseconds: nil)
    var threads: [TestThread] = []
    for index in 0..<6 {
      threads.append(
        startThread {
          #expect(throws: Never.self) { try lock.lock(timeoutMilliseconds: nil) }
          order.append(index)
          lock.unlock()
        })
      while lock.waiterCount <= index { Syscalls.sleep(milliseconds: 1) }
    }
    lock.unlock()
    for thread in threads { thread.join() }
    #expect(order.all == Array(0..<6))
  }

  @Test("a thread that waits for itself is told so; others are told when the time is over")
  func busy() throws {
    var test = try TestDatabase()
    try test.put(0..<3)
    let database = test.database
    let write = try database.beginWrite()
    #expect(errorCode { try database.beginWrite() } == .busy)
    #expect(errorCode { try database.tryBeginWrite() } == .busy)
    startThread {
      #expect(errorCode { try database.tryBeginWrite() } == .busy)
      let start = Syscalls.monotonicMilliseconds()
      #expect(errorCode { try database.beginWrite(timeoutMilliseconds: 30) } == .busy)
      #expect(Syscalls.monotonicMilliseconds() - start >= 29)
    }.join()
    write.cancel()
    startThread {
      #expect(throws: Never.self) { try database.tryBeginWrite().cancel() }
    }.join()
    try test.check()
  }

  @Test("handles of two processes exclude each other, and take turns")
  func processes() throws {
    try withAccounts { path in
      let first = try Database.open(path: path)
      let second = try Database.open(path: path, options: Self.elsewhere())
      let write = try first.beginWrite()
      #expect(first.session.writerLock.waiterCount == 0)
      startThread {
        #expect(errorCode { try second.tryBeginWrite() } == .busy)
        #expect(errorCode { try second.beginWrite(timeoutMilliseconds: 20) } == .busy)
      }.join()
      let thread = startThread {
        #expect(throws: Never.self) { try Accounts.mark(1, in: second) }
      }
      Syscalls.sleep(milliseconds: 20)
      try write.upsert(into: "Mark", key: 0, [.int(1)])
      try write.commit()
      thread.join()
      #expect(try Accounts.marks(in: first) == 2)
      try first.close()
      try second.close()
    }
  }

  @Test("a transaction may end on another thread than it began on")
  func movesBetweenThreads() throws {
    var test = try TestDatabase()
    try test.put(0..<3)
    let database = test.database
    let box = TransactionBox()
    startThread { box.transaction = try? database.beginWrite() }.join()
    #expect(box.transaction != nil)
    #expect(errorCode { try database.tryBeginWrite() } == .busy)
    try box.transaction?.upsert(into: "Dog", key: 9, Fixtures.dog(9))
    try box.transaction?.commit()
    test.model[9] = Fixtures.dog(9)
    try test.put(3..<5)
    try test.check()
  }

  @Test("a failed sync poisons all handles, until all are closed")
  func poison() throws {
    try withAccounts { path in
      var options = Database.Options()
      options.coordination.decorate = { FailingSync($0) }
      let failing = try Database.open(path: path, options: options)
      let other = try Database.open(path: path)
      let elsewhere = try Database.open(path: path, options: Self.elsewhere())
      #expect(errorCode { try Accounts.mark(1, in: failing) } == .io)
      for database in [failing, other, elsewhere] {
        #expect(errorCode { try database.beginWrite() } == .poisoned)
        #expect(try Accounts.sum(in: database) == Accounts.sumWanted)
        try database.close()
      }
      let again = try Database.open(path: path)
      try Accounts.mark(2, in: again)
      try again.verify()
      try again.close()
    }
  }

  @Test("a handle for reading refuses to write and sees what others commit")
  func readOnly() throws {
    try withAccounts { path in
      var options = Database.Options()
      options.readOnly = true
      let reader = try Database.open(path: path, options: options)
      let writer = try Database.open(path: path)
      try Accounts.mark(1, in: writer)
      #expect(try Accounts.marks(in: reader) == 1)
      #expect(errorCode { try reader.beginWrite() } == .readOnly)
      try reader.close()
      try writer.close()
      options.createsMissing = true
      #expect(errorCode { try Database.open(path: path + "-none", options: options) } == .io)
    }
  }

  @Test("more active versions than allowed are an error at begin and at commit")
  func tooManyVersions() throws {
    let backend = TestBackend()
    var options = Database.Options()
    options.maximumNumberOfActiveVersions = 3
    let database = try Database.open(backend: backend, options: options)
    let write = try database.beginWrite()
    try write.createTable(Fixtures.dogs)
    try write.commit()
    func put(_ key: Int64) throws {
      let write = try database.beginWrite()
      try write.upsert(into: "Dog", key: key, Fixtures.dog(1))
      try write.commit()
    }
    var pins: [Snapshot] = []
    for key in 0..<2 {
      pins.append(try database.snapshot())
      try put(Int64(key))
    }
    #expect(database.version.rawValue == 4)
    pins.append(try database.snapshot())
    let open = try database.beginWrite()
    try open.upsert(into: "Dog", key: 9, Fixtures.dog(1))
    try open.commit()
    #expect(errorCode { try put(10) } == .tooManyVersions)
    pins[0].release()
    try put(11)
    for pin in pins { pin.release() }
    try database.verify()
  }
}

private final class Order: Sendable {
  private let list = Mutex<[Int]>([])
  func append(_ index: Int) { list.withLock { $0.append(index) } }
  var all: [Int] { list.withLock { $0 } }
}

/// Carries a transaction from a thread that has ended to the next.
private final class TransactionBox: @unchecked Sendable {
  var transaction: WriteTransaction?
}

/// A backend whose syncs fail.
private final class FailingSync: StorageBackend {
  private let inner: any StorageBackend
  init(_ inner: any StorageBackend) { self.inner = inner }
  var path: String { inner.path }
  func sizeBytes() throws(EngineError) -> UInt64 { try inner.sizeBytes() }
  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    try unsafe inner.write(bytes, at: offsetBytes)
  }
  func allocate(upTo sizeBytes: UInt64) throws(EngineError) {
    try inner.allocate(upTo: sizeBytes)
  }
  func sync() throws(EngineError) {
    throw EngineError(code: .io, message: "planted", errno: 5, isInjected: true)
  }
  func map() throws(EngineError) -> MappedFile { try inner.map() }
  func close() { inner.close() }
}
