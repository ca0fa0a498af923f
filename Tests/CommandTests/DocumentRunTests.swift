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
    var isInside = false
    var isRun = false
    var above = ""
    for line in text.components(separatedBy: "\n") {
      if line.hasPrefix("```") {
        isInside.toggle()
        if let lines = block {
          if isRun { steps.append(Step(commands: lines)) }
          if !isRun, !steps.isEmpty, steps[steps.count - 1].output.isEmpty {
            steps[steps.count - 1].output = lines
          }
          block = nil
        } else if isInside {
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

  private static func text(_ name: String) throws -> String {
    try String(contentsOfFile: FaultlineCommand.repository + "/" + name, encoding: .utf8)
  }

  private static func pages(in folder: String) -> [String] {
    let path = FaultlineCommand.repository + "/" + folder
    return (FileManager.default.subpaths(atPath: path) ?? []).filter { $0.hasSuffix(".md") }
      .sorted().map { folder + "/" + $0 }
  }

  /// Pages that show commands to type.
  private static let guides = ["README.md"] + pages(in: "docs/tutorials") + pages(in: "docs/how-to")

  /// Lines of blocks of commands, or of blocks with a prompt, that neither run nor say why not.
  static func unmarked(_ text: String, isGuide: Bool) -> [Int] {
    let lines = text.components(separatedBy: "\n")
    var isInside = false
    return lines.indices.filter { index in
      guard lines[index].hasPrefix("```") else { return false }
      isInside.toggle()
      guard isInside else { return false }
      let above = index > 0 ? lines[index - 1] : ""
      if above == "<!-- run -->" || above.hasPrefix("<!-- not run: ") { return false }
      let hasPrompt = index + 1 < lines.count && lines[index + 1].hasPrefix("$ ")
      return hasPrompt || isGuide && lines[index] == "```sh"
    }.map { $0 + 1 }
  }

  @Test("run, or a comment says why not")
  func marks() throws {
    let all = Self.pages(in: "docs").filter { !$0.hasPrefix("docs/decisions/") }
    #expect(all.count > 40)
    for name in all + ["README.md", "CONTRIBUTING.md"] {
      let lines = Self.unmarked(try Self.text(name), isGuide: Self.guides.contains(name))
      #expect(lines == [], "\(name): these lines need <!-- run --> or <!-- not run: … -->")
    }
    let text = "```sh\na\n```\n<!-- not run: x -->\n```sh\nb\n```\n```\n$ c\n```"
    #expect(Self.unmarked(text, isGuide: true) == [1, 8])
    #expect(Self.unmarked(text, isGuide: false) == [8])
  }

  /// Pages of which something runs.
  private static let runs = guides.filter { name in
    (try? text(name))?.contains("<!-- run -->") ?? true
  }

  @Test("run and print what is said", arguments: runs)
  func run(_ name: String) throws {
    let steps = Self.steps(try Self.text(name))
    #expect(steps.contains { !$0.output.isEmpty }, "\(name) says nothing that could be wrong")
    let directory = try TemporaryDirectory()
    var script = "export TMPDIR='\(directory.path)'\n"
    // What a failing page mounted goes with it.
    script += "trap 'grep -o \"$TMPDIR[^ ]*\" /proc/mounts | xargs -r umount' EXIT\n"
    for step in steps {
      // A debug build is elsewhere.
      let commands = step.commands.joined(separator: "\n")
      script += commands.replacing("$PWD/.build/release", with: FaultlineCommand.folder.path)
      script += "\necho '@ end of a step'\n"
    }
    let clean = ["/usr/bin/env", "-u", "CI", "-u", "GITHUB_ACTIONS"]
    let result = try RunningProgram(
      clean + ["/bin/sh", "-c", script], in: FaultlineCommand.repository
    ).wait()
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
    #expect(Self.steps("```swift\nlet a = 1\n```\n" + text) == Self.steps(text))
    #expect(Self.missing(["a", "b …"], from: ["x", "a", "b 12"]) == nil)
    #expect(Self.missing(["b …", "a"], from: ["x", "a", "b 12"]) == "a")
    #expect(Self.missing(["b"], from: ["b 12"]) == "b")
  }
}
