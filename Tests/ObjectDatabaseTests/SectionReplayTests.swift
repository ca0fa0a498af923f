// SectionReplayTests.swift: random programs of changes; what callbacks on results in sections are
// told, applied to a copy, is always what a walk over the results finds.

import Dispatch
import Foundation
import Testing

@testable import ObjectDatabase

/// Copies of sections, kept up to date by nothing but what callbacks are told.
final class SectionReplay {
  private struct Copy: Equatable {
    var key: String
    var items: [String]
  }

  private var copies: [String: [Copy]] = [:]
  private var live: [String: () -> [Copy]] = [:]
  private var tokens: [NotificationToken] = []
  private(set) var updates = 0
  private(set) var sectionChanges = 0
  /// Called at the end of each callback.
  var inCallback: () -> Void = {}

  init(_ realm: Realm) throws {
    let dogs = realm.objects(Dog.self)
    let first = try #require(realm.objects(Person.self).first)
    watch("ages", dogs.sorted(byKeyPath: "age")) { $0.age / 20 }
    // In the order of the objects: a change of the first of a section moves the section.
    watch("rests", dogs) { $0.age % 3 }
    watch("owners", dogs.filter("age < 70")) { $0.owner?.name ?? "" }
    watch("rests, names only", dogs, ["name"]) { $0.age % 3 }
    watch("list", first.dogs.sorted(byKeyPath: "name")) { $0.age % 2 == 0 }
    for rest in 0..<3 { watch(section: rest, of: dogs) { $0.age % 3 } }
  }

  private static func text(_ dog: Dog, _ keyPaths: [String]?) -> String {
    guard keyPaths == nil else { return "\(dog.rowKey) \(dog.name)" }
    return "\(dog.rowKey) \(dog.name) \(dog.age) \(dog.owner?.name ?? "")"
  }

  /// The sections as a walk over the results finds them.
  private static func walk<Key: Hashable>(
    _ dogs: Results<Dog>, _ keyPaths: [String]?, _ key: (Dog) -> Key
  ) -> [Copy] {
    var found: [Copy] = []
    for dog in dogs {
      let name = "\(key(dog))"
      if let number = found.firstIndex(where: { $0.key == name }) {
        found[number].items.append(text(dog, keyPaths))
      } else {
        found.append(Copy(key: name, items: [text(dog, keyPaths)]))
      }
    }
    return found
  }

  /// What is told, applied to the old sections; nil when it names places that there are not.
  private static func moved(
    _ old: [Copy], _ now: [Copy], _ deletions: [IndexPath], _ insertions: [IndexPath],
    _ modifications: [IndexPath], _ inserted: IndexSet, _ deleted: IndexSet
  ) -> [Copy]? {
    var copy = old
    for path in deletions.reversed() {
      guard copy.indices.contains(path.section), !deleted.contains(path.section),
        copy[path.section].items.indices.contains(path.item)
      else { return nil }
      copy[path.section].items.remove(at: path.item)
    }
    for section in deleted.reversed() {
      guard copy.indices.contains(section) else { return nil }
      copy.remove(at: section)
    }
    for section in inserted {
      guard section <= copy.count, now.indices.contains(section) else { return nil }
      copy.insert(Copy(key: now[section].key, items: []), at: section)
    }
    for path in insertions {
      guard copy.indices.contains(path.section), now.indices.contains(path.section),
        path.item <= copy[path.section].items.count,
        now[path.section].items.indices.contains(path.item)
      else { return nil }
      copy[path.section].items.insert(now[path.section].items[path.item], at: path.item)
    }
    for path in modifications {
      guard copy.indices.contains(path.section), now.indices.contains(path.section),
        copy[path.section].items.indices.contains(path.item),
        now[path.section].items.indices.contains(path.item)
      else { return nil }
      copy[path.section].items[path.item] = now[path.section].items[path.item]
    }
    return copy
  }

