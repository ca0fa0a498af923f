// FuzzedDisk.swift: the whole lab in one process for one fuzz input: the engine on the faulty file
// tree through the embedded backend, recorded, and then the power fails anywhere.
// Invariant: a crash state is one that the model allows at its crash point; which one follows from
// the trace, the model and the seed only.

import CrashStates
import Engine
import FaultFS
import LabCore
import Oracles
import Recording

/// A faulty disk with one database file on it.
package final class FuzzedDisk {
  private static let fileName = "data.realm"
  private let fileSystem: SimulatedFileSystem

  /// A crash state: the file's bytes, nil when it is not there, and the marks before the crash.
  package struct Crash {
    package let backend: ImageBackend?
    package let marksSeen: Int
    /// What was kept, as a replay token names it.
    package let key: String
  }

  /// Makes an empty disk and begins to record.
  /// - Throws: `LabError` when an empty tree does not fit.
  package init() throws(LabError) {
    fileSystem = try SimulatedFileSystem(quotaBytes: 32 << 20)
    fileSystem.beginRecording()
  }

  /// Opens the database, or makes it.
  package func open(_ options: Database.Options) throws(EngineError) -> Database {
    try fileSystem.openDatabase(Self.fileName, options: options)
  }

  /// Notes that something was acknowledged.
  package func mark(_ text: String) { fileSystem.mark(Array(text.utf8)) }

  /// Puts fault rules in force.
  package func addRules(_ rules: [FaultRule]) throws(LabError) { try fileSystem.addRules(rules) }

  /// Takes all fault rules away.
  package func clearRules() { fileSystem.clearRules() }

  /// Ends the recording.
  package func endRecording() -> Trace { fileSystem.endRecording() }

  /// One crash state of a recording.
  /// - Parameters:
  ///   - trace: What was recorded.
  ///   - model: What the file system promises.
  ///   - eventCount: How many events there were when the power failed.
  ///   - seed: Which state of that moment.
  /// - Returns: The state.
  /// - Throws: `LabError` when the trace or the model is broken.
  package static func crash(
    of trace: Trace, model: PersistenceModel, afterEvents eventCount: Int, seed: UInt64
  ) throws(LabError) -> Crash {
    var cut = Trace(initial: trace.initial, events: Array(trace.events.prefix(eventCount)))
    cut.faults = trace.faults.filter { $0.position <= eventCount }
    let enumerator = try CrashStateEnumerator(
      trace: cut, model: model, seed: Seed(rawValue: seed).derived("states"))
    let state = try enumerator.drawFinalState(Seed(rawValue: seed))
    let backend = ImageBackend(growthBytesMax: 4 << 20)
    let isThere = try enumerator.withImage(of: state) { (image) throws(LabError) in
      try backend.load(image, at: fileName)
    }
    return Crash(
      backend: isThere ? backend : nil, marksSeen: state.acknowledgedMarks,
      key: enumerator.key(of: state).description)
  }
}
