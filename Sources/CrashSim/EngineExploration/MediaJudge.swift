// MediaJudge.swift: the child's side: advances a file to the moment of a state, damages it, and has
// it judged. Judges many states one after another, with the progress file of EngineShard, so that a
// trap or a hang is the verdict of its state.

import CrashStates
import Exploration
import Findings
import Foundation
import LabCore
import Oracles
import Recording

/// Judges the states of one job in this process.
package final class MediaJudge {
  private let declaration: MediaDeclaration
  private let check: EngineCheck
  private let trace: Trace
  private let backend = ImageBackend()
  private var history: MediumHistory
  /// The file that was damaged last, before the damage.
  private var subject: (path: String, eventCount: Int, bytes: [UInt8], map: StructureMap)?

  package init(_ job: EngineJob, _ declaration: MediaDeclaration) throws(LabError) {
    self.declaration = declaration
    trace = try job.trace()
    check = try EngineCheck(job.plan, marks: trace.marks)
    history = MediumHistory(trace, sectorBytes: declaration.sectorBytes)
  }

  /// Judges a state.
  /// - Parameters:
  ///   - state: The state.
  ///   - ordinal: Its number.
  /// - Returns: The result.
  /// - Throws: `LabError` with code `.usage` when the recording has no such file.
  func judge(
    _ state: MediaState, ordinal: Int = 0
  ) throws(LabError) -> (verdict: MediaVerdict, violations: [Violation]) {
    let (path, before, map) = try subject(of: state)
    let bytes = history.bytes(at: path, with: state.faults) ?? []
    let damage = MediaDamage(bytes, was: before, state.faults, map)
    let file = EngineCheck.DamagedFile(
      path: path, version: map.version, marksSeen: history.marksSeen,
      versionsBack: declaration.versionsBack(over: damage),
      isUsable: declaration.promisesUse(despite: damage), damage: state.phrase(map))
    backend.load(bytes)
    return try check.judge(backend, file, ordinal: ordinal)
  }

  /// The file that a state damages, before the damage.
  func subject(
    of state: MediaState
  ) throws(LabError) -> (path: String, bytes: [UInt8], map: StructureMap) {
    guard let path = state.faults.first?.file else {
      throw .usage("the token's state has no fault of the medium")
    }
    if let subject, subject.path == path, subject.eventCount == state.eventCount {
      return (path, subject.bytes, subject.map)
    }
    if state.eventCount < history.eventCount {
      history = MediumHistory(trace, sectorBytes: declaration.sectorBytes)
    }
    history.advance(to: state.eventCount)
    guard let bytes = history.bytes(at: path) else {
      throw .usage("the recording has no file '\(path)' after \(state.eventCount) events")
    }
    do throws(XRayFault) {
      let map = try StructureMap(bytes)
      subject = (path, state.eventCount, bytes, map)
      return (path, bytes, map)
    } catch {
      throw .lab("'\(path)' is unsound without any fault of the medium: \(error)")
    }
  }

  /// The whole tree of a state.
  package func tree(of state: MediaState) throws(LabError) -> TreeImage {
    _ = try subject(of: state)
    return history.tree(with: state.faults)
  }

  /// A file before and after its damage.
  package func damagedBytes(of state: MediaState) throws(LabError) -> DamagedBytes {
    let (path, before, map) = try subject(of: state)
    return DamagedBytes(
      path: path, before: before, after: history.bytes(at: path, with: state.faults) ?? [],
      map: map)
  }
}

extension MediaState {
  /// The faults, and the affected parts of the file, without numbers of bytes, so that states of
  /// one class have the same text.
  func phrase(_ map: StructureMap) -> String {
    faults.map { "\($0.phrase) in \(map.name(at: $0.offsetBytes))" }.joined(separator: " and ")
  }
}

extension EngineShard {
  /// Judges the states of one shard: those visited after the ordinal before `first`.
  static func runMedia(
    _ job: EngineJob, _ declaration: MediaDeclaration, shard: Shard, from first: Int,
    progress progressPath: String
  ) throws(LabError) {
    let plan = try job.mediaPlan(declaration)
    let judge = try MediaJudge(job, declaration)
    let progress = try ProgressFile(path: progressPath)
    var done = ShardProgress()
    for ordinal in plan.visits(of: shard, after: first > 0 ? first - 1 : nil) {
      done.ordinal = ordinal
      progress.write(done)
      let (verdict, violations) = try judge.judge(plan.states[ordinal], ordinal: ordinal)
      done.media.add(verdict)
      done.states += 1
      guard !violations.isEmpty else { continue }
      try print(
        .failure(ordinal: ordinal, key: "\(ordinal)", second: nil, violations: violations))
    }
    try print(.done(states: done.states, recoveryStates: 0, media: done.media))
  }
}
