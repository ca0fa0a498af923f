// WorkflowTests.swift: the ready CI files are YAML, and every option in them exists.

import Foundation
import TestSupport
import Testing
import Yams

@Suite("workflows")
struct WorkflowTests {
  /// A call of the command in a script.
  private struct Call {
    let subcommand: String
    let options: [String]
    let arguments: [String]
  }

  private static let files = ["github-actions.yml", "gitlab-ci.yml"]

  private func text(_ file: String, in folder: String = "docs/how-to/ci") throws -> String {
    let path = "\(FaultlineCommand.repository)/\(folder)/\(file)"
    return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }

  /// All texts in a document.
  private func scalars(_ node: Node) -> [String] {
    switch node {
    case .scalar(let scalar): [scalar.string]
    case .sequence(let list): list.flatMap(scalars)
    case .mapping(let map): map.flatMap { scalars($0.key) + scalars($0.value) }
    case .alias: []
    }
  }

  private func calls(in file: String) throws -> [Call] {
    let root = try #require(try Yams.compose(yaml: try text(file)))
    return scalars(root).flatMap { $0.split(separator: "\n") }.flatMap { line -> [Call] in
      line.replacing("&&", with: ";").split(separator: ";").compactMap { part in
        let words = part.split(separator: " ").map(String.init)
        guard let place = words.firstIndex(where: { $0.hasSuffix("/faultline") }),
          place == 0, words.count > 1
        else { return nil }
        return Call(
          subcommand: words[1], options: words.filter { $0.hasPrefix("--") }, arguments: words)
      }
    }
  }

  // What a scenario needs and the machine lacks is skipped, and the README's own command must not
  // end with that.
  @Test("make run installs what makes the file systems that scenarios use")
  func packages() throws {
    let program = try RunningProgram(
      ["/usr/bin/make", "-n", "run"], in: FaultlineCommand.repository)
    let plan = program.wait().output
    for package in ["e2fsprogs", "xfsprogs", "btrfs-progs"] {
      #expect(plan.contains(" \(package)"), "\(plan)")
    }
    #expect(!plan.contains(" gdb"), "the control: what only tests need")
  }

  @Test("make peers installs every suite that it runs")
  func peersPackages() throws {
    let program = try RunningProgram(
      ["/usr/bin/make", "-n", "peers"], in: FaultlineCommand.repository)
    let plan = program.wait().output
    let packages = [
      "e2fsprogs", "fio", "stress-ng", "gcc", "libpython3.11-testsuite", "tcl8.6-dev",
    ]
    for package in packages { #expect(plan.contains(" \(package)"), "\(plan)") }
    #expect(plan.contains("Tests/Peers/peers.py"), "\(plan)")
    #expect(!plan.contains(" btrfs-progs"), "the control: what only scenarios need")
  }

  @Test("every call has a subcommand and options that exist", arguments: files)
  func options(file: String) throws {
    let calls = try calls(in: file)
    #expect(Set(calls.map(\.subcommand)) == ["run", "merge"], "\(calls)")
    #expect(calls.count >= 4)
    for call in calls {
      let help = try FaultlineCommand().run([call.subcommand, "--help"])
      #expect(help.status == 0)
      let known = Set(
        help.output.split(whereSeparator: { " ,\n[]/".contains($0) }).map(String.init))
      for option in call.options {
        #expect(known.contains(option), "\(file): faultline \(call.subcommand) has no \(option)")
      }
      #expect(!known.contains("--no-such-option"), "the control")
    }
  }

  @Test("both run shards of one whole, and join them")
  func shards() throws {
    let gitHub = try #require(
      try Yams.load(yaml: try text("github-actions.yml")) as? [String: Any])
    let jobs = try #require(gitHub["jobs"] as? [String: [String: Any]])
    let matrix = (jobs["scenarios"]?["strategy"] as? [String: Any])?["matrix"] as? [String: Any]
    let shards = try #require(matrix?["shard"] as? [Int])
    let runs = try calls(in: "github-actions.yml").filter { $0.options.contains("--json") }
    #expect(runs.count == 2)
    for run in runs {
      let place = try #require(run.arguments.firstIndex(of: "--shard"))
      let value = run.arguments[(place + 1)...].prefix(3).joined(separator: " ")
      #expect(value == "${{ matrix.shard }}/\(shards.count)", "\(value)")
    }
    #expect(shards == Array(1...shards.count))
    let gitLab = try #require(try Yams.load(yaml: try text("gitlab-ci.yml")) as? [String: Any])
    #expect((gitLab["scenarios"] as? [String: Any])?["parallel"] as? Int == 4)
    // GitLab's numbers are taken from the environment, so the option would be a second opinion.
    #expect(try calls(in: "gitlab-ci.yml").allSatisfy { !$0.options.contains("--shard") })
    #expect(try text("gitlab-ci.yml").contains("$CI_NODE_INDEX"))
  }

