// NotificationTests.swift: what `observe` promises, on the realm's own thread: when a callback is
// called, with what, and when no more.

import FoundationEssentials
import Testing

@testable import ObjectDatabase

/// What callbacks were told, in order.
final class Told<Item> {
  var items: [Item] = []
}

@Suite("notifications")
struct NotificationTests {
  /// A realm with dogs of ages 0 to `count`; the folder is to be kept, or the file is lost.
  static func prepared(_ count: Int = 5) throws -> (Folder, Realm, Results<Dog>) {
    let folder = try Folder()
    let realm = try folder.realm([Person.self, Everything.self])
    try realm.write {
      for age in 0..<count { realm.add(Dog(name: "\(age)", age: age)) }
    }
    return (folder, realm, realm.objects(Dog.self))
  }

  /// A change in words.
  static func text<Collection>(_ change: RealmCollectionChange<Collection>) -> String {
    switch change {
    case .initial: "initial"
    case .update(_, let deletions, let insertions, let modifications):
      "\(deletions) \(insertions) \(modifications)"
    case .error(let error): "error \(error)"
    }
  }

  @Test("deletions are told in old positions, insertions and modifications in new ones")
  func positions() throws {
    let (folder, realm, dogs) = try Self.prepared()
    defer { withExtendedLifetime(folder) {} }
    let told = Told<String>()
    let token = dogs.observe { told.items.append(Self.text($0)) }
    #expect(told.items.isEmpty, "the first call comes later")
    realm.refresh()
    #expect(told.items == ["initial"])
    try realm.write {
      realm.delete([dogs[1], dogs[3]])
      dogs[2].age = 100
      realm.add(Dog(name: "new"))
    }
    #expect(told.items == ["initial", "[1, 3] [3] [2]"])
    try realm.write {}
    #expect(told.items.count == 2, "a commit that changed nothing is no news")
    withExtendedLifetime(token) {}
  }

  @Test("the first call shows what is there when it is made, before a transaction of the realm")
  func initial() throws {
    let (folder, realm, dogs) = try Self.prepared(0)
    defer { withExtendedLifetime(folder) {} }
    var counts: [Int] = []
    let token = dogs.observe { change in
      if case .initial(let dogs) = change { counts.append(dogs.count) } else { counts.append(-1) }
    }
    try realm.write { realm.add(Dog()) }
    #expect(counts == [0, -1])
    realm.refresh()
    #expect(counts == [0, -1])
    token.invalidate()
  }

  @Test("a gone or invalidated token is silence, also when it goes inside of its own callback")
  func tokens() throws {
    let (folder, realm, dogs) = try Self.prepared()
    defer { withExtendedLifetime(folder) {} }
    let told = Told<String>()
    var tokens = (0..<3).map { number in
      dogs.observe { _ in told.items.append("\(number)") }
    }
    realm.refresh()
    #expect(told.items == ["0", "1", "2"])
    tokens[0].invalidate()
    tokens.removeLast()
    try realm.write { dogs[0].age = 50 }
    #expect(told.items == ["0", "1", "2", "1"])

    var own: NotificationToken?
    var calls = 0
    own = dogs.observe { _ in
      calls += 1
      own = nil
    }
    #expect(own != nil)
    realm.refresh()
    try realm.write { dogs[0].age = 51 }
    #expect(calls == 1 && own == nil)
    withExtendedLifetime(tokens) {}
  }

