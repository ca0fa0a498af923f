// Calibration.swift: compares a persistence model with the file system that it is named after.
// Each probe runs on both. Each result of a crash of the real file system must be one that the
// model allows after the same number of acknowledged steps; results that only the model allows are
// counted.
// Invariant: the model's side is exhaustive, or it is an error: a "forbidden" outcome occurs in no
// state of the model.

import CrashStates
import Foundation
import LabCore
import Recording

/// One probe under one model and on one file system.
package struct CalibrationResult: Sendable, Hashable {
  /// The probe's name.
  package let probe: String
  /// The model's name.
  package let model: String
  /// The file system, in the form of `--on`.
  package let system: String
  /// Number of crash states mounted.
  package let stateCount: Int
  /// Outcomes that the real file system left, with the number of acknowledged steps.
  package let seen: Set<CalibrationOutcome>
  /// Outcomes that the model allows.
  package let allowed: Set<CalibrationOutcome>

  /// Outcomes of the real file system that the model forbids, without known ones.
  package var forbidden: [CalibrationOutcome] { contradictions.filter { why($0) == nil } }
  /// Outcomes of the real file system that the model forbids, and that
  /// docs/explanation/crash-model.md excludes.
  package var known: [(outcome: CalibrationOutcome, reason: String)] {
    contradictions.compactMap { outcome in why(outcome).map { (outcome, $0) } }
  }
  /// Outcomes that only the model allows.
  package var unseen: [CalibrationOutcome] { allowed.subtracting(seen).sorted() }

  private var contradictions: [CalibrationOutcome] { seen.subtracting(allowed).sorted() }

  private func why(_ outcome: CalibrationOutcome) -> String? {
    KnownDifference.all.first {
      $0.model == model && $0.probes.contains(probe) && $0.isMeant(outcome)
    }?.reason
  }
}

/// Behavior of a file system that its model cannot express; section 8 of
/// docs/explanation/crash-model.md.
struct KnownDifference: Sendable {
  let model: String
  let probes: [String]
  let isMeant: @Sendable (CalibrationOutcome) -> Bool
  let reason: String

  static let all = [
    KnownDifference(
      model: "ext4-ordered", probes: ["rename-over"],
      isMeant: { $0.tree == "a=.*100" },
      reason: "with dioread_nolock a rename starts the new file's write-back and does not wait for "
        + "it, which shows on a busy machine"),
    KnownDifference(
      model: "ext4-writeback", probes: ["unlink-sync-other"],
      isMeant: { $0 == CalibrationOutcome(steps: 2, tree: "a=n*100 c=") },
      reason: "with data=writeback a freed block is reused before the removal that freed it is "
        + "durable"),
    KnownDifference(
      model: "btrfs", probes: CalibrationProbe.all.filter(\.tearsSectors).map(\.name),
      isMeant: { $0.tree.hasPrefix("file system broken: btrfs: it does not mount") },
      reason: "a superblock of 4,096 bytes is written in place, and a sector of 512 tears it"),
    KnownDifference(
      model: "btrfs",
      probes: [
        "sync-rename-fsync-new-directory", "sync-replace-fsync-new-directory",
        "sync-whiteout-fsync-new-directory",
      ],
      isMeant: { outcome in
        let hasNewName = ["e/n=a*100", "e/b=a*100"].contains { outcome.tree.contains($0) }
        return outcome.steps == 2 && hasNewName && outcome.tree.contains("d/a=a*100")
      },
      reason:
        "fsync of the directory of the new name logs that name alone, so that the old one may "
        + "stay beside it"),
  ]
}

/// The result of a crash after a number of acknowledged steps.
package struct CalibrationOutcome: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Acknowledged steps.
  package let steps: Int
  /// The tree: see `OutcomeText`.
  package let tree: String

  /// Orders by steps, then by the tree.
  package static func < (a: CalibrationOutcome, b: CalibrationOutcome) -> Bool {
    (a.steps, a.tree) < (b.steps, b.tree)
  }

  /// For example `after 2 steps: a=n*100`.
  package var description: String { "after \(Formatting.counted(steps, "step")): \(tree)" }
}

