// MutantRun.swift: [U] many mutants in this process, one after the other, each made from its seed.
//   fuzz mutants FIRST COUNT    runs that many seeds, and prints what became of them
//   fuzz mutant SEED            runs one, and prints how its image differs from the base
// A trap, a hang or memory without bound ends the process with a line that names the seed.
// Safety: the handlers call write(2) and _exit(2) only; what they print was made before the mutant
// ran, by the one thread there is.

import Engine
import Glibc

/// The line that a handler prints, without its first word.
nonisolated(unsafe) private let line = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
nonisolated(unsafe) private var lineCount = 0

enum MutantRun {
  /// Far more than any mutant takes, also in a debug build on a busy machine.
  private static let secondsMax: UInt32 = 30
  /// What one mutant may add to the memory that the process ever had; images have 128 KiB at most.
  private static let growthBytesMax = 64 << 20

  /// Runs seeds.
  static func run(first: UInt64, count: UInt64) {
    install()
    var folder = Array("/tmp/mutants-XXXXXX".utf8CString)
    let made = unsafe mkdtemp(&folder).map { unsafe String(cString: $0) }
    defer { if let made { _ = unsafe rmdir(made) } }
    var opened = 0
    var (whole, committed, rows) = (0, 0, 0)
    // What the bases and the first mutants take is nobody's fault.
    _ = MutantBase.all
    var peak = peakBytes()
    for seed in first..<first + count {
      announce(seed)
      let outcome = one(seed, folder: seed % 64 == 0 ? made : nil)
      opened += outcome.isOpen ? 1 : 0
      whole += outcome.isWhole ? 1 : 0
      committed += outcome.isCommitted ? 1 : 0
      rows += outcome.rowsRead
      let now = peakBytes()
      guard now - peak <= growthBytesMax else {
        print("memory: mutant \(seed) took \(now - peak) bytes, more than \(growthBytesMax)")
        exit(1)
      }
      peak = now
    }
    alarm(0)
    print("survived \(count) opened \(opened) whole \(whole) committed \(committed) rows \(rows)")
  }

  /// Traps, as a mutant would: for the test of those who watch this process.
  static func trap() -> Never {
    install()
    announce(4711)
    preconditionFailure("asked for")
  }

  /// Runs one seed and says what it is.
  static func show(_ seed: UInt64) {
    install()
    announce(seed)
    var choices = MutantChoices(seed: seed)
    let base = MutantBase.choose(&choices)
    let image = Mutator.mutant(of: base, &choices)
    print("seed \(seed) base \(base.name) bytes \(base.bytes.count) -> \(image.count)")
    var shown = 0
    for offset in 0..<min(image.count, base.bytes.count)
    where image[offset] != base.bytes[offset] && shown < 100 {
      let node = base.nodes.last { $0 <= offset } ?? 0
      print(
        "  at \(offset) (node \(node) + \(offset - node)): "
          + "\(base.bytes[offset]) -> \(image[offset])")
      shown += 1
    }
    fflush(nil)
    print(one(seed, folder: nil))
  }

  private static func one(_ seed: UInt64, folder: String?) -> MutantOutcome {
    var choices = MutantChoices(seed: seed)
    let base = MutantBase.choose(&choices)
    let image = Mutator.mutant(of: base, &choices)
    return MutantExercise.run(image, key: base.key, choice: choices.below(4), folder: folder)
  }

  // MARK: what ends a mutant

  private static func announce(_ seed: UInt64) {
    let text = Array(" at mutant \(seed)\n".utf8)
    unsafe lineCount = min(text.count, 256)
    for index in 0..<min(text.count, 256) { unsafe line[index] = text[index] }
    alarm(secondsMax)
  }

  private static func install() {
    unsafe lineCount = 0
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
      _ = signal(number) { _ in
        unsafe _ = write(STDOUT_FILENO, "trap", 4)
        unsafe _ = write(STDOUT_FILENO, line, lineCount)
        _exit(1)
      }
    }
    _ = signal(SIGALRM) { _ in
      unsafe _ = write(STDOUT_FILENO, "hang", 4)
      unsafe _ = write(STDOUT_FILENO, line, lineCount)
      _exit(1)
    }
  }

  /// The most memory that the process ever had.
  private static func peakBytes() -> Int {
    var usage = rusage()
    _ = unsafe getrusage(__rusage_who_t(0), &usage)
    return usage.ru_maxrss * 1024
  }
}
