// PlantedBugTests.swift: the patches of Tests/PlantedBugs still say which scenario, run of the
// stress, tests or fuzz target find them, and still apply. Whether they do takes minutes each:
// make planted-bugs.

import Foundation
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
    #expect(stressed >= 2 && tested >= 10)
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

  /// The filter is the name of a folder of tests, and the test that is to fail is one of its own.
  private static func checkTest(_ filter: String, _ expect: String, _ patch: String) throws {
    let folder = "\(FaultlineCommand.repository)/Tests/\(filter)"
    let name = "\"" + expect.dropFirst("expect: ".count) + "\""
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".swift") }
    let isThere = try files.contains {
      try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8).contains(name)
    }
    #expect(isThere, "\(patch): no test of \(filter) is named \(name)")
  }
}
