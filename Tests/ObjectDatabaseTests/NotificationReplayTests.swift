// NotificationReplayTests.swift: random programs of changes, on the observing thread, on another
// one and in another process; what callbacks are told, applied to a copy, is always the collection.

import Dispatch
import FoundationEssentials
import Testing

@testable import ObjectDatabase

/// Numbers from a seed, the same on every machine.
struct TestRandom: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(1, limit), using: &self) }
}

/// Random changes of one realm.
enum RandomProgram {
  /// The objects that every program begins with.
  static func prepare(_ realm: Realm) throws {
    var random = TestRandom(1)
    try realm.write {
      let all = Everything()
      all.id = 1
      realm.add(all)
      for number in 0..<4 {
        let person = Person()
        person.name = "p\(number)"
        realm.add(person)
      }
      for _ in 0..<20 { change(realm, &random) }
    }
  }

  /// A transaction of a few changes; one in eight is cancelled.
  static func transaction(_ realm: Realm, _ random: inout TestRandom) throws {
    let (count, isCancelled) = (1 + random.below(5), random.below(8) == 0)
    realm.beginWrite()
    for _ in 0..<count { change(realm, &random) }
    if isCancelled { realm.cancelWrite() } else { try realm.commitWrite() }
  }

  static func change(_ realm: Realm, _ random: inout TestRandom) {
    let (dogs, persons) = (realm.objects(Dog.self), realm.objects(Person.self))
    guard let all = realm.objects(Everything.self).first, let first = persons.first else { return }
    let list = first.dogs
    let number = random.below(100)
    let dog = dogs.isEmpty ? nil : dogs[random.below(dogs.count)]
    switch random.below(16) {
    case 0, 1: realm.add(Dog(name: "d\(number)", age: number))
    case 2: if let dog { realm.delete(dog) }
    case 3, 4: dog?.age = number
    case 5: dog?.name = "n\(number)"
    case 6: dog?.owner = number < 20 ? nil : persons[random.below(persons.count)]
    case 7: persons[random.below(persons.count)].name = "p\(number)"
    case 8: if let dog { list.insert(dog, at: random.below(list.count + 1)) }
    case 9: if !list.isEmpty { list.remove(at: random.below(list.count)) }
    case 10:
      if !list.isEmpty { list.move(from: random.below(list.count), to: random.below(list.count)) }
    case 11: if !list.isEmpty, let dog { list[random.below(list.count)] = dog }
    case 12: all.numbers.insert(number % 20)
    case 13: all.numbers.remove(number % 20)
    case 14: all.words["k\(number % 10)"] = number < 30 ? nil : "v\(number)"
    default:
      let place = random.below(all.ints.count + 1)
      if number < 40, place < all.ints.count {
        all.ints.remove(at: place)
      } else if number < 60, place < all.ints.count {
        all.ints[place] = number
      } else {
        all.ints.insert(number % 5, at: place)
      }
    }
  }
}

/// Copies of collections, kept up to date by nothing but what callbacks are told.
final class Replay {
  private var copies: [String: [String]] = [:]
  private var live: [String: () -> [String]] = [:]
  private var tokens: [NotificationToken] = []
  private(set) var updates = 0
  /// Called at the end of each callback.
  var inCallback: () -> Void = {}

  init(_ realm: Realm) throws {
    let dogs = realm.objects(Dog.self)
    let first = try #require(realm.objects(Person.self).first)
    let all = try #require(realm.objects(Everything.self).first)
    let young = dogs.filter("age < 60").sorted(byKeyPath: "age")
    let paths = ["name", "age", "owner", "owner.name"]
    watch("all", dogs, Self.text)
    watch("young", young, Self.text)
    watch("young with paths", young, Self.text, paths)
    watch("all with paths", dogs, Self.text, paths)
    watch("owned", dogs.filter("owner.name > 'p5'").distinct(by: ["age"]), Self.text)
    watch("list", first.dogs, Self.text)
    watch("sorted list", first.dogs.sorted(byKeyPath: "name", ascending: false), Self.text)
    watch("owners", dogs[0].owners, { $0.name })
    watch("set", all.numbers) { "\($0)" }
    watch("ints", all.ints) { "\($0)" }
    watch(all.words)
  }

  private static func text(_ dog: Dog) -> String {
    "\(dog.rowKey) \(dog.name) \(dog.age) \(dog.owner?.rowKey ?? -1) \(dog.owner?.name ?? "")"
  }

  /// The elements after deletions and insertions; positions that there are not are passed over.
  private static func moved(
    _ old: [String], _ now: [String], _ deletions: [Int], _ insertions: [Int]
  ) -> [String] {
    var copy = old
    for index in deletions.reversed() where copy.indices.contains(index) { copy.remove(at: index) }
    for index in insertions where index <= copy.count && now.indices.contains(index) {
      copy.insert(now[index], at: index)
    }
    return copy
  }

