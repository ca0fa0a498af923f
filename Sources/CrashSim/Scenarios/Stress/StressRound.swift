// StressRound.swift: one round of a stress run: mount a tree, recover, work, kill, cut the power.
// The order of a cut: the trace freezes, later writes are acknowledged and dropped, the processes
// are killed and reaped, the file system is unmounted, its daemon ends. A crash state is chosen
// from the trace afterwards, and the next round mounts it in a new daemon.
// Invariant: a round depends only on its tree and its seed, as far as the program allows: the
// moments of kills and cuts are counted in events, not in time, unless times are requested.

import CSystem
import Dispatch
import Exploration
import FaultFS
import Foundation
import LabCore
import Recording

/// The record of a round.
struct RoundRecord {
  /// All operations and acknowledgements up to the power cut.
  var trace: Trace
  /// The events after which the processes were killed; see `StressRecipe.stops`.
  var stops: [Int]
  /// Number of events when the workload ended by itself; nil if it was still running.
  var ownEnd: Int?
  /// A command that failed without a disturbance.
  var failure: (role: String, ending: ProcessEnding, output: String)?
  /// Number of injected faults of each kind.
  var faults: [(kind: String, count: Int)] = []
  /// The daemon's resources before unmounting.
  var daemon: ProcessFootprint?
}

/// One round.
struct StressRound {
  let program: StressProgram
  let settings: StressSettings
  let run: RunDirectory
  /// Number of the round in the run, from 0.
  let number: Int
  /// Whether there was a power cut before, so that recovery is needed.
  let recovers: Bool
  /// Number of events within which the power fails.
  let window: Int
  /// The moments of an earlier run, to be repeated.
  var stops: [Int]?

  /// The seed of a round's choices.
  static func seed(of number: Int, _ seed: Seed) -> Seed {
    seed.derived("round").derived(UInt64(number))
  }

  /// Runs the round on a tree.
  /// - Throws: `LabError` when Faultline fails or is asked to stop.
  func play(on tree: TreeImage) throws(LabError) -> RoundRecord {
    let path = "\(run.path)/round.sqlite"
    try TraceFile.save(Trace(initial: tree), to: path)
    var options = FaultFSOptions()
    options.marks = settings.marks
    options.writeBack = settings.writeBack.map {
      PageWriteBack(seed: Self.seed(of: number, Seed(rawValue: $0.seed)).rawValue, rate: $0.rate)
    }
    let fileSystem = try FaultFSClient(
      mountPoint: try run.subdirectory("mount"), options: options,
      cpu: csystem_first_allowed_cpu())
    defer { try? fileSystem.shutdown() }
    try fileSystem.load(path)
    try fileSystem.addRules(settings.faults)
    try fileSystem.beginRecording()
    var record = RoundRecord(trace: Trace(initial: TreeImage()), stops: [])
    var random = PRNG(Self.seed(of: number, settings.seed))
    let isWhole =
      settings.wholeRoundEvery > 0 && random.chance(Ratio(1, in: settings.wholeRoundEvery))
    let kills =
      stops.map { $0.count - 1 } ?? (isWhole ? 0 : random.below(settings.killsPerRound + 1))
    for segment in 0...kills where record.failure == nil {
      try play(
        Part(number: segment, isLast: segment == kills, isWhole: isWhole), on: fileSystem,
        drawing: &random, into: &record)
    }
    record.daemon = ProcessFootprint(process: fileSystem.daemonProcess)
    record.faults = zip(settings.faults, try fileSystem.ruleHits()).map {
      ($0.what.word, $1.hitCount)
    }
    try fileSystem.endRecording(savingTo: path)
    try fileSystem.shutdown()
    record.trace = try TraceFile.load(path)
    return record
  }

  /// A part of a round, up to a kill or the power cut.
  private struct Part {
    let number: Int
    let isLast: Bool
    /// Nothing disturbs it: every process must complete its work.
    let isWhole: Bool
  }

  /// Runs the commands until they are killed, or end.
  private func play(
    _ part: Part, on fileSystem: FaultFSClient, drawing random: inout PRNG,
    into record: inout RoundRecord
  ) throws(LabError) {
    let begun = try fileSystem.statistics().orderedCount
    let timer: StopTimer?
    if settings.cutsAtTimes && stops == nil && !part.isWhole {
      let milliseconds = 1 + random.below(Self.millisecondsMax)
      // Clears the last stop, so that a stop that was reached belongs to this part.
      try fileSystem.stop(StopPoint(after: Int.max, isPowerCut: part.isLast))
      timer = StopTimer(fileSystem, after: milliseconds, isPowerCut: part.isLast)
    } else {
      timer = nil
      let drawn = part.isWhole ? StressRecipe.atEnd : begun + draw(&random)
      let events = stops?[part.number] ?? drawn
      try fileSystem.stop(
        StopPoint(
          after: events == StressRecipe.atEnd ? Int.max : events, isPowerCut: part.isLast))
    }
    defer { timer?.end() }
    var stage = ProgramStage(run: run, timeoutSeconds: settings.timeoutSeconds)
    stage.environment = try StressRun.environment(round: number, settings)
    stage.environment[StressRun.segmentName] = "\(part.number)"
    stage.endsWhenStopped = true
    if let recover = program.recover, recovers || part.number > 0 {
      let ending = try stage.execute(recover, on: fileSystem, acknowledges: false)
      if try !note(ending, of: "recovery", stage, fileSystem, &record) { return }
    }
    let ending = try stage.execute(program.workload, on: fileSystem, acknowledges: true)
    guard try note(ending, of: "workload", stage, fileSystem, &record) else { return }
    timer?.end()
    let statistics = try fileSystem.statistics()
    record.ownEnd = statistics.orderedCount
    record.stops.append(StressRecipe.atEnd)
    // Replaces a stop that was not reached.
    if part.isLast { try fileSystem.stop(StopPoint(after: nil, isPowerCut: true)) }
  }

  /// Number of events until a stop; a quarter of them are early, during recovery and creation.
  private func draw(_ random: inout PRNG) -> Int {
    let isEarly = random.chance(Ratio(1, in: 4))
    return 1 + random.below(isEarly ? max(2, window / 16) : window)
  }

  /// Handles the end of a command.
  /// - Returns: Whether the round continues: the command succeeded before any stop.
  private func note(
    _ ending: ProcessEnding, of role: String, _ stage: ProgramStage, _ fileSystem: FaultFSClient,
    _ record: inout RoundRecord
  ) throws(LabError) -> Bool {
    if let events = try fileSystem.statistics().stoppedAtEvents {
      record.stops.append(events)
      return false
    }
    if ending.isSuccess { return true }
    record.failure = (role, ending, stage.output)
    record.stops.append(StressRecipe.atEnd)
    return false
  }

  /// Longest time until a stop, if times are requested.
  private static let millisecondsMax = 300
}

/// Stops the clients after a time, unless it is ended before.
private final class StopTimer: Sendable {
  private let cancelled = DispatchSemaphore(value: 0)
  private let done = DispatchGroup()

  init(_ fileSystem: FaultFSClient, after milliseconds: Int, isPowerCut: Bool) {
    done.enter()
    let thread = Thread { [self] in
      if cancelled.wait(timeout: .now() + .milliseconds(milliseconds)) == .timedOut {
        // If the daemon has exited, the code that waits for the workload reports that.
        try? fileSystem.stop(StopPoint(after: nil, isPowerCut: isPowerCut))
      }
      done.leave()
    }
    thread.start()
  }

  /// After this returns, no stop happens.
  func end() {
    cancelled.signal()
    done.wait()
  }
}
