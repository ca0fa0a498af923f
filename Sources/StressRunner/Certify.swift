// Certify.swift: `faultline certify`: finds which syncs of a program are needed, with a proof each.

import ArgumentParser
import Exploration
import Findings
import Foundation
import LabCore
import Scenarios
import Workload

struct Certify: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Find out which syncs a program needs.",
    discussion: """
      Faultline leaves out each sync of the workload in turn, and then all syncs of one place in \
      the code. It explores the crash states that the sync would have prevented. A state that \
      breaks a promise proves that the sync is needed, and comes with a replay token. Otherwise \
      the sync is reported as not needed within the bound explored. A scenario with 'sync' gets a \
      certificate for each node.

      First all syncs are kept. A workload that does not hold then gets no certificate (exit code \
      1). A sync that is not needed is not a failure (exit code 0), unless you give \
      --fail-on-redundant.

      Examples:
        faultline certify scenarios/durability/commits.yaml
        faultline certify --setup 'sh setup.sh' --workload 'sh work.sh' --check 'sh check.sh'
        faultline certify --workload 'python3 save.py'
        faultline certify scenarios/durability --model posix --report out --fail-on-redundant
      """)

  @Argument(help: "Scenario files, or folders of them.") var paths: [String] = []
  @Option(help: "Shell command to record. It runs in the directory $FAULTLINE_DIR.") var workload:
    String?
  @OptionGroup var checker: CheckArguments
  @Option(help: "Shell command that prepares the directory. What it writes is durable.")
  var setup: String?
  @OptionGroup var judging: JudgingArguments
  @Option(
    name: [.customLong("backend"), .customLong("door")],
    help: "For scenarios: fuse or in-process. Default: fuse if it works.")
  var backend: BackendChoice?
  @OptionGroup var marks: MarksArguments
  @OptionGroup var faults: FaultArguments
  @OptionGroup var options: ExplorationArguments
  @Flag(help: "Exit with 1 if a sync is not needed.") var failOnRedundant = false
  @Option(help: "Write the certificates as JSON to this file.") var json: String?
  @Option(help: "Write certificate.json, certificate.md and a token for each proof to this folder.")
  var report: String?

  func run() throws {
    let console = Console()
    var settings = try options.settings()
    settings.faults = try faults.rules()
    settings.marks = marks.marks
    guard settings.faults.isEmpty || paths.isEmpty else {
      throw LabError.usage(
        "--fault, --faults: a scenario has its own 'faults'; these go with --workload")
    }
    guard settings.shard.count == 1 else {
      throw LabError.usage(
        "a certificate goes through all syncs in one run, and this is \(try options.shardText()): "
          + "give --shard 1/1")
    }
    try ReportArguments.refuseUnwritable([json, report])
    let models = settings.models.map(\.name).joined(separator: ",")
    console.say(
      "faultline certify  seed=\(settings.seed)"
        + (settings.modelsAreChosen || paths.isEmpty ? "  model=\(models)" : ""))
    var result = CertificateReport(seed: settings.seed.rawValue)
    if paths.isEmpty {
      add(try program(settings, console), to: &result, console)
    } else {
      try addScenarios(to: &result, settings, console)
    }
    try write(result)
    let code = result.exitCode(failsOnRedundant: failOnRedundant)
    if code != .held { throw Leave(code: code) }
  }

  private func program(_ settings: ExplorationSettings, _ console: Console) throws -> Certificate {
    guard let workload else {
      throw LabError.usage("give scenario files, or --workload")
    }
    let program = try ProgramUnderTest(
      workload: workload, setup: setup, judging.judging(try checker.chosen()))
    return try ProgramExplorer(
      program: program, settings: settings, keepingTrace: nil, console: console
    ).certify()
  }

  private func addScenarios(
    to result: inout CertificateReport, _ settings: ExplorationSettings, _ console: Console
  ) throws {
    guard workload == nil, try checker.chosen() == nil, setup == nil, judging.isEmpty else {
      throw LabError.usage("give scenario files, or --workload and what goes with it, but not both")
    }
    let scenarios = try ScenarioRunner.load(paths)
    let runner = try ScenarioRunner(settings: settings, console: console, backend: backend)
    for scenario in scenarios {
      for certificate in try runner.certify(scenario) { add(certificate, to: &result, console) }
      if result.isInterrupted { break }
    }
    try runner.end()
  }

  private func add(
    _ certificate: Certificate, to result: inout CertificateReport, _ console: Console
  ) {
    for line in certificate.lines { console.say(line) }
    result.certificates.append(certificate)
    result.isInterrupted = certificate.isInterrupted
  }

  private func write(_ result: CertificateReport) throws {
    if let json { try ReportArguments.write(try result.json(), to: json) }
    guard let report else { return }
    do {
      try FileManager.default.createDirectory(
        atPath: report, withIntermediateDirectories: true)
    } catch {
      throw LabError.lab("cannot make \(report): \(error.localizedDescription)")
    }
    try ReportArguments.write(try result.json(), to: "\(report)/certificate.json")
    let text = result.certificates.map(\.markdown).joined(separator: "\n")
    try ReportArguments.write(text, to: "\(report)/certificate.md")
    for (index, certificate) in result.certificates.enumerated() {
      for (name, token) in certificate.proofTokens {
        try ReportArguments.write(token + "\n", to: "\(report)/\(index + 1)-\(name).token")
      }
    }
  }
}
