// SectionChanges.swift: the changes of sectioned results, with RealmSwift's names, derived from the
// changes of the results. Elements that stayed in the results stay in their section when their key
// is the same; all others are deleted and inserted. The sections that stay are the longest sequence
// of keys with the same order before and after; all others are deleted, with their elements, and
// inserted again. Invariant: deletions, then deleted sections, then inserted (empty) sections, then
// insertions and modifications turn the old sections into the new ones.

import Foundation

/// A change of sectioned results, or of one section.
///
/// Applied in this order, deletions, deleted sections, inserted sections, insertions and
/// modifications turn the old sections into the new ones; an inserted section is empty before its
/// insertions. All positions ascend.
public enum SectionedResultsChange<Collection> {
  /// The sections at the first call.
  case initial(Collection)
  /// Something changed.
  /// - Parameters:
  ///   - deletions: Positions in the old sections, except in those deleted as a whole.
  ///   - insertions: Positions in the new sections, including inserted sections.
  ///   - modifications: Positions in the new sections of elements that stayed in a section.
  ///   - sectionsToInsert: Indexes of inserted sections, in the new order.
  ///   - sectionsToDelete: Indexes of deleted sections, in the old order.
  case update(
    Collection, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
    sectionsToInsert: IndexSet, sectionsToDelete: IndexSet)
  /// The changes cannot be determined; there is no further call.
  case error(any Error)
}

extension IndexPath {
  /// The place of an element in a section.
  public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

  /// The index of the section, the first of two; a path without one stops the process.
  public var section: Int { self[0] }

  /// The index of the element in its section, the second of two; a path without one stops the
  /// process.
  public var item: Int { self[1] }
}

/// The place of an element.
struct SectionPlace: Hashable, Comparable {
  let section: Int
  let item: Int

  static func < (left: SectionPlace, right: SectionPlace) -> Bool {
    left.section == right.section ? left.item < right.item : left.section < right.section
  }

  var indexPath: IndexPath { IndexPath(item: item, section: section) }
}

/// The places that changed in sections.
struct SectionChanges {
  private(set) var deletions: [SectionPlace] = []
  private(set) var insertions: [SectionPlace] = []
  private(set) var modifications: [SectionPlace] = []
  private(set) var insertedSections: [Int] = []
  private(set) var deletedSections: [Int] = []

  var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && insertedSections.isEmpty
      && deletedSections.isEmpty
  }

  /// - Parameters:
  ///   - old: The old sections.
  ///   - new: The new sections.
  ///   - changes: The changes of the results.
  /// - Complexity: O(elements), and O(sections × log sections) when sections moved.
  init<Key: Hashable>(
    from old: Sections<Key>, to new: Sections<Key>, _ changes: IndexChanges
  ) {
    let sections = SequenceDifference(from: old.keys, to: new.keys)
    deletedSections = sections.deletions
    insertedSections = sections.insertions
    // Where each old section is now; nil for one that went.
    var moved = [Int?](repeating: nil, count: old.keys.count)
    let isGone = Self.marks(deletedSections, old.keys.count)
    for (number, key) in old.keys.enumerated() where !isGone[number] {
      moved[number] = new.numbers[key]
    }
    let (oldPlaces, newPlaces) = (Self.places(old), Self.places(new))
    let isDeleted = Self.marks(changes.deletions, oldPlaces.count)
    let isInserted = Self.marks(changes.insertions, newPlaces.count)
    let isModified = Self.marks(changes.modifications, newPlaces.count)
    // Sections that stayed have the same order in both.
    var next = 0
    for (position, place) in oldPlaces.enumerated() {
      let section = moved[place.section]
      guard !isDeleted[position] else {
        if section != nil { deletions.append(place) }
        continue
      }
      while next < newPlaces.count, isInserted[next] { next += 1 }
      precondition(next < newPlaces.count, "an element that stayed is there")
      if section == newPlaces[next].section {
        if isModified[next] { modifications.append(newPlaces[next]) }
      } else {
        if section != nil { deletions.append(place) }
        insertions.append(newPlaces[next])
      }
      next += 1
    }
    for position in changes.insertions { insertions.append(newPlaces[position]) }
    deletions.sort()
    insertions.sort()
    modifications.sort()
  }

  private static func marks(_ positions: [Int], _ count: Int) -> [Bool] {
    var marks = [Bool](repeating: false, count: count)
    for position in positions { marks[position] = true }
    return marks
  }

  /// The place of each position of the results.
  private static func places<Key>(_ sections: Sections<Key>) -> [SectionPlace] {
    var places = [SectionPlace](
      repeating: SectionPlace(section: 0, item: 0),
      count: sections.positions.reduce(0) { $0 + $1.count })
    for (section, positions) in sections.positions.enumerated() {
      for (item, position) in positions.enumerated() {
        places[position] = SectionPlace(section: section, item: item)
      }
    }
    return places
  }

  /// The changes of one section, given its old and new number.
  func of(_ old: Int?, _ new: Int?) -> SectionChanges {
    var part = self
    part.deletions.removeAll { $0.section != old }
    part.insertions.removeAll { $0.section != new }
    part.modifications.removeAll { $0.section != new }
    part.insertedSections.removeAll { $0 != new }
    part.deletedSections.removeAll { $0 != old }
    return part
  }

  /// The change in the form that callbacks receive.
  func change<Collection>(of collection: Collection) -> SectionedResultsChange<Collection> {
    .update(
      collection, deletions: deletions.map(\.indexPath), insertions: insertions.map(\.indexPath),
      modifications: modifications.map(\.indexPath), sectionsToInsert: IndexSet(insertedSections),
      sectionsToDelete: IndexSet(deletedSections))
  }
}
