// ManyClientsTests.swift: more clients on one list than it keeps views of at once: each that comes
// back has its view made anew, and the list stays that of the simple merge.

import Fuzz
import Requirements
import SyncCore
import SyncFuzz
import Testing

@Suite("A list with many authors")
struct ManyClientsTests {
  private func change(_ choices: inout MutantChoices, _ count: Int, _ text: String) -> SyncChange {
    let at = choices.below(max(1, count))
    let value = Alphabet.text(text)
    switch choices.below(10) {
    case 0..<4: return .listInsert(at: min(at, count), [value])
    case 4: return .listInsert(at: min(at, count), [value, .link(Alphabet.cat), value])
    case 5: return .listErase(at: at, count: min(2, max(1, count - at)))
    case 6: return .listMove(from: at, to: choices.below(max(1, count)))
    case 7: return .listSet(at: at, choices.below(3) == 0 ? .link(Alphabet.cat) : value)
    case 8: return choices.below(3) == 0 ? .listClear : .listInsert(at: 0, [value])
    default: return choices.below(3) == 0 ? .listAssign([value]) : .listErase(at: at, count: 1)
    }
  }

  @Test("is that of the simple merge, whoever comes back with whatever base")
  func views() throws {
    var lostCount = 0
    for seed in 0..<UInt64(FullSize.isOn ? 4_000 : 60) {
      var choices = MutantChoices(seed: seed)
      var merger = OrderCheck(Alphabet.mixedStart).start
      var lasts = (21...34).map {
        SyncChangeset(
          client: SyncClient($0), sequence: 0, base: SyncVersion(1), stamp: .zero, operations: [])
      }
      for step in 0..<50 {
        // A few write much, and all of them now and then.
        let number = choices.below(3) == 0 ? choices.below(14) : choices.below(4)
        let low = lasts[number].base.number
        let head = merger.head.number
        let base = choices.below(3) == 0 ? head : min(head, low + UInt64(choices.below(4)))
        let client = lasts[number].client
        let known = merger.knownStamp(client: client, base: SyncVersion(base))
        let view = merger.authorState(
          of: SyncChangeset(
            client: client, sequence: lasts[number].sequence + 1, base: SyncVersion(base),
            stamp: .zero, operations: []))
        let count = view.objects[Alphabet.dog]?["toys"].list.count ?? 0
        var operations = [Alphabet.list(change(&choices, count, "\(number)\(step)"))]
        if choices.below(40) == 0 { operations.append(.delete(Alphabet.cat)) }
        if choices.below(40) == 0 { operations.append(.create(Alphabet.cat)) }
        lasts[number] = SyncChangeset(
          client: client, sequence: lasts[number].sequence + 1, base: SyncVersion(base),
          stamp: SyncStamp(bits: known.bits + 1 + UInt64(choices.below(30))),
          operations: operations)
        let entry = try merger.accept(lasts[number])
        lostCount += entry.overruled.count
      }
      let breach = merger.breach() ?? merger.replayBreach() ?? SyncJudge.difference(merger)
      try #require(breach == nil, "seed \(seed): \(breach ?? "")")
    }
    #expect(lostCount > 50)
  }

  @Test("is cleared by a clear, not by erasing what it has")
  func clears() throws {
    var merger = OrderCheck(Alphabet.mixedStart).start
    let entry = try merger.accept(
      SyncChangeset(
        client: SyncClient(1), sequence: 1, base: SyncVersion(1), stamp: SyncStamp(bits: 9),
        operations: [Alphabet.list(.listClear)]))
    #expect(entry.resolved == nil && entry.effect.map(\.operation) == [Alphabet.list(.listClear)])
    // With nothing to clear it has no effect.
    let again = try merger.accept(
      SyncChangeset(
        client: SyncClient(1), sequence: 2, base: SyncVersion(2), stamp: SyncStamp(bits: 10),
        operations: [Alphabet.list(.listClear)]))
    #expect(again.effect == [])
  }
}
