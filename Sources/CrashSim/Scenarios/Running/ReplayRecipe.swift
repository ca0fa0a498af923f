// ReplayRecipe.swift: everything that a replay token can refer to: a state of an explored program,
// a failure of a scenario, a round of a stress run.

import CrashStates
import Findings
import LabCore
import Workload

/// How to reproduce one failure.
package enum ReplayRecipe: Codable, Sendable, Hashable {
  /// A state of an explored program.
  case explore(ExploreRecipe)
  /// A state of a scenario's crash exploration.
  case scenario(ScenarioRecipe)
  /// A round of a stress run.
  case stress(StressRecipe)

  /// The recipe of a token.
  /// - Throws: `LabError` with code `.usage` for anything that is not a token.
  package init(token: String) throws(LabError) {
    let numbered: NumberedSteps? = try? ReplayToken.decode(token)
    guard numbered?.namesStep != true else {
      throw .usage(
        "the replay token has a fault rule with 'during:' by the number of a step, as older "
          + "versions wrote it; phases are names now: run the same command again for a new token")
    }
    self = try ReplayToken.decode(token)
    if case .scenario(let recipe) = self {
      try ScenarioLanguage.check(recipe.language, of: "the replay token's scenario")
    }
  }

  /// Content of an old stress token that this version does not support.
  private struct NumberedSteps: Decodable {
    struct Stress: Decodable {
      let _0: Recipe
    }
    struct Recipe: Decodable {
      let faults: [Rule]
    }
    struct Rule: Decodable {
      let when: Match
    }
    struct Match: Decodable {
      let commitStep: Int?
    }

    let stress: Stress
    var namesStep: Bool { stress._0.faults.contains { $0.when.commitStep != nil } }
  }

  /// The argument of `faultline replay`.
  package var token: String { ReplayToken.encode(self) }
}

/// A failure of a scenario.
package struct ScenarioRecipe: Codable, Sendable, Hashable {
  /// The place of a failure in the scenario.
  package enum Place: Codable, Sendable, Hashable {
    /// A crash state under a model: its key and the trace's shape.
    case crash(model: String, state: String, shape: String)
    /// A crash while recovering from a crash state, with the key of the second state.
    case recovery(model: String, state: String, shape: String, second: String)
    /// The process was killed at the n-th operation, before or after the operation took effect.
    case kill(operation: Int, before: Bool)
    /// A crash state of a run in which the process was killed there, or of its recovery.
    case killedCrash(
      operation: Int, before: Bool, model: String, state: String, shape: String, second: String?)
    /// The n-th operation among those of the scenario's sweep failed.
    case fault(operation: Int)
    /// Faults of the medium at rest, and the trace's shape.
    case media(state: MediaState, shape: String)
    /// A schedule of concurrent steps, without a crash.
    case schedule(String)
    /// A crash state of the recording of such a schedule, or of its recovery.
    case scheduledCrash(
      schedule: String, model: String, state: String, shape: String, second: String?)
    /// A crash state of a life of a node of a synchronized realm.
    case node(name: String, life: Int, model: String, state: String, shape: String)
    /// The n-th operation of a node among those of the scenario's sweep failed.
    case nodeFault(name: String, operation: Int)
    /// Accidents of nodes of a synchronized realm, in a round of a stress run.
    case accidents([NodeAccident])
    /// The run itself, without a crash.
    case run
  }

  /// The scenario file, as given.
  package var path: String
  /// Seed of the run.
  package var seed: UInt64
  /// The place of the failure.
  package var place: Place
  /// The backend of the recording; nil is the mount, if possible.
  package var backend: BackendChoice?
  /// Events of syncs that the disk ignores, counted without shared memory; nil if all work.
  package var ignoredSyncs: [Int]?
  /// Fingerprint of the scenario's text and the engine; nil in tokens of older versions.
  package var fingerprint: ReplayFingerprint?
  /// Number of the scenario's history, from 0; nil for a scenario without histories.
  package var history: Int?
  /// Version of the language in which the scenario was parsed; nil in tokens of older versions,
  /// which means 1.
  package var language: Int?

  // Tokens use `door`, as in the first versions, so that tokens of all versions can be replayed.
  private enum CodingKeys: String, CodingKey {
    case path, seed, place, ignoredSyncs, fingerprint, history, language
    case backend = "door"
  }

  /// Makes a recipe.
  package init(path: String, seed: UInt64, place: Place, backend: BackendChoice? = nil) {
    self.path = path
    self.seed = seed
    self.place = place
    self.backend = backend
  }

  /// Makes a recipe for a failure of the current scenario, or of one of its histories.
  init(of scenario: Scenario, seed: UInt64, place: Place, backend: BackendChoice? = nil) {
    self.init(path: scenario.file, seed: seed, place: place, backend: backend)
    fingerprint = scenario.fingerprint
    history = scenario.historyNumber
    language = ScenarioLanguage.version
  }
}
