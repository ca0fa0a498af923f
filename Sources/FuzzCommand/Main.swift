// Main.swift: [U] the command `fuzz`; built with -DFUZZING, libFuzzer has its own main and
// starts here.

import Fuzz
import Glibc

#if FUZZING
  /// libFuzzer calls this before the first input.
  @_cdecl("LLVMFuzzerInitialize")
  public func startFuzzing(
    _ count: UnsafeMutablePointer<CInt>?, _ words: UnsafeMutableRawPointer?
  ) -> CInt {
    FuzzDriver.start(FuzzTarget.engine)
    return 0
  }
#else
  @main
  private enum Main {
    static func main() {
      exit(FuzzCommandLine(FuzzTarget.engine).run(Array(CommandLine.arguments.dropFirst())))
    }
  }
#endif
