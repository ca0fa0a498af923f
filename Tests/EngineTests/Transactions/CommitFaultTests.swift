// CommitFaultTests.swift: every call of the protocol fails once, every step is made to fail once:
// what the handle does then, and what a reopen finds.

import Synchronization
import Testing

@testable import Engine

@Suite("Commit faults")
struct CommitFaultTests {
  enum Call: CaseIterable, Sendable {
    case write, sync, allocation, truncation
  }

  /// What a run of commits came to when one call failed.
  private struct Outcome {
    var hasFailed = false
    var poisoned = false
    var code: EngineError.Code?
  }

  private static func arm(_ backend: TestBackend, _ call: Call, _ number: Int?) {
    switch call {
    case .write: backend.failingWrite = number
    case .sync: backend.failingSync = number
    case .allocation: backend.failingAllocation = number
    case .truncation: backend.failingTruncate = number
    }
  }

  /// Small commits, one that grows, one that empties, and enough for the tail to go back.
  private static func keys(_ round: Int) -> (put: Range<Int>, delete: Range<Int>) {
    switch round {
    case 3: (100..<9000, 0..<0)
    case 5: (0..<0, 100..<9000)
    default: (round * 3..<round * 3 + 4, 0..<0)
    }
  }

  private static func run(
    _ test: inout TestDatabase, _ failing: Call, _ number: Int
  ) throws -> Outcome {
    var outcome = Outcome()
    arm(test.backend, failing, number)
    for round in 0..<26 {
      let before = test.model
      do throws(EngineError) {
        let write = try test.database.beginWrite()
        let (put, delete) = keys(round)
        for key in put {
          test.model[Int64(key)] = Fixtures.dog(key + round)
          try write.upsert(into: "Dog", key: Int64(key), Fixtures.dog(key + round))
        }
        for key in delete {
          guard before[Int64(key)] != nil else { continue }
          test.model[Int64(key)] = nil
          try write.delete(from: "Dog", key: Int64(key))
        }
        try write.commit()
      } catch {
        outcome.hasFailed = true
        outcome.code = error.code
        arm(test.backend, failing, nil)
        outcome.poisoned = errorCode { try test.database.beginWrite().cancel() } == .poisoned
        try checkReopened(test, before: before)
        test.model = before
        // The handle still reads what it had.
        try test.check()
        if outcome.poisoned { return outcome }
      }
    }
    try test.check()
    return outcome
  }

  /// A reopen finds the version before the failed commit, or that commit, whole.
  private static func checkReopened(_ test: TestDatabase, before: [Int64: [Value]]) throws {
    var again = try TestDatabase(TestBackend(test.backend.bytes))
    if again.database.version == test.database.version {
      again.model = before
    } else {
      #expect(again.database.version == test.database.version.next)
      again.model = test.model
    }
    try again.check()
    try again.put([1], round: 5)
    try again.check()
  }

  @Test(
    "each call of the protocol fails once", arguments: Call.allCases,
    [CommitProtocol.twoPhase, .checksummed])
  func everyCall(_ call: Call, _ commitProtocol: CommitProtocol) throws {
    var options = Database.Options()
    options.commitProtocol = commitProtocol
    var failures = 0
    // Which call fails: each in turn in a run that has the time for it.
    let step = TableSize.isFull ? 1 : 3
    for number in stride(from: 0, to: Int.max, by: step) {
      var test = try TestDatabase(options: options)
      test.backend.logs = false
      let outcome = try Self.run(&test, call, number)
      let left: Int? =
        switch call {
        case .write: test.backend.failingWrite
        case .sync: test.backend.failingSync
        case .allocation: test.backend.failingAllocation
        case .truncation: test.backend.failingTruncate
        }
      if let left, left >= 0 { break }
      failures += 1
      switch call {
      case .write: #expect(outcome.code == .io)
      case .sync: #expect(outcome.code == .io && outcome.poisoned)
      case .allocation:
        // With room for the commit alone, a refused growth step is not a failure.
        #expect(!outcome.hasFailed || outcome.code == .noSpace)
        #expect(!outcome.poisoned)
      case .truncation: #expect(!outcome.hasFailed)
      }
    }
    #expect(failures >= (call == .truncation ? 1 : call == .allocation ? 1 : 25 / step))
  }

