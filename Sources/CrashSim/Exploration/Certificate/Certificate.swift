// Certificate.swift: the result of `faultline certify` as a value; the JSON report is this value.
// Invariant: everything except `seconds` depends only on program, models, seed and budget.

import Findings
import LabCore

/// Everything that one call of `faultline certify` reports.
public struct CertificateReport: JSONReport, Codable, Sendable {
  /// Format of the JSON; increases when a field changes its meaning.
  public var formatVersion = 1
  /// Seed of the run.
  public var seed: UInt64
  /// True when Faultline was asked to stop: the report has what was known then.
  public var isInterrupted = false
  /// One for each scenario, or one for the program.
  public var certificates: [Certificate] = []

  /// Makes an empty report.
  public init(seed: UInt64) { self.seed = seed }

  /// The exit code of the command.
  /// - Parameter failsOnRedundant: Whether a sync that is not needed counts as broken.
  /// - Returns: The code; an interruption has its own code, regardless of the result.
  package func exitCode(failsOnRedundant: Bool) -> ExitCode {
    if isInterrupted { return .interrupted }
    let isBroken = certificates.contains { certificate in
      certificate.outcome == .broken || (failsOnRedundant && certificate.outcome == .redundant)
    }
    return isBroken ? .broken : .held
  }
}

/// The syncs of one program, and which of them are needed.
public struct Certificate: Codable, Sendable {
  /// How a certificate ended.
  public enum Outcome: String, Codable, Sendable {
    /// Every sync is needed, and together they are sufficient.
    case complete
    /// They are sufficient, but no state was found that some of them prevent.
    case redundant
    /// They are insufficient: the program breaks a promise with all of them.
    case broken
    /// Faultline was asked to stop before every sync was checked.
    case interrupted
  }

  /// Name of the certificate of a program.
  static let programName = "certify"

  /// File of the scenario, or `certify`.
  public var name: String
  /// Title of the scenario, or the workload's command.
  public var title: String
  /// The explorations with all syncs kept, one for each model.
  public var baseline: [ExplorationReport] = []
  /// The fault rules under which a program was recorded; nil when there were none.
  public var rules: [RuleOutcome]?
  /// What the recording of a program lacks, which limits the certificate.
  public var skipped: [String]?
  /// The places that issue syncs, in the order of their first syncs.
  public var sites: [CertifiedSite] = []
  /// The result of ignoring all syncs that are not needed one at a time, if they belong to several
  /// sites: one can substitute for another.
  public var together: SyncVerdict?
  /// True when Faultline was asked to stop.
  public var isInterrupted = false
  /// Wall time.
  public var seconds = 0.0

  /// Makes an empty certificate.
  package init(name: String, title: String) {
    self.name = name
    self.title = title
  }

  /// All syncs, in the order of their sites.
  public var syncs: [CertifiedSync] { sites.flatMap(\.syncs) }

  /// The syncs that are not needed when ignored alone.
  public var unneeded: [CertifiedSync] { syncs.filter { $0.verdict?.isNeeded == false } }

  /// The replay token of each proof, with a name for it.
  public var proofTokens: [(name: String, token: String)] {
    let together = together?.proof.map { [("together", $0.token)] } ?? []
    return together
      + sites.flatMap { site in
        site.syncs.compactMap { sync in
          sync.verdict?.proof.map { ("sync-\(sync.event)", $0.token) }
        } + (site.verdict?.proof.map { [("site-\(site.number)", $0.token)] } ?? [])
      }
  }

  /// How it ended.
  public var outcome: Outcome {
    if baseline.contains(where: { !$0.findings.isEmpty }) { return .broken }
    if isInterrupted { return .interrupted }
    return syncs.allSatisfy { $0.verdict?.isNeeded == true } ? .complete : .redundant
  }
}

/// Syncs issued by one place of the program.
public struct CertifiedSite: Codable, Sendable {
  /// Number of the site in its certificate, from 1.
  public var number: Int
  /// What its syncs have in common.
  public var text: String
  /// Its syncs, in order.
  public var syncs: [CertifiedSync]
  /// The result of ignoring all of them; nil when Faultline was stopped before.
  public var verdict: SyncVerdict?
}

/// One sync of the program.
public struct CertifiedSync: Codable, Sendable {
  /// Index of its event in the trace.
  public var event: Int
  /// The call in words.
  public var text: String
  /// The result of ignoring only this sync; nil when Faultline was stopped before.
  public var verdict: SyncVerdict?
}

/// The result of ignoring syncs.
public struct SyncVerdict: Codable, Sendable, Hashable {
  /// The state that the syncs prevent, under the first model that has one; nil when no explored
  /// state breaks a promise.
  public var proof: Finding?
  /// The model of the proof.
  public var model: String?
  /// Number of states judged, up to the proof.
  public var exploredCount = 0
  /// Number of counted states that are possible only when the syncs are ignored.
  public var distinctCount = 0

  /// True when a promise breaks without the syncs.
  public var isNeeded: Bool { proof != nil }
}
