// ShardTests.swift: which part of the states a run checks, by its command line or its environment.

import CrashStates
import LabCore
import Testing

@Suite("Shards")
struct ShardTests {
  private func choice(
    _ option: String? = nil, _ environment: [String: String] = [:]
  ) throws -> ShardChoice {
    try ShardChoice.make(option: option, environment: environment)
  }

  @Test("a text names a part, counted from 1")
  func text() throws {
    #expect(try Shard.parse("1/1") == .whole)
    #expect(try Shard.parse("2/4") == Shard(index: 1, of: 4))
    for text in [
      "", "/", "1", "0/4", "5/4", "-1/4", "1/0", "1/-1", "a/b", "1/2/3", " 1/2", "1/100001",
      "1/99999999999999999999",
    ] {
      #expect(throws: LabError.self, "\(text)") { try Shard.parse(text) }
    }
  }

  @Test(
    "array jobs and CI matrices name their part",
    arguments: [
      (["SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_COUNT": "4"], 2, 4),
      (
        [
          "SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "1",
        ], 0, 4
      ),
      (
        [
          "SLURM_ARRAY_TASK_ID": "16", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "10",
          "SLURM_ARRAY_TASK_STEP": "2",
        ], 3, 4
      ),
      (["JOB_COMPLETION_INDEX": "0", "FAULTLINE_SHARD_COUNT": "3"], 0, 3),
      (["JOB_COMPLETION_INDEX": "2", "JOB_COMPLETIONS": "3"], 2, 3),
      (["CI_NODE_INDEX": "3", "CI_NODE_TOTAL": "3"], 2, 3),
      (["CIRCLE_NODE_INDEX": "1", "CIRCLE_NODE_TOTAL": "2"], 1, 2),
      (["BUILDKITE_PARALLEL_JOB": "0", "BUILDKITE_PARALLEL_JOB_COUNT": "2"], 0, 2),
      (["AWS_BATCH_JOB_ARRAY_INDEX": "4", "AWS_BATCH_JOB_ARRAY_SIZE": "5"], 4, 5),
    ])
  func environment(variables: [String: String], index: Int, count: Int) throws {
    let found = try choice(nil, variables)
    #expect(found.shard == Shard(index: index, of: count))
    #expect(variables[found.variable ?? ""] != nil)
    // The command line wins, and nothing set means the whole.
    #expect(try choice("1/2", variables).shard == Shard(index: 0, of: 2))
    #expect(try choice("1/2", variables).variable == nil)
  }

  @Test("nothing set, or set to nothing, is the whole")
  func whole() throws {
    #expect(try choice().shard == .whole)
    #expect(try choice(nil, ["SLURM_ARRAY_TASK_ID": "", "PATH": "/bin"]).shard == .whole)
  }

  @Test(
    "numbers that are missing or do not fit are errors that name the variable",
    arguments: [
      (["SLURM_ARRAY_TASK_ID": "2"], "SLURM_ARRAY_TASK_COUNT"),
      (["SLURM_ARRAY_TASK_ID": "4", "SLURM_ARRAY_TASK_COUNT": "4"], "SLURM_ARRAY_TASK_ID=4"),
      (
        [
          "SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_MIN": "1",
        ], "without gaps"
      ),
      (
        ["SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_STEP": "0"],
        "SLURM_ARRAY_TASK_STEP=0"
      ),
      (["JOB_COMPLETION_INDEX": "1"], "FAULTLINE_SHARD_COUNT"),
      (["CI_NODE_INDEX": "0", "CI_NODE_TOTAL": "3"], "CI_NODE_INDEX=0"),
      (["CI_NODE_INDEX": "x", "CI_NODE_TOTAL": "3"], "CI_NODE_INDEX='x'"),
      (["CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "0"], "CI_NODE_TOTAL=0"),
      (
        ["CIRCLE_NODE_INDEX": "9223372036854775807", "CIRCLE_NODE_TOTAL": "2"], "CIRCLE_NODE_INDEX"
      ),
    ])
  func wrong(variables: [String: String], message: String) throws {
    do {
      _ = try choice(nil, variables)
      Issue.record("\(variables) was taken")
    } catch let error as LabError {
      #expect(error.code == .usage)
      #expect(error.message.contains(message), "\(error.message)")
    }
  }

  @Test("any number of shards takes each selected state once", arguments: [1, 2, 3, 5, 7, 64])
  func partition(count: Int) throws {
    let trace = makeRandomTrace(
      seed: Seed(rawValue: 4), operations: 40, syncChance: Ratio(1, in: 6))
    for budget in [nil, 60] as [Int?] {
      let enumerator = try CrashStateEnumerator(
        trace: trace, model: .ext4Ordered, seed: Seed(rawValue: 1))
      let plan = try enumerator.plan(budget: budget)
      func visited(_ shard: Shard) throws -> [ExploredState] {
        var found: [ExploredState] = []
        try enumerator.visit(plan, shard: shard) { (state, _) throws(LabError) in
          found.append(state)
          return .goOn
        }
        return found
      }
      let whole = try visited(.whole)
      #expect(whole.count == plan.selected && whole.count >= 60)
      var joined: [ExploredState] = []
      for index in 0..<count {
        let shard = Shard(index: index, of: count)
        let part = try visited(shard)
        #expect(part.count == plan.selectedCount(in: shard))
        joined += part
      }
      #expect(joined.sorted { $0.ordinal < $1.ordinal } == whole)
    }
  }
}
