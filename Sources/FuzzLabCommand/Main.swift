// Main.swift: [U] the command `fuzz-lab`; built with -DFUZZING, libFuzzer has its own main and
// starts here; with -DAFL besides, AFL++'s driver is called from what SwiftPM links as main.
// Safety: the arguments are the process's own.

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

  #if AFL
    /// What SwiftPM links as `main`.
    @_cdecl("FuzzLabCommand_main")
    public func fuzzWithAFL(
      _ count: CInt, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> CInt {
      unsafe FuzzDriver.runAFL(count, words)
    }
  #endif
#else
  @main
  private enum Main {
    static func main() {
      exit(FuzzCommandLine(FuzzTarget.all).run(Array(CommandLine.arguments.dropFirst())))
    }
  }
#endif
