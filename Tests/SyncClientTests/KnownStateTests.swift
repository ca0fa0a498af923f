// KnownStateTests.swift: what a recorder knows of its file is true, whoever else writes, and
// whatever transaction is lost: changesets follow each other, and each object's first old state is
// the one before all of them.

import Engine
import ObjectDatabase
import Requirements
import SyncCore
import Testing

@testable import SyncClient

@Suite("What recorders know")
struct KnownStateTests {
  /// Three recorders, as those of three processes, on one file.
  private struct Life {
    let file: TestFile
    let database: Database
    let recorders: [SyncRecorder]
    let start: SyncState
    var random: TestRandom
    var count: UInt64 = 0

    init(_ seed: UInt64) throws {
      file = try TestFile("known states \(seed)")
      random = TestRandom(seed: seed)
      let realm = try file.realm()
      try realm.write {
        for id in 0..<4 { realm.create(Thing.self, value: ["id": id, "number": id, "text": "a"]) }
      }
      database = try RealmFile(file.configuration).database
      let clock = file.clock
      recorders = (0..<3).map { _ in SyncRecorder(now: { clock.read() }) }
      // An agent would have done this: the objects were there before what is pending.
      let write = try database.beginWrite()
      var marks = ClassMarks(write)
      try marks.moveToEnd(try FileClasses(write).named("Thing"))
      try marks.store()
      try PendingRows.replace(by: [], write)
      try write.commit()
      start = try file.state()
    }

    /// A change of one of the objects that were there, or of a new one.
    private mutating func change(
      _ write: WriteTransaction, _ recorder: SyncRecorder
    ) throws(EngineError) {
      let keys = try write.keys(of: "Thing")
      let key = keys[random.below(keys.count)]
      func place(_ column: String) -> CollectionPath {
        CollectionPath(table: "Thing", key: key, column: column)
      }
      switch random.below(8) {
      case 0:
        let (place, value) = (place("numbers"), Value.int(Int64(random.below(9))))
        try write.append(value, to: place)
        try recorder.didChange(.append(value), place)
      case 1:
        guard keys.count > 3 else { return }
        try recorder.willDelete(key, from: "Thing")
        try write.delete(from: "Thing", key: key)
      case 2...4:
        let text = Value.string(String(repeating: "b", count: random.below(40)))
        try set(text, place("text"), write, recorder)
      default:
        let number = Value.int(Int64(random.below(1_000)))
        try set(number, place("number"), write, recorder)
      }
    }

    /// Sets a property; most are recorded by their column's position first, as realms do.
    private mutating func set(
      _ value: Value, _ place: CollectionPath, _ write: WriteTransaction, _ recorder: SyncRecorder
    ) throws(EngineError) {
      let rows = try RowWriter(write, place.table)
      guard let column = rows.schema.columns.firstIndex(where: { $0.name == place.column }),
        try rows.set(value, place.key, column)
      else { return }
      if random.below(4) > 0, try recorder.didSet(value, at: column, of: place.key, rows) { return }
      try recorder.didSet(value, place)
    }

    /// One transaction; it may be lost, before or after it was recorded, or have no change.
    mutating func transact() throws {
      let recorder = recorders[random.below(4) == 0 ? 1 + random.below(2) : 0]
      let write = try database.beginWrite()
      try recorder.begin(write, of: database)
      for _ in 0..<random.below(4) { try change(write, recorder) }
      let isRecorded = !recorder.isEmpty
      switch random.below(8) {
      case 0:
        write.cancel()
        recorder.end(nil)
      case 1:
        try recorder.willCommit(write)
        write.cancel()
        recorder.end(nil)
      case 2:
        // Committed by others, who do not say which version it made.
        try recorder.willCommit(write)
        try write.commit()
        recorder.end(nil)
        count += isRecorded ? 1 : 0
      default:
        try recorder.willCommit(write)
        recorder.end(try write.commit())
        count += isRecorded ? 1 : 0
      }
    }

    /// What is wrong now; nil when all is right.
    func fault() throws -> String? {
      let write = try database.beginWrite()
      defer { write.cancel() }
      let pending = try PendingRows.all(write, after: 0)
      guard pending.changesets.map(\.sequence) == (0..<count).map({ $0 + 1 }) else {
        return "changesets \(pending.changesets.map(\.sequence)), not 1 to \(count)"
      }
      var state = start
      for operation in pending.changesets.flatMap(\.operations) { try state.apply(operation) }
      let reader = RowReader(source: write, classes: try FileClasses(write))
      guard try file.state() == state else { return "the changesets do not make the state" }
      for object in start.objects.keys.sorted() {
        let base = try BaseRows.base(of: object, write)
        let isKept = base != nil || pending.olds.objects.contains(object)
        let old =
          isKept
          ? try pending.olds.node(of: object, base, reader) : try reader.node(of: object)
        guard old == start.objects[object] else {
          return "\(object.key) was \(String(describing: old))"
        }
      }
      return nil
    }
  }

  @Test("is true beside others, and after transactions that were lost")
  func lives() throws {
    for seed in 0..<(FullSize.isOn ? 2_000 : 60) as Range<UInt64> {
      var life = try Life(seed)
      for number in 0..<80 {
        try life.transact()
        if let fault = try life.fault() {
          Issue.record("seed \(seed), transaction \(number): \(fault)")
          return
        }
      }
    }
  }

  @Test("is the whole object for a column behind many others")
  func manyColumns() {
    var some = TouchedProperties(62).union(TouchedProperties(0))
    #expect(!some.isWhole && some.contains(62) && some.contains(0) && !some.contains(61))
    #expect(TouchedProperties(63).isWhole && TouchedProperties(1_000).isWhole)
    #expect(TouchedProperties.whole.isSuperset(of: some) && !some.isSuperset(of: .whole))
    some = some.subtracting(TouchedProperties(62))
    #expect(some == TouchedProperties(0))
  }

  @Test("is forgotten with a transaction that is not in the file, and when an agent has changed it")
  func lost() throws {
    let (identity, object) = (SyncIdentity(realm: "test"), SyncObject("Note", .int(1)))
    var kept = KeptStates()
    kept.begin(identity, isLastThere: false)
    kept.add(object, TouchedProperties(2))
    kept.begin(identity, isLastThere: true)
    kept.add(object, .whole)
    var copy = kept
    copy.begin(identity, isLastThere: false)
    #expect(copy.properties(of: object) == TouchedProperties(2))
    kept.begin(identity, isLastThere: true)
    #expect(kept.properties(of: object).isWhole)
    // An agent has changed the file.
    var other = identity
    other.lastSequence = 1
    kept.begin(other, isLastThere: true)
    #expect(kept.properties(of: object) == .none)
  }
}
