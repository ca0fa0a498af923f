// FuzzProgram.swift: the fuzzing commands as people run them, in processes of their own: a trap is
// an exit status there, and not the end of the tests.

import Foundation
import TestSupport

/// Where the programs and the kept inputs are.
enum FuzzProgram {
  /// The repository's root.
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path
  /// Kept inputs.
  static let corpora = root + "/Tests/FuzzTests/Corpora"

  /// The folder that the tests' own program was built into.
  private static let folder = URL(fileURLWithPath: "/proc/self/exe")
    .resolvingSymlinksInPath().deletingLastPathComponent().path

  /// A program that was built beside the tests.
  static func path(_ program: String) -> String { "\(folder)/\(program)" }

  /// Runs `fuzz`.
  static func run(
    _ words: [String], in directory: String = root
  ) throws -> (lines: [String], status: Int32) {
    let result = try RunningProgram([path("fuzz")] + words, in: directory).wait()
    return (result.output.split(separator: "\n").map(String.init), result.status)
  }

  /// The names of a folder's files, sorted.
  static func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }
}
