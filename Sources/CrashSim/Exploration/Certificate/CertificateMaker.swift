// CertificateMaker.swift: iterates over the syncs of a recorded run, ignores each, then all of each
// site, then all that were not needed alone, and looks for a state that breaks a promise.
// Invariant: a sync counts as needed only with a state that a crash may leave without it, that a
// crash cannot leave with it, and that the checker rejects; other results include the number of
// states on which they are based.

import CrashStates
import Findings
import LabCore
import Recording

/// A recorded run whose crash states can be explored with some of its syncs ignored.
package protocol CertifiableRun {
  /// The recorded run.
  var trace: Trace { get }
  /// The models to explore, one after another.
  var models: [PersistenceModel] { get }

  /// Explores the run.
  /// - Parameters:
  ///   - ignoredSyncs: Syncs that the disk ignores; if given, the exploration ends at the first
  ///     state that breaks a promise. Empty to explore the original run completely.
  ///   - model: The model.
  ///   - progress: The subject of the exploration, for the progress line.
  /// - Returns: The extent of the exploration, and its findings.
  /// - Throws: Whatever recording and judging throw.
  func explore(
    ignoring ignoredSyncs: [Int], under model: PersistenceModel, progress: String
  ) throws(LabError) -> ExplorationReport
}

/// Makes the certificate of one run.
package struct CertificateMaker {
  let run: any CertifiableRun
  let name: String
  let title: String

  package init(run: any CertifiableRun, name: String, title: String) {
    self.run = run
    self.name = name
    self.title = title
  }

  /// Explores with all syncs, and if that holds, without each sync and without each site.
  package func make() throws(LabError) -> Certificate {
    let clock = ContinuousClock()
    let start = clock.now
    var certificate = Certificate(name: name, title: title)
    do throws(LabError) {
      try fill(&certificate)
    } catch {
      guard error.code == .interrupted else { throw error }
      certificate.isInterrupted = true
    }
    certificate.seconds = start.duration(to: clock.now).inSeconds
    return certificate
  }

  private func fill(_ certificate: inout Certificate) throws(LabError) {
    for model in run.models {
      let report = try run.explore(ignoring: [], under: model, progress: "all syncs kept")
      certificate.baseline.append(report)
      if report.isInterrupted { throw .interrupted }
    }
    guard certificate.outcome != .broken else { return }
    listSites(&certificate)
    try judge(&certificate)
  }

  private func listSites(_ certificate: inout Certificate) {
    let paths = PathIndex(run.trace)
    for (index, site) in SyncSite.all(in: run.trace).enumerated() {
      let syncs = site.syncs.map { event in
        CertifiedSync(event: event, text: run.trace.sentence(ofEvent: event, paths: paths))
      }
      certificate.sites.append(CertifiedSite(number: index + 1, text: site.text, syncs: syncs))
    }
  }

  private func judge(_ certificate: inout Certificate) throws(LabError) {
    let total = certificate.syncs.count
    var number = 0
    for site in certificate.sites.indices {
      for index in certificate.sites[site].syncs.indices {
        number += 1
        let sync = certificate.sites[site].syncs[index]
        certificate.sites[site].syncs[index].verdict = try verdict(
          without: [sync.event], progress: "sync \(number) of \(total) ignored")
      }
      let syncs = certificate.sites[site].syncs
      certificate.sites[site].verdict =
        syncs.count == 1
        ? syncs[0].verdict
        : try verdict(
          without: syncs.map(\.event), progress: "site \(site + 1) ignored")
    }
    let concerned = certificate.sites.count { site in
      site.syncs.contains { $0.verdict?.isNeeded == false }
    }
    guard concerned > 1 else { return }
    certificate.together = try verdict(
      without: certificate.unneeded.map(\.event).sorted(),
      progress: "all that are not needed alone ignored")
  }

  /// The first proof that syncs are needed; without one, the number of states explored.
  private func verdict(without syncs: [Int], progress: String) throws(LabError) -> SyncVerdict {
    var verdict = SyncVerdict()
    for model in run.models {
      let report = try run.explore(ignoring: syncs, under: model, progress: progress)
      verdict.exploredCount += report.exploredCount
      verdict.distinctCount += report.distinctCount
      if let proof = report.findings.first {
        verdict.proof = proof
        verdict.model = model.name
        return verdict
      }
      // A verdict on half of the states would look like one on all.
      if report.isInterrupted { throw .interrupted }
    }
    return verdict
  }
}

extension Trace {
  /// An event's operation in words; empty for a mark.
  fileprivate func sentence(ofEvent event: Int, paths: PathIndex) -> String {
    guard case .operation(let operation) = events[event].body else { return "" }
    return operation.sentence(at: event, paths: paths)
  }
}
