// MixedWork.swift [U]: threads of which some move amounts and some check the sum, for a while.
// Safety: a thread gets a retained box, and gives it back.

import CSystem
import Engine
import Glibc
import Synchronization

final class MixedWork: Sendable {
  let database: Database
  private let end: UInt64
  private let commits = Atomic<Int>(0)
  private let reads = Atomic<Int>(0)
  private let wrong = Atomic<Int>(0)
  private let failures = Mutex<[String]>([])

  init(database: Database, milliseconds: Int) {
    self.database = database
    end = Accounts.nanoseconds() + UInt64(milliseconds) * 1_000_000
  }

  private final class Job {
    let work: MixedWork
    let seed: UInt64
    let isWriter: Bool
    init(work: MixedWork, seed: UInt64, isWriter: Bool) {
      self.work = work
      self.seed = seed
      self.isWriter = isWriter
    }
  }

  /// Runs the threads, every third a writer, to their end.
  func run(threads: Int, seed: UInt64) {
    var handles: [pthread_t] = []
    for index in 0..<threads {
      let job = Job(work: self, seed: seed &* 31 &+ UInt64(index) &+ 1, isWriter: index % 3 == 0)
      var handle = pthread_t()
      let box = unsafe Unmanaged.passRetained(job).toOpaque()
      let code = unsafe pthread_create(
        &handle, nil,
        { box in
          guard let box = unsafe box else { return nil }
          let job = unsafe Unmanaged<Job>.fromOpaque(box).takeRetainedValue()
          job.work.loop(seed: job.seed, isWriter: job.isWriter)
          return nil
        }, box)
      if code == 0 { handles.append(handle) }
    }
    for handle in handles { pthread_join(handle, nil) }
  }

  private func loop(seed: UInt64, isWriter: Bool) {
    var state = seed
    do {
      while Accounts.nanoseconds() < end {
        if isWriter {
          state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          try Accounts.transfer(in: database, seed: state >> 16)
          commits.add(1, ordering: .relaxed)
        } else {
          let sum = try Accounts.sum(in: database)
          if sum != Accounts.sumWanted { wrong.add(1, ordering: .relaxed) }
          reads.add(1, ordering: .relaxed)
        }
      }
    } catch {
      failures.withLock { $0.append("\(error)") }
    }
  }

  var summary: String {
    let failures = failures.withLock { $0 }
    return "commits=\(commits.load(ordering: .relaxed)) reads=\(reads.load(ordering: .relaxed)) "
      + "wrong=\(wrong.load(ordering: .relaxed)) failures=\(failures)"
  }
}
