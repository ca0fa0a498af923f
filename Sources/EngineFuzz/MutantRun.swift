// MutantRun.swift: many mutants in this process, one after the other, each made from its seed.
//   fuzz mutants FIRST COUNT    runs that many seeds, and prints what became of them
//   fuzz mutant SEED            runs one, and prints how its image differs from the base
// A trap, a hang or memory without bound ends the process with a line that names the seed.

import Engine
import Fuzz
import Glibc

package enum MutantRun {
  /// Runs seeds.
  package static func run(first: UInt64, count: UInt64) {
    FuzzWatch.install()
    let folder = FuzzFolder()
    defer { folder?.remove() }
    var opened = 0
    var (whole, committed, rows) = (0, 0, 0)
    // The memory of the bases and the first mutants is not counted.
    _ = (MutantBase.all, MutantBase.patchedLeaves, MutantBase.fullText)
    var peak = FuzzWatch.peakBytes()
    for seed in first..<first + count {
      FuzzWatch.announce("mutant \(seed)")
      let outcome = one(seed, folder: seed % 64 == 0 ? folder?.path : nil)
      opened += outcome.isOpen ? 1 : 0
      whole += outcome.isWhole ? 1 : 0
      committed += outcome.isCommitted ? 1 : 0
      rows += outcome.rowsRead
      let now = FuzzWatch.peakBytes()
      guard now - peak <= FuzzWatch.growthBytesMax else {
        print(
          "memory: mutant \(seed) took \(now - peak) bytes, more than "
            + "\(FuzzWatch.growthBytesMax)")
        exit(1)
      }
      peak = now
    }
    FuzzWatch.rest()
    print("survived \(count) opened \(opened) whole \(whole) committed \(committed) rows \(rows)")
  }

  /// Traps like a mutant would, to test the processes that watch this one.
  package static func trap() -> Never {
    FuzzWatch.install()
    FuzzWatch.announce("mutant 4711")
    preconditionFailure("asked for")
  }

  /// Runs one seed and describes it.
  package static func show(_ seed: UInt64) {
    FuzzWatch.install()
    FuzzWatch.announce("mutant \(seed)")
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
}
