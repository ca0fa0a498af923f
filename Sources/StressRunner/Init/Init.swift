// Init.swift: `faultline init`: writes a workload, a checker and a CI file to begin with.

import ArgumentParser
import Findings
import Foundation
import LabCore

struct Init: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write a workload, a checker and a CI file for a project.",
    discussion: """
      The scripts run as they are, and their comments say what to replace by your program. Files \
      that are there already stay as they are.

      Examples:
        faultline init
        faultline init path/to/project --ci gitlab
        sh crash-test/run.sh
      """)

  /// The CI system that the CI file is for.
  enum System: String, ExpressibleByArgument, CaseIterable {
    case github, gitlab, none
  }

  @Argument(help: "The project's directory.") var directory = "."
  @Option(help: "CI system. Default: gitlab where there is a .gitlab-ci.yml, else github.")
  var ci: System?

  func run() throws {
    guard PathCalls.isDirectory(directory) else {
      throw LabError.usage("\(directory) is not a directory; give the project's directory")
    }
    let console = Console()
    let project = ProjectKind.found(in: directory)
    console.say("project: \(project.summary)")
    let files = InitFile.all(of: project, ci: ci ?? presentSystem)
    let width = files.map(\.path.count).max() ?? 0
    for file in files {
      let isNew = try write(file)
      let padding = String(repeating: " ", count: width - file.path.count)
      console.say("\(isNew ? "wrote" : "kept ") \(file.path)\(padding)  \(file.purpose)")
    }
    console.say(Self.nextSteps(project, in: directory, ci: ci ?? presentSystem))
  }

  /// The CI system that the project has files of.
  private var presentSystem: System {
    PathCalls.canAccess("\(directory)/.gitlab-ci.yml", F_OK) ? .gitlab : .github
  }

  /// Writes a file that is not there yet.
  /// - Returns: False when something has that name already; it stays as it is.
  private func write(_ file: InitFile) throws(LabError) -> Bool {
    let path = "\(directory)/\(file.path)"
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(file.text.utf8).write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
      return true
    } catch let error as CocoaError where error.code == .fileWriteFileExists {
      return false
    } catch {
      throw .lab("cannot write \(path): \(error.localizedDescription)")
    }
  }

  /// A path as one word of a shell, which takes none for an option.
  private static func shellWord(_ path: String) -> String {
    let word = path.hasPrefix("-") ? "./\(path)" : path
    if word.wholeMatch(of: #/[A-Za-z0-9_.\/+-]+/#) != nil { return word }
    return "'\(word.replacing("'", with: "'\\''"))'"
  }

  private static func nextSteps(_ project: ProjectKind, in directory: String, ci: System) -> String
  {
    let script = "\(InitFile.folder)/run.sh"
    let place = directory == "." ? script : "\(directory)/\(script)"
    var steps = [
      "sh \(shellWord(place))   (runs now: the workload is a small example)",
      "replace the example in \(InitFile.folder)/workload.sh by calls of \(project.program)",
      "let \(InitFile.folder)/check.sh read your program's files",
    ]
    switch ci {
    case .github: steps.append("put the owner of Faultline's repository into \(InitFile.gitHub)")
    case .gitlab: steps.append("include \(InitFile.gitLab) from .gitlab-ci.yml; its head says how")
    case .none: break
    }
    return steps.enumerated().map { "\($0 == 0 ? "next:" : "     ") \($0 + 1). \($1)" }
      .joined(separator: "\n")
  }
}
