// SampleStrategy.swift: down-closed sets drawn from the seed, where there are many pending units.
// Each unit is kept with a given probability; then, in turn, either the dependencies of kept units
// are kept, too (long chains survive), or the dependents of lost units are lost, too (long chains
// are cut early).

import LabCore

struct SampleStrategy: CandidateStrategy {
  let name = Strategy.sample

  func propose(_ context: StrategyContext, _ emit: Proposal) throws(LabError) {
    let window = context.window
    let chances = context.options.keepChances
    guard window.count > context.options.exhaustiveUpTo, !chances.isEmpty else { return }
    var random = PRNG(context.seed.derived("samples").derived(UInt64(window.crashPoint)))
    for sample in 0..<context.sampleLimit {
      let chance = chances[sample % chances.count]
      let pullsDependencies = sample / chances.count % 2 == 0
      var kept = pullsDependencies ? KeptSet(count: window.count) : .all(window.count)
      for place in 0..<window.count {
        if random.chance(chance) {
          if pullsDependencies { window.keep(place, in: &kept) }
        } else if !pullsDependencies {
          window.lose(place, in: &kept)
        }
      }
      if !window.isNew(kept) {
        let place = window.newest.lowerBound + random.below(window.newest.count)
        window.keep(place, in: &kept)
      }
      try emit(kept, nil)
    }
  }
}
