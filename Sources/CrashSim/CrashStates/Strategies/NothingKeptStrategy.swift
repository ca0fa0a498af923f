// NothingKeptStrategy.swift: only what is durable survives.

import LabCore

struct NothingKeptStrategy: CandidateStrategy {
  let name = Strategy.nothingKept

  func propose(_ context: StrategyContext, _ emit: Proposal) throws(LabError) {
    try emit(KeptSet(count: context.window.count), nil)
  }
}