  @Test("a write inside of a callback is told afterwards, and the history stays whole")
  func writing() throws {
    let (folder, realm, dogs) = try Self.prepared()
    defer { withExtendedLifetime(folder) {} }
    let told = Told<String>()
    let writer = dogs.observe { change in
      told.items.append("a " + Self.text(change))
      guard case .update(let dogs, _, _, _) = change, dogs[0].age < 3 else { return }
      do { try realm.write { dogs[0].age += 1 } } catch { Issue.record("\(error)") }
    }
    let reader = dogs.observe { told.items.append("b " + Self.text($0)) }
    realm.refresh()
    try realm.write { realm.delete(dogs[4]) }
    #expect(
      told.items == [
        "a initial", "b initial", "a [4] [] []", "b [4] [] [0]", "a [] [] [0]", "b [] [] [0]",
        "a [] [] [0]", "b [] [] [0]", "a [] [] [0]",
      ], "\(told.items)")
    withExtendedLifetime((writer, reader)) {}
  }

  @Test("what a callback writes in its first call is told to all, itself among them")
  func writingFirst() throws {
    let (folder, realm, dogs) = try Self.prepared()
    defer { withExtendedLifetime(folder) {} }
    let told = Told<String>()
    let before = dogs.observe { told.items.append("a " + Self.text($0)) }
    let writer = dogs.observe { change in
      told.items.append("b " + Self.text(change))
      guard case .initial(let dogs) = change else { return }
      do { try realm.write { dogs[1].age = 10 } } catch { Issue.record("\(error)") }
    }
    let behind = dogs.observe { change in
      told.items.append("c " + Self.text(change))
      if case .initial(let dogs) = change { #expect(dogs[1].age == 10) }
    }
    realm.refresh()
    #expect(
      told.items == ["a initial", "b initial", "c initial", "a [] [] [1]", "b [] [] [1]"],
      "\(told.items)")
    withExtendedLifetime((before, writer, behind)) {}
  }

  @Test("a token that another one's callback invalidates is silent at once")
  func invalidatedByOthers() throws {
    let (folder, realm, dogs) = try Self.prepared()
    defer { withExtendedLifetime(folder) {} }
    let told = Told<String>()
    var tokens: [NotificationToken] = []
    tokens.append(
      dogs.observe { change in
        told.items.append("a " + Self.text(change))
        if case .update = change { tokens[1].invalidate() }
      })
    tokens.append(dogs.observe { told.items.append("b " + Self.text($0)) })
    realm.refresh()
    try realm.write { dogs[0].age = 7 }
    #expect(told.items == ["a initial", "b initial", "a [] [] [0]"], "\(told.items)")
  }

  @Test("withoutNotifying leaves out one commit for its tokens, and no other change")
  func silent() throws {
    let (folder, realm, dogs) = try Self.prepared()
    let told = Told<String>()
    let left = dogs.observe { told.items.append("left " + Self.text($0)) }
    let kept = dogs.observe { told.items.append("kept " + Self.text($0)) }
    let whole = realm.observe { told.items.append("realm \($0) \($1.isInWriteTransaction)") }
    realm.refresh()
    told.items = []
    let configuration = folder.configuration([Person.self, Everything.self])
    try onThread {
      let other = try Realm(configuration: configuration)
      try other.write { other.add(Dog(name: "other's")) }
    }
    try realm.write(withoutNotifying: [left, whole]) { dogs[0].age = 9 }
    // The other's change is told at the begin of the transaction, so that it is not left out too.
    #expect(
      told.items == [
        "left [] [5] []", "kept [] [5] []", "realm didChange true", "kept [] [] [0]",
      ], "\(told.items)")
    try realm.write { dogs[1].age = 9 }
    #expect(
      told.items.dropFirst(4) == ["left [] [] [1]", "kept [] [] [1]", "realm didChange false"])
    withExtendedLifetime((left, kept, whole)) {}
  }

  @Test("what a token was left out of is known to it: the next change is told alone")
  func silentAndThen() throws {
    let folder = try Folder()
    let realm = try folder.realm([Person.self])
    let (person, dogs) = (Person(), realm.objects(Dog.self))
    try realm.write {
      realm.add(person)
      for age in [5, 6] { person.dogs.append(Dog(name: "a", age: age)) }
    }
    let told = Told<String>()
    func hear<Items: RealmCollection & ThreadConfined>(
      _ name: String, _ items: Items
    ) -> NotificationToken {
      items.observe { told.items.append("\(name) \(Self.text($0))") }
    }
    let sections = dogs.filter("age < 9").sectioned(by: \.age)
    let tokens = [
      hear("all", dogs), hear("list", person.dogs), hear("old", dogs.filter("age > 1")),
      hear("sorted", dogs.sorted(byKeyPath: "age")),
      hear("named", dogs.sorted(byKeyPath: "owner.name")),
      sections.observe { change in
        guard case .update(_, _, let insertions, let modifications, let new, let gone) = change
        else { return }
        told.items.append(
          "sections \(insertions) \(modifications) \(Array(new)) \(Array(gone))")
      },
    ]
    realm.refresh()
    told.items = []
    // One comes before the others, where there is an order, and behind them.
    try realm.write(withoutNotifying: tokens) {
      person.dogs.insert(Dog(name: "b", age: 4), at: 0)
    }
    #expect(told.items == [])
    try realm.write { person.dogs[2].name = "c" }
    #expect(
      told.items == [
        "all [] [] [1]", "list [] [] [2]", "old [] [] [1]", "sorted [] [] [2]", "named [] [] [1]",
        "sections [] [[2, 0]] [] []",
      ], "\(told.items)")
    told.items = []
    try realm.write(withoutNotifying: tokens) { realm.delete(person.dogs[1]) }
    try realm.write { person.dogs.append(Dog(name: "d", age: 7)) }
    #expect(
      told.items == [
        "all [] [2] []", "list [] [2] []", "old [] [2] []", "sorted [] [2] []", "named [] [2] []",
        "sections [[2, 0]] [] [2] []",
      ], "\(told.items)")
    withExtendedLifetime(tokens) {}
  }

  @Test("changes of others are told when the realm goes on")
  func others() throws {
    let (folder, realm, dogs) = try Self.prepared()
    let told = Told<String>()
    let token = dogs.filter("age >= 3").observe { told.items.append(Self.text($0)) }
    let whole = realm.observe { notification, _ in told.items.append("\(notification)") }
    realm.refresh()
    let configuration = folder.configuration([Person.self, Everything.self])
    try onThread {
      let other = try Realm(configuration: configuration)
      for age in [10, 11] { try other.write { other.objects(Dog.self)[0].age = age } }
    }
    #expect(told.items == ["initial"])
    #expect(realm.refresh() && !realm.refresh())
    #expect(told.items == ["initial", "[] [0] []", "didChange"])
    withExtendedLifetime((token, whole)) {}
  }

  @Test("sorted results tell a row that moved as a deletion and an insertion")
  func sorted() throws {
    let (folder, realm, dogs) = try Self.prepared()
    defer { withExtendedLifetime(folder) {} }
    let told = Told<String>()
    let token = dogs.sorted(byKeyPath: "age").observe { told.items.append(Self.text($0)) }
    realm.refresh()
    try realm.write { dogs[0].age = 10 }
    try realm.write { dogs[0].name = "renamed" }
    #expect(told.items == ["initial", "[0] [4] []", "[] [] [4]"])
    withExtendedLifetime(token) {}
  }

  @Test("objects tell of their own properties, with old and new values, and of their end")
  func objects() throws {
    let (folder, realm, dogs) = try Self.prepared()
    defer { withExtendedLifetime(folder) {} }
    let told = Told<String>()
    let dog = dogs[2]
    let token = dog.observe { (change: ObjectChange<Dog>) in
      switch change {
      case .change(let object, let changes):
        told.items += changes.map {
          "\(object.age) \($0.name) \($0.oldValue ?? "nil") \($0.newValue ?? "nil")"
        }
      case .deleted: told.items.append("deleted")
      case .error(let error): told.items.append("\(error)")
      }
    }
    let named = dog.observe(keyPaths: [\.name]) { _ in told.items.append("named") }
    try realm.write { dog.age = 20 }
    try realm.write {
      dog.name = "x"
      dogs[0].age = 1
    }
    try realm.write { dogs[0].age = 2 }
    try realm.write { realm.delete(dog) }
    try realm.write { dogs[0].age = 3 }
    #expect(
      told.items == ["20 age 2 20", "20 name 2 x", "named", "deleted", "named"], "\(told.items)")
    withExtendedLifetime((token, named)) {}
  }

  @Test("lists, sets, maps and linking objects")
  func collections() throws {
    let (folder, realm, dogs) = try Self.prepared()
    defer { withExtendedLifetime(folder) {} }
    let person = Person()
    let all = Everything()
    try realm.write {
      realm.add([person])
      realm.add(all)
      person.dogs.append(objectsIn: dogs)
      all.numbers.insert(objectsIn: [1, 5])
      all.words["a"] = "1"
      all.ints.append(objectsIn: [1, 2, 3])
    }
    let told = Told<String>()
    let tokens = [
      person.dogs.observe { told.items.append("list " + Self.text($0)) },
      all.numbers.observe { told.items.append("set " + Self.text($0)) },
      all.ints.observe { told.items.append("ints " + Self.text($0)) },
      dogs[0].owners.observe { told.items.append("owners " + Self.text($0)) },
      all.words.observe { change in
        guard case .update(_, let deletions, let insertions, let modifications) = change else {
          return
        }
        told.items.append("map \(deletions) \(insertions) \(modifications)")
      },
    ]
    realm.refresh()
    told.items = []
    try realm.write {
      person.dogs.remove(at: 0)
      person.dogs.insert(Dog(name: "new"), at: 2)
      dogs[4].age = 70
      all.numbers.remove(1)
      all.numbers.insert(3)
      all.ints[1] = 20
      all.words["a"] = "2"
      all.words["b"] = "3"
    }
    #expect(
      told.items == [
        "list [0] [2] [4]", "set [0] [0] []", "ints [] [] [1]", "owners [0] [] []",
        "map [] [\"b\"] [\"a\"]",
      ], "\(told.items)")
    told.items = []
    try realm.write { realm.delete(all) }
    #expect(told.items == ["set [0, 1] [] []", "ints [0, 1, 2] [] []", "map [\"a\", \"b\"] [] []"])
    told.items = []
    try realm.write { realm.delete(person) }
    #expect(told.items == ["list [0, 1, 2, 3, 4] [] []"])
    withExtendedLifetime(tokens) {}
  }

  @Test("changes are seen through four links, and through the links of a key path")
  func links() throws {
    let folder = try Folder()
    let realm = try folder.realm([Chain.self])
    let links = (0..<7).map { _ in Chain() }
    for index in 1..<7 { links[index - 1].next = links[index] }
    try realm.write { realm.add(links[0]) }
    let heads = realm.objects(Chain.self).filter("name == 'head'")
    try realm.write { links[0].name = "head" }
    let told = Told<String>()
    let tokens = [
      heads.observe { told.items.append("deep " + Self.text($0)) },
      heads.observe(keyPaths: ["name", "next.name"]) { told.items.append("path " + Self.text($0)) },
    ]
    realm.refresh()
    told.items = []
    for index in 1..<7 {
      try realm.write { links[index].name = "changed" }
      told.items.append("\(index)")
    }
    #expect(
      told.items == [
        "deep [] [] [0]", "path [] [] [0]", "1", "deep [] [] [0]", "2", "deep [] [] [0]", "3",
        "deep [] [] [0]", "4", "5", "6",
      ], "\(told.items)")
    withExtendedLifetime(tokens) {}
  }

  @Test("hundreds of tokens, and one version that is held for all of them")
  func many() throws {
    let (folder, realm, dogs) = try Self.prepared(100)
    defer { withExtendedLifetime(folder) {} }
    var calls = 0
    let tokens = (0..<200).map { number in
      dogs.filter("age >= $0", number % 100).observe { _ in calls += 1 }
    }
    realm.refresh()
    #expect(calls == 200)
    for age in 1..<4 { try realm.write { dogs[50].age = 50 - age } }
    // Two tokens for each least age up to the dog's former one hear of each change.
    #expect(calls == 200 + 2 * (51 + 50 + 49), "\(calls)")
    let pins = try Set(realm.core.store.database.activePins().map(\.version))
    #expect(pins.count == 1, "\(pins)")
    withExtendedLifetime(tokens) {}
  }

  @Test("invalidate ends what observes objects and collections")
  func invalidated() throws {
    let (folder, realm, dogs) = try Self.prepared()
    defer { withExtendedLifetime(folder) {} }
    let told = Told<String>()
    let token = dogs.observe { _ in told.items.append("dogs") }
    let whole = realm.observe { _, _ in told.items.append("realm") }
    realm.refresh()
    realm.invalidate()
    #expect(try realm.core.store.database.activePins().isEmpty)
    try realm.write { realm.add(Dog()) }
    #expect(told.items == ["dogs", "realm"], "\(told.items)")
    withExtendedLifetime((token, whole)) {}
  }
}

/// Links in a row.
class Chain: Object {
  @Persisted var name = ""
  @Persisted var next: Chain?
}
