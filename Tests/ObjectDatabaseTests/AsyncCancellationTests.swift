// AsyncCancellationTests.swift: asynchronous writes of cancelled tasks: they write nothing, wait no
// longer, and leave the turn to others.

import Engine
import FoundationEssentials
import Synchronization
import Testing

@testable import ObjectDatabase

@Suite("cancelled tasks", .timeLimit(.minutes(2)))
struct AsyncCancellationTests {
  actor Owner {
    var realm: Realm?
    var calls = 0

    func open(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm(configuration: configuration, actor: self)
    }

    func add(_ name: String, then cancel: () -> Void = {}) async throws {
      try await realm?.asyncWrite {
        calls += 1
        realm?.add(Dog(name: name))
        cancel()
      }
    }

    func addAtOnce(_ name: String) throws { try realm?.write { realm?.add(Dog(name: name)) } }

    var names: [String] { realm?.objects(Dog.self).map(\.name) ?? [] }
  }

  private func cancelled(_ task: Task<Void, any Error>) async -> Bool {
    do { try await task.value } catch { return error is CancellationError }
    return false
  }

  private func prepared() async throws -> (folder: Folder, owner: Owner, database: Database) {
    let folder = try Folder()
    let owner = Owner()
    try await owner.open(folder.configuration([Dog.self]))
    return (folder, owner, try Database.open(path: folder.path + "/test.realm"))
  }

  @Test("a cancelled task calls no block and writes nothing")
  func before() async throws {
    let (folder, owner, database) = try await prepared()
    let version = database.version
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      try await owner.add("a")
    }
    task.cancel()
    #expect(await cancelled(task))
    #expect(await owner.calls == 0 && database.version == version)
    try await owner.add("b")
    #expect(await owner.names == ["b"])
    _ = folder
  }

  @Test("a task that waits for its turn is woken, and those behind it get theirs")
  func whileWaiting() async throws {
    let (folder, owner, database) = try await prepared()
    let other = try database.beginWrite()
    other.assign(toCaller: false)
    let tasks = ["a", "b", "c"].map { name in Task { try await owner.add(name) } }
    try await Task.sleep(nanoseconds: 50_000_000)
    tasks[0].cancel()
    tasks[1].cancel()
    // Nobody has let go of the writer lock.
    #expect(await cancelled(tasks[0]))
    #expect(await cancelled(tasks[1]))
    other.cancel()
    try await tasks[2].value
    try await owner.add("d")
    #expect(await owner.calls == 2)
    #expect(await owner.names == ["c", "d"])
    _ = folder
  }

  @Test("a write of the same actor passes the turns of cancelled tasks by")
  func beforeAWrite() async throws {
    for _ in 0..<50 {
      let (folder, owner, _) = try await prepared()
      let tasks = (0..<6).map { number in Task { try await owner.add("\(number)") } }
      for number in stride(from: 0, to: 6, by: 2) { tasks[number].cancel() }
      try await owner.addAtOnce("own")
      var written = ["own"]
      for (number, task) in tasks.enumerated() where !(await cancelled(task)) {
        written.append("\(number)")
      }
      #expect(await owner.names.sorted() == written.sorted())
      #expect(Set(written).isSuperset(of: ["1", "3", "5"]))
      _ = folder
    }
  }

  @Test("a task that is cancelled in its block commits")
  func inside() async throws {
    let (folder, owner, _) = try await prepared()
    let own = Mutex<Task<Void, any Error>?>(nil)
    let task = Task {
      while own.withLock({ $0 == nil }) { await Task.yield() }
      try await owner.add("a") { own.withLock { $0?.cancel() } }
    }
    own.withLock { $0 = task }
    try await task.value
    #expect(await owner.names == ["a"])
    _ = folder
  }
}