  private func watch<Items: RealmCollection & ThreadConfined>(
    _ name: String, _ items: Items, _ text: @escaping (Items.Element) -> String,
    _ keyPaths: [String]? = nil
  ) {
    live[name] = { items.isInvalidated ? [] : items.map(text) }
    tokens.append(
      items.observe(keyPaths: keyPaths) { [unowned self] change in
        switch change {
        case .initial(let items): copies[name] = items.map(text)
        case .update(let items, let deletions, let insertions, let modifications):
          updates += 1
          let now = items.isInvalidated ? [] : items.map(text)
          let old = copies[name] ?? []
          var copy = Self.moved(old, now, deletions, insertions)
          if copy.count != now.count || !modifications.allSatisfy(now.indices.contains) {
            Issue.record("\(name): \(deletions) \(insertions) \(modifications) are no positions")
            copy = now
          }
          for index in modifications {
            if keyPaths != nil, copy[index] == now[index] {
              Issue.record("\(name): \(index) is told to be modified, and is as it was")
            }
            copy[index] = now[index]
          }
          #expect(Set(modifications).isDisjoint(with: insertions), "\(name)")
          #expect(copy == now, "\(name)")
          copies[name] = copy
        case .error(let error): Issue.record("\(name): \(error)")
        }
        inCallback()
      })
  }

  private func watch(_ map: Map<String, String>) {
    live["map"] = { map.map { "\($0.key)=\($0.value)" } }
    var copy: [String: String] = [:]
    tokens.append(
      map.observe { [unowned self] change in
        switch change {
        case .initial(let map): for entry in map { copy[entry.key] = entry.value }
        case .update(let map, let deletions, let insertions, let modifications):
          for key in deletions { #expect(copy.removeValue(forKey: key) != nil) }
          for key in insertions { #expect(copy.updateValue(map[key] ?? "", forKey: key) == nil) }
          for key in modifications { copy[key] = map[key] }
        case .error(let error): Issue.record("map: \(error)")
        }
        copies["map"] = copy.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        inCallback()
      })
  }

  /// Every copy is what the realm has.
  func check(_ place: String) {
    for name in live.keys.sorted() {
      #expect(copies[name] == live[name]?(), "\(name), \(place)")
    }
  }
}

@Suite("replayed notifications")
struct NotificationReplayTests {
  static let types: [ObjectBase.Type] = [Person.self, Everything.self]

  @Test("on the observing thread, with writes inside of callbacks", arguments: 1...4)
  func own(seed: Int) throws {
    let folder = try Folder()
    let realm = try folder.realm(Self.types)
    try RandomProgram.prepare(realm)
    let replay = try Replay(realm)
    realm.refresh()
    replay.check("at the first call")
    var random = TestRandom(UInt64(seed))
    var inner = TestRandom(UInt64(seed) + 100)
    replay.inCallback = {
      guard !realm.isInWriteTransaction, inner.below(40) == 0 else { return }
      do { try RandomProgram.transaction(realm, &inner) } catch { Issue.record("\(error)") }
    }
    for step in 0..<60 {
      try RandomProgram.transaction(realm, &random)
      replay.check("seed \(seed), step \(step)")
    }
    #expect(replay.updates > 100)
  }

  @Test("behind another thread, several commits at a time", arguments: 1...3)
  func thread(seed: Int) throws {
    let folder = try Folder()
    let realm = try folder.realm(Self.types)
    try RandomProgram.prepare(realm)
    let replay = try Replay(realm)
    realm.refresh()
    var random = TestRandom(UInt64(seed) + 10)
    let configuration = folder.configuration(Self.types)
    for step in 0..<20 {
      let (start, count) = (random.next(), random.below(4))
      try onThread {
        let other = try Realm(configuration: configuration)
        var random = TestRandom(start)
        for _ in 0..<count { try RandomProgram.transaction(other, &random) }
      }
      // In turn: by itself at the begin of a write, and by `refresh`.
      if step % 3 == 0 { try RandomProgram.transaction(realm, &random) } else { realm.refresh() }
      replay.check("seed \(seed), step \(step)")
    }
    #expect(replay.updates > 50)
  }

  @Test("behind another process, without a call of refresh")
  func process() async throws {
    let folder = try Folder()
    let queue = DispatchQueue(label: "NotificationReplayTests.process")
    let configuration = folder.configuration(Self.types)
    let observed = try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      try RandomProgram.prepare(realm)
      return try Smuggled((realm, Replay(realm)))
    }
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      var configuration = Realm.Configuration(fileURL: URL(filePath: path + "/test.realm"))
      configuration.objectTypes = NotificationReplayTests.types
      let realm = try Realm(configuration: configuration)
      var random = TestRandom(77)
      for _ in 0..<50 { try RandomProgram.transaction(realm, &random) }
      try realm.write { realm.add(Dog(name: "the end")) }
    }
    try await eventually {
      queue.sync {
        observed.value.0.objects(Dog.self).last?.name == "the end"
      }
    }
    queue.sync {
      observed.value.1.check("at the end")
      // Between one change for all fifty commits and one for each: as fast as this queue looks.
      #expect(observed.value.1.updates > 0)
    }
    // The realm's own queue lets it go.
    try await eventually { queue.sync { true } }
  }
}

/// Waits until a condition holds; a test that waits in vain fails after a minute.
func eventually(_ condition: () throws -> Bool) async throws {
  for _ in 0..<6000 {
    if try condition() { return }
    try await Task.sleep(nanoseconds: 10_000_000)
  }
  Issue.record("what was waited for did not happen within a minute")
}
