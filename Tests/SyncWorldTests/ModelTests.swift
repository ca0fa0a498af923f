// ModelTests.swift: every world within bounds, on the machines that are shipped.

import Requirements
import SyncCore
import SyncWorld
import Testing

@Suite("All small worlds")
struct ModelTests {
  /// What may happen in a search.
  enum Search: CaseIterable {
    case lostAndDoubled, crashes, copies, trims, serverLosses, hangUps

    /// Bounds that take a second or so in a debug build.
    var bounds: ModelBounds {
      var bounds = ModelBounds()
      bounds.writes = 1
      bounds.connections = 1
      switch self {
      case .lostAndDoubled:
        bounds.hasLoss = true
        bounds.hasDuplicates = true
      case .crashes:
        bounds.hasCrashes = true
        bounds.connections = 2
        bounds.ticks = 0
      case .copies:
        bounds.hasClones = true
        bounds.hasRestores = true
        bounds.writes = 2
        bounds.ticks = 0
        bounds.reorders = false
      case .trims:
        bounds.hasTrims = true
        bounds.hasHangUps = true
        bounds.faults = 2
        bounds.writes = 2
        bounds.ticks = 0
        bounds.reorders = false
      case .serverLosses:
        bounds.hasServerLosses = true
        bounds.connections = 2
        bounds.ticks = 0
      case .hangUps:
        bounds.hasHangUps = true
        bounds.connections = 2
        bounds.ticks = 0
      }
      bounds.restEvery = 400
      return bounds
    }

    /// More transactions, with which a search still ends within gigabytes of memory.
    var largeWrites: Int {
      switch self {
      case .copies, .trims: 0
      case .lostAndDoubled, .crashes, .serverLosses: 1
      case .hangUps: 2
      }
    }
  }

  @Test("keep every promise, whatever happens once in them", arguments: Search.allCases)
  func searches(search: Search) {
    var options = WorldOptions()
    options.storesAreEvents = false
    options.packetsMax = 2
    options.packetsDiffer = true
    var bounds = search.bounds
    if FullSize.isOn { bounds.writes += search.largeWrites }
    bounds.statesMax = FullSize.isOn ? 2_000_000 : 4000
    let result = ModelChecker.search(options, bounds)
    print("\(search): \(result.description)")
    if let breach = result.breach {
      Issue.record("\(search): \(breach) by \(WorldLife.text(result.trace))")
    }
    #expect(result.stateCount > 500 && (result.isExhausted || !FullSize.isOn))
  }

  @Test("have one number each, whatever the order of what is in flight")
  func fingerprints() {
    var (left, right) = (World(), World())
    for event in [.connect(0), .connect(1)] as [WorldEvent] { left.step(event) }
    for event in [.connect(1), .connect(0)] as [WorldEvent] { right.step(event) }
    #expect(left.fingerprint == right.fingerprint)
    right.step(.drop(0))
    #expect(left.fingerprint != right.fingerprint)
  }

  @Test("have the same numbers in every process")
  func fixedNumbers() {
    var hasher = FixedHasher()
    for word in [7, 0, .max] as [UInt64] { hasher.feed(word) }
    #expect(hasher.value == 0x5ca2_ca77_1767_8144)
  }
}
