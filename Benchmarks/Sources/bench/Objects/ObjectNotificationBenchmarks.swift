// ObjectNotificationBenchmarks.swift [U]: how long after a commit an observer hears of it, in the
// same process and in another one, beside a bare wait for the storage layer's next version; and
// what it takes to find and tell 1,000 changed objects of a million.
// Both ends lie in memory, so that no sync is in the time, and a latency has the commit in it: from
// the begin of the write to the callback, by the clock that all processes share.

import Engine
import Foundation
import ObjectDatabase

/// The far end of a latency: a process of its own, `bench listener objects|versions PATH COUNT`.
enum ListenerProcess {
  /// Says the time of each call on a line, after a line for the first one.
  static func run(_ arguments: [String]) throws {
    guard arguments.count == 4, let count = Int(arguments[3]) else {
      throw BenchError("listener takes KIND PATH COUNT")
    }
    let seen = DispatchSemaphore(value: 0)
    let listening = try Listening(arguments[1], arguments[2]) { time in
      FileHandle.standardOutput.write(Data("\(time)\n".utf8))
      seen.signal()
    }
    for _ in 0...count { seen.wait() }
    listening.stop()
  }
}

/// Something that hears of every commit to a file.
private final class Listening: @unchecked Sendable {
  // Safety: set before the other end starts; the realm is used on its queue only.
  private let queue = DispatchQueue(label: "bench.listener")
  private var token: NotificationToken?
  private var watcher: ChangeWatcher?
  private let ended = DispatchSemaphore(value: 0)

  // `heard` is called with the time, once when the other end may begin, then for each commit.
  init(_ kind: String, _ path: String, _ heard: @escaping @Sendable (UInt64) -> Void) throws {
    if kind == "objects" {
      try queue.sync {
        let realm = try Realm(configuration: ObjectStore.configuration(path), queue: queue)
        token = realm.objects(PlainRow.self).observe { _ in heard(Self.now()) }
      }
      ended.signal()
      return
    }
    let database = try Database.open(path: path)
    let watcher = try database.makeChangeWatcher()
    self.watcher = watcher
    let ended = ended
    Thread {
      var known = database.version
      heard(Self.now())
      while !watcher.isCancelled {
        guard let version = try? watcher.wait(after: known, timeoutMilliseconds: 1000) else {
          break
        }
        if version > known { heard(Self.now()) }
        known = version
      }
      ended.signal()
    }.start()
  }

  func stop() {
    watcher?.cancel()
    queue.sync { token = nil }
    ended.wait()
  }

  /// Nanoseconds of a clock that is the same in all processes.
  static func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
}

extension Benchmark {
  static let objectNotifications: [Benchmark] =
    [false, true].flatMap { isApart in
      [(0.5, "median"), (0.99, "p99")].map { share, name in
        latency("objects-notify-\(name)\(isApart ? "-processes" : "")/versions", isApart, share)
      }
    } + [
      changesTold("objects-notify-1000-of-1M/lmdb") { $0 },
      changesTold("objects-notify-sorted-1000-of-1M/lmdb") { $0.sorted(byKeyPath: "age") },
    ]

  private static let commitCount = 400

  // MARK: how long until it is told

  private static func latency(_ name: String, _ isApart: Bool, _ share: Double) -> Benchmark {
    Benchmark(name: name) { settings in
      let (ours, peer) = try alternating(rounds: settings.rounds) {
        try microseconds(settings.peerOnBothSides ? "versions" : "objects", isApart, share)
      } peer: {
        try microseconds("versions", isApart, share)
      }
      return .cost(
        name, ours: ours, peer: peer,
        peerName: "ChangeWatcher.wait, the same commits; \(commitCount) of them", unit: "µs")
    }
  }

