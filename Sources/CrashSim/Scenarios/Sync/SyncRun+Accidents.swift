// SyncRun+Accidents.swift: runs the steps while several accidents happen to nodes, after each of
// which the steps go on; finds the fewest accidents that still break an invariant, and explains.

import CrashStates
import Exploration
import FaultFS
import Findings
import LabCore
import Recording
import SyncLab
import Workload

extension ScenarioRunner {
  /// The finding of a scenario whose nodes have accidents, wherever these happen in it.
  /// - Returns: The finding and the number of operations; nil when nothing is broken.
  func finding(
    of accidents: [NodeAccident], in scenario: Scenario
  ) throws(LabError) -> (finding: Finding, operations: Int)? {
    guard let declared = scenario.sync else { return nil }
    let run = SyncRun(self, scenario, declared)
    let disturbed = try run.run(with: accidents)
    guard !disturbed.breaches.isEmpty else { return nil }
    let operations = disturbed.lives.reduce(0) { $0 + $1.trace.events.count }
    return (try run.finding(of: disturbed, number: 1), operations)
  }
}

extension SyncRun {
  /// A run with accidents.
  struct Disturbed {
    let breaches: [LabBreach]
    /// The accidents that came about, with what was left after them.
    var accidents: [NodeAccident]
    /// The recordings of the lives that power failures ended, in their order.
    let lives: [Life]
    /// Commits that apps were told of.
    let commitCount: Int

    /// The first broken invariant.
    var broken: SyncPromise? { breaches.first?.promise }
  }

  /// Files that take the place of what a power failure leaves.
  struct Replacement {
    let node: String
    let life: Int
    let image: TreeImage
  }

  /// Runs the steps with accidents.
  /// - Parameters:
  ///   - accidents: The accidents.
  ///   - states: Seed of what is left where an accident has no key; nil is the run's.
  ///   - isExact: Whether each state of a key must be there; otherwise another one is drawn.
  ///   - replacement: Files for one of the power failures.
  /// - Returns: What came of it.
  /// - Throws: `LabError` with code `.nondeterminism` when a state is not there.
  func run(
    with accidents: [NodeAccident], drawing states: Seed? = nil, isExact: Bool = false,
    replacing replacement: Replacement? = nil
  ) throws(LabError) -> Disturbed {
    var happened: [NodeAccident] = []
    var lives: [Life] = []
    let world = try makeWorld(
      .accidents(accidents.map(\.inWorld)) { (place, trace) throws(LabError) in
        let found = accidents.first {
          $0.node == place.node && $0.life == place.life && $0.event == place.event
        }
        guard var accident = found else { throw .internalError("power failed at no place") }
        guard case .power(let event, let model, let key) = accident.kind else {
          happened.append(accident)
          return try self.written(Life(node: place.node, number: place.life, trace: trace))
        }
        let life = Life(node: place.node, number: place.life, trace: trace)
        lives.append(life)
        if let replacement, replacement.node == life.node, replacement.life == life.number {
          happened.append(accident)
          return replacement.image
        }
        let enumerator = try self.enumerator(life, try PersistenceModel.chosen(model)[0])
        let state = try self.state(key, of: life, enumerator, states ?? seed, isExact: isExact)
        accident.kind = .power(
          event: event, model: model, state: enumerator.key(of: state).description)
        happened.append(accident)
        return try enumerator.withImage(of: state) { (image) throws(LabError) in
          image.treeImage()
        }
      })
    try world.run()
    let faults = accidents.filter { accident in
      if case .fault = accident.kind { world.hasHit(accident.inWorld) } else { false }
    }
    return Disturbed(
      breaches: world.breaches, accidents: happened + faults, lives: lives,
      commitCount: world.commitCount)
  }

  /// What a process that is killed leaves.
  private func written(_ life: Life) throws(LabError) -> TreeImage {
    let enumerator = try enumerator(life, .ext4Ordered)
    return try enumerator.withImage(of: enumerator.lastState()) { (image) throws(LabError) in
      image.treeImage()
    }
  }

