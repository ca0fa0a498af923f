// LossTests.swift: which operations are overruled, why, and by which version: made in time, and by
// somebody who was away.

import SyncCore
import SyncFuzz
import Testing

@Suite("What loses")
struct LossTests {
  /// An operation that meets one that its author did not know, and is told this.
  struct Meeting: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let other: [SyncOperation]
    let mine: [SyncOperation]
    /// Whether mine is the later one.
    let isLater: Bool
    let told: [String]
    /// What who was away is told.
    let toldIfAway: [String]

    init(
      _ description: String, other: [SyncOperation], mine: [SyncOperation], isLater: Bool = false,
      told: [String] = [], toldIfAway: [String]? = nil
    ) {
      testDescription = description
      (self.other, self.mine, self.isLater, self.told) = (other, mine, isLater, told)
      self.toldIfAway = toldIfAway ?? told
    }
  }

  private static let dog = Alphabet.dog
  private static let cat = Alphabet.cat
  private static let nobody = SyncObject("Nobody", .null)
  private static let deep = Array(repeating: SyncStep("deep"), count: SyncLimits.stepsMax)

  private static func field(_ name: SyncText, _ steps: SyncStep...) -> SyncField {
    SyncField(dog, steps, name)
  }

  private static func change(
    _ name: SyncText, _ change: SyncChange, _ steps: SyncStep...
  ) -> SyncOperation {
    .change(SyncField(dog, steps, name), change)
  }

  private static let box = SyncStep("boxes", .element(0))
  private static let inMap = SyncStep("map", .entry("e"))
  private static let mine = Alphabet.text("mine")
  private static let other = Alphabet.text("other")

  /// The realm of the mixed alphabet, with an embedded object in a dictionary, and embedded objects
  /// as deep as they may be.
  private static let start: [SyncOperation] =
    Alphabet.mixedStart + [
      change("map", .dictionarySet("e", .embedded)), change("size", .set(.int(1)), inMap),
    ]
    + (0..<SyncLimits.stepsMax).map {
      .change(SyncField(dog, Array(deep.prefix($0)), "deep"), .set(.embedded))
    }

  private static let meetings: [Meeting] = [
    Meeting(
      "an earlier set", other: [change("n", .set(.int(1)))],
      mine: [change("n", .set(.int(2)))], told: ["0 superseded by 2"]),
    Meeting(
      "a later set", other: [change("n", .set(.int(1)))],
      mine: [change("n", .set(.int(2)))], isLater: true),
    Meeting(
      "an earlier increment", other: [change("n", .set(.int(1)))],
      mine: [change("n", .increment(2))], told: ["0 superseded by 2"]),
    Meeting(
      "an increment of what is no number", other: [],
      mine: [change("boss", .increment(1))], told: ["0 notNumber by 0"]),
    Meeting(
      "an increment of nothing", other: [change("new", .set(.int(1)))],
      mine: [change("new", .increment(1))], isLater: true, told: ["0 missing by 0"]),
    Meeting(
      "a default beside a default", other: [change("new", .setDefault(.int(5)))],
      mine: [change("new", .setDefault(.int(6)))], told: ["0 superseded by 2"]),
    Meeting(
      "a default beside a set", other: [change("new", .set(.int(5)))],
      mine: [change("new", .setDefault(.int(6)))], isLater: true, told: ["0 superseded by 2"]),
    Meeting(
      "a default of what its author sees", other: [],
      mine: [change("n", .setDefault(.int(6)))], told: ["0 missing by 0"]),
    Meeting(
      "a create beside a delete", other: [.delete(dog)], mine: [.create(dog)],
      isLater: true, told: ["0 deleted by 2"]),
    Meeting(
      "a change beside a delete", other: [.delete(dog)],
      mine: [change("n", .set(.int(2)))], isLater: true, told: ["0 deleted by 2"]),
    Meeting(
      "a delete beside a delete", other: [.delete(dog)], mine: [.delete(dog)]),
    Meeting(
      "a delete of nobody", other: [.create(nobody)], mine: [.delete(nobody)],
      isLater: true, told: ["0 missing by 0"]),
    Meeting(
      "a change of nobody", other: [.create(nobody)],
      mine: [.change(SyncField(nobody, [], "a"), .set(.null))], isLater: true,
      told: ["0 missing by 0"]),
    Meeting(
      "an earlier member", other: [change("tags", .setErase(.int(1)))],
      mine: [change("tags", .setInsert(.int(1)))], told: ["0 superseded by 2"]),
    Meeting(
      "an earlier member of the same kind",
      other: [change("tags", .setErase(.int(1)))], mine: [change("tags", .setErase(.int(1)))]),
    Meeting(
      "an earlier removal of a member", other: [change("tags", .setInsert(.int(1)))],
      mine: [change("tags", .setErase(.int(1)))], told: ["0 superseded by 2"]),
    Meeting(
      "an earlier entry", other: [change("map", .dictionarySet("a", other))],
      mine: [change("map", .dictionarySet("a", mine))], told: ["0 superseded by 2"]),
    Meeting(
      "the same entry, earlier", other: [change("map", .dictionarySet("a", other))],
      mine: [change("map", .dictionarySet("a", other))], toldIfAway: ["0 superseded by 2"]),
    Meeting(
      "an embedded object beside another one, earlier",
      other: [change("map", .dictionarySet("a", .embedded))],
      mine: [change("map", .dictionarySet("a", .embedded))], told: ["0 superseded by 2"]),
    Meeting(
      "an earlier removal of an entry",
      other: [change("map", .dictionarySet("a", other))],
      mine: [change("map", .dictionaryRemove("a"))], told: ["0 superseded by 2"]),
    Meeting(
      "a set of an erased element",
      other: [Alphabet.list(.listErase(at: 0, count: 1))],
      mine: [Alphabet.list(.listSet(at: 0, mine))], isLater: true, told: ["0 erased by 2"]),
    Meeting(
      "a move of an erased element",
      other: [Alphabet.list(.listErase(at: 0, count: 1))],
      mine: [Alphabet.list(.listMove(from: 0, to: 1))], isLater: true, told: ["0 erased by 2"]),
    Meeting(
      "an earlier set of an element", other: [Alphabet.list(.listSet(at: 0, other))],
      mine: [Alphabet.list(.listSet(at: 0, mine))], told: ["0 superseded by 2"]),
    Meeting(
      "an earlier move", other: [Alphabet.list(.listMove(from: 0, to: 1))],
      mine: [Alphabet.list(.listMove(from: 0, to: 1))], told: ["0 superseded by 2"]),
    Meeting(
      "an earlier assignment", other: [Alphabet.list(.listAssign([other]))],
      mine: [Alphabet.list(.listAssign([mine]))], told: ["0 erased by 2"]),
    Meeting(
      "an earlier assignment of nothing",
      other: [Alphabet.list(.listAssign([]))], mine: [Alphabet.list(.listAssign([mine]))],
      told: ["0 erased by 2"]),
    Meeting(
      "a change in a replaced object", other: [change("home", .set(.embedded))],
      mine: [change("street", .set(mine), SyncStep("home"))], isLater: true,
      told: ["0 replaced by 2"]),
    Meeting(
      "a change in an object that is a value by now",
      other: [change("home", .set(other))],
      mine: [change("street", .set(mine), SyncStep("home"))], isLater: true,
      told: ["0 replaced by 2"]),
    Meeting(
      "a change in an entry's replaced object",
      other: [change("map", .dictionarySet("e", .embedded))],
      mine: [change("size", .set(mine), inMap)], isLater: true, told: ["0 replaced by 2"]),
    Meeting(
      "a change in a removed entry's object",
      other: [change("map", .dictionaryRemove("e"))], mine: [change("size", .set(mine), inMap)],
      isLater: true, told: ["0 replaced by 2"]),
    Meeting(
      "a change in an erased element",
      other: [change("boxes", .listErase(at: 0, count: 1))],
      mine: [change("size", .set(mine), box)], isLater: true, told: ["0 erased by 2"]),
    Meeting(
      "a change in a replaced element", other: [change("boxes", .listSet(at: 0, other))],
      mine: [change("size", .set(mine), box)], isLater: true, told: ["0 replaced by 2"]),
    Meeting(
      "a change in what is no object", other: [],
      mine: [change("a", .set(mine), SyncStep("n")), change("a", .set(mine), SyncStep("nothing"))],
      told: ["0 missing by 0", "1 missing by 0"]),
    Meeting(
      "a change as deep as may be", other: [],
      mine: [.change(SyncField(dog, deep, "a"), .set(mine))]),
    Meeting(
      "a change deeper than may be", other: [],
      mine: [.change(SyncField(dog, deep + [SyncStep("deep")], "a"), .set(mine))],
      told: ["0 limit by 0"]),
    Meeting(
      "a link to what is deleted", other: [.delete(cat)],
      mine: [change("boss", .set(.link(cat)))], isLater: true, told: ["0 unlinked by 2"]),
    Meeting(
      "an entry with a link to what is deleted", other: [.delete(cat)],
      mine: [change("map", .dictionarySet("a", .link(cat)))], isLater: true,
      told: ["0 unlinked by 2"]),
    Meeting(
      "a member with a link to what is deleted", other: [.delete(cat)],
      mine: [change("tags", .setInsert(.link(cat)))], isLater: true, told: ["0 unlinked by 0"],
      toldIfAway: ["0 unlinked by 2"]),
    Meeting(
      "links to nobody", other: [.create(nobody)],
      mine: [
        change("boss", .set(.link(nobody))), change("map", .dictionarySet("a", .link(nobody))),
        change("tags", .setInsert(.link(nobody))),
        change("friends", .listSet(at: 0, .link(nobody))),
      ],
      isLater: true, told: (0..<4).map { "\($0) missing by 0" }),
  ]

  /// The entry of mine, behind the other's, and the log.
  private func merged(_ meeting: Meeting, isAway: Bool) throws -> (SyncEntry, SyncMerger) {
    var merger = OrderCheck(Self.start).start
    func accept(
      _ client: UInt64, stamp: UInt64, _ operations: [SyncOperation], _ goal: UInt64? = nil
    ) throws -> SyncEntry {
      try merger.accept(
        SyncChangeset(
          client: SyncClient(client), sequence: 1, base: SyncVersion(goal.map { $0 - 1 } ?? 1),
          stamp: SyncStamp(bits: stamp), operations: operations),
        barrierAtMost: goal.map { SyncVersion($0) })
    }
    _ = try accept(2, stamp: 20, meeting.other)
    if isAway { _ = try accept(3, stamp: 30, [], 3) }
    let entry = try accept(1, stamp: meeting.isLater ? 25 : 15, meeting.mine)
    return (entry, merger)
  }

  @Test("is told so, with the reason and the version", arguments: meetings)
  func isTold(meeting: Meeting) throws {
    for isAway in [false, true] {
      let (entry, merger) = try merged(meeting, isAway: isAway)
      let told = entry.overruled.map { "\($0.operation) \($0.cause) by \($0.by.number)" }
      #expect(told == (isAway ? meeting.toldIfAway : meeting.told), "away: \(isAway)")
      #expect(entry.isStale == isAway)
      #expect(
        merger.breach() ?? merger.replayBreach() ?? SyncJudge.difference(merger) == nil)
    }
  }
}
