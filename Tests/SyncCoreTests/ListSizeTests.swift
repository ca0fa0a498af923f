// ListSizeTests.swift: long lists and long branches: how time grows with the number of operations.
// Times are judged in `make test-sync` only, and leave room for machines that do other things too.

import Requirements
import SyncCore
import Testing

@Suite("A long list", .serialized)
struct ListSizeTests {
  /// Typing at places that jump now and then, with erasures: single characters.
  private func typing(_ count: Int, on length: Int, seed: UInt64) -> [SyncOperation] {
    var (state, length, place) = (seed, length, 0)
    func below(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % max(1, bound)
    }
    return (0..<count).map { _ in
      if below(40) == 0 { place = below(length + 1) }
      if below(5) == 0, place > 0 {
        place -= 1
        length -= 1
        return Alphabet.list(.listErase(at: place, count: 1))
      }
      place += 1
      length += 1
      return Alphabet.list(.listInsert(at: place - 1, [.int(Int64(below(26)))]))
    }
  }

  private func moves(_ count: Int, over length: Int, seed: UInt64) -> [SyncOperation] {
    var state = seed
    func below(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    return (0..<count).map { _ in
      Alphabet.list(.listMove(from: below(length), to: below(length)))
    }
  }

  private func start(_ length: Int) -> SyncMerger {
    let values = (0..<length).map { SyncValue.int(Int64($0)) }
    return OrderCheck([.create(Alphabet.dog), Alphabet.list(.listInsert(at: 0, values))]).start
  }

  /// Plays branches in a graph, as a server does whose state is elsewhere.
  private func seconds(_ start: SyncMerger, _ branches: [[SyncOperation]]) -> Double {
    let changesets = branches.enumerated().map { number, operations in
      SyncChangeset(
        client: SyncClient(UInt64(number + 1)), sequence: 1, base: SyncVersion(1),
        stamp: SyncStamp(bits: 10 + UInt64(number)), operations: operations)
    }
    let duration = ContinuousClock().measure { _ = start.playedOperationCount(changesets) }
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
  }

  @Test("merges two long branches in a time that grows with their length")
  func branches() {
    let lengths = FullSize.isOn ? [10_000, 100_000] : [200, 2000]
    let times = lengths.map { length in
      seconds(
        start(1000),
        [typing(length, on: 1000, seed: 1), typing(length, on: 1000, seed: 2)])
    }
    print("two branches of \(lengths) operations: \(times) s")
    if FullSize.isOn { #expect(times[1] < 1.0 && times[1] / times[0] < 14) }
  }

  // The state is part of this one: an array, in which each insertion moves what is behind it.
  @Test("merges two branches that arrive in turn, one operation each")
  func turns() {
    let lengths = FullSize.isOn ? [2000, 20_000] : [50, 500]
    let times = lengths.map { length in
      var merger = start(1000)
      let branches = [typing(length, on: 1000, seed: 1), typing(length, on: 1000, seed: 2)]
      let duration = ContinuousClock().measure {
        for number in 0..<length {
          for (client, branch) in branches.enumerated() {
            OrderCheck.take(
              UInt64(client + 1), UInt64(number + 1), base: 1,
              stamp: 10 + UInt64(2 * number + client), [branch[number]], &merger)
          }
        }
      }
      #expect(merger.breach() == nil)
      return Double(duration.components.seconds)
        + Double(duration.components.attoseconds) * 1e-18
    }
    print("two branches in turn of \(lengths) operations: \(times) s")
  }

  @Test("merges concurrent moves")
  func moves() {
    let count = FullSize.isOn ? 2000 : 100
    let time = seconds(
      start(count), [moves(count, over: count, seed: 1), moves(count, over: count, seed: 2)])
    print("two times \(count) moves over \(count) elements: \(time) s")
    if FullSize.isOn { #expect(time < 0.5) }
  }

  @Test("comes to the same by its operations and by its history")
  func same() {
    let count = FullSize.isOn ? 3000 : 300
    var merger = start(100)
    for client in 1...3 as ClosedRange<UInt64> {
      OrderCheck.take(
        client, 1, base: 1, stamp: 10 + client,
        typing(count, on: 100, seed: client) + [], &merger)
      #expect(merger.breach() == nil)
    }
  }
}
