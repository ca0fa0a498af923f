// Main.swift: [U] the two ways in. Built with -DFUZZING, libFuzzer calls LLVMFuzzerTestOneInput
// with the target that FUZZ_TARGET names (default: header). Built as usual, `fuzz TARGET FILE…`
// replays files, and `fuzz mutants FIRST COUNT` damages images without a fuzzer (MutantRun.swift).

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
    target.run(unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
    return 0
  }
#else
  @main
  private enum Main {
    static func main() {
      let arguments = CommandLine.arguments
      let numbers = arguments.dropFirst(2).compactMap { UInt64($0) }
      if arguments.count == 4, arguments[1] == "mutants", numbers.count == 2 {
        return MutantRun.run(first: numbers[0], count: numbers[1])
      }
      if arguments.count == 2, arguments[1] == "trap" { MutantRun.trap() }
      if arguments.count == 3, arguments[1] == "mutant", let seed = numbers.first {
        return MutantRun.show(seed)
      }
      guard arguments.count > 1, let target = FuzzTarget.named(arguments[1]) else {
        let names = FuzzTarget.all.map(\.name).joined(separator: "|")
        print("usage: fuzz \(names) FILE…   replays inputs; a trap is a finding")
        print("       fuzz mutants FIRST COUNT | mutant SEED   damages images made here")
        exit(2)
      }
      for path in arguments.dropFirst(2) {
        guard let bytes = contents(of: path) else {
          print("cannot read \(path)")
          exit(2)
        }
        target.run(bytes)
        print("survived \(path) (\(bytes.count) bytes)")
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
