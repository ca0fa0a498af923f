// SchedulePointTests.swift: which points a write and a read come to, in which order, and that a
// thread which has to wait asks the hook instead of sleeping.

import Synchronization
import Testing

@testable import Engine

@Suite("Schedule points")
struct SchedulePointTests {
  /// What a hook was told.
  private final class Log: Sendable {
    private let entries = Mutex<[String]>([])
    func append(_ entry: String) { entries.withLock { $0.append(entry) } }
    func taken() -> [String] {
      entries.withLock { entries in
        defer { entries = [] }
        return entries
      }
    }
  }

  private func open(_ log: Log, grouped: Bool = false) throws -> Database {
    var options = Database.Options()
    options.groupedCommits = grouped
    options.coordination.schedule = ScheduleHook(
      reach: { log.append($0.description) },
      wait: { reason, isBounded, isOver in
        log.append("wait for \(reason)\(isBounded ? " bounded" : "")")
        return isOver()
      })
    let database = try Database.open(backend: MemoryBackend(name: "points"), options: options)
    let write = try database.beginWrite()
    try write.createTable(Fixtures.dogs)
    try write.commit()
    _ = log.taken()
    return database
  }

  @Test("a commit: turn, steps, group, publication, and the turn is given back last")
  func commit() throws {
    let log = Log()
    let database = try open(log)
    let write = try database.beginWrite()
    #expect(log.taken() == ["ask for turn", "take turn"])
    try write.upsert(into: "Dog", key: 1, Fixtures.dog(1))
    #expect(log.taken() == [])
    try write.commit()
    let points = log.taken()
    let steps = Set(CommitStep.allCases.map(\.description))
    #expect(
      points.filter { !steps.contains($0) } == [
        "join group", "seal group", "publish record", "publish version", "give turn",
        "wait for the end of its commit's group",
      ])
    #expect(
      points.filter { steps.contains($0) }.suffix(4) == [
        "write nodes", "sync nodes", "write root slot", "sync root slot",
      ])
    try database.close()
  }

  @Test("a snapshot: slot, store, second look; and the slot is given back")
  func snapshot() throws {
    let log = Log()
    let database = try open(log)
    let snapshot = try database.snapshot()
    #expect(log.taken() == ["claim slot", "store pin", "check pin"])
    snapshot.release()
    #expect(log.taken() == ["unpin"])
    try database.close()
  }

  @Test("a thread that cannot have the turn asks the hook, and leaves the queue when it gives up")
  func wait() throws {
    let log = Log()
    let database = try open(log)
    let write = try database.beginWrite()
    let results = Codes()
    startThread {
      results.append(errorCode { try database.beginWrite(timeoutMilliseconds: 60_000) })
    }.join()
    #expect(results.all == [.busy])
    #expect(
      log.taken() == [
        "ask for turn", "take turn", "ask for turn", "wait for the writer's turn bounded",
      ])
    write.cancel()
    #expect(database.session.writerLock.waiterCount == 0)
    try database.beginWrite().cancel()
    try database.close()
  }

  private final class Codes: Sendable {
    private let codes = Mutex<[EngineError.Code?]>([])
    var all: [EngineError.Code?] { codes.withLock { $0 } }
    func append(_ code: EngineError.Code?) { codes.withLock { $0.append(code) } }
  }

  @Test("every point has a name of its own")
  func names() {
    let names = SchedulePoint.all.map(\.description)
    #expect(Set(names).count == names.count && names.count == 13 + CommitStep.allCases.count)
  }
}
