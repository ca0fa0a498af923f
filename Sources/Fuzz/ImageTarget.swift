// ImageTarget.swift: bytes → choices → a damaged image → everything that can be done with it.
// The first bytes choose the base image, the others where and how it is damaged; checksums of what
// was changed are made right up to the root slot, so that the damage gets past them.

import Engine

enum ImageTarget {
  static func run(_ input: [UInt8]) {
    var choices = MutantChoices(bytes: input)
    let change = choices.below(4)
    let base = MutantBase.all[choices.below(MutantBase.all.count)]
    let image = Mutator.mutant(of: base, &choices)
    _ = MutantExercise.run(image, key: base.key, choice: change)
  }
}
