// PackageTests.swift: the parts of the package that need no build of it: control file, manual
// pages, completions, and the action and component that use it. `make dist-test` tries it.

import Foundation
import LabCore
import TestSupport
import Testing
import Yams

/// Files at the repository's root.
enum Packaging {
  static func text(_ path: String) throws -> String {
    try String(contentsOfFile: "\(FaultlineCommand.repository)/\(path)", encoding: .utf8)
  }

  static func yaml(_ path: String) throws -> Node {
    try #require(try Yams.compose(yaml: try text(path)))
  }
}

@Suite("package")
struct PackageTests {
  private func shell(_ script: String, in command: FaultlineCommand) throws -> ProgramResult {
    let setUp = "cd '\(command.directory.path)'; PATH='\(FaultlineCommand.folder.path)':$PATH; "
    return try runShell(
      setUp + script.replacing("REPOSITORY", with: FaultlineCommand.repository), in: "/")
  }

  private func visibleCommands() throws -> [String] {
    let dump = try FaultlineCommand().run(["--experimental-dump-help"])
    let root = try JSONDecoder().decode(
      CommandDescription.Root.self, from: Data(dump.output.utf8))
    return (root.command.subcommands ?? []).filter { $0.shouldDisplay != false }
      .map(\.commandName).filter { $0 != "help" }
  }

