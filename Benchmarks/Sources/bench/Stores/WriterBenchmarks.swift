// WriterBenchmarks.swift [U]: several threads or processes that commit one row each, durably, on
// the same file, and readers beside a writer. They run on all CPUs. Safety: a `Writer` calls stores
// whose handles are made for several threads, or has a connection of its own.

import Engine
import Foundation
import Synchronization

/// A store that several writers open, each for itself or together.
private enum WriterStore: String {
  case engine
  case engineOneSync = "engine-one-sync"
  case lmdb
  case sqlite

  static let rowCount = 10_000
  /// Commits of one writer in one round.
  static let commitCount = 100

  /// Opens the store, and returns what commits rows in it and says what each commit took.
  func open(_ path: String) throws -> Writer {
    switch self {
    case .engine, .engineOneSync:
      var options = Database.Options()
      options.groupedCommits = true
      options.commitProtocol = self == .engine ? .twoPhase : .checksummed
      let store = try EngineStore(path, options: options)
      return Writer(latencies: store.latencies, insert: store.insert) {
        try store.sumOfScores().answer
      } close: {
        try store.close()
      }
    case .lmdb:
      let store = try LMDBStore(path)
      return Writer(
        latencies: store.latencies, insert: { try store.insert($0, appends: true) },
        sum: { try store.sumOfScores().answer })
    case .sqlite:
      let store = try SQLiteStore(path, wal: true)
      return Writer(latencies: store.latencies, insert: store.insert) { try store.totals().sum }
    }
  }

  /// Threads of a process share a handle where the store is made for it: SQLite's recommendation is
  /// a connection for each thread.
  var isShared: Bool { self != .sqlite }
}

/// An open store, as a writer sees it; calls of several threads are the store's own affair.
private struct Writer: @unchecked Sendable {
  let latencies: (RowSet) throws -> [Int64]
  let insert: (RowSet) throws -> Double
  let sum: () throws -> Double
  var close: () throws -> Void = {}

  init(
    latencies: @escaping (RowSet) throws -> [Int64], insert: @escaping (RowSet) throws -> Double,
    sum: @escaping () throws -> Double, close: @escaping () throws -> Void = {}
  ) {
    (self.latencies, self.insert, self.sum, self.close) = (latencies, insert, sum, close)
  }
}

/// What a round of writers took.
private struct WriterRound {
  let commitsPerSecond: Double
  /// 99th percentile of the time of a commit, its wait for other writers in it.
  let percentile99Milliseconds: Double

  /// `spans` says when each writer began and ended, in nanoseconds of one clock.
  init(spans: [(begin: Int64, end: Int64)], latencies: [Int64]) {
    let begin = spans.map(\.begin).min() ?? 0
    let end = spans.map(\.end).max() ?? 0
    commitsPerSecond = Double(latencies.count) / (Double(end - begin) / 1e9)
    let sorted = latencies.sorted()
    percentile99Milliseconds = Double(sorted[(sorted.count - 1) * 99 / 100]) / 1e6
  }
}

/// Several writers of one file.
private struct Writers {
  let store: WriterStore
  let path: String
  let count: Int

  private func draws(_ writer: Int) -> RowSet {
    RowSet(drawn: WriterStore.commitCount, of: WriterStore.rowCount, seed: UInt64(writer + 1))
  }

  /// Each writer is a thread.
  func threads() throws -> WriterRound {
    let shared = store.isShared ? try store.open(path) : nil
    let writers = try (0..<count).map { _ in try shared ?? store.open(path) }
    let outcomes = Mutex<[Result<WriterProcess.Report, any Error>]>([])
    let group = DispatchGroup()
    for (number, writer) in writers.enumerated() {
      let draws = draws(number)
      group.enter()
      Thread {
        let outcome = Result { try WriterProcess.Report { try writer.latencies(draws) } }
        outcomes.withLock { $0.append(outcome) }
        group.leave()
      }.start()
    }
    group.wait()
    let reports = try outcomes.withLock { try $0.map { try $0.get() } }
    try shared?.close()
    return round(reports)
  }

  /// Each writer is a process.
  func processes() throws -> WriterRound {
    let started = try (0..<count).map { number in
      try WriterProcess(store.rawValue, path, seed: number + 1)
    }
    for process in started { try process.waitUntilReady() }
    for process in started { try process.go() }
    return round(try started.map { try $0.report() })
  }

  private func round(_ reports: [WriterProcess.Report]) -> WriterRound {
    WriterRound(
      spans: reports.map { ($0.begin, $0.end) }, latencies: reports.flatMap(\.latencies))
  }
}

/// A writer in a process of its own: `bench writer STORE PATH SEED`.
struct WriterProcess {
  struct Report: Codable {
    let begin: Int64
    let end: Int64
    let latencies: [Int64]

