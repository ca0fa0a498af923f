// StressRun+Replay.swift: repeats one failing round: runs from the setup's tree, with every stop at
// the same place, or judges it as saved.

import CrashStates
import Findings
import LabCore
import Recording

extension StressRun {
  /// Runs the rounds of a recipe again, and judges the last one's state.
  /// - Parameters:
  ///   - recipe: The failure.
  ///   - directory: Where to keep the crashed directory, if at all.
  /// - Returns: The checker's answer, and the state in words.
  /// - Throws: `LabError` with code `.nondeterminism` when the rounds were different.
  package func replay(
    _ recipe: StressRecipe, keepingImageIn directory: String?
  ) throws(LabError) -> (result: CheckResult, finding: Finding) {
    guard !recipe.stops.isEmpty, recipe.firstRound >= 0 else {
      throw .usage("the token names no round")
    }
    try prepare()
    var life = Life(firstRound: recipe.firstRound, tree: setupTree, settings: settings)
    for (offset, stops) in recipe.stops.enumerated() {
      let number = recipe.firstRound + offset
      let record = try makeRound(number, of: life, stops: stops).play(on: life.tree)
      if number == recipe.round {
        return try conclude(recipe, record, life, keepingImageIn: directory)
      }
      let judged = try judge(record, number, life)
      if judged.failure != nil { throw Self.otherSchedule(recipe, "round \(number) failed") }
      if let limit = judged.limit { throw Self.notJudged(number, limit) }
      life.tree = judged.tree
      life.acknowledged = judged.acknowledged
    }
    preconditionFailure("the last of the stops is the failing round's")
  }

  private func conclude(
    _ recipe: StressRecipe, _ record: RoundRecord, _ life: Life, keepingImageIn directory: String?
  ) throws(LabError) -> (result: CheckResult, finding: Finding) {
    guard record.trace.shape == recipe.shape else {
      throw Self.otherSchedule(recipe, "its trace has the shape \(record.trace.shape)")
    }
    var judged = Judged()
    judged.acknowledged = life.acknowledged + record.trace.marks.flatMap(\.bytes)
    guard recipe.state != nil else {
      judged = try judge(record, recipe.round, life)
      if let limit = judged.limit { throw Self.notJudged(recipe.round, limit) }
      let result = judged.failure ?? CheckResult(ending: .exited(0), output: "")
      var recipe = recipe
      return (result, try explain(result, record, recipe.round, judged, settings, &recipe))
    }
    return try judge(
      recipe, record.trace, acknowledged: judged.acknowledged, keepingImageIn: directory)
  }

  /// Judges the state of a recipe in its round's trace, either recorded again or saved.
  private func judge(
    _ recipe: StressRecipe, _ trace: Trace, acknowledged: [UInt8], keepingImageIn directory: String?
  ) throws(LabError) -> (result: CheckResult, finding: Finding) {
    guard let key = recipe.state.flatMap({ StateKey(parsing: $0) }) else {
      throw .usage("the token's state '\(recipe.state ?? "none")' cannot be read")
    }
    let enumerator = try makeEnumerator(trace, recipe.round, settings)
    let state = try enumerator.state(for: key)
    if let directory {
      try enumerator.withImage(of: state) { (image) throws(LabError) in
        try CrashDirectory.keep(image.treeImage(), in: directory)
      }
    }
    let judge = judgement(
      of: enumerator, acknowledged: acknowledged, round: recipe.round, settings)
    let result = try judge(state)
    if let limit = limit(of: result, settings) { throw Self.notJudged(recipe.round, limit) }
    let maker = try FindingMaker(enumerator: enumerator, model: settings.model)
    let finding = try maker.finding(
      number: 1, state: state, result: result, stateCount: 1,
      token: ReplayRecipe.stress(recipe).token, context: "round \(recipe.round)"
    ) { (other) throws(LabError) in try judge(other).ending.isSuccess }
    return (result, finding)
  }

  /// Judges the failing round of a recipe as saved, without running it.
  /// - Throws: `LabError` with code `.usage` when the directory contains no such round.
  package func judge(
    _ recipe: StressRecipe, kept: KeptRound, keepingImageIn directory: String?
  ) throws(LabError) -> (result: CheckResult, finding: Finding) {
    let trace = try TraceFile.load(kept.tracePath)
    guard trace.shape == recipe.shape else {
      throw .usage("\(kept.directory) holds another round than the token's; give the one it names")
    }
    try kept.copyState(to: stateDirectory)
    return try judge(
      recipe, trace, acknowledged: try kept.acknowledged(), keepingImageIn: directory)
  }

  private static func notJudged(_ round: Int, _ limit: String) -> LabError {
    .lab("round \(round) cannot be judged: \(limit)")
  }

  private static func otherSchedule(_ recipe: StressRecipe, _ what: String) -> LabError {
    LabError(
      .nondeterminism,
      "the rounds went another way this time: \(what), the token's is \(recipe.shape) in round "
        + "\(recipe.round); processes and threads side by side have another schedule each time. "
        + "The round as it was is judged by --kept REPORT/round-\(recipe.round), if it was kept "
        + "(faultline stress --report REPORT)")
  }
}
