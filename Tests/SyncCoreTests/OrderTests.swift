// OrderTests.swift: every order of arrival gives one state, in worlds small enough to try them all.

import Requirements
import SyncCore
import Testing

@Suite("The order of arrival")
struct OrderTests {
  @Test("does not matter to three clients' operations on a list")
  func lists() async {
    let programs = (0..<3).map { client in
      Alphabet.listChanges(3, "\(client)").map { [Alphabet.list($0)] }
    }
    let check = await OrderCheck(Alphabet.listStart(3)).parallel(programs[0]) {
      $0.triples($1, programs[1], programs[2])
    }
    #expect(check.orderCount == 4913 * 6)
    #expect(check.breaches == [])
  }

  @Test("does not matter to three clients' lives of an object", arguments: [true, false])
  func lives(isThere: Bool) async {
    let start: [SyncOperation] =
      isThere
      ? [
        .create(Alphabet.dog), .change(SyncField(Alphabet.dog, [], "count"), .set(.int(100))),
      ] : []
    let programs = (0..<3).map { Alphabet.lives(Int64($0 + 1)) }
    let check = await OrderCheck(start).parallel(programs[0]) {
      $0.triples($1, programs[1], programs[2])
    }
    #expect(check.orderCount == 8000 * 6)
    #expect(check.breaches == [])
  }

  @Test("does not matter to two operations each of two clients on a list")
  func pairs() async {
    let (first, second) = (Alphabet.listPairs(3, "0"), Alphabet.listPairs(3, "1"))
    let check = await OrderCheck(Alphabet.listStart(3)).parallel(first) { $0.pairs($1, second) }
    #expect(check.orderCount == first.count * second.count * 2)
    #expect(check.breaches == [])
  }
}
