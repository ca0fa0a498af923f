// Main.swift: [U] the two ways in. Built with -DFUZZING, libFuzzer calls LLVMFuzzerTestOneInput
// with the target that FUZZ_TARGET names. Built as usual, it is the command `fuzz`.
// Safety: libFuzzer runs inputs on one thread.

import Fuzz

#if FUZZING
  nonisolated(unsafe) private var driver = FuzzDriver(FuzzTarget.engine)

  @_silgen_name("LLVMFuzzerMutate")
  private func mutateBytes(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ sizeMax: Int) -> Int

  /// libFuzzer's way in.
  @_cdecl("LLVMFuzzerTestOneInput")
  public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe driver.run(bytes, count)
    return 0
  }

  /// libFuzzer asks for a changed input.
  @_cdecl("LLVMFuzzerCustomMutator")
  public func fuzzMutation(
    _ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ countMax: Int, _ seed: UInt32
  ) -> Int {
    unsafe driver.mutate(data, count, countMax, seed) { unsafe mutateBytes($0, $1, $2) }
  }
#else
  import Glibc

  @main
  private enum Main {
    static func main() {
      exit(FuzzCommandLine(FuzzTarget.engine).run(Array(CommandLine.arguments.dropFirst())))
    }
  }
#endif
