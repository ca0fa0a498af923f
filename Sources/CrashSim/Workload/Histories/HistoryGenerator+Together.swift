// HistoryGenerator+Together.swift: the block of concurrent steps, for a schedule. It contains only
// steps that are possible in any order of commits: upserts, and reads of versions.

extension HistoryGenerator {
  /// All actors of the process concurrently, each with a few steps.
  mutating func runTogether() {
    hasBlock = true
    while open.count < parameters.processes[0].actors.count { openOne() }
    var block: [String] = []
    for actor in open {
      for _ in 0...random.below(3) { block += sideBySide(actor) }
    }
    emit("together:" + block.map { "\n      - \($0)" }.joined())
  }

  /// Some steps of an actor.
  private mutating func sideBySide(_ actor: String) -> [String] {
    let mine = pins.filter { $0.actor == actor }
    switch random.below(8) {
    case 0...1 where has(.pins):
      let name = makeName("t")
      return ["\(actor): {pin: \(name)}", "\(actor): {release: \(name)}"]
    case 2 where has(.diffs) && !mine.isEmpty: return ["\(actor): {diff: \(pick(mine).name)}"]
    case 3: return ["\(actor): verify"]
    default:
      let statements = (0...random.below(2)).map { _ in upsert() }
      let end = has(.cancels) && random.below(6) == 0 ? ", cancel: true" : ""
      return ["\(actor): {write: [\(statements.joined(separator: ", "))]\(end)}"]
    }
  }

  private mutating func upsert() -> String {
    let (table, values) = makeTarget()
    let keys = pick(["1..\(parameters.rows)", "random 1..\(parameters.rows)"])
    return "{upsert: \(table): \(keys)\(values), upTo: \(1 + random.below(4))}"
  }
}
