// StressSettings.swift: the settings of a stress run: a program, and how often the power fails.

import CrashStates
import FaultFS
import LabCore
import Recording
import Workload

/// A program under repeated power cuts: shell commands.
package struct StressProgram: Codable, Sendable, Hashable {
  /// The command that runs until the power fails; restarted after every cut.
  package var workload: String
  /// The command that judges each crashed directory.
  package var check: String
  /// Whether the checker is a process that stays; nil is no.
  package var checkStays: Bool?
  /// What prepares the first directory; all it writes is durable.
  package var setup: String?
  /// The command that runs on the surviving directory before the workload is restarted.
  package var recover: String?

  /// Makes a program.
  package init(workload: String, check: String, setup: String? = nil, recover: String? = nil) {
    self.workload = workload
    self.check = check
    self.setup = setup
    self.recover = recover
  }

  /// A scenario: its steps from an empty directory in each round, and its oracles.
  /// - Throws: `LabError` with code `.usage` for a scenario that cannot be a program.
  package static func scenario(
    _ scenario: Scenario, seed: Seed
  ) throws(LabError) -> StressProgram {
    if let reason = ScenarioProgram.refusal(scenario) {
      throw .usage("\(scenario.file): \(reason); use faultline run")
    }
    if scenario.documents != nil {
      let program = DocumentProgram.commands(
        scenario, program: "\"$\(StressRun.commandName)\"", staying: false)
      return StressProgram(
        workload: program.workload, check: program.check, setup: program.setup)
    }
    let commands = ScenarioProgram.commands(
      scenario, seed: seed, program: "\"$\(StressRun.commandName)\"")
    return StressProgram(workload: commands.work, check: commands.judge)
  }

  /// Whether the checker is Faultline's own, which distinguishes its own limits from verdicts.
  var isJudgedByLab: Bool {
    self == .engine || check.hasPrefix("exec \"$\(StressRun.commandName)\" ")
  }

  /// The built-in program: processes of several threads that commit to one database of the engine,
  /// or a drawn history.
  ///
  /// A process that was killed (137), or that got an error from the disk (75), is restarted.
  package static let engine = StressProgram(
    workload: """
      [ -z "$\(StressRun.drawnName)" ] || \(ofHistory(ScenarioWork.self))
      pids=
      for p in $FAULTLINE_PROCESSES; do
        ( g=0
          while :; do
            "$\(StressRun.commandName)" \(StressLoad.shellWords) $p $g; s=$?
            case $s in
              137|75) g=$((g + 1)) ;;
              *) exit $s ;;
            esac
            [ $g -lt 60 ] || { echo "process $p never got through" >&2; exit 76; }
          done ) & pids="$pids $!"
      done
      e=0; for p in $pids; do wait $p || e=$?; done; exit $e
      """,
    check: """
      [ -z "$\(StressRun.drawnName)" ] || \(ofHistory(ScenarioJudge.self))
      exec "$\(StressRun.commandName)" \(StressJudge.shellWords)
      """)

  /// A child of the scenario that replaces the load in the life.
  private static func ofHistory(_ child: any ScenarioChild.Type) -> String {
    let name = "\(BuiltInScenario.prefix)$\(StressRun.drawnName)"
    return "exec \"$\(StressRun.commandName)\" \(child.shellWords) \"\(name)\" 1"
  }
}

/// The faults that lives of a stress run may draw.
package enum DrawnFaults: Sendable {
  case none
  /// Those that no call reports.
  case silent
  case all

  /// The faults that a scenario's steps can handle.
  package init(for scenario: Scenario) {
    self = !scenario.faults.isEmpty ? .none : scenario.goesOnAfterFailures ? .all : .silent
  }
}

/// The settings of a stress run.
package struct StressSettings: Sendable {
  /// Power cuts to make; nil for no limit.
  package var cuts: Int? = 100
  /// Time limit in seconds; nil for no limit.
  package var seconds: Int?
  /// Whether cuts happen after given times instead of numbers of operations.
  package var cutsAtTimes = false
  /// Whether the first finding ends the run.
  package var failsFast = false
  /// Most kills without a power cut in each round.
  package var killsPerRound = 0
  /// Number of events within which the power fails.
  package var eventsPerRound = 400
  /// The model of possible states after a power cut.
  package var model = PersistenceModel.ext4Ordered
  /// Random seed of all choices.
  package var seed = Seed(rawValue: 1)
  /// Fault rules that are in force in every round, with new counts in each.
  package var faults: [FaultRule] = []
  /// How the mounts write mapped pages back, if at all.
  package var writeBack: PageWriteBack?
  /// What of the workload's output is one acknowledgement.
  package var marks = MarkUnit.lines
  /// Seconds after which a checker, a recovery or a round has failed.
  package var timeoutSeconds = 20
  /// Whether growth of this process is reported; false if it also does other work.
  var watchesLeaks = true
  /// Where to save failing rounds, if at all.
  package var reportDirectory: String?
  /// The options of the built-in workload; nil for a user's program.
  package var load: EngineLoadOptions?
  /// Rounds after which the next life begins, unless drawn otherwise; nil is never.
  ///
  /// The complete output of the built-in workload in a life is judged after each of its rounds.
  package var roundsPerLife: Int?
  /// One in this many rounds continues until the workload ends; 0 is none.
  package var wholeRoundEvery = 0
  /// Whether the program is a scenario, for which no load is drawn.
  package var isScenario = false
  /// The content of the built-in workload's histories, which replace the load; nil is the load.
  package var drawn: HistoryContent?
  /// Whether histories may replace the load in lives.
  package var drawsHistories = false
  /// The faults that a scenario's lives may draw.
  package var drawnFaults = DrawnFaults.all
  /// Rules of the scenario, in force in every round, before the drawn ones.
  package var ownFaults: [FaultRule] = []
  /// Whether each life of the built-in workload draws its options from the seed.
  package var isSwarm = false
  /// The options of every life, instead of drawn ones.
  package var lifeOptions: StressLifeOptions?
  /// Applies the user's choices to drawn options.
  package var choose: @Sendable (inout StressLifeOptions) -> Void = { _ in }
  /// Whether a failed life is repeated with fewer options.
  package var thins = true
  /// Where to write the run's figures after each round, if at all.
  package var metricsPath: String?

  /// The defaults.
  package init() {}
}
