// MutantTests.swift: a hundred thousand damaged images, in processes of their own: a trap, a hang
// or memory without bound ends one of them, with a line that names the seed. `fuzz mutant SEED` of
// the same build shows that mutant again.

import Testing

@testable import Engine

@Suite struct MutantTests {
  private static let countPerProcess = TableSize.rows(25_000)

  /// One of four processes; they run side by side.
  @Test(arguments: [0, 1_000_000, 2_000_000, 3_000_000])
  func everyMutantGivesAnErrorOrAnAnswer(first: Int) throws {
    let count = Self.countPerProcess
    let worker = try WorkerProcess(program: "fuzz", ["mutants", "\(first)", "\(count)"])
    var last: Substring = "nothing"
    while let line = worker.line() { last = line[...] }
    #expect(worker.wait() == 0, "\(last)")
    let words = last.split(separator: " ")
    try #require(words.count == 10 && words[0] == "survived", "\(last)")
    let (opened, whole) = (try #require(Int(words[3])), try #require(Int(words[5])))
    let committed = try #require(Int(words[7]))
    #expect(words[1] == "\(count)")
    // Mutants that the first checksum stops would say nothing about the code behind it.
    #expect(opened > count / 3, "\(last)")
    #expect(whole < opened && opened - whole > count / 5, "\(last)")
    #expect(committed > count / 10, "\(last)")
  }

  /// The sentinel: a process that traps is noticed, so that the test above can fail.
  @Test func aTrapNamesItsMutant() throws {
    let worker = try WorkerProcess(program: "fuzz", ["trap"])
    var lines: [String] = []
    while let line = worker.line() { lines.append(line) }
    #expect(worker.wait() == 1)
    #expect(lines.last == "trap at mutant 4711")
  }
}