  private func watch<Key: Hashable>(
    _ name: String, _ dogs: Results<Dog>, _ keyPaths: [String]? = nil,
    _ key: @escaping (Dog) -> Key
  ) {
    live[name] = { Self.walk(dogs, keyPaths, key) }
    let sections = dogs.sectioned(by: key)
    tokens.append(
      sections.observe(keyPaths: keyPaths) { [unowned self] change in
        let now = Self.walk(dogs, keyPaths, key)
        switch change {
        case .initial: copies[name] = now
        case .update(
          let sections, let deletions, let insertions, let modifications, let inserted,
          let deleted):
          updates += 1
          sectionChanges += inserted.count + deleted.count
          let shown = sections.map { $0.map { Self.text($0, keyPaths) } }
          #expect(shown == now.map(\.items), "\(name)")
          #expect(deletions == deletions.sorted() && insertions == insertions.sorted(), "\(name)")
          #expect(modifications == modifications.sorted(), "\(name)")
          #expect(Set(modifications).isDisjoint(with: insertions), "\(name)")
          guard
            let copy = Self.moved(
              copies[name] ?? [], now, deletions, insertions, modifications, inserted, deleted)
          else {
            Issue.record(
              "\(name): \(deletions) \(insertions) \(modifications) \(inserted) \(deleted)")
            copies[name] = now
            break
          }
          #expect(copy == now, "\(name)")
          copies[name] = now
        case .error(let error): Issue.record("\(name): \(error)")
        }
        inCallback()
      })
  }

  /// One section: its part of what is told, and nothing of the others.
  private func watch<Key: Hashable>(
    section key: Key, of dogs: Results<Dog>, _ keyOf: @escaping (Dog) -> Key
  ) {
    let name = "section \(key)"
    let all = { Self.walk(dogs, nil, keyOf) }
    live[name] = { all().filter { $0.key == "\(key)" } }
    guard let section = dogs.sectioned(by: keyOf).first(where: { $0.key == key }) else {
      Issue.record("no dog has the rest \(key)")
      return
    }
    tokens.append(
      section.observe { [unowned self] change in
        let now = all()
        let mine = now.firstIndex { $0.key == "\(key)" }
        let items = mine.map { now[$0].items } ?? []
        switch change {
        case .initial: break
        case .update(
          let section, let deletions, let insertions, let modifications, let inserted,
          let deleted):
          updates += 1
          #expect(section.key == key && section.count == items.count)
          let isOwn =
            deleted.union(IndexSet(deletions.map(\.section))).count <= 1
            && inserted.allSatisfy { $0 == mine }
            && (insertions + modifications).allSatisfy { $0.section == mine }
          #expect(isOwn, "\(name): \(deletions) \(insertions) \(modifications)")
          #expect(
            !(deletions + insertions + modifications).isEmpty || !inserted.union(deleted).isEmpty,
            "\(name) is told nothing")
          // Its places, as if there were no other section.
          func own(_ paths: [IndexPath]) -> [IndexPath] {
            paths.map { IndexPath(item: $0.item, section: 0) }
          }
          let kept = deleted.isEmpty ? copies[name]?.first?.items ?? [] : []
          let copy = Self.moved(
            [Copy(key: "", items: kept)], [Copy(key: "", items: items)], own(deletions),
            own(insertions), own(modifications), [], [])
          #expect(copy?.first?.items == items, "\(name)")
        case .error(let error): Issue.record("\(name): \(error)")
        }
        copies[name] = mine.map { [now[$0]] } ?? []
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

@Suite("replayed sections")
struct SectionReplayTests {
  private static let types = NotificationReplayTests.types

  @Test("sections on the observing thread, with writes inside of callbacks", arguments: 1...4)
  func own(seed: Int) throws {
    let folder = try Folder()
    let realm = try folder.realm(Self.types)
    try RandomProgram.prepare(realm)
    try realm.write { for age in 0..<3 { realm.add(Dog(name: "first", age: age)) } }
    let replay = try SectionReplay(realm)
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
    #expect(replay.updates > 60 && replay.sectionChanges > 10)
  }

  @Test("sections behind another thread, several commits at a time", arguments: 1...3)
  func thread(seed: Int) throws {
    let folder = try Folder()
    let realm = try folder.realm(Self.types)
    try RandomProgram.prepare(realm)
    try realm.write { for age in 0..<3 { realm.add(Dog(name: "first", age: age)) } }
    let replay = try SectionReplay(realm)
    realm.refresh()
    var random = TestRandom(UInt64(seed) + 10)
    let configuration = folder.configuration(Self.types)
    for step in 0..<30 {
      let (start, count) = (random.next(), random.below(6))
      try onThread {
        let other = try Realm(configuration: configuration)
        var random = TestRandom(start)
        for _ in 0..<count { try RandomProgram.transaction(other, &random) }
      }
      // In turn: by itself at the begin of a write, and by `refresh`.
      if step % 3 == 0 { try RandomProgram.transaction(realm, &random) } else { realm.refresh() }
      replay.check("seed \(seed), step \(step)")
    }
    #expect(replay.updates > 60 && replay.sectionChanges > 10)
  }
}
