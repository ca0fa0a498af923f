// AllKeptStrategy.swift: everything issued so far survives.

import LabCore

struct AllKeptStrategy: CandidateStrategy {
  let name = Strategy.allKept

  func propose(_ context: StrategyContext, _ emit: Proposal) throws(LabError) {
    try emit(.all(context.window.count), nil)
  }
}
