// PlantedBugTests.swift: the patches of Tests/PlantedBugs still say which scenario, run of the
// stress, tests or fuzz target find them, and still apply. Whether they do takes minutes each:
// make planted-bugs.

import Foundation
import TestSupport
import Testing

@Suite("Planted bugs")
struct PlantedBugTests {
  private static let folder = "\(FaultlineCommand.repository)/Tests/PlantedBugs"

  private static func patches() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".patch") }.sorted()
  }

  private static func applies(_ patch: String) throws -> Bool {
    let git = Process()
    git.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    git.arguments = ["git", "apply", "--check", "\(folder)/\(patch)"]
    git.currentDirectoryURL = URL(fileURLWithPath: FaultlineCommand.repository)
    try git.run()
    git.waitUntilExit()
    return git.terminationStatus == 0
  }

  @Test("each applies to the engine, and names what finds it, its oracle and its reason")
  func apply() throws {
    let patches = try Self.patches()
    #expect(patches.count >= 100)
    let targets = try Self.fuzzTargets()
    var (stressed, tested) = (0, 0)
    for patch in patches {
      #expect(try Self.applies(patch), "\(patch): plant the bug anew and keep git's diff of it")
      let text = try String(contentsOfFile: "\(Self.folder)/\(patch)", encoding: .utf8)
      let lines = text.split(separator: "\n", maxSplits: 3).map(String.init)
      #expect(lines[1].hasPrefix("expect: ") && lines[2].hasPrefix("because: "), "\(patch)")
      if lines[0].hasPrefix("stress: ") {
        stressed += 1
        // It has to end, also where the bug is not found.
        #expect(lines[0].contains("--cuts ") && lines[0].contains("--seed "), "\(patch)")
        continue
      }
      if lines[0].hasPrefix("test: ") {
        tested += 1
        try Self.checkTest(String(lines[0].dropFirst("test: ".count)), lines[1], patch)
        continue
      }
      if lines[0].hasPrefix("fuzz: ") {
        let target = String(lines[0].dropFirst("fuzz: ".count))
        #expect(targets.contains(target), "\(patch): no fuzz target is named '\(target)'")
        continue
      }
      let scenario = lines[0].dropFirst("scenario: ".count)
      #expect(
        FileManager.default.fileExists(atPath: "\(FaultlineCommand.repository)/\(scenario)"),
        "\(patch): \(lines[0])")
    }
    #expect(stressed >= 1 && tested >= 10)
  }

  @Test("each stands in the tables of docs/generated/evidence.md or docs/reference/fuzzing.md")
  func documented() throws {
    let tables = try ["generated/evidence", "reference/fuzzing"].map {
      try String(contentsOfFile: "\(FaultlineCommand.repository)/docs/\($0).md", encoding: .utf8)
    }.joined()
    for patch in try Self.patches() {
      #expect(tables.contains("`\(patch.dropLast(".patch".count))`"), "\(patch)")
    }
  }

  /// What tests print, begun and ended as told; the process dies where the run does not end.
  private static func output(_ lines: [String], end: String) -> String {
    (["◇ Test run started."] + lines + [end, ""]).joined(separator: "\n")
  }

  private static let begun = ["◇ Test \"a row is there\" started.", "◇ Test odd() started."]
  private static let passed = "✔ Test run with 2 tests in 1 suite passed after 0.1 seconds."
  private static let failed = "✘ Test run with 2 tests in 1 suite failed after 0.1 seconds."
  private static let killed =
    "error: Process '/tests --filter Suite' exited with unexpected signal code"
  private static let trap = "\(killed) 4\nEngine/Node.swift:9: Fatal error: Index out of range"

  /// What tests print with a planted bug and without, and the line that tells it.
  struct Telling: Sendable, CustomTestStringConvertible {
    /// Not the output, which would read like that of the tests of this project.
    let testDescription: String
    let with: String
    var without = passed
    let line: String
  }

  private static let tellings = [
    Telling(
      testDescription: "found",
      with: output(begun + ["✘ Test \"a row is there\" failed after 0.1 seconds."], end: failed),
      line: "found   bug (a row is there, test Suite)"),
    Telling(
      testDescription: "another failure",
      with: output(begun + ["✘ Test odd() failed after 0.1 seconds."], end: failed),
      line: "MISSED  bug: exit status 1, and no test 'a row is there' that failed"),
    Telling(
      testDescription: "no failure",
      with: output(begun + ["✔ Test \"a row is there\" passed after 0.1 seconds."], end: passed),
      line: "MISSED  bug: exit status 0, and no test 'a row is there' that failed"),
    Telling(
      testDescription: "a death",
      with: output(begun + ["✔ Test odd() passed after 0.1 seconds."], end: trap),
      line: "MISSED  bug: the test process died: Fatal error: Index out of range; the last test "
        + "that had begun: \"a row is there\"; without the bug the tests come to their end"),
    Telling(
      testDescription: "a death that is not the bug's",
      with: output(begun, end: "\(killed) 9"), without: trap,
      line: "MISSED  bug: the test process died: exited with unexpected signal code 9; the last "
        + "test that had begun: odd(); without the bug the test process died: Fatal error: Index "
        + "out of range; the last test that had begun: none"),
  ]

  @Test("what tests say of a planted bug is told as it is", arguments: tellings)
  func honesty(telling: Telling) throws {
    let command = try FaultlineCommand()
    try FileManager.default.createDirectory(
      atPath: command.directory.file("bin"), withIntermediateDirectories: true)
    // A toolchain that builds anything at once, and whose tests print what is given here.
    _ = try command.write(
      """
      #!/bin/sh
      here=$(dirname "$0")/..
      case "$*" in
      *--show-bin-path) echo /nowhere ;;
      test*)
        output=$here/without; grep -q bug Sources/a && output=$here/with
        cat "$output"
        tail -n 1 "$output" | grep -q passed
      esac
      """, to: "bin/swift")
    _ = try command.write(telling.with, to: "with")
    _ = try command.write(telling.without + "\n", to: "without")
    let patch = """
      test: Suite
      expect: a row is there
      because: it is a test of the script

      --- a/Sources/a
      +++ b/Sources/a
      @@ -1 +1 @@
      -right
      +bug

      """
    _ = try command.write(patch, to: "bug.patch")
    let result = try runShell(
      """
      chmod +x bin/swift
      mkdir -p repository/Sources repository/Tests/PlantedBugs && cd repository && git init -q .
      echo right > Sources/a
      cp '\(Self.folder)/run.sh' ../bug.patch Tests/PlantedBugs
      git add . && git -c user.name=a -c user.email=a@b commit -qm one
      PATH="$PWD/../bin:$PATH" sh Tests/PlantedBugs/run.sh
      """, in: command.directory.path)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.first == telling.line, "\(result.output)")
    #expect(result.status == (telling.line.hasPrefix("found") ? 0 : 1), "\(result.output)")
  }

  /// The first words of what `fuzz --list` says.
  private static func fuzzTargets() throws -> Set<String> {
    let fuzz = Process()
    let output = Pipe()
    fuzz.executableURL = FaultlineCommand.folder.appendingPathComponent("fuzz")
    fuzz.arguments = ["--list"]
    fuzz.standardOutput = output
    try fuzz.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    fuzz.waitUntilExit()
    return Set(
      text.split(separator: "\n").compactMap {
        $0.split(whereSeparator: \.isWhitespace).first.map(String.init)
      })
  }

  /// The filter is the name of a folder of tests, maybe with a suite behind a dot, and the test
  /// that is to fail is one of the folder's own.
  private static func checkTest(_ filter: String, _ expect: String, _ patch: String) throws {
    let target = filter.prefix { $0 != "." }
    let folder = "\(FaultlineCommand.repository)/Tests/\(target)"
    let name = "\"" + expect.dropFirst("expect: ".count) + "\""
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".swift") }
    let isThere = try files.contains {
      try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8).contains(name)
    }
    #expect(isThere, "\(patch): no test of \(filter) is named \(name)")
  }
}
