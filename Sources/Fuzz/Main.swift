// Main.swift: [U] the two ways in. Built with -DFUZZING, libFuzzer calls LLVMFuzzerTestOneInput
// with the target that FUZZ_TARGET names (default: header). Built as usual, `fuzz` replays files,
// makes inputs from numbers (FuzzCampaign.swift) or damages images (MutantRun.swift).

import Glibc

#if FUZZING
  private let target: FuzzTarget = {
    let name = unsafe getenv("FUZZ_TARGET").map { unsafe String(cString: $0) } ?? "header"
    guard let target = FuzzTarget.named(name) else { preconditionFailure("no target \(name)") }
    return target
  }()

  /// libFuzzer's way in.
  @_cdecl("LLVMFuzzerTestOneInput")
  public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
    if case .finding(let text) = target.run(input) { preconditionFailure("finding: \(text)") }
    return 0
  }
#else
  @main
  private enum Main {
    static func main() {
      let arguments = Array(CommandLine.arguments.dropFirst())
      let numbers = arguments.dropFirst().compactMap { UInt64($0) }
      switch arguments.first {
      case "--list" where arguments.count == 1: return list()
      case "mutants" where arguments.count == 3 && numbers.count == 2:
        return MutantRun.run(first: numbers[0], count: numbers[1])
      case "mutant" where arguments.count == 2 && numbers.count == 1:
        return MutantRun.show(numbers[0])
      case "trap" where arguments.count == 1: MutantRun.trap()
      case "smoke":
        guard let options = options(arguments.dropFirst(), ["--seed"]) else { usage() }
        exit(FuzzCampaign.smoke(first: options["--seed"] ?? 0) ? 0 : 1)
      default: break
      }
      guard let name = arguments.first, let target = FuzzTarget.named(name), arguments.count > 1
      else { usage() }
      guard arguments[1].hasPrefix("--") else { return replay(target, arguments.dropFirst()) }
      if arguments.count == 5, arguments[1] == "--seed", arguments[3] == "--keep",
        let seed = UInt64(arguments[2])
      {
        return keep(target, seed, in: arguments[4])
      }
      guard let options = options(arguments.dropFirst(), ["--seed", "--count"]) else { usage() }
      let (first, count) = (options["--seed"] ?? 0, options["--count"] ?? 1000)
      guard first <= .max - count else { usage() }
      exit(FuzzCampaign.run(target, first: first, count: count) ? 0 : 1)
    }

    private static func usage() -> Never {
      print("usage: fuzz --list                          the targets, and what each judges")
      print("       fuzz TARGET FILE…                    replays inputs")
      print("       fuzz TARGET --seed N --count N       runs inputs made from numbers (0, 1000)")
      print("       fuzz TARGET --seed N --keep FILE     writes the input of a number to a file")
      print("       fuzz smoke [--seed N]                some of each target; finds the canary")
      print("       fuzz mutants FIRST COUNT | mutant SEED   damaged images, as the tests do")
      print("exit status: 0 nothing found, 1 a finding, 2 wrong arguments or an unreadable file")
      exit(2)
    }

    private static func list() {
      for target in FuzzTarget.all { print("\(target.name)\t\(target.judges)") }
    }

    /// Options that have a number, in any order; nil when there is anything else.
    private static func options(
      _ words: ArraySlice<String>, _ known: [String]
    ) -> [String: UInt64]? {
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

    private static func replay(_ target: FuzzTarget, _ paths: ArraySlice<String>) {
      FuzzWatch.install()
      var hasFinding = false
      for path in paths {
        guard let bytes = contents(of: path) else {
          print("cannot read \(path): is it a file that you may read?")
          exit(2)
        }
        FuzzWatch.announce("\(target.name) \(path)")
        let outcome = target.run(bytes)
        print("\(outcome.word) \(path) (\(bytes.count) bytes)")
        if case .finding(let text) = outcome {
          print("  \(text)")
          hasFinding = true
        }
      }
      FuzzWatch.rest()
      exit(hasFinding ? 1 : 0)
    }

    private static func keep(_ target: FuzzTarget, _ seed: UInt64, in path: String) {
      let input = FuzzCampaign.input(target, target.seeds(), seed)
      guard let file = unsafe fopen(path, "wbx") else {
        print("cannot make \(path): is it there already, or its folder not?")
        exit(2)
      }
      let count = unsafe fwrite(input, 1, input.count, file)
      guard unsafe fclose(file) == 0, count == input.count else {
        print("cannot write \(path): is the disk full?")
        exit(2)
      }
    }

    private static func contents(of path: String) -> [UInt8]? {
      guard let file = unsafe fopen(path, "rb") else { return nil }
      defer { _ = unsafe fclose(file) }
      var bytes: [UInt8] = []
      var part = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = unsafe fread(&part, 1, part.count, file)
        if count == 0 { return bytes }
        bytes += part[..<count]
      }
    }
  }
#endif
