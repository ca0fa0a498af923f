// OrderTests.swift: every order of arrival gives one state, in worlds small enough to try them all.
// A debug build tries a part of them; `make test-sync` all.

import Requirements
import SyncCore
import SyncFuzz
import Testing

@Suite("The order of arrival")
struct OrderTests {
  /// All programs of the first client, or one of so many.
  private func sample(_ programs: [[SyncOperation]], one step: Int) -> [[SyncOperation]] {
    guard !FullSize.isOn else { return programs }
    return programs.enumerated().filter { $0.offset % step == step / 2 }.map(\.element)
  }

  private func triples(
    _ start: [SyncOperation], _ programs: [[[SyncOperation]]], one step: Int
  ) async -> Int {
    let first = sample(programs[0], one: step)
    let check = await OrderCheck(start).parallel(first) {
      $0.triples($1, programs[1], programs[2])
    }
    #expect(check.breaches == [])
    #expect(check.orderCount == first.count * programs[1].count * programs[2].count * 6)
    return check.orderCount
  }

  @Test("does not matter to three clients' operations on a list", arguments: [false, true])
  func lists(assigns: Bool) async {
    let programs = (0..<3).map { client in
      Alphabet.listChanges(3, "\(client)", assigns: assigns).map { [Alphabet.list($0)] }
    }
    let count = await triples(Alphabet.listStart(3), programs, one: 9)
    if FullSize.isOn { #expect(count == (assigns ? 5832 : 4913) * 6) }
  }

  @Test("does not matter to three clients' lives of an object", arguments: [true, false])
  func lives(isThere: Bool) async {
    let start: [SyncOperation] =
      isThere
      ? [
        .create(Alphabet.dog), .change(SyncField(Alphabet.dog, [], "count"), .set(.int(100))),
      ] : []
    let programs = (0..<3).map { Alphabet.lives(Int64($0 + 1)) }
    let count = await triples(start, programs, one: 10)
    if FullSize.isOn { #expect(count == 8000 * 6) }
  }

  @Test("does not matter to three clients' links")
  func links() async {
    let programs = [[[SyncOperation]]](repeating: Alphabet.links.map { [$0] }, count: 3)
    let count = await triples(Alphabet.linkStart, programs, one: 9)
    if FullSize.isOn { #expect(count == 4913 * 6) }
  }

  @Test("does not matter to three clients' operations of all kinds")
  func mixed() async {
    let programs = (0..<3).map { client in Alphabet.mixed(Int64(client + 1)).map { [$0] } }
    #expect(programs[0].count >= 60)
    let count = await triples(
      Alphabet.mixedStart, FullSize.isOn ? programs : programs.map { sample($0, one: 4) }, one: 1)
    if FullSize.isOn { #expect(count >= 216_000 * 6) }
  }

  @Test("does not matter to two operations each of two clients on a list")
  func pairs() async {
    let (first, second) = (
      sample(Alphabet.listPairs(3, "0"), one: 40), Alphabet.listPairs(3, "1")
    )
    let check = await OrderCheck(Alphabet.listStart(3)).parallel(first) { $0.pairs($1, second) }
    #expect(check.orderCount == first.count * second.count * 2)
    if FullSize.isOn { #expect(check.orderCount == 83_521 * 2) }
    #expect(check.breaches == [])
  }

  @Test("gives what the reference has, for triples of all kinds")
  func reference() {
    let programs = (0..<3).map { Alphabet.mixed(Int64($0 + 1)) }
    let count = programs[0].count
    let start = OrderCheck(Alphabet.mixedStart).start
    var breaches: [String] = []
    for number in stride(from: 0, to: count * count * count, by: FullSize.isOn ? 31 : 1009) {
      var merger = start
      let chosen = [number % count, number / count % count, number / count / count]
      for (client, program) in chosen.enumerated() {
        OrderCheck.take(
          UInt64(client + 1), 1, base: 1, stamp: 10 + UInt64(client * 7 % 3),
          [programs[client][program]], &merger)
      }
      if let wrong = SyncJudge.difference(merger) { breaches.append("\(chosen): \(wrong)") }
      if breaches.count > 3 { break }
    }
    #expect(breaches == [])
  }
}
