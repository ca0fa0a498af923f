// NodeTarget.swift: bytes → choices → one node of an image damaged, with every checksum above it
// corrected, so that wrong bytes reach the code after the checksums.

import Engine
import Fuzz

enum NodeTarget {
  static let target = FuzzTarget(
    name: "node", judges: "one node changed and sealed: what verifies is read, changed and kept",
    smokeCount: 300, seeds: { FuzzTarget.choiceSeeds("node") }, run: { run($0) })

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    var choices = MutantChoices(bytes: input)
    let base = MutantBase.chooseEvenly(&choices)
    let node = base.nodes[choices.below(base.nodes.count)]
    return JudgedImage.judge(Mutator.mutant(of: base, in: [node], &choices))
  }
}
