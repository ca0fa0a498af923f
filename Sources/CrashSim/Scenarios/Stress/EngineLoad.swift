// EngineLoad.swift: [U] one process of the built-in workload: threads that commit to one database
// and threads that read it, until they are killed or have done their part.
// Its output, where each line or group of lines is one system call and thus one mark: `storm` and
// `calm` around the time in which faults are injected; `open V`; for a transaction its lines of a
// history (HistoryLine), with `begin V S N` while it holds the writer lock (S is the seed of its
// plan, N its number), `commit V`, or `seen N V` for one that only read version V.
// Safety: lines are written by one system call from memory that no other thread accesses.

import Dispatch
import Engine
import Foundation
import Glibc
import LabCore
import Workload

/// The built-in workload's process.
package final class EngineLoad: Sendable {
  /// How a process of it ended.
  package enum Ending: Int32, Sendable {
    /// All transactions were run.
    case done = 0
    /// The engine broke a promise, described on standard error.
    case broken = 1
    /// The disk returned an error; the next process continues.
    case refused = 75
  }

  /// The identity of a process in a run.
  package struct Place: Sendable {
    /// Number of the round.
    package var round: Int
    /// Number of the part of the round between two kills.
    package var segment: Int
    /// Number of the process.
    package var process: Int
    /// Number of earlier starts.
    package var generation: Int

    /// Makes an identity.
    package init(round: Int, segment: Int, process: Int, generation: Int) {
      self.round = round
      self.segment = segment
      self.process = process
      self.generation = generation
    }

    static let segmentsMax = 32
    private static let processesMax = 8
    private static let generationsMax = 64
    private static let threadsMax = 16
    static let sessionsPerSegment = processesMax * generationsMax * threadsMax

    /// A number identifying the process, and its start, that began a transaction.
    static func process(ofTransaction number: Int) -> Int {
      number / EngineLoadClient.transactionsMax / threadsMax
    }

    /// For example `process 1, thread 0`.
    static func words(ofSession session: Int) -> String {
      let ours = session % sessionsPerSegment
      let generation = ours / threadsMax % generationsMax
      return "process \(ours / threadsMax / generationsMax), thread \(ours % threadsMax)"
        + (generation > 0 ? ", started again \(generation) times" : "")
    }

    /// A number that is unique in the run.
    func session(thread: Int) -> Int {
      let part = round * Self.segmentsMax + segment % Self.segmentsMax
      let ours = (process * Self.generationsMax + generation) * Self.threadsMax + thread
      return part * Self.sessionsPerSegment + ours
    }
  }

  /// Number of transactions after the safety phase by which each thread shows that it still works.
  static let liveTransactions = 2

  private let database: Database
  private let options: EngineLoadOptions
  private let place: Place
  private let seed: Seed

  private init(_ database: Database, _ options: EngineLoadOptions, _ place: Place, _ seed: Seed) {
    self.database = database
    self.options = options
    self.place = place
    self.seed = seed
  }

  /// Runs one process of the workload.
  /// - Parameters:
  ///   - directory: Directory of the database.
  ///   - place: The identity of the process.
  ///   - options: The options of the workload.
  ///   - seed: Seed of the transactions.
  /// - Returns: The result; a broken promise of the engine, or an error of the disk, ends the
  ///   process at once.
  package static func run(
    directory: String, place: Place, options: EngineLoadOptions, seed: Seed
  ) -> Ending {
    let own = seed.derived("process").derived(UInt64(place.process))
      .derived(UInt64(place.segment)).derived(UInt64(place.generation))
    if place.process == 0, place.generation == 0 { say("storm") }
    var failpoint: Failpoint?
    if options.killStepsMax > 0, place.generation < 3 {
      var random = PRNG(own.derived("kill"))
      let number = 1 + random.below(options.killStepsMax)
      let watch = CommitStepWatch(CommitStepSignal(number: number, stops: false))
      failpoint = Failpoint { (_) throws(EngineError) in try watch.reach() }
    }
    let database: Database
    do throws(EngineError) {
      database = try Database.open(
        path: "\(directory)/\(DatabaseFile.name)",
        options: options.databaseOptions(failpoint: failpoint))
    } catch {
      return ending(error, options)
    }
    say("open \(database.version)")
    EngineLoad(database, options, place, own).runThreads()
    return .done
  }

  private func runThreads() {
    let safety = DispatchGroup()
    let all = DispatchGroup()
    // A restarted process has less to do, so that the run ends however often that happens.
    let count = max(1, options.transactions >> min(place.generation, 16))
    for index in 0..<options.writers + options.readers {
      safety.enter()
      all.enter()
      let thread = Thread { [self] in
        var client = EngineLoadClient(
          database: database, options: options, session: place.session(thread: index),
          seed: seed.derived(UInt64(index)), writes: index < options.writers)
        for _ in 0..<count { step(&client) }
        safety.leave()
        safety.wait()
        if index == 0 { Self.say("calm") }
        for _ in 0..<Self.liveTransactions { step(&client) }
        client.end()
        all.leave()
      }
      thread.start()
    }
    all.wait()
  }

  /// Runs one transaction; ends the process if the result is not allowed.
  private func step(_ client: inout EngineLoadClient) {
    do throws(EngineError) {
      guard let fault = try client.step() else { return }
      Self.complain(fault)
      _exit(Ending.broken.rawValue)
    } catch {
      _exit(Self.ending(error, options).rawValue)
    }
  }

  /// Errors that a faulty disk may cause end the process, but are not violations.
  private static func ending(_ error: EngineError, _ options: EngineLoadOptions) -> Ending {
    complain("\(error)")
    switch error.code {
    case .io, .noSpace, .poisoned: return options.mayFail ? .refused : .broken
    // An open during another process's compaction waits some seconds, and then fails.
    case .locked where options.compactPercent > 0: return .refused
    default: return .broken
    }
  }

  /// One system call: one mark.
  static func say(_ lines: String...) {
    let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe _ = Glibc.write(STDOUT_FILENO, buffer.baseAddress, buffer.count)
    }
  }

  private static func complain(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