  @Test("the control file has the version of the commands, and what dpkg-deb asks for")
  func control() throws {
    let command = try FaultlineCommand()
    let result = try shell(
      """
      mkdir -p p/DEBIAN p/usr/bin && echo x > p/usr/bin/x &&
      sh 'REPOSITORY/packaging/control.sh' '\(LabVersion.text)' amd64 40000 2.36 12 \
        > p/DEBIAN/control &&
      dpkg-deb --root-owner-group --build p p.deb && dpkg-deb --field p.deb Version Depends
      """, in: command)
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("Version: \(LabVersion.text)\n"), "\(result.output)")
    for package in ["libc6 (>= 2.36)", "libstdc++6 (>= 12)", "libsqlite3-0", "fuse3"] {
      #expect(result.output.contains(package), "\(package): \(result.output)")
    }
    // Debian 12 and 13 have different ones, so the package can ask for neither.
    #expect(!result.output.contains("libfuse3"), "\(result.output)")
  }

  @Test("each command has a manual page with its options, which man reads without complaint")
  func manual() throws {
    let command = try FaultlineCommand()
    let result = try shell(
      """
      faultline --experimental-dump-help |
        /usr/bin/python3 REPOSITORY/packaging/manual.py 1.2.3 man && ls man
      """, in: command)
    #expect(result.status == 0, "\(result.output)")
    let pages = try visibleCommands().map { "faultline-\($0).1" } + ["faultline.1"]
    #expect(pages.count > 10)
    #expect(result.output.split(separator: "\n").map(String.init).sorted() == pages.sorted())
    let page = try command.text("man/faultline-explore.1")
    #expect(page.contains(".B \\-\\-workload WORKLOAD\n") && page.contains("\"faultline 1.2.3\""))
    #expect(page.contains("echo new > t"))
    #expect(try command.text("man/faultline-fault.1").contains(".B faultline fault add\n"))
  }

  @Test("completions know each command", arguments: ["bash", "zsh", "fish"])
  func completions(shell: String) throws {
    let script = try FaultlineCommand().run(["--generate-completion-script", shell])
    #expect(script.status == 0)
    for name in try visibleCommands() { #expect(script.output.contains(name), "\(name)") }
    #expect(script.output.contains("write-back") && !script.output.contains("no-such-option"))
  }

  @Test("the action's inputs are all used, its scripts are there, and its outputs are written")
  func action() throws {
    let root = try Packaging.yaml("action.yml")
    let text = try Packaging.text("action.yml")
    for name in try #require(root["inputs"]?.mapping).keys.compactMap(\.string) {
      #expect(text.contains("${{ inputs.\(name) }}"), "\(name)")
    }
    let script = try Packaging.text("packaging/ci.sh")
    for name in try #require(root["outputs"]?.mapping).keys.compactMap(\.string) {
      #expect(script.contains("\(name)="), "\(name)")
    }
    let steps = try #require(root["runs"]?["steps"]?.sequence)
    for step in steps {
      let run = try #require(step["run"]?.string)
      let file = run.split(separator: "/").dropFirst().joined(separator: "/").dropLast()
      #expect(FileManager.default.fileExists(atPath: "\(FaultlineCommand.repository)/\(file)"))
      #expect(step["shell"]?.string == "sh")
    }
    for name in try #require(steps.last?["env"]?.mapping).keys.compactMap(\.string) {
      #expect(script.contains(name), "\(name)")
    }
  }

  @Test("the component's inputs are all used, and its commands are words of a shell")
  func component() throws {
    let text = try Packaging.text("templates/explore.yml")
    let parts = try Array(Yams.compose_all(yaml: text))
    #expect(parts.count == 2)
    let inputs = try #require(parts.first?["spec"]?["inputs"]?.mapping)
    for name in inputs.keys.compactMap(\.string) {
      #expect(text.contains("$[[ inputs.\(name) ]]"), "\(name)")
    }
    let script = try #require(parts.last?["faultline"]?["script"]?.sequence).compactMap(\.string)
    let command = try FaultlineCommand()
    _ = try command.write(script.joined(separator: "\n"), to: "script.sh")
    #expect(try shell("sh -n script.sh", in: command).status == 0)
    #expect(script.last == "sh /usr/share/faultline/ci.sh")
  }

  @Test("what both run writes reports, annotations, a summary and outputs", .requires(.fuse))
  func run() throws {
    let command = try FaultlineCommand()
    let result = try shell(
      """
      export GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=summary GITHUB_OUTPUT=output
      export FAULTLINE_WORKLOAD='echo new > t; mv t f; echo saved' FAULTLINE_BUDGET=50
      export FAULTLINE_CHECK='grep -q saved "$FAULTLINE_OUTPUT" || exit 0
      grep -q new f || { echo "</pre> lost"; exit 1; }'
      export FAULTLINE_OPTIONS='--seed 5 --jobs 1'
      sh 'REPOSITORY/packaging/ci.sh'
      """, in: command)
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains("::error"), "\(result.output)")
    for name in ["sarif", "xml", "json", "html"] {
      let path = command.directory.file("faultline-report/report.\(name)")
      #expect(FileManager.default.fileExists(atPath: path))
    }
    let summary = try command.text("summary")
    #expect(summary.hasPrefix("### Faultline: broken, 1 finding\n"), "\(summary)")
    #expect(summary.contains("    FINDING 1: </pre> lost"), "\(summary)")
    #expect(!summary.contains("::error"))
    #expect(try command.text("output").hasPrefix("exit-code=1\nsarif=faultline-report/"))
    let unchecked = try shell(
      """
      export FAULTLINE_WORKLOAD='echo a > t; sync t .; echo b > scratch.log; echo saved'
      touch x.log; FAULTLINE_OPTIONS='--ignore *.log' sh REPOSITORY/packaging/ci.sh
      """, in: command)
    #expect(unchecked.status == 0, "\(unchecked.output)")
    let missing = try shell("unset FAULTLINE_WORKLOAD; sh REPOSITORY/packaging/ci.sh", in: command)
    #expect(missing.status != 0 && missing.output.contains("FAULTLINE_WORKLOAD"))
  }

  @Test("the Dockerfile copies what make dist makes, and all scripts parse")
  func scripts() throws {
    let docker = try Packaging.text("Dockerfile")
    #expect(docker.contains("RUN make dist") && docker.contains("/source/.build/packages/"))
    #expect(try Packaging.text("packaging/dist.sh").contains(":-.build/packages}"))
    let command = try FaultlineCommand()
    let all = "for f in REPOSITORY/packaging/*.sh; do bash -n \"$f\" || exit 1; done"
    #expect(try shell(all, in: command).status == 0)
  }

  @Test("the CI file of init gives inputs that are there", arguments: [true, false])
  func initFiles(isGitLab: Bool) throws {
    let command = try FaultlineCommand()
    if isGitLab { _ = try command.write("", to: ".gitlab-ci.yml") }
    #expect(try command.run(["init"]).status == 0)
    let path = isGitLab ? "crash-test/gitlab-ci.yml" : ".github/workflows/crash-test.yml"
    let root = try #require(try Yams.compose(yaml: try command.text(path)))
    if isGitLab {
      let job = try #require(root["crash-test"])
      let variables = try #require(job["variables"]?.mapping)
      let script = try Packaging.text("packaging/ci.sh")
      for name in variables.keys.compactMap(\.string) where name != "FAULTLINE_PACKAGE" {
        #expect(script.contains(name), "\(name)")
      }
      #expect(job["script"]?.sequence?.last?.string == "sh /usr/share/faultline/ci.sh")
      #expect(try command.text(".gitlab-ci.yml").isEmpty)
    } else {
      let steps = try #require(root["jobs"]?["crash-test"]?["steps"]?.sequence)
      let step = try #require(steps.first { $0["uses"]?.string?.contains("faultline@") == true })
      let given = try #require(step["with"]?.mapping).keys.compactMap(\.string)
      let known = try #require(try Packaging.yaml("action.yml")["inputs"]?.mapping)
      #expect(given.count == 4 && given.allSatisfy { known.keys.compactMap(\.string).contains($0) })
    }
  }
}
