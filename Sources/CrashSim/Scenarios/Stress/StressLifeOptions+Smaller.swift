// StressLifeOptions+Smaller.swift: what can be left out of a failed life, one option at a time.

import CrashStates

extension StressLifeOptions {
  /// Reduced options; a name and what remains, the largest reductions first.
  var smaller: [(name: String, options: StressLifeOptions)] {
    var steps: [(name: String, options: StressLifeOptions)] = []
    func step(_ name: String, _ change: (inout StressLifeOptions) -> Void) {
      var options = self
      change(&options)
      if options != self { steps.append((name, options)) }
    }
    step("no faults") {
      $0.faults = []
      $0.faultNames = []
    }
    step("no kills") { $0.kills = 0 }
    step("no kills by themselves") { $0.load.killStepsMax = 0 }
    step("one process") { $0.load.processes = 1 }
    step("one writer") { $0.load.writers = 1 }
    step("no readers") { $0.load.readers = 0 }
    step("one reader") { $0.load.readers = min($0.load.readers, 1) }
    step("no compaction") { $0.load.compactPercent = 0 }
    step("no encryption") { $0.load.isEncrypted = false }
    step("two syncs a commit") { $0.load.commit = .twoPhase }
    step("no grouped commits") { $0.load.groupsCommits = false }
    step("no cancelled transactions") { $0.load.cancelPercent = 0 }
    step("short pins") { $0.load.looksPerPin = 1 }
    step("no deletes") { $0.load.deletePercent = 0 }
    step("short values") { $0.load.valueBytesMax = min($0.load.valueBytesMax, 40) }
    step("one statement") { $0.load.statementsMax = 1 }
    step("few keys") { $0.load.keys = min($0.load.keys, 8) }
    step("one list") {
      $0.load.lists = 1
      $0.load.listsPerTransaction = 1
    }
    step("no write-back") { $0.writeBack = nil }
    step("the strict model") { $0.model = PersistenceModel.strict.name }
    return steps
  }
}