    fileprivate init(_ work: () throws -> [Int64]) rethrows {
      begin = Taken.nanoseconds()
      latencies = try work()
      end = Taken.nanoseconds()
    }
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  fileprivate init(_ store: String, _ path: String, seed: Int) throws {
    process.executableURL = URL(filePath: Bundle.main.executablePath ?? "/proc/self/exe")
    process.arguments = ["writer", store, path, String(seed)]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  fileprivate func waitUntilReady() throws {
    guard try output.fileHandleForReading.read(upToCount: 1)?.count == 1 else {
      throw BenchError("a writer ended before it was ready")
    }
  }

  fileprivate func go() throws { try input.fileHandleForWriting.close() }

  fileprivate func report() throws -> Report {
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BenchError("a writer ended with exit \(process.terminationStatus)")
    }
    return try JSONDecoder().decode(Report.self, from: data)
  }

  /// The writer itself: opens the file, says so by one byte, and begins when its input ends.
  static func run(_ arguments: [String]) throws {
    guard arguments.count == 4, let store = WriterStore(rawValue: arguments[1]),
      let seed = UInt64(arguments[3])
    else { throw BenchError("writer takes STORE PATH SEED") }
    let writer = try store.open(arguments[2])
    let draws = RowSet(drawn: WriterStore.commitCount, of: WriterStore.rowCount, seed: seed)
    try FileHandle.standardOutput.write(contentsOf: Data(".".utf8))
    _ = try FileHandle.standardInput.readToEnd()
    let report = try Report { try writer.latencies(draws) }
    try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(report))
    try writer.close()
  }
}

extension Benchmark {
  static let writers: [Benchmark] =
    [1, 2, 4, 8].flatMap { count in
      [true, false].flatMap { isThreads in
        [
          writers(count, isThreads, "lmdb", "LMDB default", (.engine, .lmdb)),
          writers(count, isThreads, "sqlite-wal", "SQLite WAL FULL", (.engineOneSync, .sqlite)),
        ]
      }
    } + [readersBesideWriter]

  private static func writers(
    _ count: Int, _ isThreads: Bool, _ peer: String, _ peerName: String,
    _ stores: (ours: WriterStore, peer: WriterStore)
  ) -> Benchmark {
    let name = "writers-\(count)-\(isThreads ? "threads" : "processes")/\(peer)"
    return Benchmark(name: name) { settings in
      try Scratch.withDisk("writers") { directory in
        let kinds = [settings.peerOnBothSides ? stores.peer : stores.ours, stores.peer]
        let sides = try kinds.enumerated().map { number, store in
          let path = directory.appending(path: "\(number)").path
          let writer = try store.open(path)
          _ = try writer.insert(.tenThousand)
          try writer.close()
          return Writers(store: store, path: path, count: count)
        }
        let measured = try Processes.unpinned { _ in
          try turns(rounds: settings.rounds) {
            try isThreads ? sides[0].threads() : sides[0].processes()
          } peer: {
            try isThreads ? sides[1].threads() : sides[1].processes()
          }
        }
        let waits = [measured.ours, measured.peer].map { rounds in
          String(format: "%.1f", median(rounds.map(\.percentile99Milliseconds)))
        }
        return .rate(
          name, ours: median(measured.ours.map(\.commitsPerSecond)),
          peer: median(measured.peer.map(\.commitsPerSecond)),
          peerName: "\(peerName); 99 % of commits within \(waits[0]) ms, the peer's \(waits[1])",
          unit: "commits/s")
      }
    }
  }

  // MARK: readers beside a writer

  /// Scans of a column in snapshots of their own, while another thread commits row after row.
  private static let readersBesideWriter = Benchmark(name: "scans-beside-writer/lmdb") { settings in
    try Scratch.withDisk("readers") { directory in
      let ours = try EngineStore(directory.appending(path: "ours.realm").path)
      let peer = try LMDBStore(directory.appending(path: "peer.mdb").path)
      _ = try (ours.insert(.tenThousand), peer.insert(.tenThousand, appends: true))
      let (oursWriter, peerWriter) = (
        Writer(latencies: ours.latencies, insert: ours.insert) { try ours.sumOfScores().answer },
        Writer(latencies: peer.latencies, insert: peer.put) { try peer.sumOfScores().answer }
      )
      let measured = try Processes.unpinned { _ in
        try measure(settings) {
          try scans(beside: oursWriter)
        } peer: {
          try scans(beside: peerWriter)
        }
      }
      try expectEqual("scans-beside-writer", oursWriter.sum(), peerWriter.sum())
      try ours.close()
      return .rate(
        "scans-beside-writer/lmdb", ours: measured.ours, peer: measured.peer,
        peerName: "LMDB cursor, C loop, beside a thread that commits", unit: "scans/s")
    }
  }

  /// Scans a second of 10,000 rows while a thread commits 300 of them.
  private static func scans(beside writer: Writer) throws -> Double {
    let draws = RowSet(drawn: 300, of: WriterStore.rowCount, seed: 3)
    let outcome = Mutex<Result<[Int64], any Error>?>(nil)
    Thread {
      let result = Result { try writer.latencies(draws) }
      outcome.withLock { $0 = result }
    }.start()
    let begin = Taken.nanoseconds()
    var count = 0
    while outcome.withLock({ $0 == nil }) {
      _ = try writer.sum()
      count += 1
    }
    let taken = Double(Taken.nanoseconds() - begin) / 1e9
    _ = try outcome.withLock { try $0?.get() }
    return Double(count) / taken
  }
}
