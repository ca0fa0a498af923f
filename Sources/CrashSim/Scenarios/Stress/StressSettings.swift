// StressSettings.swift: what a stress run does: a program, and how often the power goes under it.

import CrashStates
import FaultFS
import LabCore
import Recording
import Workload

/// A program under repeated power cuts: shell commands.
package struct StressProgram: Codable, Sendable, Hashable {
  /// What runs until the power goes; started again after every cut.
  package var workload: String
  /// What judges each crashed directory.
  package var check: String
  /// Whether the checker is a process that stays; nil is no.
  package var checkStays: Bool?
  /// What prepares the first directory; all it writes is durable.
  package var setup: String?
  /// What runs on the surviving directory before the workload is started again.
  package var recover: String?

  /// Makes a program.
  package init(workload: String, check: String, setup: String? = nil, recover: String? = nil) {
    self.workload = workload
    self.check = check
    self.setup = setup
    self.recover = recover
  }

  /// A scenario: its steps from an empty directory in each round, and its oracles.
  /// - Throws: `LabError` with code `.usage` for one that is not a program.
  package static func scenario(
    _ scenario: Scenario, seed: Seed
  ) throws(LabError) -> StressProgram {
    if let reason = ScenarioProgram.refusal(scenario) {
      throw .usage("\(scenario.file): \(reason); use faultline run")
    }
    let commands = ScenarioProgram.commands(
      scenario, seed: seed, program: "\"$\(StressRun.commandName)\"")
    return StressProgram(workload: commands.work, check: commands.judge)
  }

  /// Whether the checker is the lab's own, which tells a limit of its own from a verdict.
  var isJudgedByLab: Bool {
    self == .engine || check.hasPrefix("exec \"$\(StressRun.commandName)\" ")
  }

  /// The built-in one: processes of several threads that commit to one database of the engine, or
  /// a drawn history.
  ///
  /// A process that was killed (137), or that the disk refused something (75), is started anew.
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

  /// A child of the scenario that the life has in place of the load.
  private static func ofHistory(_ child: any ScenarioChild.Type) -> String {
    let name = "\(BuiltInScenario.prefix)$\(StressRun.drawnName)"
    return "exec \"$\(StressRun.commandName)\" \(child.shellWords) \"\(name)\" 1"
  }
}

/// Which faults the lives of a stress run may draw.
package enum DrawnFaults: Sendable {
  case none
  /// Those that no call reports.
  case silent
  case all

  /// What the steps of a scenario can live with.
  package init(for scenario: Scenario) {
    self = !scenario.faults.isEmpty ? .none : scenario.goesOnAfterFailures ? .all : .silent
  }
}

/// How a stress run goes.
package struct StressSettings: Sendable {
  /// Power cuts to make; nil has no limit.
  package var cuts: Int? = 100
  /// Seconds to go on; nil has no limit.
  package var seconds: Int?
  /// Whether cuts come at times and not after numbers of operations.
  package var cutsAtTimes = false
  /// Whether the first finding ends the run.
  package var failsFast = false
  /// Most kills without a power cut in each round.
  package var killsPerRound = 0
  /// Events within which the power goes.
  package var eventsPerRound = 400
  /// What the disk may leave.
  package var model = PersistenceModel.ext4Ordered
  /// The number from which all choices follow.
  package var seed = Seed(rawValue: 1)
  /// Fault rules that are in force in every round, counting anew in each.
  package var faults: [FaultRule] = []
  /// How the mounts write mapped pages back, if at all.
  package var writeBack: PageWriteBack?
  /// What of the workload's output is one acknowledgement.
  package var marks = MarkUnit.lines
  /// Seconds after which a checker, a recovery or a round has failed.
  package var timeoutSeconds = 20
  /// Whether growth of this process is a complaint; not where others work in it.
  var watchesLeaks = true
  /// Where failing rounds are kept, if anywhere.
  package var reportDirectory: String?
  /// How the built-in workload works; nil for a program of the user's.
  package var load: EngineLoadOptions?
  /// Rounds after which the next life begins, where nothing else is drawn; nil is never.
  ///
  /// All that the built-in workload said in a life is judged after each of its rounds.
  package var roundsPerLife: Int?
  /// Of so many rounds one goes on until the workload ends; 0 is none.
  package var wholeRoundEvery = 0
  /// Whether the program is a scenario, which has no load to draw.
  package var isScenario = false
  /// What the histories of the built-in workload write, in place of the load; nil is the load.
  package var drawn: HistoryContent?
  /// Whether lives may have histories in place of the load.
  package var drawsHistories = false
  /// Which faults a scenario's lives may draw.
  package var drawnFaults = DrawnFaults.all
  /// Rules of the scenario, in force in every round before those that are drawn.
  package var ownFaults: [FaultRule] = []
  /// Whether each life of the built-in workload draws its options from the seed.
  package var isSwarm = false
  /// The options of every life, in place of drawn ones.
  package var lifeOptions: StressLifeOptions?
  /// Takes what the user has chosen into options that were drawn.
  package var choose: @Sendable (inout StressLifeOptions) -> Void = { _ in }
  /// Whether a life that failed is played again with fewer options.
  package var thins = true
  /// Where the run's figures go after each round, if anywhere.
  package var metricsPath: String?

  /// The defaults.
  package init() {}
}
