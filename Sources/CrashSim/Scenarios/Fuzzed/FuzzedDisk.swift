// FuzzedDisk.swift: the whole of Faultline in one process for one fuzz input: the engine on the
// faulty file tree through the embedded backend, recorded, with a power failure at any point.
// Invariant: a crash state is one that the model allows at its crash point; the choice depends only
// on the trace, the model and the seed.

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

  /// A crash state: the file's bytes, nil if it does not exist, and the marks before the crash.
  package struct Crash {
    package let backend: ImageBackend?
    package let marksSeen: Int
    /// The kept units, as in a replay token.
    package let key: String
  }

  /// Makes an empty disk and starts recording.
  /// - Throws: `LabError` when an empty tree does not fit.
  package init() throws(LabError) {
    fileSystem = try SimulatedFileSystem(quotaBytes: 32 << 20)
    fileSystem.beginRecording()
  }

  /// Opens or creates the database.
  package func open(_ options: Database.Options) throws(EngineError) -> Database {
    try fileSystem.openDatabase(Self.fileName, options: options)
  }

  /// Records an acknowledgement.
  package func mark(_ text: String) { fileSystem.mark(Array(text.utf8)) }

  /// Adds fault rules.
  package func addRules(_ rules: [FaultRule]) throws(LabError) { try fileSystem.addRules(rules) }

  /// Removes all fault rules.
  package func clearRules() { fileSystem.clearRules() }

  /// Ends the recording.
  package func endRecording() -> Trace { fileSystem.endRecording() }

  /// One crash state of a recording.
  /// - Parameters:
  ///   - trace: The recording.
  ///   - model: The file system's guarantees.
  ///   - eventCount: Number of events before the power failure.
  ///   - seed: Selects a state of that moment.
  /// - Returns: The state.
  /// - Throws: `LabError` when the trace or the model is invalid.
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