/// Compares models with real file systems.
package final class Calibration {
  /// Stock models of file systems for which the kernel has drivers, with those file systems.
  package static let stockPairs: [(model: PersistenceModel, system: KernelFileSystem)] = [
    (.ext4Ordered, KernelFileSystem(.ext4)),
    (.ext4Writeback, KernelFileSystem(.ext4, options: "data=writeback")),
    (.ext4Journal, KernelFileSystem(.ext4, options: "data=journal")),
    (.xfs, KernelFileSystem(.xfs)),
    (.btrfs, KernelFileSystem(.btrfs)),
  ]
  /// Number of crash states mounted for each recording of a probe.
  package static let defaultBudget = 60
  /// Number of crash states mounted for probes of syncs: those that keep nothing, or everything,
  /// after a mark come first.
  private static let syncBudget = 10
  /// Most pending units for which every set is tried.
  private static let exhaustiveUpTo = 16
  /// Time limit of a probe in seconds.
  private static let timeoutSeconds = 60

  private let run: RunDirectory
  private let seed: Seed
  private let budget: Int

  /// Prepares a calibration in its own run directory.
  /// - Throws: `LabError` when no run directory can be created.
  package init(seed: Seed, budget: Int = defaultBudget) throws(LabError) {
    self.seed = seed
    self.budget = budget
    run = try RunDirectory()
  }

  deinit {
    run.killPrograms()
    run.remove()
  }

  /// Runs one probe on both sides.
  /// - Throws: `LabError` when a recording fails, or when the probe is too large for the model.
  package func compare(
    _ probe: CalibrationProbe, _ model: PersistenceModel, with system: KernelFileSystem
  ) throws(LabError) -> CalibrationResult {
    let allowed = try outcomes(of: probe, under: model)
    var seen: Set<CalibrationOutcome> = []
    var stateCount = 0
    let stage = try DeviceStage(
      DeviceCheck(system: system), slot: try run.subdirectory("calibration"))
    let program = try LineProcess.program()
    var moments: [(CalibrationMoment?, Int)] = [(nil, 0)]
    let steps = probe.isOfSyncs ? 0 : probe.steps.count
    for step in stride(from: 1, through: steps, by: 1) {
      moments += CalibrationMoment.allCases.map { ($0, step) }
    }
    for (moment, step) in moments {
      try Interruption.check()
      let program = try probe.program(moment, after: step) { moment in
        CalibrationStep(moment, on: system).shellCommand(program: "'\(program)'")
      }
      let recorder = ProgramRecorder(run: run, timeoutSeconds: Self.timeoutSeconds)
      let trace = try recorder.record(program, on: system)
      let disk = probe.tearsSectors ? PersistenceModel.sectorDevice : .blockDevice
      // With eight sectors per block, more of the states are the journal's: twice the budget.
      let states =
        probe.isOfSyncs
        ? min(budget, Self.syncBudget) : probe.tearsSectors ? 2 * budget : budget
      stateCount += try addOutcomes(of: trace, on: stage, disk, budget: states, to: &seen)
    }
    return CalibrationResult(
      probe: probe.name, model: model.name, system: system.description, stateCount: stateCount,
      seen: seen, allowed: allowed)
  }

  /// The outcomes that the model allows, after each number of steps.
  private func outcomes(
    of probe: CalibrationProbe, under model: PersistenceModel
  ) throws(LabError) -> Set<CalibrationOutcome> {
    let recorder = ProgramRecorder(run: run, timeoutSeconds: Self.timeoutSeconds)
    let trace = try recorder.record(try probe.program { _ in "" })
    var options = ExplorationOptions(
      exhaustiveUpTo: Self.exhaustiveUpTo, tornUnits: probe.tearsSectors ? 4 : 0)
    options.comparesTimes = true
    let enumerator = try CrashStateEnumerator(
      trace: trace, model: model, seed: seed, options: options)
    var window = PendingWindow(table: enumerator.table)
    for _ in 1..<enumerator.table.crashPointCount {
      window.advance()
      guard window.count <= Self.exhaustiveUpTo else {
        throw .lab(
          "probe \(probe.name): \(window.count) units are pending under \(model.name), at most "
            + "\(Self.exhaustiveUpTo) are gone through exhaustively; make the probe shorter")
      }
    }
    var found: Set<CalibrationOutcome> = []
    try enumerator.visit(enumerator.plan()) { (explored, image) throws(LabError) in
      found.insert(
        CalibrationOutcome(
          steps: explored.state.acknowledgedMarks, tree: OutcomeText.line(of: image.treeImage())))
      return .goOn
    }
    return found
  }

  /// Mounts the crash states of a recording and adds their contents.
  private func addOutcomes(
    of trace: Trace, on stage: DeviceStage, _ disk: PersistenceModel, budget: Int,
    to seen: inout Set<CalibrationOutcome>
  ) throws(LabError) -> Int {
    let enumerator = try CrashStateEnumerator(trace: trace, model: disk, seed: seed)
    var found: Set<CalibrationOutcome> = []
    var count = 0
    try enumerator.visit(enumerator.plan(budget: budget)) { (explored, image) throws(LabError) in
      try Interruption.check()
      let steps = explored.state.acknowledgedMarks
      count += 1
      if let verdict = try stage.present(image.treeImage()) {
        found.insert(CalibrationOutcome(steps: steps, tree: verdict.headline))
        return .goOn
      }
      let tree = Result { () throws(LabError) in try DirectoryReader.read(stage.directory) }
      _ = try stage.withdraw()
      found.insert(CalibrationOutcome(steps: steps, tree: OutcomeText.line(of: try tree.get())))
      return .goOn
    }
    seen.formUnion(found)
    return count
  }
}
