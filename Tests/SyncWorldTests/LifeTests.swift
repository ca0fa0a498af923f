// LifeTests.swift: drawn lives of clients and a server on a network that loses, doubles, delays and
// reorders, with faults first and rest afterwards.

import Requirements
import SyncWorld
import Testing

@Suite("Lives of clients and a server")
struct LifeTests {
  @Test("keep every promise, and come to rest")
  func lives() {
    var (events, entries) = (0, 0)
    for seed in 0..<(FullSize.isOn ? 1_000_000 : 400) as Range<UInt64> {
      let life = WorldLife(seed: seed, isMergeJudged: seed % 64 == 0)
      events += life.eventCount
      entries += life.entryCount
      guard let breach = life.breach else { continue }
      let shrunk = life.shrunk()
      Issue.record(
        """
        seed \(seed): \(breach)
        \(WorldLife.options(seed: seed))
        at its shortest: \(shrunk.breach?.description ?? "nothing")
        token: \(shrunk.token)
        """)
      break
    }
    print("lives: \(events) events, \(entries) entries")
    #expect(events > 20_000 && entries > 1500)
  }

  @Test("of a seed are the same each time, and so are those of their tokens")
  func tokens() throws {
    for seed in 0..<60 as Range<UInt64> {
      let life = WorldLife(seed: seed)
      let again = WorldLife(seed: seed)
      #expect(life.events == again.events && life.entryCount == again.entryCount)
      let replayed = try #require(WorldLife(token: life.token))
      #expect(replayed.events == life.events && replayed.entryCount == life.entryCount)
      #expect(replayed.token == life.token)
    }
    #expect(WorldLife.options(seed: 1) == WorldLife.options(seed: 1))
    #expect(WorldLife.options(seed: 1) != WorldLife.options(seed: 2))
    for wrong in ["", "life1", "life1 2", "life1 2x w0,1", "life2 2e", "life1 0e", "life1 2e q"] {
      #expect(WorldLife(token: wrong) == nil, "\(wrong)")
    }
    for wrong in ["w", "w1", "w1,2,3", "S1", "w01,2", "w-,1", "T ", "c99999999999999999999"] {
      #expect(WorldEvent(wrong) == nil, "\(wrong)")
    }
  }

  @Test("take events that make no sense as nothing")
  func senselessEvents() {
    let events: [WorldEvent] = [
      .write(7, 0), .connect(-1), .hangUp(0), .tick(0), .deliver(3), .drop(0), .duplicate(0),
      .heal(0), .stored(0), .serverStored, .clone(0, 0), .restore(0), .restoreServer,
      .loseStores(0), .loseStores(9), .expire(5),
    ]
    let life = WorldLife(replaying: events, slotCount: 2, storesAreEvents: true)
    #expect(life.events == [] && life.breach == nil)
  }

  /// Lives that once went wrong, or that a planted bug makes go wrong, and why.
  @Test(
    "that a mistake makes go wrong go right",
    arguments: [
      // An answer to a hello was lost, and the hello that came again got none.
      "life1 3i c1 d0 x0",
      // Messages of a connection that had ended were sent in the next one.
      "life1 4e c1 w1,1 d0 t1 S d0 h1 c1",
      // A stale entry's base was before the log that a client had got.
      "life1 2i w0,2 c0 d0 d0 d0 d0 d0 d0 w0,4 d0 E0 w1,0",
      // A hello came twice; the server took its second answer for the one that arrived.
      "life1 3i w1,4 w1,5 c0 d0 d0 K w1,5 c0 w0,3 d0 d0 d0 d0 d0 w1,2 w1,0 L3 c1 d0 d0 c0 y0 d0 "
        + "d0 c2 t0 d0 y8 d2 d0 d0 d0 d0 d10",
      // A welcome that comes again is none.
      "life1 3i c2 d0 d0 E2 c0 d0 d0 c2 w0,2 t2 w2,1",
      // A file that goes back within a connection makes another changeset of the same number.
      "life1 1i c0 d0 d0 m0 w0,0 d0 r0 w0,0",
      // A client that is away still needs what others have left behind.
      "life1 2i c1 d0 c0 w1,5 d0 d0 d0 d0 d0 d0 K c0 d0 d0 w0,1 d0 T",
      // A server loses entries that a client has, and takes others in their place.
      "life1 4e c2 d0 w2,4 S d0 w2,4 s2 s2 d0 S d0 d0 S d0 L2 w0,5",
    ])
  func oldFindings(token: String) throws {
    let life = try #require(WorldLife(token: token))
    #expect(life.breach == nil)
    #expect(life.events.count > 2)
  }
}