  @Test("every job of GitLab's file names a stage that exists, and jobs that are needed exist")
  func jobs() throws {
    let gitLab = try #require(try Yams.load(yaml: try text("gitlab-ci.yml")) as? [String: Any])
    let stages = try #require(gitLab["stages"] as? [String])
    for (name, value) in gitLab where !["stages", "default"].contains(name) {
      let job = try #require(value as? [String: Any], "\(name)")
      #expect(job["script"] is [String], "\(name)")
      if let stage = job["stage"] as? String { #expect(stages.contains(stage), "\(name)") }
      for need in job["needs"] as? [Any] ?? [] {
        let needed = need as? String ?? (need as? [String: Any])?["job"] as? String
        #expect(needed.map { gitLab[$0] != nil } == true, "\(name) needs \(need)")
      }
    }
    let gitHub = try #require(
      try Yams.load(yaml: try text("github-actions.yml")) as? [String: Any])
    let jobs = try #require(gitHub["jobs"] as? [String: [String: Any]])
    for (name, job) in jobs {
      if let need = job["needs"] as? String { #expect(jobs[need] != nil, "\(name)") }
      let steps = try #require(job["steps"] as? [[String: Any]], "\(name)")
      for step in steps { #expect((step["run"] == nil) != (step["uses"] == nil), "\(step)") }
    }
  }

  @Test("both nightly files run the Makefile's nightly targets, each of which is there")
  func nightly() throws {
    let makefile = try text("Makefile", in: ".")
    let list = try #require(makefile.split(separator: "\n").first { $0.hasPrefix("NIGHTLY := ") })
    let targets = list.dropFirst("NIGHTLY := ".count).split(separator: " ").map(String.init)
    #expect(targets.count >= 8)
    let rules = makefile.split(separator: "\n").filter { $0.hasSuffix(": setup") }
      .flatMap { $0.dropLast(": setup".count).split(separator: " ").map(String.init) }
    for target in targets { #expect(rules.contains(target), "\(target)") }
    let gitHub = try #require(
      try Yams.load(yaml: try text("nightly.yml", in: ".github/workflows")) as? [String: Any])
    #expect(gitHub["jobs"] is [String: Any] && gitHub["permissions"] is [String: String])
    let jobs = try #require(gitHub["jobs"] as? [String: [String: Any]])
    let job = try #require(jobs["nightly"])
    let strategy = try #require(job["strategy"] as? [String: Any])
    #expect((strategy["matrix"] as? [String: [String]]) == ["target": targets])
    #expect(strategy["fail-fast"] as? Bool == false)
    let steps = try #require(job["steps"] as? [[String: Any]])
    for step in steps { #expect((step["run"] == nil) != (step["uses"] == nil), "\(step)") }
    #expect(
      steps.contains { $0["run"] as? String == "make nightly NIGHTLY=${{ matrix.target }}" })
    let gitLab = try #require(
      try Yams.load(yaml: try text("gitlab-nightly.yml")) as? [String: [String: Any]])
    let parallel = try #require(gitLab["nightly"]?["parallel"] as? [String: [[String: [String]]]])
    #expect(parallel == ["matrix": [["TARGET": targets]]])
    #expect(gitLab["nightly"]?["script"] as? [String] == ["make nightly NIGHTLY=$TARGET"])
  }
}
