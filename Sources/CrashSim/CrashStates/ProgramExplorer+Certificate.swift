// ProgramExplorer+Certificate.swift: `faultline certify` for any program: recorded once, explored
// with each of its syncs ignored.

extension ProgramExplorer {
  /// Records, checks the checker, and goes through the syncs.
  /// - Returns: The certificate; what is known so far when the lab is asked to stop.
  public func certify() throws(LabError) -> Certificate {
    do throws(LabError) {
      let trace = try record()
      try makeCheckers()
      try refuseBadChecker(trace)
      return try CertificateMaker(
        run: CertifiableProgram(explorer: self, trace: trace), name: Certificate.programName,
        title: program.workload
      ).make()
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
  let trace: Trace
  var models: [PersistenceModel] { explorer.settings.models }

  func explore(
    ignoring ignoredSyncs: [Int], under model: PersistenceModel, progress: String
  ) throws(LabError) -> ExplorationReport {
    try explorer.explore(
      trace, under: model, ignoring: ignoredSyncs, firstNumber: 1,
      console: explorer.console.about(progress))
  }
}
