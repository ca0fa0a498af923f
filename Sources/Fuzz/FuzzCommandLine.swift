// FuzzCommandLine.swift: [U] the words after `fuzz`, `fuzz-lab` or `faultline fuzz`, which have
// different targets.

import Glibc

/// One run of the command.
package struct FuzzCommandLine {
  private let targets: [FuzzTarget]
  /// Words between the program and those of this command.
  private let prefix: [String]

  /// Prepares a run.
  /// - Parameters:
  ///   - targets: What there is to fuzz.
  ///   - prefix: Words of the program before those of this command, so that it can run itself.
  package init(_ targets: [FuzzTarget], prefix: [String] = []) {
    self.targets = targets
    self.prefix = prefix
  }

  /// Does what the words say.
  /// - Returns: The exit status: 0 nothing found, 1 a finding, 2 wrong words or files.
  package func run(_ words: [String]) -> Int32 {
    let rest = words.dropFirst()
    let numbers = rest.compactMap { UInt64($0) }
    switch words.first {
    case "--list" where words.count == 1:
      for target in targets { print("\(target.name)\t\(target.judges)") }
      return 0
    case "mutants" where words.count == 3 && numbers.count == 2:
      MutantRun.run(first: numbers[0], count: numbers[1])
      return 0
    case "mutant" where words.count == 2 && numbers.count == 1:
      MutantRun.show(numbers[0])
      return 0
    case "trap" where words.count == 1: MutantRun.trap()
    case "smoke":
      guard let options = options(rest, ["--seed"]) else { return usage() }
      return FuzzCampaign.smoke(targets, first: options["--seed"] ?? 0) ? 0 : 1
    case "run": return runNumbers(rest)
    case "replay": return triage(rest)
    case "minimise": return minimise(rest)
    case "once" where words.count == 3: return once(words[1], words[2])
    case "dictionary" where words.count == 2: return dictionary(words[1])
    case "pack" where words.count > 2: return pack(words[1], words.dropFirst(2))
    case "unpack" where words.count == 3: return unpack(words[1], into: words[2])
    case "measure": return measure(rest)
    default:
      guard words.count > 1, let target = target(words[0]) else { return usage() }
      if words[1].hasPrefix("--") { return runNumbers(words[...]) }
      return replay(target, rest)
    }
  }

  private func usage() -> Int32 {
    let name = prefix.isEmpty ? "fuzz" : (["faultline"] + prefix).joined(separator: " ")
    print(
      """
      usage: \(name) --list                          the targets, and what each judges
             \(name) run TARGET [--seed N] [--count N]   inputs made from numbers (0, 1000)
             \(name) TARGET --seed N --keep FILE     writes the input of a number to a file
             \(name) TARGET FILE…                    inputs of files, folders and packs
             \(name) replay FILE… [--target TARGET]  input in words, stack, and whether it is new
             \(name) minimise FILE [--target TARGET] a smaller input with the same finding
             \(name) smoke [--seed N]                some of each target; finds the canary
             \(name) measure [TARGET [FILE…]]        executions per second of processor time
             \(name) dictionary TARGET               its words, for -dict and -x
             \(name) pack FILE INPUT… | unpack PACK FOLDER   corpora in one file
             \(name) mutants FIRST COUNT | mutant SEED   damaged images, as the tests do
      exit status: 0 nothing found, 1 a finding, 2 wrong arguments or an unreadable file
      """)
    return 2
  }

  private func target(_ name: String) -> FuzzTarget? { targets.first { $0.name == name } }

  private func refuse(_ message: String) -> Int32 {
    print(message)
    return 2
  }

  /// Options that have a number, in any order; nil when there is anything else.
  private func options(_ words: ArraySlice<String>, _ known: [String]) -> [String: UInt64]? {
    var options: [String: UInt64] = [:]
    var rest = words
    while let name = rest.popFirst() {
      guard known.contains(name), options[name] == nil, let number = rest.popFirst(),
        let value = UInt64(number)
      else { return nil }
      options[name] = value
    }
    return options
  }

  // MARK: numbers

  private func runNumbers(_ words: ArraySlice<String>) -> Int32 {
    var rest = words
    guard let target = rest.popFirst().flatMap(target) else { return usage() }
    let keyed = Array(rest)
    if keyed.count == 4, keyed[0] == "--seed", keyed[2] == "--keep", let seed = UInt64(keyed[1]) {
      let input = FuzzCampaign.input(target, target.seeds(), seed)
      guard FuzzFiles.write(input, to: keyed[3], isNew: true) else {
        return refuse("cannot make \(keyed[3]): is it there already, or its folder not?")
      }
      return 0
    }
    guard let options = options(rest, ["--seed", "--count"]) else { return usage() }
    let (first, count) = (options["--seed"] ?? 0, options["--count"] ?? 1000)
    guard first <= .max - count else { return usage() }
    return FuzzCampaign.run(target, first: first, count: count) ? 0 : 1
  }

  // MARK: files

  private func replay(_ target: FuzzTarget, _ paths: ArraySlice<String>) -> Int32 {
    FuzzWatch.install()
    var hasFinding = false
    for path in paths {
      guard let inputs = FuzzFiles.inputs(of: path) else {
        return refuse("cannot read \(path): is it a file that you may read, or a whole pack?")
      }
      for input in inputs {
        FuzzWatch.announce("\(target.name) \(input.name)")
        let outcome = target.run(input.bytes)
        print("\(outcome.word) \(input.name) (\(input.bytes.count) bytes)")
        if case .finding(let text) = outcome {
          print("  \(text)")
          hasFinding = true
        }
      }
    }
    FuzzWatch.rest()
    return hasFinding ? 1 : 0
  }

  /// One input, and no handlers: the runtime prints the stack of a trap.
  private func once(_ name: String, _ path: String) -> Int32 {
    guard let target = target(name), let bytes = FuzzFiles.contents(of: path) else {
      return usage()
    }
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
    return 0
  }

  private func triage(_ words: ArraySlice<String>) -> Int32 {
    guard let (paths, named) = files(words), !paths.isEmpty else { return usage() }
    let triage = FuzzTriage(targets: targets, prefix: prefix, knownPath: Self.knownPath)
    var hasFinding = false
    for path in paths {
      guard let bytes = FuzzFiles.contents(of: path) else {
        return refuse("cannot read \(path): is it a file that you may read?")
      }
      guard let target = named ?? triage.target(of: path) else {
        return refuse("\(path) names no target: move it to a folder of that name, or --target")
      }
      hasFinding = !triage.report(target, path, bytes) || hasFinding
    }
    return hasFinding ? 1 : 0
  }

  /// Keys of findings that are kept as regressions, from the repository's root.
  private static let knownPath = "Tests/FuzzTests/Corpora/known-findings.txt"

  /// Files, and the target that `--target` names.
  private func files(_ words: ArraySlice<String>) -> (paths: [String], target: FuzzTarget?)? {
    var rest = words
    var (paths, named): ([String], FuzzTarget?) = ([], nil)
    while let word = rest.popFirst() {
      guard word == "--target" else {
        paths.append(word)
        continue
      }
      guard named == nil, let target = rest.popFirst().flatMap(target) else { return nil }
      named = target
    }
    return (paths, named)
  }

  private func minimise(_ words: ArraySlice<String>) -> Int32 {
    guard let (paths, named) = files(words), paths.count == 1, let path = paths.first,
      let bytes = FuzzFiles.contents(of: path)
    else { return usage() }
    let triage = FuzzTriage(targets: targets, prefix: prefix, knownPath: Self.knownPath)
    guard let target = named ?? triage.target(of: path) else {
      return refuse("\(path) names no target: move it to a folder of that name, or --target")
    }
    let key = triage.verdict(target, path).key
    guard !key.isEmpty else { return refuse("\(path) is no finding of \(target.name)") }
    let scratch = path + ".minimising"
    let smaller = FuzzShrink.shrink(bytes) { candidate in
      FuzzFiles.write(candidate, to: scratch, isNew: false)
        && triage.verdict(target, scratch).key == key
    }
    unsafe _ = unlink(scratch)
    let result = path + ".smaller"
    guard FuzzFiles.write(smaller, to: result, isNew: false) else {
      return refuse("cannot write \(result): is the disk full?")
    }
    print("\(bytes.count) bytes -> \(smaller.count) bytes: \(result)")
    return triage.report(target, result, smaller) ? 0 : 1
  }

  // MARK: corpora

  private func dictionary(_ name: String) -> Int32 {
    guard let target = target(name) else { return usage() }
    for word in target.dictionary {
      let escaped = word.utf8.map { byte -> String in
        switch byte {
        case 34, 92: "\\" + String(UnicodeScalar(byte))
        case 32..<127: String(UnicodeScalar(byte))
        default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
      }
      if !word.isEmpty { print("\"\(escaped.joined())\"") }
    }
    return 0
  }

  private func pack(_ path: String, _ sources: ArraySlice<String>) -> Int32 {
    var inputs: [[UInt8]] = []
    for source in sources {
      guard let found = FuzzFiles.inputs(of: source) else {
        return refuse("cannot read \(source): is it a file or folder that you may read?")
      }
      inputs += found.map(\.bytes)
    }
    // The smallest first, and equal ones once.
    inputs.sort { left, right in
      left.count == right.count
        ? left.lexicographicallyPrecedes(right) : left.count < right.count
    }
    var unique: [[UInt8]] = []
    for input in inputs where unique.last != input { unique.append(input) }
    guard FuzzFiles.write(FuzzPack.pack(unique), to: path, isNew: false) else {
      return refuse("cannot write \(path): does its folder exist?")
    }
    print("\(unique.count) inputs in \(path)")
    return 0
  }

  private func unpack(_ path: String, into folder: String) -> Int32 {
    guard let inputs = FuzzFiles.inputs(of: path) else { return refuse("\(path) is no pack") }
    unsafe _ = mkdir(folder, 0o755)
    for (number, input) in inputs.enumerated() {
      guard FuzzFiles.write(input.bytes, to: "\(folder)/\(number)", isNew: false) else {
        return refuse("cannot write to \(folder)")
      }
    }
    print("\(inputs.count) inputs in \(folder)")
    return 0
  }

  private func measure(_ words: ArraySlice<String>) -> Int32 {
    guard let name = words.first else {
      FuzzMeasure.parse()
      FuzzMeasure.open()
      for target in targets where !target.isPlanted { FuzzMeasure.run(target, target.seeds()) }
      return 0
    }
    guard let target = target(name) else { return usage() }
    var inputs: [[UInt8]] = words.count > 1 ? [] : target.seeds()
    for path in words.dropFirst() {
      guard let found = FuzzFiles.inputs(of: path) else { return refuse("cannot read \(path)") }
      inputs += found.map(\.bytes)
    }
    FuzzMeasure.run(target, inputs)
    return 0
  }
}
