// FaultlineCommand.swift: the built `faultline` as a user runs it, in a directory of its own.

import Findings
import Foundation
import TestSupport

/// What one run of the command left.
struct CommandResult {
  let status: Int32
  /// Standard output and standard error together.
  let output: String

  var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// The command that the last line names, without its label.
  var replayToken: String? {
    let prefix = "replay: faultline replay "
    guard let last = lines.last, last.hasPrefix(prefix) else { return nil }
    return String(last.dropFirst(prefix.count))
  }

  /// True when some line begins with this text.
  func hasLine(_ text: String) -> Bool { lines.contains { $0.hasPrefix(text) } }

  /// The lines of all findings that name a missing sync, joined.
  var missing: String {
    var isMissing = false
    return lines.filter { line in
      if line.hasPrefix("  missing") { isMissing = true }
      if line.hasPrefix("  possible") { isMissing = false }
      return isMissing
    }.joined(separator: "\n")
  }
}

/// Runs the command beside the test bundle.
struct FaultlineCommand {
  static let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()
  static let program = folder.appendingPathComponent("faultline").path
  static let repository = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

  /// What would make the command check a part only, where the tests are an array job themselves.
  private static let shardVariables = [
    "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "CI_NODE_INDEX", "CIRCLE_NODE_INDEX",
    "BUILDKITE_PARALLEL_JOB", "AWS_BATCH_JOB_ARRAY_INDEX",
  ]

  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }
  /// In a directory that is there.
  init(in directory: TemporaryDirectory) { self.directory = directory }

  /// Starts the command in the temporary directory.
  func start(_ arguments: [String], environment: [String: String] = [:]) throws -> RunningProgram {
    let variables = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    return try RunningProgram(
      ["/usr/bin/env", "-u", "CI", "-u", "GITHUB_ACTIONS", "-u", "NO_COLOR"]
        + Self.shardVariables.flatMap { ["-u", $0] } + variables
        + [Self.program] + arguments,
      in: directory.path)
  }

  func run(_ arguments: [String], environment: [String: String] = [:]) throws -> CommandResult {
    let result = try start(arguments, environment: environment).wait()
    return CommandResult(status: result.status, output: result.output)
  }

  /// Explores commands given in place.
  func explore(
    setup: String? = nil, workload: String, check: String, _ more: [String] = []
  ) throws -> CommandResult {
    try run(Self.exploration(setup: setup, workload: workload, check: check) + more)
  }

  static func exploration(setup: String? = nil, workload: String, check: String) -> [String] {
    ["explore", "--workload", workload, "--check", check]
      + (setup.map { ["--setup", $0] } ?? [])
  }

  /// The arguments that explore an example; each script's own arguments come as one text.
  static func example(
    _ name: String, setup: String = "", workload: String = "", check: String = ""
  ) -> [String] {
    func script(_ file: String, _ arguments: String) -> String {
      "sh '\(repository)/examples/\(name)/\(file).sh' \(arguments)"
    }
    return exploration(
      setup: script("setup", setup), workload: script("workload", workload),
      check: script("check", check))
  }

  /// Writes a file below the temporary directory.
  func write(_ text: String, to name: String) throws -> String {
    let path = directory.file(name)
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    return path
  }

  func text(_ name: String) throws -> String {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: directory.file(name)))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The report that `--json NAME` wrote.
  func report(_ name: String) throws -> RunReport {
    try JSONDecoder().decode(RunReport.self, from: Data(try text(name).utf8))
  }
}