  private func state(
    _ key: String?, of life: Life, _ enumerator: CrashStateEnumerator, _ states: Seed,
    isExact: Bool
  ) throws(LabError) -> CrashState {
    if let key = key.flatMap({ StateKey(parsing: $0) }) {
      if isExact { return try enumerator.state(for: key) }
      let state = try? enumerator.state(for: key)
      if let state, state.crashPoint == life.trace.events.count { return state }
    } else if isExact {
      throw .usage("the token's state '\(key ?? "none")' cannot be read")
    }
    return try enumerator.drawFinalState(states.derived("left of \(life.node) \(life.number)"))
  }

  // MARK: - Findings

  /// The run with the fewest of its accidents that still breaks the same invariant.
  /// - Complexity: O(accidents^2) runs.
  func thinned(_ disturbed: Disturbed, drawing states: Seed) throws(LabError) -> Disturbed {
    var best = disturbed
    var place = best.accidents.count - 1
    while place >= 0 {
      for shifts in [false, true] {
        var fewer = best.accidents
        let gone = fewer.remove(at: place)
        // Without the end of a life, what happens in the next one happens in it.
        for index in fewer.indices
        where shifts && fewer[index].node == gone.node && fewer[index].life > gone.life {
          fewer[index].life -= 1
        }
        let again = try run(with: fewer, drawing: states)
        guard again.broken == best.broken else { continue }
        best = again
        break
      }
      place = min(place, best.accidents.count) - 1
    }
    return best
  }

  /// The finding of a run with accidents.
  /// - Parameters:
  ///   - disturbed: The run.
  ///   - number: The finding's number.
  /// - Returns: The finding.
  /// - Throws: `LabError` when a repeated run cannot be made.
  func finding(of disturbed: Disturbed, number: Int) throws(LabError) -> Finding {
    var result = Self.result(disturbed.breaches)
    var accidents = disturbed.accidents
    let last = accidents.lastIndex(where: \.isPowerFailure)
    guard let last, let life = disturbed.lives.last,
      case .power(_, let name, let text?) = accidents[last].kind,
      let key = StateKey(parsing: text)
    else {
      let story = accidents.isEmpty ? ["there was no crash"] : accidents.map(\.text)
      return plainFinding(
        result, count: 1, number: number, crash: story.joined(separator: "; "), model: "stress",
        .accidents(accidents))
    }
    let model = try PersistenceModel.chosen(name)[0]
    let enumerator = try enumerator(life, model)
    let accepts: FindingMaker.Check = { (state) throws(LabError) in
      let image = try enumerator.withImage(of: state) { (image) throws(LabError) in
        image.treeImage()
      }
      var others = accidents
      others[last].kind = .power(event: state.crashPoint, model: name, state: nil)
      let replacement = Replacement(node: life.node, life: life.number, image: image)
      return try run(with: others, replacing: replacement).broken != disturbed.broken
    }
    let maker = try FindingMaker(enumerator: enumerator, model: model)
    let state = try maker.shrink(try enumerator.state(for: key)) { (state) throws(LabError) in
      try !accepts(state)
    }
    accidents[last].kind = .power(
      event: state.crashPoint, model: name, state: enumerator.key(of: state).description)
    result = Self.result(try run(with: accidents, isExact: true).breaches)
    var finding = try maker.finding(
      number: number, state: state, result: result, stateCount: 1,
      token: token(.accidents(accidents)), accepts: accepts)
    let story = accidents.enumerated().filter { $0.offset != last }.map { $0.element.text + "; " }
    finding.crash = story.joined() + "power of \(life.node) fails \(finding.crash)"
    return finding
  }

  /// Reproduces a run with accidents.
  func replay(_ accidents: [NodeAccident]) throws(LabError) -> Finding? {
    let again = try run(with: accidents, isExact: true)
    return again.breaches.isEmpty ? nil : try finding(of: again, number: 1)
  }
}
