// FuzzTriageTests.swift: `replay` and `minimise` on a finding: the canary's.

import Foundation
import Fuzz
import LabFuzz
import TestSupport
import Testing

@Suite("Triage of findings")
struct FuzzTriageTests {
  /// A folder with a file of the canary's finding, named as artifacts are.
  private static func withFinding(_ body: (TemporaryDirectory, String) throws -> Void) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("canary-crash-1")
    let found = try FuzzProgram.run(["canary", "--seed", "9", "--keep", path])
    try #require(found.status == 0)
    try body(directory, path)
  }

  @Test("says the target, the input, the outcome and a key that is new")
  func replay() throws {
    try Self.withFinding { directory, path in
      let (lines, status) = try FuzzProgram.run(["replay", path], in: directory.path)
      #expect(status == 1)
      #expect(lines.first?.contains(" bytes for canary: ") == true, "\(lines)")
      #expect(lines.contains("input:"))
      #expect(lines.contains { $0.hasPrefix("outcome: FINDING: step ") }, "\(lines)")
      let key = try #require(lines.last?.split(separator: " ").dropFirst().first?.dropLast())
      #expect(lines.last?.hasPrefix("key \(key): new; ") == true)
      // Once it stands in the list it is known.
      let folder = directory.file("Tests/FuzzTests/Corpora")
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
      try "\(key) canary a full ring\n".write(
        toFile: folder + "/known-findings.txt", atomically: true, encoding: .utf8)
      let again = try FuzzProgram.run(["replay", path], in: directory.path)
      #expect(again.lines.last == "key \(key): known as a full ring")
    }
  }

  @Test("makes a finding smaller, down to what it needs")
  func minimise() throws {
    try Self.withFinding { directory, path in
      let (lines, status) = try FuzzProgram.run(["minimise", path], in: directory.path)
      #expect(status == 1, "\(lines)")
      let small = try #require(FileManager.default.contents(atPath: path + ".smaller"))
      // Two elements through the ring, four pushes, and a pop that shows the wrong one.
      #expect(small.count <= 9, "\(Array(small))")
      #expect(try FuzzProgram.run(["canary", path + ".smaller"]).status == 1)
    }
  }

  @Test("an input without a finding, and a file that names no target")
  func others() throws {
    let directory = try TemporaryDirectory()
    try "age > 1".write(toFile: directory.file("query-1"), atomically: true, encoding: .utf8)
    let (lines, status) = try FuzzProgram.run(["replay", "query-1"], in: directory.path)
    #expect(status == 0 && lines.last == "outcome: no finding", "\(lines)")
    #expect(lines.contains("  age > 1"))
    try "age".write(toFile: directory.file("some"), atomically: true, encoding: .utf8)
    #expect(try FuzzProgram.run(["replay", "some"], in: directory.path).status == 2)
    let named = ["replay", "some", "--target", "query"]
    #expect(try FuzzProgram.run(named, in: directory.path).status == 0)
  }
}
