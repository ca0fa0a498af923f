// LifeChoices.swift: the source of a life's choices. Invariant: the same seed gives the same
// choices on every machine.

/// SplitMix64.
struct LifeChoices {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x2545_f491_4f6c_dd1d &+ 1 }

  private mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// A number below a bound.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

  /// The next event; it need not apply.
  mutating func event(_ world: World, _ weights: [Int], total: Int) -> WorldEvent {
    var rest = below(total)
    var kind = 0
    while kind < weights.count - 1, rest >= weights[kind] {
      rest -= weights[kind]
      kind += 1
    }
    let slot = below(world.clients.count)
    let packets = world.packets.count
    switch kind {
    case 0: return .write(slot, below(6))
    case 1: return .connect(slot)
    case 2: return .hangUp(slot)
    case 3: return .tick(slot)
    case 4: return .deliver(0)
    case 5: return .deliver(below(packets))
    case 6: return .drop(below(packets))
    case 7: return .duplicate(below(packets))
    case 8: return below(2) == 0 ? .cutUp(slot) : .cutDown(slot)
    case 9: return .heal(slot)
    case 10: return below(2) == 0 ? .serverStored : .stored(slot)
    default: return fault(kind, slot, world)
    }
  }

  private mutating func fault(_ kind: Int, _ slot: Int, _ world: World) -> WorldEvent {
    switch kind {
    case 11: .crash(slot)
    case 12: .serverCrash
    case 13: below(3) == 0 ? .serverClock(below(20)) : .clock(slot, below(40) - 20)
    case 14: .clone(slot, below(world.clients.count))
    case 15: .save(slot)
    case 16: .restore(slot)
    case 17: .trim
    case 18: .expire(slot)
    case 19: .saveServer
    case 20: .restoreServer
    default: .loseStores(1 + below(3))
    }
  }
}
