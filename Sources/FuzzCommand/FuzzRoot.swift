// FuzzRoot.swift: the command `fuzz`: its subcommands, and running inputs by number or from files.

import ArgumentParser
import Fuzz
import Glibc

struct FuzzRoot: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fuzz", abstract: "Fuzz the parsers and file formats of the project.",
    discussion: """
      A target reads bytes. A crash, a hang, more than a second of time and a wrong answer are \
      findings (docs/reference/fuzzing.md).

      Examples:
        fuzz --list                              the targets, and what each judges
        fuzz run query --seed 0 --count 10000    inputs made from numbers
        fuzz query --seed 9 --keep FILE          writes the input of a number to a file
        fuzz query FILE…                         inputs of files, folders and packs
        fuzz replay query-crash-1a2b
        fuzz minimise query-crash-1a2b

      Exit status: 0 nothing found, 1 a finding, 2 wrong arguments or an unreadable file.
      """,
    subcommands: [
      Inputs.self, RunNumbers.self, Replay.self, Minimise.self, Smoke.self, Measure.self,
      Dictionary.self, Pack.self, Unpack.self, Mutants.self, Mutant.self, Trap.self, Once.self,
    ],
    defaultSubcommand: Inputs.self)
}

/// A target by its name.
struct TargetName: ExpressibleByArgument {
  let target: FuzzTarget

  init?(argument: String) {
    guard let found = FuzzTarget.registered.first(where: { $0.name == argument }) else {
      return nil
    }
    target = found
  }

  /// The names listed in messages.
  static var allValueStrings: [String] { FuzzTarget.registered.map(\.name) }
}

extension ParsableCommand {
  /// Exits with a status that shows whether there was a finding.
  func leave(_ isGood: Bool) { if !isGood { Glibc.exit(1) } }

  /// Exits because a request cannot be fulfilled.
  func refuse(_ message: String) -> Never {
    print(message)
    Glibc.exit(2)
  }
}

/// Options that select inputs by number.
struct NumberOptions: ParsableArguments {
  @Option(help: "The first number; default: 0.") var seed: UInt64?
  @Option(help: "How many numbers; default: 1000.") var count: UInt64?
  @Option(help: "Do not run, but write the input of --seed to this new file.") var keep: String?

  var isEmpty: Bool { seed == nil && count == nil && keep == nil }

  func validate() throws {
    if keep != nil, seed == nil || count != nil {
      throw ValidationError("--keep takes the input of one number: write --seed, and no --count")
    }
    guard seed ?? 0 <= .max - (count ?? 1000) else {
      throw ValidationError("--seed and --count go beyond the last number")
    }
  }

  /// Runs the inputs, or saves one.
  func run(_ target: FuzzTarget, of command: some ParsableCommand) {
    guard let keep else {
      return command.leave(FuzzCampaign.run(target, first: seed ?? 0, count: count ?? 1000))
    }
    let input = FuzzCampaign.input(target, target.seeds(), seed ?? 0)
    guard FuzzFiles.write(input, to: keep, isNew: true) else {
      command.refuse("cannot make \(keep): is it there already, or its folder not?")
    }
  }
}

/// The default subcommand: a target, with files or numbers.
struct Inputs: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run inputs of files, folders and packs, or of numbers (the default).")

  @Flag(help: "Show the targets, and what each judges.") var list = false
  @Argument(help: "The target.") var target: TargetName?
  @Argument(help: "Files, folders and packs of inputs.") var paths: [String] = []
  @OptionGroup var numbers: NumberOptions

  func validate() throws {
    if list {
      guard target == nil, numbers.isEmpty else {
        throw ValidationError("--list takes no other arguments")
      }
      return
    }
    guard target != nil else {
      throw ValidationError("name a target, or a subcommand; --list shows the targets")
    }
    guard paths.isEmpty != numbers.isEmpty else {
      throw ValidationError("name files, or the numbers of inputs by --seed and --count")
    }
  }

  func run() throws {
    guard let target = target?.target else {
      for target in FuzzTarget.registered { print("\(target.name)\t\(target.judges)") }
      return
    }
    guard !paths.isEmpty else { return numbers.run(target, of: self) }
    FuzzWatch.install()
    var isGood = true
    for path in paths {
      guard let inputs = FuzzFiles.inputs(of: path) else {
        refuse("cannot read \(path): is it a file that you may read, or a whole pack?")
      }
      for input in inputs {
        FuzzWatch.announce("\(target.name) \(input.name)")
        let outcome = target.run(input.bytes)
        print("\(outcome.word) \(input.name) (\(input.bytes.count) bytes)")
        if case .finding(let text) = outcome {
          print("  \(text)")
          isGood = false
        }
      }
    }
    FuzzWatch.rest()
    leave(isGood)
  }
}

struct RunNumbers: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run inputs made from numbers, up to the first finding.")

  @Argument(help: "The target.") var target: TargetName
  @OptionGroup var numbers: NumberOptions

  func run() throws { numbers.run(target.target, of: self) }
}

struct Smoke: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run some inputs of every target; the canary must be found.")

  @Option(help: "The first number.") var seed: UInt64 = 0

  func run() throws { leave(FuzzCampaign.smoke(FuzzTarget.registered, first: seed)) }
}
