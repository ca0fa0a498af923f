// FuzzTargetTests.swift: some inputs of every fuzz target, and the inputs that are kept in
// Tests/FuzzTests/Corpora, in processes of their own, as people run them.

import Fuzz
import LabFuzz
import TestSupport
import Testing

@Suite("Fuzz targets")
struct FuzzTargetTests {
  private static let corpora = FuzzProgram.corpora

  private static func run(_ words: String...) throws -> (lines: [String], status: Int32) {
    try FuzzProgram.run(words)
  }

  /// Targets all of whose smoke inputs are taken: they are choices, which always mean something.
  private static let takesAll = [
    "packed", "objects", "lock-file", "query-answers", "mixed-collections", "fleece-values",
    "sync-merge", "lab", "document-query-drawn",
  ]

  @Test("no target has a finding in a smoke run, which finds the canary")
  func smoke() throws {
    let (lines, status) = try Self.run("smoke")
    #expect(status == 0, "\(lines)")
    #expect(lines.last?.hasPrefix("canary: found at seed ") == true, "\(lines)")
    let targets = FuzzTarget.all.filter { !$0.isPlanted }
    #expect(targets.count == 36 && lines.count == targets.count + 1)
    for target in targets {
      let line = try #require(lines.first { $0.hasPrefix(target.name + ": survived ") })
      let words = line.split(separator: " ")
      try #require(words.count == 9 && words[5] == "accepted" && words[7] == "refused")
      // Inputs that are all refused, or all taken, would show little of the code behind.
      #expect(try #require(Int(words[6])) > 0, "\(line)")
      if !Self.takesAll.contains(target.name) {
        #expect(try #require(Int(words[8])) > 0, "\(line)")
      }
    }
  }

  @Test(
    "the samples that mutations begin with are whole",
    arguments: ["query", "scenario", "fault-rules", "model", "history", "schedule", "trace"])
  func samples(name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    for sample in target.seeds() {
      let text = String(decoding: sample.prefix(60), as: UTF8.self)
      #expect(target.run(sample) == .accepted, "\(text)")
    }
  }

  @Test("the program lists every target, those of each module in turn")
  func registry() throws {
    let (lines, status) = try FuzzProgram.run(["--list"])
    #expect(status == 0)
    #expect(lines == FuzzTarget.all.map { "\($0.name)\t\($0.judges)" })
    #expect(FuzzTarget.all.map(\.isPlanted).suffix(3) == [true, true, true])
    #expect(Set(FuzzTarget.all.map(\.name)).count == FuzzTarget.all.count)
  }

  @Test("every kept input is not a finding any more, and those of planted bugs are")
  func corpora() throws {
    let names = try FuzzProgram.names(in: Self.corpora)
    for target in FuzzTarget.all {
      let paths = names.filter { $0 == target.name || $0 == target.name + ".pack" }
      guard !paths.isEmpty else { continue }
      let (lines, status) = try FuzzProgram.run(
        [target.name] + paths.map { Self.corpora + "/" + $0 })
      #expect(status == (target.isPlanted ? 1 : 0), "\(target.name): \(lines.suffix(3))")
      #expect(!lines.isEmpty && lines.contains { $0.hasSuffix(" bytes)") })
    }
    #expect(names.contains("canary"))
    // Nothing stands there that no target replays.
    let known = FuzzTarget.all.flatMap { [$0.name, $0.name + ".pack"] } + ["known-findings.txt"]
    #expect(names.allSatisfy { known.contains($0) }, "\(names)")
  }

  @Test("a number means one input, which can be kept and replayed")
  func repeats() throws {
    let (found, status) = try Self.run("canary", "--seed", "0", "--count", "20000")
    #expect(status == 1)
    let words = try #require(found.last).split(separator: " ").map(String.init)
    #expect(words.starts(with: ["repeat:", "fuzz", "canary", "--seed"]))
    let seed = try #require(words.dropFirst(4).first)
    #expect(try Self.run("canary", "--seed", seed, "--count", "1").lines == found)
    #expect(try Self.run("run", "canary", "--seed", seed, "--count", "1").lines == found)
    let folder = try TemporaryDirectory()
    let path = folder.file("input")
    #expect(try Self.run("canary", "--seed", seed, "--keep", path).status == 0)
    let (lines, again) = try Self.run("canary", path)
    #expect(again == 1)
    #expect(lines.last.map { found[0].hasSuffix($0.drop { $0 == " " }) } == true, "\(lines)")
    #expect(try Self.run("canary", "--seed", seed, "--keep", path).status == 2)
  }

  @Test(
    "wrong arguments end in the usage, with exit status 2",
    arguments: [
      [], ["nothing"], ["decimal"], ["decimal", "/nowhere/at/all"], ["decimal", "--count", "x"],
      ["decimal", "--seed", "18446744073709551615", "--count", "2"], ["smoke", "--count", "1"],
      ["--list", "decimal"], ["replay"], ["replay", "/nowhere"], ["minimise", "/nowhere"],
      ["run"], ["run", "nothing"], ["dictionary", "nothing"], ["measure", "nothing"],
      ["unpack", "/nowhere", "/nowhere"], ["replay", "--target"],
      ["decimal", "/nowhere", "--seed", "1"], ["decimal", "--keep", "/nowhere"],
      ["run", "decimal", "--seed", "1", "--count", "1", "--keep", "/nowhere"],
    ])
  func usage(words: [String]) throws {
    #expect(try FuzzProgram.run(words).status == 2)
  }
}