  /// The latency that a share of all commits does not exceed.
  private static func microseconds(
    _ kind: String, _ isApart: Bool, _ share: Double
  ) throws -> Double {
    try Scratch.withMemory("notify") { directory in
      let store = try ObjectStore(directory.appending(path: "ours.realm").path)
      try store.add(Array(RowValues.tenThousand.prefix(1000)), ObjectStore.plain)
      let rows = store.realm.objects(PlainRow.self)
      let ear = try Ear(kind, store.path, isApart, count: commitCount)
      _ = try ear.next()
      var latencies: [Double] = []
      for number in 0..<commitCount {
        let object = rows[number % rows.count]
        let start = Listening.now()
        try store.realm.write { object.score = Double(number) + 0.5 }
        latencies.append(Double(try ear.next() - start) / 1e3)
      }
      ear.stop()
      return latencies.sorted()[Int(Double(commitCount - 1) * share)]
    }
  }

  /// This end's view of the far end.
  private struct Ear {
    let next: () throws -> UInt64
    let stop: () -> Void

    init(_ kind: String, _ path: String, _ isApart: Bool, count: Int) throws {
      if isApart {
        let process = Process()
        process.executableURL = URL(filePath: Bundle.main.executablePath ?? "/proc/self/exe")
        process.arguments = ["listener", kind, path, String(count)]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let lines = Lines(pipe.fileHandleForReading)
        next = { try lines.next() }
        stop = { process.waitUntilExit() }
        return
      }
      let times = Times()
      let listening = try Listening(kind, path) { times.add($0) }
      next = { times.next() }
      stop = { listening.stop() }
    }
  }

  /// Times that another thread says.
  private final class Times: @unchecked Sendable {
    // Safety: the lock guards the list.
    private let lock = NSLock()
    private let isThere = DispatchSemaphore(value: 0)
    private var times: [UInt64] = []

    func add(_ time: UInt64) {
      lock.withLock { times.append(time) }
      isThere.signal()
    }

    func next() -> UInt64 {
      isThere.wait()
      return lock.withLock { times.removeFirst() }
    }
  }

  /// Times that another process says.
  private final class Lines {
    private let file: FileHandle
    private var rest = Data()

    init(_ file: FileHandle) { self.file = file }

    func next() throws -> UInt64 {
      while true {
        if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
          rest = Data(rest[(end + 1)...])
          guard let time = UInt64(line) else { throw BenchError("the listener says '\(line)'") }
          return time
        }
        let more = file.availableData
        guard !more.isEmpty else { throw BenchError("the listener ended before its last commit") }
        rest += more
      }
    }
  }

  // MARK: what it takes to tell

  /// 1,000 of a million objects, spread out, get another score, and an observer is told.
  private static func changesTold(
    _ name: String, _ view: @escaping @Sendable (Results<PlainRow>) -> Results<PlainRow>
  ) -> Benchmark {
    Benchmark(name: name) { settings in
      try Scratch.withMemory("notify") { directory in
        let ours = try ObjectStore(directory.appending(path: "ours.realm").path)
        let peer = try LMDBStore(directory.appending(path: "peer.mdb").path)
        try ours.add(RowValues.million, ObjectStore.plain)
        _ = try peer.insert(.million, appends: true)
        try peer.pin()
        let draws = RowSet.spread(1_000, of: 1_000_000)
        _ = try peer.put(draws)
        var told: Int64 = 0
        let token = view(ours.realm.objects(PlainRow.self)).observe { change in
          guard case .update(_, let deletions, let insertions, let modifications) = change else {
            return
          }
          told += Int64(deletions.count + insertions.count + modifications.count)
        }
        ours.realm.refresh()
        let writer = try StorageScores(ours.path)
        let row = try ObjectWork(
          name: name, unit: "ms", peerName: "LMDB, two cursors; nobody is told", count: 1
        ) {
          try writer.change(draws)
          told = 0
          let (taken, _) = Taken.by { ours.realm.refresh() }
          return (taken, told)
        } timedPeer: {
          try Taken.by { try peer.changes() }
        }.milliseconds(settings)
        token.invalidate()
        return row
      }
    }
  }

  /// Changes scores below the objects, as another program does.
  private final class StorageScores {
    private let database: Database
    private var round = 0.0

    init(_ path: String) throws { database = try Database.open(path: path) }

    func change(_ draws: RowSet) throws {
      round += 1
      let write = try database.beginWrite()
      for (id, score) in zip(draws.ids, draws.scores) {
        try write.set(
          .double(score + round), in: "PlainRow", key: Int64(id), column: "score")
      }
      try write.commit()
    }
  }
}
