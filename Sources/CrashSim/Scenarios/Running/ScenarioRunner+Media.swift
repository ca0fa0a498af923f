// ScenarioRunner+Media.swift: explores faults of the medium at rest in a recorded scenario.

import CrashStates
import EngineExploration
import Exploration
import Findings
import Foundation
import LabCore
import Workload

extension ScenarioRunner {
  /// Damages the files of a recorded scenario, and has the states judged.
  func exploreMedia(
    _ scenario: Scenario, _ media: MediaDeclaration, _ plan: WorkloadPlan, _ tracePath: String,
    firstNumber: Int
  ) throws(LabError) -> ExplorationReport {
    let (job, media) = mediaJob(scenario, media, plan, tracePath)
    let choice = opened.mount == nil ? BackendChoice.inProcess : nil
    let explorer = MediaExplorer(
      job: job, declaration: media, directory: run.path, settings: settings, console: console,
      token: { state, shape in
        let recipe = ScenarioRecipe(
          of: scenario, seed: job.seed, place: .media(state: state, shape: shape), backend: choice)
        return ReplayRecipe.scenario(recipe).token
      })
    var report = try explorer.explore(title: scenario.title, firstNumber: firstNumber)
    report.line = scenario.lines.media
    report.recording = 0
    return report
  }

  private func mediaJob(
    _ scenario: Scenario, _ media: MediaDeclaration, _ plan: WorkloadPlan, _ tracePath: String
  ) -> (EngineJob, MediaDeclaration) {
    var media = media
    media.budgetStates = min(media.budgetStates, settings.budget ?? media.budgetStates)
    // The model does not matter: everything recorded is durable.
    var job = EngineJob(
      tracePath: tracePath, plan: plan, model: PersistenceModel.strict.specification,
      seed: seed(of: scenario).rawValue)
    job.media = media
    return (job, media)
  }

  /// Judges one state again.
  func replay(
    _ scenario: Scenario, _ plan: WorkloadPlan, _ recipe: ScenarioRecipe, _ state: MediaState,
    shape: String, _ directory: String?
  ) throws(LabError) -> Finding? {
    guard let media = scenario.media else {
      throw .usage("\(scenario.file) no longer has 'media'")
    }
    let (tracePath, _) = try record(scenario, plan, as: "trace")
    var (job, declaration) = mediaJob(scenario, media, plan, tracePath)
    job.seed = recipe.seed
    let trace = try job.trace()
    try refuse(trace.shape, unless: shape)
    guard state.eventCount <= trace.events.count else {
      throw .usage("the token's state lies after the end of the recording")
    }
    let jobPath = "\(run.path)/job-replay.json"
    try job.save(to: jobPath)
    let judge = try MediaJudge(job, declaration)
    if let directory { try CrashDirectory.keep(try judge.tree(of: state), in: directory) }
    let client = EngineJudgeClient(jobPath: jobPath, timeoutSeconds: settings.timeoutSeconds)
    let result = try client.ask(.media(state))
    guard !result.ending.isSuccess else { return nil }
    return MediaFindingMaker(trace: trace).finding(
      number: 1, state, try judge.damagedBytes(of: state), result, stateCount: 1,
      token: ReplayRecipe.scenario(recipe).token)
  }
}
