// WorldLife.swift: one life of a world from a seed: its options are drawn first, then its events; a
// phase with faults, and one without. A token contains all of this. Invariant: a seed gives the
// same life on every machine; a life's token gives the same breach.

/// The options that a life draws first.
package struct LifeOptions: Hashable, Sendable {
  package var slotCount = 2
  package var storesAreEvents = true
  package var steps = 60
  /// How likely each kind of event is, in the order of `LifeOptions.kinds`.
  package var weights: [Int] = []

  /// The kinds of events, in the order of their weights.
  static let kinds = [
    "write", "connect", "hang up", "tick", "deliver", "overtake", "drop", "duplicate", "cut",
    "heal", "stored", "crash", "server crash", "clock", "clone", "save", "restore", "trim",
    "expire", "save server", "restore server", "lose stores",
  ]

  /// Options drawn from a seed: each fault occurs only in some lives, so that lives differ.
  init(_ choices: inout LifeChoices) {
    slotCount = 1 + choices.below(4)
    storesAreEvents = choices.below(3) > 0
    steps = 20 + choices.below(100)
    weights = [12 + choices.below(20), 12, choices.below(9), 10, 60, 0, 0, 0, 0, 0, 30]
    let usual = [20, 6, 6, 3, 3]
    for (index, weight) in usual.enumerated() where choices.below(2) == 0 {
      weights[5 + index] = 1 + choices.below(weight)
    }
    if weights[8] > 0 { weights[9] = max(weights[9], 3) }
    for weight in [3, 2, 2, 2, 2, 2, 6, 2, 1, 1, 1] {
      weights.append(choices.below(3) == 0 ? weight : 0)
    }
  }

  /// The options in words.
  package var description: String {
    let rates = zip(Self.kinds, weights).filter { $0.1 > 0 }.map { "\($0.0) \($0.1)" }
    return "\(slotCount) clients, \(steps) steps, stores "
      + (storesAreEvents ? "take time" : "are at once") + "; " + rates.joined(separator: ", ")
  }
}

/// A completed life.
package struct WorldLife: Sendable {
  package private(set) var slotCount: Int
  package private(set) var storesAreEvents: Bool
  /// Everything that happened before the faults ended.
  package var events: [WorldEvent] = []
  package private(set) var breach: WorldBreach?
  package private(set) var entryCount = 0
  package private(set) var eventCount = 0

  /// Runs a life.
  /// - Parameters:
  ///   - seed: The seed of all choices.
  ///   - isMergeJudged: Whether the merge is recomputed at the end.
  package init(seed: UInt64, isMergeJudged: Bool = false) {
    var choices = LifeChoices(seed: seed)
    let options = LifeOptions(&choices)
    slotCount = options.slotCount
    storesAreEvents = options.storesAreEvents
    var world = World(worldOptions)
    let total = options.weights.reduce(0, +)
    for _ in 0..<options.steps where world.breach == nil {
      let event = choices.event(world, options.weights, total: total)
      guard world.step(event) else { continue }
      events.append(event)
    }
    end(&world, isMergeJudged)
  }

  /// Replays a part of a life.
  package init(replaying events: [WorldEvent], slotCount: Int, storesAreEvents: Bool) {
    self.slotCount = slotCount
    self.storesAreEvents = storesAreEvents
    var world = World(worldOptions)
    for event in events where world.breach == nil && world.step(event) {
      self.events.append(event)
    }
    end(&world, true)
  }

  /// The life of a token; nil for an invalid text.
  package init?(token: String) {
    let words = token.split(separator: " ")
    guard words.count >= 2, words[0] == "life1", let slots = words[1].first?.wholeNumberValue,
      (1...9).contains(slots), words[1].count == 2, let letter = words[1].last,
      "ei".contains(letter)
    else {
      return nil
    }
    var events: [WorldEvent] = []
    for word in words.dropFirst(2) {
      guard let event = WorldEvent(word) else { return nil }
      events.append(event)
    }
    self.init(replaying: events, slotCount: slots, storesAreEvents: letter == "e")
  }

  private var worldOptions: WorldOptions {
    var options = WorldOptions()
    options.slotCount = slotCount
    options.storesAreEvents = storesAreEvents
    options.serverStoresAreEvents = storesAreEvents
    return options
  }

  private mutating func end(_ world: inout World, _ isMergeJudged: Bool) {
    let before = world.deliveredCount
    if world.breach == nil { world.settle() }
    if world.breach == nil, isMergeJudged { world.judgeMerge() }
    breach = world.breach
    entryCount = world.entryCount
    eventCount = events.count + world.deliveredCount - before
  }

  /// The options that a seed draws, in words.
  package static func options(seed: UInt64) -> String {
    var choices = LifeChoices(seed: seed)
    return LifeOptions(&choices).description
  }

  /// Events as words.
  package static func text(_ events: [WorldEvent]) -> String {
    events.map(\.text).joined(separator: " ")
  }

  /// The token that replays it: number of clients, e for stores that take time or i, and the
  /// events.
  package var token: String {
    "life1 \(slotCount)\(storesAreEvents ? "e" : "i") " + Self.text(events)
  }

  /// A minimal sequence of events that breaks the same invariant: parts are removed, halves first.
  /// - Complexity: at most O(events^2) lives.
  package func shrunk() -> WorldLife {
    guard let invariant = breach?.invariant else { return self }
    var best = self
    var size = max(1, best.events.count / 2)
    while true {
      var isSmaller = false
      var start = 0
      while start < best.events.count {
        var events = best.events
        events.removeSubrange(start..<min(start + size, events.count))
        let life = WorldLife(
          replaying: events, slotCount: slotCount, storesAreEvents: storesAreEvents)
        if life.breach?.invariant == invariant, life.events.count < best.events.count {
          best = life
          isSmaller = true
        } else {
          start += size
        }
      }
      if size > 1 { size /= 2 } else if !isSmaller { return best }
    }
  }
}
