// DeliveryTests.swift: where callbacks are called: run loops, queues and actors; what is left of
// them afterwards; asynchronous writes.

import Dispatch
import Foundation
import Synchronization
import Testing

@testable import ObjectDatabase

@Suite("delivery")
struct DeliveryTests {
  static let types: [ObjectBase.Type] = [Person.self, Everything.self, Company.self]

  /// What callbacks on other threads were told.
  final class Heard: Sendable {
    private let items = Mutex<[String]>([])
    var all: [String] { items.withLock { $0 } }
    func add(_ item: String) { items.withLock { $0.append(item) } }
  }

  @Test("observe(on: queue) calls on the queue, and goes on after commits of others")
  func queue() async throws {
    let folder = try Folder()
    let heard = Heard()
    let queue = DispatchQueue(label: "DeliveryTests.queue")
    let configuration = folder.configuration(Self.types)
    let tokens = try onThread {
      let realm = try Realm(configuration: configuration)
      let dog = Dog(name: "a")
      try realm.write { realm.add(dog) }
      return Smuggled([
        realm.objects(Dog.self).observe(on: queue) { change in
          dispatchPrecondition(condition: .onQueue(queue))
          heard.add(NotificationTests.text(change))
        },
        dog.observe(keyPaths: ["age"], on: queue) { change in
          if case .change(let dog, _) = change { heard.add("age \(dog.age)") }
        },
      ])
    }
    try await eventually { heard.all == ["initial"] }
    try await eventually { tokens.value.allSatisfy { $0.innerToken != nil } }
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.objects(Dog.self)[0].age = 7 }
    }
    try await eventually { heard.all.count == 3 }
    #expect(heard.all.sorted() == ["[] [] [0]", "age 7", "initial"])
    for token in tokens.value { token.invalidate() }
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.objects(Dog.self)[0].age = 8 }
    }
    queue.sync {}
    #expect(heard.all.count == 3)
  }

  @Test("a thread's run loop delivers the first call and changes of others")
  func runLoop() async throws {
    let folder = try Folder()
    let heard = Heard()
    let configuration = folder.configuration(Self.types)
    let over = Heard()
    // A thread of its own: the pool's few are for the tests.
    Thread.detachNewThread {
      do { try Self.serve(configuration, heard) } catch { heard.add("\(error)") }
      over.add("over")
    }
    try await eventually { heard.all == ["initial"] }
    try Self.addDog(configuration)
    try await eventually { heard.all.count == 3 }
    #expect(heard.all == ["initial", "[] [0] []", "didChange"])
    try Self.addDog(configuration)
    try await eventually { heard.all.count == 6 }
    #expect(heard.all.dropFirst(3) == ["refreshRequired", "[] [1] []", "didChange"])
    try await eventually { over.all == ["over"] }
  }

  /// Observes from a run loop until six calls were made.
  private static func serve(_ configuration: Realm.Configuration, _ heard: Heard) throws {
    let realm = try Realm(configuration: configuration)
    let token = realm.objects(Dog.self).observe { heard.add(NotificationTests.text($0)) }
    let whole = realm.observe { notification, _ in
      heard.add("\(notification)")
      if heard.all.count == 3 { realm.autorefresh = false }
      if notification == .refreshRequired { realm.refresh() }
    }
    let keep = Timer(timeInterval: 0.05, repeats: true) { _ in }
    RunLoop.current.add(keep, forMode: .default)
    while heard.all.count < 6 {
      _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 1))
    }
    keep.invalidate()
    withExtendedLifetime((token, whole)) {}
  }

  static func addDog(_ configuration: Realm.Configuration) throws {
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Dog()) }
    }
  }

  @Test("no thread and no descriptor is left when the last token and realm are gone")
  func left() async throws {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      let queue = DispatchQueue(label: "left")
      let configuration = folder.configuration(DeliveryTests.types)
      func listeners() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count { task in
          let comm = FileManager.default.contents(atPath: "/proc/self/task/\(task)/comm") ?? Data()
          return String(decoding: comm, as: UTF8.self).hasPrefix(Listener.threadName)
        }
      }
      func descriptors() throws -> [String] {
        let folder = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
          let link = "\(folder)/\(name)"
          let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
          return target.flatMap { $0.contains("test.realm") ? $0 : nil }
        }
      }
      for _ in 0..<3 {
        let token = try queue.sync {
          let realm = try Realm(configuration: configuration, queue: queue)
          return Smuggled(realm.objects(Dog.self).observe { _ in })
        }
        try await eventually { try listeners() == 1 }
        guard try !descriptors().isEmpty else { throw Failure("the file is not open") }
        queue.sync { token.value.invalidate() }
        try await eventually { try listeners() == 0 }
        guard try descriptors().isEmpty else { throw Failure("\(try descriptors())") }
      }
    }
  }

  @Test("what cannot be observed stops the process")
  func misuse() async {
    await #expect(processExitsWith: .success) {
      try MisuseTests.withDog { realm, dog in _ = (dog.observe { _ in }, realm.observe { _, _ in })
      }
    }
    await #expect(processExitsWith: .failure) {
      try MisuseTests.withDog { _, dog in _ = dog.freeze().observe { _ in } }
    }
    await #expect(processExitsWith: .failure) {
      try MisuseTests.withDog { realm, _ in _ = realm.objects(Dog.self).freeze().observe { _ in } }
    }
    await #expect(processExitsWith: .failure) {
      try MisuseTests.withDog { realm, _ in _ = realm.freeze().observe { _, _ in } }
    }
    await #expect(processExitsWith: .failure) {
      try MisuseTests.withDog { realm, dog in try realm.write { _ = dog.observe { _ in } } }
    }
    await #expect(processExitsWith: .failure) { _ = List<Int>().observe { _ in } }
    await #expect(processExitsWith: .failure) {
      try MisuseTests.withDog { _, dog in _ = dog.observe(keyPaths: ["owner.legs"]) { _ in } }
    }
  }

  // MARK: asynchronous writes

  @Test("asynchronous writes begin and commit elsewhere, in order, and tell when they are durable")
  func writeAsync() async throws {
    let folder = try Folder()
    let heard = Heard()
    let queue = DispatchQueue(label: "DeliveryTests.writeAsync")
    let configuration = folder.configuration(Self.types)
    let realm = try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      for name in ["a", "b"] {
        realm.writeAsync {
          realm.add(Dog(name: name))
        } onComplete: { error in
          heard.add("\(name) \(error == nil) \(realm.objects(Dog.self).count)")
        }
      }
      let cancelled = realm.writeAsync {
        heard.add("never")
      } onComplete: { _ in
        heard.add("never")
      }
      realm.cancelAsyncWrite(cancelled)
      #expect(realm.isPerformingAsynchronousWriteOperations && !realm.isInWriteTransaction)
      return Smuggled(realm)
    }
    try await eventually { heard.all.count == 2 }
    #expect(heard.all == ["a true 1", "b true 2"])
    queue.sync {
      let realm = realm.value
      realm.beginAsyncWrite {
        realm.add(Dog(name: "c"))
        heard.add("in \(realm.isInWriteTransaction)")
        realm.commitAsyncWrite { heard.add("c \($0 == nil)") }
        heard.add("after \(realm.isInWriteTransaction) \(realm.objects(Dog.self).count)")
      }
      realm.beginAsyncWrite { realm.add(Dog(name: "not committed")) }
      realm.writeAsync {
        realm.add(Company(value: ["name": "x"]))
        realm.add(Company(value: ["name": "x"]))
      } onComplete: { error in
        heard.add("failed \((error as? Realm.Error)?.code == .invalidValue)")
      }
    }
    try await eventually { heard.all.count == 6 }
    #expect(heard.all.dropFirst(2) == ["in true", "after false 2", "c true", "failed true"])
    try await eventually {
      queue.sync { !realm.value.isPerformingAsynchronousWriteOperations }
    }
    queue.sync { #expect(realm.value.objects(Dog.self).count == 3) }
  }

  @Test("an asynchronous write that has ended keeps no version, also while its run loop rests")
  func endedWrites() throws {
    let folder = try Folder()
    let configuration = folder.configuration(Self.types)
    try onThread {
      let realm = try Realm(configuration: configuration)
      let ended = Mutex(0)
      for _ in 0..<3 {
        realm.writeAsync {
          realm.add(Dog())
        } onComplete: { error in
          if error == nil { ended.withLock { $0 += 1 } }
        }
      }
      while ended.withLock({ $0 }) < 3 {
        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
      }
      try realm.write { realm.add(Dog()) }
      let versions = realm.core.store.database.statistics().activeVersions
      #expect(versions.count == 1 && versions[0].pins == 1, "\(versions)")
    }
  }

  @Test("a write on the thread of an asynchronous one that is on its way does not wait for itself")
  func overtaking() async throws {
    let folder = try Folder()
    let heard = Heard()
    let queue = DispatchQueue(label: "DeliveryTests.overtaking")
    let configuration = folder.configuration(Self.types)
    try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      realm.writeAsync {
        heard.add("async")
      } onComplete: { _ in
        heard.add("complete")
      }
      let own = Smuggled(realm)
      queue.async {
        // The request was sent before this block, and what it gets comes behind it.
        do { try own.value.write { heard.add("sync") } } catch { heard.add("\(error)") }
      }
    }
    try await eventually { heard.all.count == 3 }
    #expect(heard.all == ["sync", "async", "complete"])
  }

  // MARK: actors

  actor Kennel {
    var realm: Realm?
    var heard: [String] = []

    func open(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm(configuration: configuration, actor: self)
    }

    func add(_ name: String) async throws {
      try await realm?.asyncWrite { realm?.add(Dog(name: name)) }
    }

    func addAtOnce(_ name: String) throws { try realm?.write { realm?.add(Dog(name: name)) } }

    var names: [String] { realm?.objects(Dog.self).map(\.name) ?? [] }

    func hear(_ item: String) { heard.append(item) }

    func smuggle() -> Smuggled<Realm?> { Smuggled(realm) }

    func watch() -> NotificationToken? {
      realm?.objects(Dog.self).observe { change in
        let text = NotificationTests.text(change)
        self.assumeIsolated { $0.heard.append(text) }
      }
    }
  }

  @Test("realms of actors write without blocking, refresh by themselves, and know their actor")
  func actors() async throws {
    let folder = try Folder()
    let configuration = folder.configuration(Self.types)
    let (first, second) = (Kennel(), Kennel())
    try await first.open(configuration)
    try await second.open(configuration)
    let token = await second.watch()
    try await eventually { true }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<10 {
        group.addTask { try await first.add("\(number)") }
        group.addTask { try await second.add("\(number)") }
      }
      try await group.waitForAll()
    }
    // Only of one actor: a write that blocks a thread of the pool must not wait for another task.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<5 {
        group.addTask { try await first.add("\(number)") }
        group.addTask { try await first.addAtOnce("\(number)") }
      }
      try await group.waitForAll()
    }
    for _ in 0..<6000 {
      if await first.names.count == 30, await second.names.count == 30 { break }
      try await Task.sleep(nanoseconds: 10_000_000)
    }
    let counts = await (first.names.count, second.names.count)
    #expect(counts == (30, 30))
    for _ in 0..<6000 where await second.heard.isEmpty {
      try await Task.sleep(nanoseconds: 10_000_000)
    }
    #expect(await second.heard.first == "initial")
    let foreign = await first.smuggle()
    let error = #expect(throws: Realm.Error.self) { try foreign.value?.write {} }
    #expect(error?.code == .wrongThread && error?.message.contains("actor Kennel") == true)
    token?.invalidate()
  }

  @MainActor
  @Test("realms of the main actor, and callbacks for another one")
  func mainActor() async throws {
    let folder = try Folder()
    let configuration = folder.configuration(Self.types)
    let realm = try await Realm(configuration: configuration)
    try await realm.asyncWrite { realm.add(Dog(name: "a")) }
    #expect(realm.objects(Dog.self).count == 1)
    try realm.write { realm.objects(Dog.self)[0].age = 3 }
    let kennel = Kennel()
    let token = await realm.objects(Dog.self).observe(on: kennel) { kennel, change in
      kennel.hear(NotificationTests.text(change))
    }
    for _ in 0..<6000 where await kennel.heard.isEmpty {
      try await Task.sleep(nanoseconds: 10_000_000)
    }
    try realm.write { realm.objects(Dog.self)[0].age = 4 }
    for _ in 0..<6000 where await kennel.heard.count < 2 {
      try await Task.sleep(nanoseconds: 10_000_000)
    }
    #expect(await kennel.heard == ["initial", "[] [] [0]"])
    token.invalidate()
  }

  @Test("a @ThreadSafe variable is each thread's own object")
  func threadSafe() throws {
    let folder = try Folder()
    let realm = try folder.realm(Self.types)
    let dog = Dog(name: "a")
    try realm.write { realm.add(dog) }
    let shared = ThreadSafe(wrappedValue: dog)
    try onThread {
      guard let dog = shared.wrappedValue, let realm = dog.realm else { throw Failure("no dog") }
      try realm.write { dog.name = "b" }
    }
    #expect(shared.wrappedValue?.name == "b" && shared.wrappedValue == dog)
    try realm.write { realm.delete(dog) }
    #expect(shared.wrappedValue == nil)
  }
}
