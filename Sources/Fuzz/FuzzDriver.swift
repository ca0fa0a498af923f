// FuzzDriver.swift: [U] the functions that libFuzzer and AFL++ call: run one input, make one
// mutation. FUZZ_TARGET names the target. A finding ends the process by a trap, as fuzzers expect,
// as does an input that takes more than a second of processor time.
// Invariant: nothing here depends on the wall clock, so a busy machine gives no false alarm.
// Safety: libFuzzer runs inputs on one thread, and calls `start` before the first.

#if FUZZING
  import Glibc

  nonisolated(unsafe) private var driver: FuzzDriver?

  @_silgen_name("LLVMFuzzerMutate")
  private func mutateBytes(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ sizeMax: Int) -> Int

  /// The entry point for libFuzzer.
  @_cdecl("LLVMFuzzerTestOneInput")
  public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe driver?.run(bytes, count)
    return 0
  }

  #if AFL
    private typealias Words = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    /// The main loop of libAFLDriver, under the name used by libFuzzer.
    @_silgen_name("LLVMFuzzerRunDriver")
    private func runDriver(
      _ count: UnsafeMutablePointer<CInt>, _ words: UnsafeMutablePointer<Words>,
      _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    ) -> CInt

    extension FuzzDriver {
      /// Runs the inputs from AFL++, or those in files.
      /// - Returns: The process's exit status.
      package static func runAFL(
        _ count: CInt, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
      ) -> CInt {
        var (count, words) = unsafe (count, words)
        return unsafe runDriver(&count, &words, fuzzOneInput)
      }
    }
  #endif

  /// libFuzzer requests a mutated input.
  @_cdecl("LLVMFuzzerCustomMutator")
  public func fuzzMutation(
    _ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ countMax: Int, _ seed: UInt32
  ) -> Int {
    unsafe driver?.mutate(data, count, countMax, seed) { unsafe mutateBytes($0, $1, $2) } ?? 0
  }

  /// The target of this process.
  package struct FuzzDriver {
    private let target: FuzzTarget
    /// The first inputs create fixtures, and may take longer.
    private var inputCount = 0
    /// Sanitizers and counters slow everything down by about this much.
    private static let slowSeconds = 1.0

    /// Makes the driver that runs every input.
    package static func start(_ targets: [FuzzTarget]) { unsafe driver = FuzzDriver(targets) }

    /// Selects the target named by FUZZ_TARGET, else by the program's name, `fuzz_free_list`.
    private init(_ targets: [FuzzTarget]) {
      let named = unsafe getenv("FUZZ_TARGET").map { unsafe String(cString: $0) }
      let program = CommandLine.arguments.first?.split(separator: "/").last ?? ""
      let own = program.hasPrefix("fuzz_") ? program.dropFirst(5) : "query"
      let name = named ?? String(own.map { $0 == "_" ? "-" : $0 })
      guard let target = targets.first(where: { $0.name == name }) else {
        preconditionFailure("FUZZ_TARGET=\(name) is not a target; fuzz --list names them")
      }
      self.target = target
    }

    /// Runs an input.
    fileprivate mutating func run(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
      let input = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
      let start = FuzzWatch.processorSeconds()
      if case .finding(let text) = target.run(input) { preconditionFailure("finding: \(text)") }
      let seconds = FuzzWatch.processorSeconds() - start
      inputCount += 1
      precondition(
        inputCount < 16 || seconds < Self.slowSeconds, "finding: slow, \(seconds) s of processor")
    }

    /// Mutates an input in place, with the target's mutator or otherwise with libFuzzer's.
    /// - Returns: The new number of bytes.
    fileprivate func mutate(
      _ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ countMax: Int, _ seed: UInt32,
      fallback: (UnsafeMutablePointer<UInt8>, Int, Int) -> Int
    ) -> Int {
      var choices = MutantChoices(seed: UInt64(seed))
      guard let mutate = target.mutate,
        let changed = mutate(
          unsafe [UInt8](UnsafeRawBufferPointer(start: data, count: count)), countMax, &choices),
        changed.count <= countMax, !changed.isEmpty
      else { return unsafe fallback(data, count, countMax) }
      unsafe UnsafeMutableRawBufferPointer(start: data, count: countMax).copyBytes(from: changed)
      return changed.count
    }
  }
#endif
