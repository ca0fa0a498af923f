// ObjectWork.swift [U]: one piece of work that the object database and a peer do in turns, timed by
// the clock and by the processor. Safety: a C struct on the stack is filled in by one call.

import Foundation

/// What a piece of work took.
struct Taken {
  let seconds: Double
  let processorSeconds: Double

  /// Times a piece of work.
  static func by<Answer>(_ body: () throws -> Answer) rethrows -> (Taken, Answer) {
    let (start, processorStart) = (now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID))
    let answer = try body()
    let taken = Taken(
      seconds: now(CLOCK_MONOTONIC) - start,
      processorSeconds: now(CLOCK_PROCESS_CPUTIME_ID) - processorStart)
    return (taken, answer)
  }

  /// Nanoseconds of the clock that all processes of the system share and nobody sets.
  static func nanoseconds() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  private static func now(_ clock: clockid_t) -> Double {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// Work with one answer, which both sides must give each time.
struct ObjectWork<Answer: Equatable> {
  let name: String
  let unit: String
  let peerName: String
  /// How many things are done in one call.
  let count: Int
  /// Calls in a round: each alone may be short.
  let repeats: Int
  private let ours: () throws -> (Taken, Answer)
  private let peer: () throws -> (Taken, Answer)

  /// Work whose sides say themselves what of it is timed.
  init(
    name: String, unit: String, peerName: String, count: Int,
    timedOurs ours: @escaping () throws -> (Taken, Answer),
    timedPeer peer: @escaping () throws -> (Taken, Answer)
  ) {
    (self.name, self.unit, self.peerName) = (name, unit, peerName)
    (self.count, repeats) = (count, 1)
    (self.ours, self.peer) = (ours, peer)
  }

  /// Work that is timed as a whole.
  init(
    name: String, unit: String, peerName: String, count: Int, repeats: Int = 1,
    ours: @escaping () throws -> Answer, peer: @escaping () throws -> Answer
  ) {
    (self.name, self.unit, self.peerName) = (name, unit, peerName)
    (self.count, self.repeats) = (count, repeats)
    self.ours = { try Taken.by(ours) }
    self.peer = { try Taken.by(peer) }
  }

  /// - Returns: A row of things a second.
  func rate(_ settings: Settings) throws -> Row {
    let sides = try measured(settings)
    let things = Double(count * repeats)
    var row = Row.rate(
      name, ours: things / sides.ours.seconds, peer: things / sides.peer.seconds,
      peerName: peerName, unit: unit)
    row.processorRatio = sides.peer.processorSeconds / sides.ours.processorSeconds
    return row
  }

  /// - Returns: A row of milliseconds a call.
  func milliseconds(_ settings: Settings) throws -> Row {
    let sides = try measured(settings)
    var row = Row.cost(
      name, ours: sides.ours.seconds / Double(repeats) * 1e3,
      peer: sides.peer.seconds / Double(repeats) * 1e3, peerName: peerName, unit: "ms")
    row.processorRatio = sides.peer.processorSeconds / sides.ours.processorSeconds
    return row
  }

  private func measured(_ settings: Settings) throws -> (ours: Taken, peer: Taken) {
    // Once for the caches.
    let wanted = try peer().1
    try Benchmark.expectEqual(name, ours().1, wanted)
    let sides = try turns(rounds: settings.rounds) {
      try round(settings.peerOnBothSides ? peer : ours, wanted)
    } peer: {
      try round(peer, wanted)
    }
    return (Self.middle(sides.ours), Self.middle(sides.peer))
  }

  private func round(_ side: () throws -> (Taken, Answer), _ wanted: Answer) throws -> Taken {
    var all = Taken(seconds: 0, processorSeconds: 0)
    for _ in 0..<repeats {
      let (taken, answer) = try side()
      try Benchmark.expectEqual(name, answer, wanted)
      all = Taken(
        seconds: all.seconds + taken.seconds,
        processorSeconds: all.processorSeconds + taken.processorSeconds)
    }
    return all
  }

  private static func middle(_ samples: [Taken]) -> Taken {
    Taken(
      seconds: median(samples.map(\.seconds)),
      processorSeconds: median(samples.map(\.processorSeconds)))
  }
}
