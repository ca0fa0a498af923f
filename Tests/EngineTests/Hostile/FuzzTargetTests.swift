// FuzzTargetTests.swift: some inputs of every fuzz target, and the inputs that are kept in
// Tests/FuzzTests/Corpora, in processes of their own, as people run them.

import Testing

@testable import Engine

@Suite("Fuzz targets")
struct FuzzTargetTests {
  private static let corpora =
    #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/FuzzTests/Corpora"

  private static func run(_ words: String...) throws -> (lines: [String], status: Int32) {
    let worker = try WorkerProcess(program: "fuzz", words)
    var lines: [String] = []
    while let line = worker.line() { lines.append(line) }
    return (lines, worker.wait())
  }

  @Test("no target has a finding in a smoke run, which finds the canary")
  func smoke() throws {
    let (lines, status) = try Self.run("smoke")
    #expect(status == 0, "\(lines)")
    #expect(lines.last?.hasPrefix("canary: found at seed ") == true, "\(lines)")
    let targets = try Self.run("--list").lines.compactMap { $0.split(separator: "\t").first }
    #expect(targets.count == 12 && lines.count == targets.count)
    for target in targets.dropLast() {
      let line = try #require(lines.first { $0.hasPrefix(target + ": survived ") }, "\(target)")
      let words = line.split(separator: " ")
      try #require(words.count == 9 && words[5] == "accepted" && words[7] == "refused")
      // Inputs that are all refused, or all taken, would show little of the code behind.
      #expect(try #require(Int(words[6])) > 0, "\(line)")
      if target != "packed" && target != "objects" && target != "lock-file" {
        #expect(try #require(Int(words[8])) > 0, "\(line)")
      }
    }
  }

  @Test("every kept input is no finding any more, and the canary's is one")
  func corpora() throws {
    let targets = fileNames(in: Self.corpora)
    #expect(targets.contains("canary") && targets.count > 1)
    for target in targets {
      let folder = Self.corpora + "/" + target
      for name in fileNames(in: folder) {
        let (lines, status) = try Self.run(target, folder + "/" + name)
        #expect(status == (target == "canary" ? 1 : 0), "\(target) \(name): \(lines)")
        #expect(lines.first?.hasSuffix(" bytes)") == true)
      }
    }
  }

  @Test("a number means one input, which can be kept and replayed")
  func repeats() throws {
    let (found, status) = try Self.run("canary", "--seed", "0", "--count", "20000")
    #expect(status == 1)
    let words = try #require(found.last).split(separator: " ").map(String.init)
    #expect(words.starts(with: ["repeat:", "fuzz", "canary", "--seed"]))
    let seed = try #require(words.dropFirst(4).first)
    #expect(try Self.run("canary", "--seed", seed, "--count", "1").lines == found)
    try withTemporaryFolder { folder in
      let path = folder + "/input"
      #expect(try Self.run("canary", "--seed", seed, "--keep", path).status == 0)
      let (lines, status) = try Self.run("canary", path)
      #expect(status == 1)
      #expect(lines.last.map { found[0].hasSuffix($0.drop { $0 == " " }) } == true, "\(lines)")
      #expect(try Self.run("canary", "--seed", seed, "--keep", path).status == 2)
    }
  }

  @Test(
    "wrong arguments end in the usage, with exit status 2",
    arguments: [
      [], ["nothing"], ["decimal"], ["decimal", "/nowhere/at/all"], ["decimal", "--count", "x"],
      ["decimal", "--seed", "18446744073709551615", "--count", "2"], ["smoke", "--count", "1"],
      ["--list", "decimal"],
    ])
  func usage(words: [String]) throws {
    let worker = try WorkerProcess(program: "fuzz", words)
    while worker.line() != nil {}
    #expect(worker.wait() == 2)
  }
}
