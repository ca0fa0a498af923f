// DocumentRunTests.swift: the commands of the README and of tutorials run as they stand, one after
// another in one shell, and print what the documents say.

import Foundation
import TestSupport
import Testing

@Suite("commands of documents", .requires(.fuse))
struct DocumentRunTests {
  /// Commands, and what they are said to print.
  struct Step: Equatable {
    var commands: [String] = []
    var output: [String] = []
  }

  /// The blocks below comments `run`, each with the block of output that follows it.
  static func steps(_ text: String) -> [Step] {
    var steps: [Step] = []
    var block: [String]?
    var isRun = false
    var above = ""
    for line in text.components(separatedBy: "\n") {
      if line.hasPrefix("```") {
        if let lines = block {
          if isRun { steps.append(Step(commands: lines)) }
          if !isRun, !steps.isEmpty, steps[steps.count - 1].output.isEmpty {
            steps[steps.count - 1].output = lines
          }
          block = nil
        } else {
          isRun = above == "<!-- run -->"
          block = line == "```" || isRun ? [] : nil
        }
      } else if block != nil {
        block?.append(line)
      }
      above = line
    }
    return steps
  }

  /// The first line that is not printed, in this order; an ellipsis stands for what varies.
  static func missing(_ said: [String], from printed: [String]) -> String? {
    var rest = printed[...]
    for line in said {
      let start = line.range(of: "…").map { String(line[..<$0.lowerBound]) }
      let place = rest.firstIndex { printed in
        start.map { printed.hasPrefix($0) } ?? (printed == line)
      }
      guard let place else { return line }
      rest = rest[(place + 1)...]
    }
    return nil
  }

  @Test(
    "run and print what is said",
    arguments: [
      "README.md", "docs/tutorials/find-a-lost-write.md", "docs/tutorials/first-scenario.md",
    ])
  func run(_ name: String) throws {
    let path = FaultlineCommand.repository + "/" + name
    let steps = Self.steps(try String(contentsOfFile: path, encoding: .utf8))
    #expect(steps.count >= 2 && steps.contains { $0.output.count > 5 })
    let directory = try TemporaryDirectory()
    var script = "export TMPDIR='\(directory.path)'\n"
    for step in steps {
      // A debug build is elsewhere.
      let commands = step.commands.joined(separator: "\n")
      script += commands.replacing("$PWD/.build/release", with: FaultlineCommand.folder.path)
      script += "\necho '@ end of a step'\n"
    }
    let clean = ["/usr/bin/env", "-u", "CI", "-u", "GITHUB_ACTIONS"]
    let result = try RunningProgram(clean + ["/bin/sh", "-c", script], in: directory.path).wait()
    let printed = result.output.components(separatedBy: "@ end of a step\n")
    try #require(printed.count == steps.count + 1, "\(result.output)")
    for (step, text) in zip(steps, printed) {
      let missing = Self.missing(step.output, from: text.components(separatedBy: "\n"))
      #expect(missing == nil, "\(name): not printed by \(step.commands.last ?? ""):\n\(text)")
    }
  }

  @Test("a line that is not printed, or printed before, is missed")
  func control() {
    let text = "<!-- run -->\n```sh\necho a\n```\nIt prints\n```\na\n```\n```yaml\nb\n```"
    #expect(Self.steps(text) == [Step(commands: ["echo a"], output: ["a"])])
    #expect(Self.missing(["a", "b …"], from: ["x", "a", "b 12"]) == nil)
    #expect(Self.missing(["b …", "a"], from: ["x", "a", "b 12"]) == "a")
    #expect(Self.missing(["b"], from: ["b 12"]) == "b")
  }
}
