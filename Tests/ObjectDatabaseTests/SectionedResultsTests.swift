// SectionedResultsTests.swift: sections: their order, their elements, what a change does to them.

import Foundation
import ObjectDatabase
import Testing

extension Hound {
  var initial: String { String(name.prefix(1)).uppercased() }
}

@Suite("sectioned results")
struct SectionedResultsTests {
  @Test("sections stand by their first elements, and hold theirs in order")
  func order() throws {
    let (folder, hounds) = try TypedQueryTests.hounds()
    let byMood = hounds.sectioned(by: \.mood)
    #expect(byMood.allKeys == [.calm, .wild] && byMood.count == 2)
    #expect(byMood.map { $0.map(\.id) } == [[1, 2, 4], [3]])
    let backwards = hounds.sectioned(by: \.mood, ascending: false)
    #expect(backwards.allKeys == [.wild, .calm])
    let initials = hounds.sectioned(
      by: \.initial, sortDescriptors: [SortDescriptor(keyPath: "age", ascending: false)])
    #expect(initials.allKeys == ["Ä", "Z", "A", "B"])
    let parity = hounds.sectioned(by: { $0.age % 2 == 0 }, sortDescriptors: [])
    #expect(parity.map(\.key) == [false, true] && parity[0].map(\.id) == [1, 2, 4])
    #expect(parity[0, 1].id == 2 && parity[1][0].id == 3 && parity[0].last?.id == 4)
    withExtendedLifetime(folder) {}
  }

  @Test("sections are live, and frozen ones are not")
  func live() throws {
    let (folder, hounds) = try TypedQueryTests.hounds()
    let sections = hounds.sectioned(by: \.age)
    let frozen = sections.freeze()
    let threes = sections[0]
    #expect(threes.key == 3 && threes.count == 1)
    let realm = try #require(hounds.realm)
    try realm.write {
      hounds[0].age = 3
      #expect(threes.map(\.id) == [1, 2], "within the transaction")
      hounds[1].age = 1
    }
    #expect(sections.allKeys == [1, 3, 4, 7] && threes.map(\.id) == [1])
    try realm.write { hounds[0].age = 8 }
    #expect(threes.isEmpty && sections.allKeys == [1, 4, 7, 8])
    #expect(frozen.allKeys == [3, 4, 7, 9] && frozen.isFrozen && frozen[0].map(\.id) == [2])
    #expect(frozen.thaw()?.allKeys == [1, 4, 7, 8])
    withExtendedLifetime(folder) {}
  }

  @Test("an index out of bounds is a trap")
  func bounds() async {
    await #expect(processExitsWith: .failure) {
      let (folder, hounds) = try TypedQueryTests.hounds()
      _ = hounds.sectioned(by: \.age)[4]
      withExtendedLifetime(folder) {}
    }
  }

  /// What is told, in words: deletions, insertions, modifications, new sections, gone sections.
  private static func text<Collection>(_ change: SectionedResultsChange<Collection>) -> String {
    switch change {
    case .initial: return "initial"
    case .error(let error): return "\(error)"
    case .update(_, let deletions, let insertions, let modifications, let inserted, let deleted):
      let places = [deletions, insertions, modifications].map { paths in
        "[" + paths.map { "\($0.section).\($0.item)" }.joined(separator: " ") + "]"
      }
      return (places + ["\(Array(inserted))", "\(Array(deleted))"]).joined(separator: " ")
    }
  }

  @Test("elements and sections that come, go and move are told with their places")
  func observing() throws {
    let (folder, realm, dogs) = try NotificationTests.prepared()
    defer { withExtendedLifetime(folder) {} }
    let sections = dogs.sectioned(by: { $0.age % 3 })
    let one = try #require(sections.first { $0.key == 1 })
    let (all, own, names) = (Told<String>(), Told<String>(), Told<String>())
    let tokens = [
      sections.observe { all.items.append(Self.text($0)) },
      one.observe { own.items.append(Self.text($0)) },
      sections.observe(keyPaths: [\Dog.name]) { names.items.append(Self.text($0)) },
    ]
    realm.refresh()
    #expect(all.items + own.items + names.items == ["initial", "initial", "initial"])
    // The ages are 0 to 4: sections 0 (0, 3), 1 (1, 4) and 2 (2).
    try realm.write { dogs[3].age = 31 }
    try realm.write { realm.delete(dogs[2]) }
    try realm.write { dogs[0].age = 4 }
    try realm.write { dogs[0].age = 5 }
    try realm.write { dogs[1].age = 100 }
    #expect(
      all.items.dropFirst() == [
        "[0.1] [1.1] [] [] []", "[] [] [] [] [2]", "[] [0.0] [] [] [0]", "[0.0] [0.0] [] [0] []",
        "[] [] [1.0] [] []",
      ], "\(all.items)")
    #expect(
      own.items.dropFirst() == [
        "[] [1.1] [] [] []", "[] [0.0] [] [] []", "[0.0] [] [] [] []", "[] [] [1.0] [] []",
      ], "\(own.items)")
    // Another age is not a modification for who asks for names, but another section is told.
    #expect(names.items.dropFirst() == all.items.dropFirst().dropLast(), "\(names.items)")
    try realm.write {
      dogs[0].age = 1
      dogs[3].age = 2
    }
    let last = try #require(all.items.last)
    #expect(sections.allKeys == [1, 2])
    #expect(last.hasSuffix(" [0] [1]") || last.hasSuffix(" [1] [0]"), "\(last)")
    withExtendedLifetime(tokens) {}
  }

  @Test("an element has a place, and sections go to other threads")
  func places() throws {
    let (folder, realm, dogs) = try NotificationTests.prepared()
    let sections = dogs.sectioned(by: { $0.age % 3 })
    #expect(sections[IndexPath(item: 1, section: 0)].age == 3)
    #expect(IndexPath(item: 1, section: 2).item == 1 && IndexPath(item: 1, section: 2).section == 2)
    let reference = ThreadSafeReference(to: sections[1])
    let configuration = folder.configuration([Person.self, Everything.self])
    let ages = try onThread {
      try Realm(configuration: configuration).resolve(reference)?.map(\.age)
    }
    #expect(ages == [1, 4])
    let frozen = sections[2].freeze()
    try realm.write { dogs[2].age = 3 }
    #expect(frozen.count == 1 && frozen.isFrozen && frozen.thaw()?.isEmpty == true)
  }
}
