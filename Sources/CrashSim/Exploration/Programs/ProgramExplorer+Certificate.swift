// ProgramExplorer+Certificate.swift: `faultline certify` for any program: recorded once, explored
// with each of its syncs ignored.

import CrashStates
import Findings
import LabCore
import Recording

extension ProgramExplorer {
  /// Records, checks the checker, and iterates over the syncs.
  /// - Returns: The certificate, which is partial when Faultline is asked to stop.
  public func certify() throws(LabError) -> Certificate {
    do throws(LabError) {
      let target = try makeTarget(try record(on: nil), model: settings.models.first, system: nil)
      var unrecorded = unrecorded(target.trace)
      try refuseBadChecker(target, &unrecorded)
      var certificate = try CertificateMaker(
        run: CertifiableProgram(explorer: self, target: target), name: Certificate.programName,
        title: program.workload
      ).make()
      certificate.skipped = unrecorded.isEmpty ? nil : unrecorded
      certificate.rules = notes.rules.isEmpty ? nil : notes.rules
      return certificate
    } catch {
      guard error.code == .interrupted else { throw error }
      var certificate = Certificate(name: Certificate.programName, title: program.workload)
      certificate.isInterrupted = true
      return certificate
    }
  }
}

/// A recorded program.
private struct CertifiableProgram: CertifiableRun {
  let explorer: ProgramExplorer
  let target: ExplorationTarget
  var trace: Trace { target.trace }
  var models: [PersistenceModel] { explorer.settings.models }

  func explore(
    ignoring ignoredSyncs: [Int], under model: PersistenceModel, progress: String
  ) throws(LabError) -> ExplorationReport {
    var target = target
    target.model = model
    target.ignoredSyncs = ignoredSyncs
    return try ProgramExploration(
      program: explorer.program, settings: explorer.settings, target: target,
      console: explorer.console.about(progress)
    ).explore(firstNumber: 1)
  }
}
