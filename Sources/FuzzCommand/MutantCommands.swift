// MutantCommands.swift: makes damaged database images, like the engine's tests.

import ArgumentParser
import EngineFuzz

struct Mutants: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Open, read and write damaged images.")

  @Argument(help: "The seed of the first image.") var first: UInt64
  @Argument(help: "How many images.") var count: UInt64

  func validate() throws {
    guard first <= .max - count else { throw ValidationError("there are not so many seeds") }
  }

  func run() throws { MutantRun.run(first: first, count: count) }
}

struct Mutant: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show how one damaged image differs, and what comes of it.")

  @Argument(help: "Its seed.") var seed: UInt64

  func run() throws { MutantRun.show(seed) }
}

/// For the test of code that watches this process.
struct Trap: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Trap, as a mutant would.", shouldDisplay: false)

  func run() throws { MutantRun.trap() }
}
