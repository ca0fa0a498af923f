// Shard.swift: one of several runs that share the states of an exploration; a run takes its number
// from its command line, or from the array job or CI matrix that started it.
// Invariant: the n-th state belongs to shard n modulo count, regardless of the machine, the number
// of checkers and their speed, so that all shards together visit every state exactly once.

import LabCore

/// One of several parts of an exploration.
public struct Shard: Hashable, Sendable {
  /// Number of the part, from 0.
  public let index: Int
  /// Number of parts.
  public let count: Int

  /// Most parts of one exploration.
  public static let countMax = 100_000

  /// Makes part `index` of `count`.
  public init(index: Int, of count: Int) {
    precondition(count > 0 && (0..<count).contains(index), "not a shard")
    self.index = index
    self.count = count
  }

  /// The only part.
  public static let whole = Shard(index: 0, of: 1)

  /// The part named by a text such as `2/4`, counted from 1.
  /// - Throws: `LabError` with code `.usage`.
  public static func parse(_ text: String) throws(LabError) -> Shard {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let number = Int(parts[0]), let count = Int(parts[1]),
      (1...countMax).contains(count), (1...count).contains(number)
    else {
      throw .usage(
        "--shard \(text.prefix(60)): write I/N, I from 1 to N and N up to \(countMax), as in 2/4")
    }
    return Shard(index: number - 1, of: count)
  }
}

/// A system that numbers the runs it starts.
struct ShardSource: Sendable {
  /// Environment variable with this run's number.
  let index: String
  /// Environment variables for the number of runs; the first one that is set counts.
  let counts: [String]
  /// The number of the first run, or the variables that hold it and the step to the next.
  let first: Int
  var firstVariable: String?
  var stepVariable: String?

  /// The systems, in the order in which they are checked.
  static let all = [
    ShardSource(
      index: "SLURM_ARRAY_TASK_ID", counts: ["SLURM_ARRAY_TASK_COUNT"], first: 0,
      firstVariable: "SLURM_ARRAY_TASK_MIN", stepVariable: "SLURM_ARRAY_TASK_STEP"),
    ShardSource(
      index: "JOB_COMPLETION_INDEX", counts: ["FAULTLINE_SHARD_COUNT", "JOB_COMPLETIONS"],
      first: 0),
    ShardSource(index: "CI_NODE_INDEX", counts: ["CI_NODE_TOTAL"], first: 1),
    ShardSource(index: "CIRCLE_NODE_INDEX", counts: ["CIRCLE_NODE_TOTAL"], first: 0),
    ShardSource(
      index: "BUILDKITE_PARALLEL_JOB", counts: ["BUILDKITE_PARALLEL_JOB_COUNT"], first: 0),
    ShardSource(
      index: "AWS_BATCH_JOB_ARRAY_INDEX", counts: ["AWS_BATCH_JOB_ARRAY_SIZE"], first: 0),
  ]
}

/// A shard, and the environment variable that selected it, if any.
public struct ShardChoice: Sendable, Hashable {
  /// The part.
  public let shard: Shard
  /// The variable with its number; nil when it came from the command line, or by default.
  public let variable: String?

  /// The part selected on the command line; otherwise the one in the environment; otherwise the
  /// whole.
  /// - Parameters:
  ///   - option: The value of `--shard`, if given.
  ///   - environment: The environment variables.
  /// - Returns: The part and its origin.
  /// - Throws: `LabError` with code `.usage` when numbers are missing or inconsistent.
  public static func make(
    option: String?, environment: [String: String]
  ) throws(LabError) -> ShardChoice {
    if let option { return ShardChoice(shard: try Shard.parse(option), variable: nil) }
    for source in ShardSource.all {
      if let text = environment[source.index], !text.isEmpty {
        return ShardChoice(
          shard: try source.shard(text, environment), variable: source.index)
      }
    }
    return ShardChoice(shard: .whole, variable: nil)
  }
}

extension ShardSource {
  /// The part that the variables select.
  fileprivate func shard(
    _ text: String, _ environment: [String: String]
  ) throws(LabError) -> Shard {
    let number = try number(index, text)
    guard let countVariable = counts.first(where: { !(environment[$0] ?? "").isEmpty }) else {
      throw .usage(
        "\(index)=\(number), but \(counts.joined(separator: " or ")) is not set: set it to the "
          + "number of runs, or give --shard I/N (--shard 1/1 runs all)")
    }
    let count = try self.number(countVariable, environment[countVariable] ?? "")
    let first = try value(firstVariable, environment) ?? self.first
    let step = try value(stepVariable, environment) ?? 1
    guard step > 0 else {
      throw .usage("\(stepVariable ?? "")=\(step): the step of an array is at least 1")
    }
    let (distance, overflow) = number.subtractingReportingOverflow(first)
    guard !overflow, (1...Shard.countMax).contains(count), distance.isMultiple(of: step),
      (0..<count).contains(distance / step)
    else {
      throw .usage(
        "\(index)=\(number) is none of \(countVariable)=\(count) runs from \(first) in steps of "
          + "\(step): number the runs without gaps, or give --shard I/N")
    }
    return Shard(index: distance / step, of: count)
  }

  private func value(
    _ variable: String?, _ environment: [String: String]
  ) throws(LabError) -> Int? {
    guard let variable, let text = environment[variable], !text.isEmpty else { return nil }
    return try number(variable, text)
  }

  private func number(_ variable: String, _ text: String) throws(LabError) -> Int {
    guard let value = Int(text), value >= 0 else {
      throw .usage(
        "\(variable)='\(text.prefix(60))' is not a number; unset it, or give --shard I/N")
    }
    return value
  }
}
