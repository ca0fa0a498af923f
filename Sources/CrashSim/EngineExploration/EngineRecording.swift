// EngineRecording.swift: the embedded backend: runs a plan over a file in memory, and records the
// engine's operations on that file as a trace. Benchmarks and tests can use it without a mount or a
// second process.

import Engine
import Findings
import LabCore
import Oracles
import Recording
import Workers
import Workload

/// A recorded run of a plan in this process.
public struct EngineRecording: Sendable {
  /// The engine's operations, with the acknowledgements as marks; the file is `data.realm` in the
  /// root, empty and durable at the start.
  public let trace: Trace
  /// Promises that were broken without any crash.
  public let violations: [Violation]

  /// Runs a plan over an empty file.
  /// - Throws: `LabError` with code `.lab` when the plan does not fit the worker.
  /// - Complexity: That of the plan.
  public init(_ plan: WorkloadPlan) throws(LabError) {
    let inode = EngineCheck.recoveryInode
    var initial = TreeImage()
    initial.inodes[inode] = InodeImage(type: .regular, ownership: Ownership(mode: 0o644))
    initial.inodes[.root]?.entries[FileName(DatabaseFile.name)] = inode
    let backend = ImageBackend()
    backend.startRecording(inode)
    let session = WorkerSession(open: { (declaration) throws(EngineError) -> Database in
      try Database.open(backend: backend, options: declaration.options())
    })
    defer { session.end() }
    var client = WorkerClient(plan)
    var violations: [Violation] = []
    for command in plan.commands {
      for entry in client.entriesBefore(command) { backend.record(entry.mark) }
      let answer = session.run(command)
      for entry in client.entriesAfter(command, answer) { backend.record(entry.mark) }
      violations += try client.judge(command, answer)
    }
    trace = backend.endRecording(from: initial)
    self.violations = violations
  }
}
