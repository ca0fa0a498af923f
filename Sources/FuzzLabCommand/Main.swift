// Main.swift: [U] the command `fuzz-lab`; built with -DFUZZING, libFuzzer has its own main and
// starts here.

import Fuzz
import FuzzLab
import Glibc

#if FUZZING
  /// libFuzzer calls this before the first input.
  @_cdecl("LLVMFuzzerInitialize")
  public func startFuzzing(
    _ count: UnsafeMutablePointer<CInt>?, _ words: UnsafeMutableRawPointer?
  ) -> CInt {
    FuzzDriver.start(FuzzTarget.all)
    return 0
  }
#else
  @main
  private enum Main {
    static func main() {
      exit(FuzzCommandLine(FuzzTarget.all).run(Array(CommandLine.arguments.dropFirst())))
    }
  }
#endif
