// FaultyBackend.swift: [U] a disk in memory that fails as a scenario asks.

import Engine
import Synchronization

@testable import Findings
@testable import LabCore
@testable import Oracles
@testable import Recording
@testable import Workers
@testable import Workload

/// A file in memory that records what happens to it and obeys a scenario's faults: enough of a
/// faulty disk to try the shipped scenarios without a file system.
final class FaultyBackend: StorageBackend {
  private struct State {
    var bytes = ImageBackend()
    var trace: [TraceEvent] = []
    var held: [(offset: UInt64, bytes: [UInt8])] = []
    var counts: [Int: Int] = [:]
    var transaction: Int?
  }

  let path = "data.realm in a test"
  private let faults: [FaultDeclaration]
  private let state = Mutex(State())

  init(_ faults: [FaultDeclaration]) {
    self.faults = faults
  }

  var trace: [TraceEvent] { state.withLock { $0.trace } }

  func record(_ entry: AckLog.Entry) {
    state.withLock { state in
      state.trace.append(TraceEvent(.mark(entry.mark)))
      if case .begin(let number) = entry {
        state.transaction = number
        for (index, fault) in faults.enumerated() {
          if case .ofCommit = fault.which { state.counts[index] = 0 }
          if case .ofCommitNumber = fault.which { state.counts[index] = 0 }
        }
      }
    }
  }

  /// The effect of the first fault that hits.
  private func effect(
    _ kinds: [FaultOperation], _ span: Range<UInt64>?, _ state: inout State
  ) -> FaultEffect? {
    for (index, fault) in faults.enumerated() where kinds.contains(fault.on) {
      if let bytes = fault.bytes, let span {
        guard span.upperBound > bytes.first, span.lowerBound <= bytes.last ?? .max else { continue }
      }
      let count = state.counts[index, default: 0]
      state.counts[index] = count + 1
      let hits =
        switch fault.which {
        case .each: true
        case .every(let step, let offset): count >= offset && (count - offset) % step == 0
        case .nth(let number): count + 1 == number
        case .ofCommit(let number): state.transaction != nil && count + 1 == number
        case .ofCommitNumber(let number, let transaction):
          state.transaction == transaction && count + 1 == number
        case .eachOfTransaction(let transaction): state.transaction == transaction
        }
      if hits { return fault.effect }
    }
    return nil
  }

  func sizeBytes() -> UInt64 { state.withLock { $0.bytes.sizeBytes() } }

  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    let copy = unsafe Array(bytes)
    try state.withLock { state throws(EngineError) in
      let span = offsetBytes..<offsetBytes + UInt64(copy.count)
      let fault = effect([.write], span, &state)
      if case .error(let name) = fault {
        throw EngineError(code: .io, message: name, errno: 5, isInjected: true)
      }
      // The program sees its writes at once; only the order on the medium is the fault's.
      unsafe try state.bytes.write(bytes, at: offsetBytes)
      let inode = EngineCheck.recoveryInode
      let event = TraceEvent(
        .operation(.write(inode: inode, offsetBytes: offsetBytes, payload: Payload(copy))))
      switch fault {
      case .holdBehind: state.held.append((offsetBytes, copy))
      default: state.trace.append(event)
      }
      for case .holdBehind(let first) in faults.map(\.effect)
      where span.upperBound > first.first && span.lowerBound <= first.last ?? .max {
        for held in state.held {
          state.trace.append(
            TraceEvent(
              .operation(
                .write(inode: inode, offsetBytes: held.offset, payload: Payload(held.bytes))),
              flags: .reordered))
        }
        state.held = []
      }
    }
  }

  func allocate(upTo sizeBytes: UInt64) throws(EngineError) {
    try state.withLock { state throws(EngineError) in
      if case .error(let name) = effect([.allocate], nil, &state) {
        throw EngineError(code: name == "ENOSPC" ? .noSpace : .io, message: name, isInjected: true)
      }
      let old = state.bytes.sizeBytes()
      try state.bytes.allocate(upTo: sizeBytes)
      state.trace.append(
        TraceEvent(
          .operation(
            .allocate(
              inode: EngineCheck.recoveryInode, offsetBytes: old, countBytes: sizeBytes - old,
              zeroes: false, oldSizeBytes: old, newSizeBytes: sizeBytes))))
    }
  }

  func truncate(to sizeBytes: UInt64) throws(EngineError) {
    try state.withLock { state throws(EngineError) in
      let old = state.bytes.sizeBytes()
      try state.bytes.truncate(to: sizeBytes)
      state.trace.append(
        TraceEvent(
          .operation(
            .truncate(
              inode: EngineCheck.recoveryInode, oldSizeBytes: old, newSizeBytes: sizeBytes))))
    }
  }

  func sync() throws(EngineError) {
    try state.withLock { state throws(EngineError) in
      var flags: OperationFlags = []
      let fault = effect([.sync, .fdatasync, .fsync], nil, &state)
      if case .ignore = fault { flags = .ignored }
      if case .error = fault { flags = .failed }
      state.trace.append(
        TraceEvent(
          .operation(.sync(inode: EngineCheck.recoveryInode, dataOnly: true)), flags: flags))
      if case .error(let name) = fault {
        throw EngineError(code: .io, message: name, errno: 5, isInjected: true)
      }
    }
  }

  func map() -> MappedFile { state.withLock { $0.bytes.map() } }

  func close() {}
}

