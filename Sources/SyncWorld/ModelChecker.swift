// ModelChecker.swift: visits every world reachable by a few events, breadth first, so each finding
// has a shortest sequence. Equivalent worlds are visited once; they are identified by a 64-bit hash
// without a random seed, so every run visits the same ones. Among 10 million, the odds of losing
// one are one in 300,000.

import SyncCore

/// How much may happen.
package struct ModelBounds: Hashable, Sendable {
  package var writes = 2
  /// The kind of the transactions.
  package var kind = 0
  /// Connections of each client.
  package var connections = 1
  /// How often a client waits in vain.
  package var ticks = 1
  /// The limit of faults in total, and which kinds are allowed.
  package var faults = 1
  package var hasLoss = false
  package var hasDuplicates = false
  package var hasCrashes = false
  package var hasHangUps = false
  package var hasClones = false
  package var hasRestores = false
  package var hasTrims = false
  package var hasServerLosses = false
  /// Whether messages overtake each other.
  package var reorders = true
  /// The number of visited worlds after which it stops.
  package var statesMax = 3_000_000
  /// Every n-th world is also run until it is at rest; zero for none.
  package var restEvery = 0

  package init() {}
}

/// The result of a search.
package struct ModelResult: Sendable {
  package var stateCount = 0
  package var stepCount = 0
  package var depth = 0
  package var isExhausted = false
  package var breach: WorldBreach?
  /// A shortest way to it.
  package var trace: [WorldEvent] = []

  /// The search in words.
  package var description: String {
    let found = breach.map { "\($0) by \(WorldLife.text(trace))" } ?? "nothing found"
    return "\(stateCount) states, \(stepCount) steps, depth \(depth), "
      + (isExhausted ? "exhausted" : "not exhausted") + ": \(found)"
  }
}

/// A search through all worlds within bounds.
package struct ModelChecker {
  private struct Node {
    var world: World
    var writes: Int
    var ticks: Int
    var faults: Int
    var index: Int
  }

  private let bounds: ModelBounds
  private var seen: Set<UInt64> = []
  private var parents: [(parent: Int32, event: WorldEvent)] = []
  private var result = ModelResult()

  private init(_ bounds: ModelBounds) { self.bounds = bounds }

  /// Visits all worlds.
  package static func search(_ options: WorldOptions, _ bounds: ModelBounds) -> ModelResult {
    var checker = ModelChecker(bounds)
    checker.search(World(options))
    return checker.result
  }

  private mutating func search(_ world: World) {
    var frontier = [
      Node(
        world: world, writes: bounds.writes, ticks: bounds.ticks, faults: bounds.faults, index: 0)
    ]
    parents = [(-1, .trim)]
    seen = [fingerprint(frontier[0])]
    while !frontier.isEmpty {
      var next: [Node] = []
      for node in frontier {
        for event in events(node) {
          guard let child = visit(node, event) else { continue }
          next.append(child)
          guard result.breach == nil, seen.count < bounds.statesMax else {
            result.stateCount = seen.count
            return
          }
        }
      }
      result.depth += 1
      frontier = next
    }
    result.stateCount = seen.count
    result.isExhausted = true
  }

  private func fingerprint(_ node: Node) -> UInt64 {
    var hasher = FixedHasher()
    hasher.feed(node.world.fingerprint)
    hasher.feed(node.writes)
    hasher.feed(node.ticks)
    hasher.feed(node.faults)
    return hasher.value
  }

  private mutating func visit(_ node: Node, _ event: WorldEvent) -> Node? {
    var child = node
    // Time does not advance: a running clock would make every world different.
    guard child.world.step(event) else { return nil }
    child.world.time = node.world.time
    child.world.entryMessageCount = 0
    result.stepCount += 1
    switch event {
    case .write: child.writes -= 1
    case .tick: child.ticks -= 1
    case .connect, .deliver, .stored, .serverStored: break
    default: child.faults -= 1
    }
    guard seen.insert(fingerprint(child)).inserted else { return nil }
    child.index = parents.count
    parents.append((Int32(node.index), event))
    if bounds.restEvery > 0, child.index % bounds.restEvery == 0, child.world.breach == nil {
      var last = child.world
      last.settle()
      child.world.breach = last.breach
    }
    if let breach = child.world.breach {
      result.breach = breach
      result.trace = trace(child.index)
    }
    return child
  }

  private func trace(_ index: Int) -> [WorldEvent] {
    var events: [WorldEvent] = []
    var index = index
    while index > 0 {
      events.append(parents[index].event)
      index = Int(parents[index].parent)
    }
    return events.reversed()
  }

  private func events(_ node: Node) -> [WorldEvent] {
    let world = node.world
    var events: [WorldEvent] = []
    let slots = world.clients.indices
    for slot in slots {
      let client = world.clients[slot]
      if node.writes > 0 { events.append(.write(slot, bounds.kind)) }
      if client.connection == 0, client.connectionCount < UInt64(bounds.connections) {
        events.append(.connect(slot))
      }
      if node.ticks > 0, client.connection != 0 { events.append(.tick(slot)) }
      if client.storing != nil { events.append(.stored(slot)) }
    }
    if world.server.storing != nil { events.append(.serverStored) }
    var links: Set<Int> = []
    for (index, packet) in world.packets.enumerated() {
      let isFirst = links.insert(packet.slot * 2 + (packet.isUp ? 1 : 0)).inserted
      if bounds.reorders || isFirst { events.append(.deliver(index)) }
      if node.faults > 0, bounds.hasLoss { events.append(.drop(index)) }
      if node.faults > 0, bounds.hasDuplicates { events.append(.duplicate(index)) }
    }
    guard node.faults > 0 else { return events }
    for slot in slots { addFaults(slot, world, &events) }
    if bounds.hasCrashes { events.append(.serverCrash) }
    if bounds.hasTrims { events.append(.trim) }
    if bounds.hasServerLosses, !world.server.older.isEmpty { events.append(.loseStores(1)) }
    if bounds.hasRestores { events += [.saveServer, .restoreServer] }
    return events
  }

  private func addFaults(_ slot: Int, _ world: World, _ events: inout [WorldEvent]) {
    if bounds.hasCrashes { events.append(.crash(slot)) }
    if bounds.hasHangUps { events.append(.hangUp(slot)) }
    if bounds.hasClones {
      for other in world.clients.indices where other != slot { events.append(.clone(slot, other)) }
    }
    if bounds.hasRestores { events += [.save(slot), .restore(slot)] }
    if bounds.hasTrims { events.append(.expire(slot)) }
  }
}
