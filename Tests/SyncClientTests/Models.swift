// Models.swift: classes with every type and collection, and realms in memory for each test.

import FoundationEssentials
import ObjectDatabase
import SyncClient
import SyncCore
import Synchronization
import Testing

enum Colour: String, PersistableEnum { case red, green, blue }

class Thing: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var number = 7
  @Persisted var maybe: Int?
  @Persisted var flag: Bool
  @Persisted var ratio: Double
  @Persisted var half: Float
  @Persisted var text: String
  @Persisted var note: String?
  @Persisted var bytes: Data
  @Persisted var date: Date
  @Persisted var token: ObjectId
  @Persisted var uuid: UUID
  @Persisted var price: Decimal128
  @Persisted var any: AnyRealmValue
  @Persisted var colour: Colour
  @Persisted var next: Thing?
  @Persisted var tag: Tag?
  @Persisted var part: Part?
  @Persisted var numbers: List<Int>
  @Persisted var words: List<String?>
  @Persisted var things: List<Thing>
  @Persisted var parts: List<Part>
  @Persisted var members: MutableSet<Int>
  @Persisted var anies: MutableSet<AnyRealmValue>
  @Persisted var tags: MutableSet<Tag>
  @Persisted var counts: Map<String, Int>
  @Persisted var friends: Map<String, Thing?>
  @Persisted var rooms: Map<String, Part?>
}

class Tag: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var owner: Thing?
  @Persisted(originProperty: "tags") var bearers: LinkingObjects<Thing>
}

/// Of plain values, so that its rows come in batches.
class Stamp: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var count = 3
  @Persisted var weight: Double
  @Persisted var isUsed: Bool
  @Persisted var note: String?
  @Persisted var text: String
  @Persisted var day: Date
}

class Part: EmbeddedObject {
  @Persisted var size: Int
  @Persisted var maker: Tag?
  @Persisted var names: List<String>
  @Persisted var bits: List<Bit>
  @Persisted var main: Bit?
}

class Bit: EmbeddedObject {
  @Persisted var value: Int
  @Persisted var thing: Thing?
}

/// A clock that a test moves.
final class TestClock: Sendable {
  private let now = Mutex<UInt64>(1_000)
  func read() -> UInt64 { now.withLock { $0 } }
  func set(_ time: UInt64) { now.withLock { $0 = time } }
}

/// Numbers from a seed.
struct TestRandom: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }

  mutating func below(_ end: Int) -> Int { Int.random(in: 0..<end, using: &self) }
}

/// A synchronized file in memory.
struct TestFile {
  static let types: [ObjectBase.Type] = [
    Thing.self, Tag.self, Stamp.self, Part.self, Bit.self,
  ]
  let clock = TestClock()
  let configuration: Realm.Configuration
  /// Keeps the file open.
  private let file: RealmFile

  init(_ name: String, types: [ObjectBase.Type] = TestFile.types) throws {
    let clock = clock
    configuration = SyncedFile.configuration(
      Realm.Configuration(inMemoryIdentifier: name, objectTypes: types),
      now: { clock.read() })
    file = try RealmFile(configuration)
    try SyncedFile.mark(configuration, realm: "test")
  }

  /// A synchronized file on a disk, as it is.
  init(copying path: String) throws {
    let clock = clock
    configuration = SyncedFile.configuration(
      Realm.Configuration(fileURL: URL(filePath: path), objectTypes: TestFile.types),
      now: { clock.read() })
    file = try RealmFile(configuration)
  }

  /// A synchronized file that a configuration opens; it is made one if it is not.
  init(opening plain: Realm.Configuration) throws {
    let clock = clock
    configuration = SyncedFile.configuration(plain, now: { clock.read() })
    file = try RealmFile(configuration)
    try SyncedFile.mark(configuration, realm: "test")
  }

  func realm() throws -> Realm { try Realm(configuration: configuration) }

  func pending() throws -> [SyncChangeset] {
    try SyncedFile.pending(try file.database.snapshot())
  }

  func keptCounts() throws -> (
    pending: Int, entries: Int, objects: Int, parts: Int
  ) {
    try SyncedFile.keptCounts(try file.database.snapshot())
  }

  func version() throws -> UInt64 { try file.database.snapshot().version.rawValue }

  func state() throws -> SyncState { try SyncedFile.state(try file.database.snapshot()) }
}
