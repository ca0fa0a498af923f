// Main.swift: [U] the program `fuzz`, with every target. Built with -DFUZZING, libFuzzer has its
// own main and starts here; with -DAFL besides, AFL++'s driver is called from what SwiftPM links as
// main. Otherwise it is a command for people and tests.
// Safety: the arguments are the process's own.

#if FUZZING
  import Fuzz

  /// libFuzzer calls this before the first input.
  @_cdecl("LLVMFuzzerInitialize")
  public func startFuzzing(
    _ count: UnsafeMutablePointer<CInt>?, _ words: UnsafeMutableRawPointer?
  ) -> CInt {
    FuzzDriver.start(FuzzTarget.registered)
    return 0
  }

  #if AFL
    /// What SwiftPM links as `main`.
    @_cdecl("FuzzCommand_main")
    public func fuzzWithAFL(
      _ count: CInt, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> CInt {
      unsafe FuzzDriver.runAFL(count, words)
    }
  #endif
#else
  import Glibc

  @main
  private enum Main {
    static func main() {
      do {
        var command = try FuzzRoot.parseAsRoot()
        try command.run()
      } catch {
        // Help leaves with 0; ArgumentParser's own status of misuse is another than ours.
        let text = FuzzRoot.fullMessage(for: error)
        if !text.isEmpty { print(text) }
        exit(FuzzRoot.exitCode(for: error) == .success ? 0 : 2)
      }
    }
  }
#endif