  @Test("a disk that is full at every allocation leaves the handle as it was")
  func alwaysFull() throws {
    var test = try TestDatabase()
    try test.put(0..<40)
    test.backend.capacityBytes = test.backend.bytes.count
    for round in 0..<5 {
      let write = try test.database.beginWrite()
      for key in 0..<5000 { try write.upsert(into: "Dog", key: Int64(key), Fixtures.dog(round)) }
      #expect(errorCode { try write.commit() } == .noSpace)
      try test.check()
    }
    test.backend.capacityBytes = .max
    try test.put(0..<5000, round: 9)
    try test.check()
  }

  @Test(
    "each step is reached in its order",
    arguments: [CommitProtocol.twoPhase, .checksummed])
  func order(_ commitProtocol: CommitProtocol) throws {
    let reached = Steps()
    var options = Database.Options()
    options.commitProtocol = commitProtocol
    options.failpoint = Failpoint { (step) throws(EngineError) in reached.note(step) }
    var test = try TestDatabase(options: options)
    try test.put(0..<10)
    _ = reached.take()
    try test.put(10..<20)
    var expected: [CommitStep] = [
      .encodeTrees, .releaseOldTop, .encodeTop, .writeNodes, .syncNodes, .writeRootSlot,
      .syncRootSlot,
    ]
    if commitProtocol == .checksummed { expected.removeAll { $0 == .syncNodes } }
    #expect(reached.take() == expected)
    try test.put(20..<5000)
    let growing = reached.take()
    #expect(growing.contains(.growFile))
    #expect(growing == growing.sorted { $0.rawValue < $1.rawValue })
    #expect(Set(CommitStep.allCases.map(\.description)).count == CommitStep.allCases.count)
    try test.check()
  }

  @Test("a failpoint makes its step fail, and poisons where the medium is in doubt")
  func failpoints() throws {
    let always: [CommitStep] = [
      .encodeTrees, .releaseOldTop, .encodeTop, .growFile, .writeNodes, .syncNodes,
      .writeRootSlot, .syncRootSlot,
    ]
    for step in always {
      var test = try TestDatabase()
      try test.put(0..<10)
      var options = Database.Options()
      options.failpoint = Failpoint(failing: step, code: .noSpace)
      var failing = try TestDatabase(TestBackend(test.backend.bytes), options: options)
      failing.model = test.model
      let write = try failing.database.beginWrite()
      for key in 0..<3000 { try write.upsert(into: "Dog", key: Int64(key), Fixtures.dog(key)) }
      let error = #expect(throws: EngineError.self) { try write.commit() }
      #expect(error?.isInjected == true && error?.code == .noSpace)
      let next = errorCode { try failing.database.beginWrite().cancel() }
      #expect(next == (step.poisons ? .poisoned : nil), "\(step)")
      try failing.check()
      var again = try TestDatabase(TestBackend(failing.backend.bytes))
      // Before the last sync the slot is written: a reopen in the same cache finds the commit.
      if step == .syncRootSlot {
        for key in 0..<3000 { again.model[Int64(key)] = Fixtures.dog(key) }
      } else {
        again.model = test.model
      }
      try again.check()
    }
  }

  @Test("without durability nothing is synced, and a reopen in the cache finds everything")
  func unsafeDurability() throws {
    var options = Database.Options()
    options.durability = .unsafe
    options.commitProtocol = .checksummed
    var test = try TestDatabase(options: options)
    test.backend.clearLog()
    for round in 0..<6 { try test.put(round * 500..<round * 500 + 500) }
    #expect(!test.backend.log.contains(.sync))
    try test.check()
    var again = try TestDatabase(TestBackend(test.backend.bytes))
    again.model = test.model
    try again.check()
    // Whoever asks for durability later makes all of it durable first.
    again.backend.clearLog()
    try again.put([1], round: 3)
    #expect(again.backend.log.filter { $0 == .sync }.count >= 2)
  }

  /// Steps as a failpoint sees them.
  private final class Steps: Sendable {
    private let steps = Mutex<[CommitStep]>([])

    func note(_ step: CommitStep) { steps.withLock { $0.append(step) } }

    func take() -> [CommitStep] {
      steps.withLock { steps in
        defer { steps = [] }
        return steps
      }
    }
  }
}
