// SectionedResultsTests.swift: sections: their order, their elements, what a change does to them.

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
}
