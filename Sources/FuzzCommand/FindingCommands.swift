// FindingCommands.swift: [U] commands for one input: replay it, and minimise it.
// Safety: a path is passed to one system call.

import ArgumentParser
import Fuzz
import Glibc

/// The list has the keys of findings that are kept as regression tests.
private let triage = FuzzTriage(
  targets: FuzzTarget.registered, knownPath: "Tests/FuzzTests/Corpora/known-findings.txt")

/// The target of an input.
struct TargetOption: ParsableArguments {
  @Option(help: "The target; default: as the file's folder or the beginning of its name says.")
  var target: TargetName?

  func target(of path: String, for command: some ParsableCommand) -> FuzzTarget {
    if let target = target?.target ?? triage.target(of: path) { return target }
    command.refuse("\(path) names no target: move it to a folder of that name, or --target")
  }
}

struct Replay: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show an input in words, its stack, and whether its finding is new.")

  @Argument(help: "Files of one input each.") var paths: [String]
  @OptionGroup var chosen: TargetOption

  func run() throws {
    var isGood = true
    for path in paths {
      guard let bytes = FuzzFiles.contents(of: path) else {
        refuse("cannot read \(path): is it a file that you may read?")
      }
      isGood = triage.report(chosen.target(of: path, for: self), path, bytes) && isGood
    }
    leave(isGood)
  }
}

struct Minimise: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make a smaller input with the same finding, in FILE.smaller.")

  @Argument(help: "A file of one input.") var path: String
  @OptionGroup var chosen: TargetOption

  func run() throws {
    guard let bytes = FuzzFiles.contents(of: path) else {
      refuse("cannot read \(path): is it a file that you may read?")
    }
    let target = chosen.target(of: path, for: self)
    let key = triage.verdict(target, path).key
    guard !key.isEmpty else { refuse("\(path) is not a finding of \(target.name)") }
    let scratch = path + ".minimising"
    let smaller = FuzzShrink.shrink(bytes) { candidate in
      FuzzFiles.write(candidate, to: scratch, isNew: false)
        && triage.verdict(target, scratch).key == key
    }
    unsafe _ = unlink(scratch)
    let result = path + ".smaller"
    guard FuzzFiles.write(smaller, to: result, isNew: false) else {
      refuse("cannot write \(result): is the disk full?")
    }
    print("\(bytes.count) bytes -> \(smaller.count) bytes: \(result)")
    leave(triage.report(target, result, smaller))
  }
}

/// Runs one input without handlers, so that the runtime prints the stack of a trap.
struct Once: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run one input for replay and minimise.", shouldDisplay: false)

  @Argument var target: TargetName
  @Argument var path: String

  func run() throws {
    let target = target.target
    guard let bytes = FuzzFiles.contents(of: path) else { refuse("cannot read \(path)") }
    alarm(FuzzWatch.secondsMax)
    let start = FuzzWatch.processorSeconds()
    let outcome = target.run(bytes)
    let seconds = FuzzWatch.processorSeconds() - start
    alarm(0)
    switch outcome {
    case .finding(let text): print("outcome: FINDING \(text.replacing("\n", with: " "))")
    case _ where seconds > FuzzWatch.slowSeconds:
      print("outcome: FINDING slow: \(seconds) s of processor time")
    default: print("outcome: \(outcome.word)")
    }
  }
}
