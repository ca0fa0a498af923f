// FreeListTarget.swift: bytes → choices → the free list of an image, or its segments, damaged and
// sealed. A free list that passes for right must not lead a commit to sectors that are in use.

import Engine
import Fuzz

enum FreeListTarget {
  static let target = FuzzTarget(
    name: "free-list", judges: "free lists changed and sealed: no commit destroys what is in use",
    smokeCount: 300, seeds: { FuzzTarget.choiceSeeds("free-list") }, run: { run($0) })

  private static let kinds: [UInt8] = [5, 10]

  /// Images with the nodes of their free lists.
  private static let bases: [(base: MutantBase, nodes: [Int])] = MutantBase.all.compactMap { base in
    let nodes = base.nodes.filter { kinds.contains(base.bytes[$0 + NodeField.kind]) }
    return nodes.isEmpty ? nil : (base, nodes)
  }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    var choices = MutantChoices(bytes: input)
    let (base, nodes) = bases[choices.below(bases.count)]
    return JudgedImage.judge(Mutator.mutant(of: base, in: nodes, &choices))
  }
}