/// Runs a scenario on a faulty file.
struct FaultyRun {
  let plan: WorkloadPlan
  let trace: [TraceEvent]
  let violations: [Violation]

  init(_ scenario: Scenario, seed: UInt64) throws {
    plan = try WorkloadPlan(scenario, seed: Seed(rawValue: seed))
    let backend = FaultyBackend(scenario.faults)
    let session = WorkerSession(open: { (declaration) throws(EngineError) -> Database in
      try Database.open(backend: backend, options: declaration.options())
    })
    var client = WorkerClient(plan)
    var violations: [Violation] = []
    for command in plan.commands {
      for entry in client.entriesBefore(command) { backend.record(entry) }
      let answer = session.run(command)
      for entry in client.entriesAfter(command, answer) { backend.record(entry) }
      violations += try client.judge(command, answer)
    }
    session.end()
    trace = backend.trace
    self.violations = violations
  }

  var marks: [Mark] {
    trace.compactMap { if case .mark(let mark) = $0.body { mark } else { nil } }
  }
}

/// A crash state: the file's bytes and the number of marks before the crash.
struct SmallCrashState {
  var bytes: [UInt8]
  var marksSeen: Int
}

extension FaultyRun {
  /// Crash states after every operation, of which every `step`th is built.
  ///
  /// What was synced, and of the rest all or nothing, all but one write, or one write alone; with
  /// `strict` all or nothing.
  func crashStates(
    strict: Bool, step: Int = 1, _ visit: (SmallCrashState) throws -> Void
  ) rethrows {
    var number = 0
    var durable: [UInt8] = []
    var pending: [Operation] = []
    var seen = 0
    for event in trace {
      switch event.body {
      case .mark: seen += 1
      case .operation(.sync) where event.flags.isDisjoint(with: [.ignored, .failed]):
        for operation in pending { apply(operation, to: &durable) }
        pending = []
      case .operation(.sync): break
      case .operation(let operation): pending.append(operation)
      }
      var choices = [Array(pending.indices), []]
      if !strict {
        choices += pending.indices.map { index in pending.indices.filter { $0 != index } }
        choices += pending.indices.map { [$0] }
      }
      for choice in choices {
        number += 1
        guard number.isMultiple(of: step) else { continue }
        var bytes = durable
        for index in choice { apply(pending[index], to: &bytes) }
        try visit(SmallCrashState(bytes: bytes, marksSeen: seen))
      }
    }
  }

  private func apply(_ operation: Operation, to bytes: inout [UInt8]) {
    switch operation {
    case .allocate(_, _, _, _, _, let size):
      bytes += [UInt8](repeating: 0, count: max(0, Int(size) - bytes.count))
    case .truncate(_, _, let size): bytes.removeSubrange(min(bytes.count, Int(size))...)
    case .write(_, let offset, let payload):
      let end = Int(offset) + payload.countBytes
      bytes += [UInt8](repeating: 0, count: max(0, end - bytes.count))
      bytes.replaceSubrange(Int(offset)..<end, with: payload.bytes)
    default: break
    }
  }
}
