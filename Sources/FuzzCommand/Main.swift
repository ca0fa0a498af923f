// Main.swift: [U] the program `fuzz`, with every target. Built with -DFUZZING, libFuzzer provides
// main and calls the function below; with -DAFL in addition, AFL++'s driver is called from the
// function that SwiftPM links as main. Otherwise it is a command for users and tests.
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
    /// The function that SwiftPM links as `main`.
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
        // Help exits with 0; ArgumentParser's status for misuse differs from ours.
        let text = FuzzRoot.fullMessage(for: error)
        if !text.isEmpty { print(text) }
        exit(FuzzRoot.exitCode(for: error) == .success ? 0 : 2)
      }
    }
  }
#endif
