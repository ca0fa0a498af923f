// ImageTarget.swift: bytes → choices → a damaged image → all operations on it. The first bytes
// choose the base image, the others where and how it is damaged; checksums of changed nodes are
// corrected up to the root slot, so that the damage is not detected by them.

import Engine
import Fuzz

enum ImageTarget {
  static let target = FuzzTarget(
    name: "image", judges: "an image damaged anywhere: open, verify, read, write, copy, inspect",
    smokeCount: 300, seeds: { FuzzTarget.choiceSeeds("image") }, run: { run($0) })

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    var choices = MutantChoices(bytes: input)
    let change = choices.below(4)
    let base = MutantBase.all[choices.below(MutantBase.all.count)]
    let image = Mutator.mutant(of: base, &choices)
    let outcome = MutantExercise.run(image, key: base.key, choice: change)
    return outcome.isWhole ? .accepted : .refused
  }
}
