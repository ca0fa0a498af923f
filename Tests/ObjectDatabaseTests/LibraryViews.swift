// LibraryViews.swift: one collection that LongLivedCollectionTests hold, whatever its type: how it
// is read, part by part, frozen, thawed and observed.

import Foundation

@testable import ObjectDatabase

/// Which parts of a collection are read, and which first: caches are filled by reads only.
struct LibraryLook: Sendable {
  static let partCount = 6
  var parts = 0b111111
  var first = 0
  /// A book, shelf or number that is looked for.
  var probe = 0

  /// The numbers of the parts, in the order in which they are read.
  var order: [Int] {
    (0..<Self.partCount).map { ($0 + first) % Self.partCount }.filter { parts >> $0 & 1 == 1 }
  }
}

/// A collection, or an object.
class LibraryView {
  let kind: LibraryKind
  /// The list itself, for changes through it.
  var books: List<Book>?

  init(_ kind: LibraryKind) { self.kind = kind }

  var realm: Realm? { nil }
  var isInvalidated: Bool { true }
  var isFrozen: Bool { false }
  func part(_ number: Int, _ look: LibraryLook) -> String { "" }
  func freeze() -> LibraryView { self }
  func thaw() -> LibraryView? { nil }
  func observe(_ copy: LibraryCopy) -> NotificationToken? { nil }

  /// What is read, in words.
  final func read(_ look: LibraryLook) -> [String] {
    look.order.map { "\($0): \(part($0, look))" }
  }
}

extension LibraryExpectation {
  /// What must be read.
  func read(_ kind: LibraryKind, _ look: LibraryLook) -> [String] {
    look.order.map { "\($0): \(part($0, kind, look))" }
  }

  private func part(_ number: Int, _ kind: LibraryKind, _ look: LibraryLook) -> String {
    switch kind {
    case .sections, .restSections, .shelfSections:
      let texts = sections.map(\.texts)
      switch number {
      case 0: return "\(sections.count)"
      case 1: return "\(sections.map(\.key))"
      case 2: return "\(texts.first ?? []) \(texts.last?.last ?? "none")"
      case 3, 4: return "\(texts)"
      default: return "\(texts.map(\.count))"
      }
    case .book, .shelf: return texts.first ?? ""
    default:
      switch number {
      case 0: return "\(texts.count) \(texts.isEmpty)"
      case 1: return "\(texts.first ?? "none") \(texts.last ?? "none")"
      case 2: return keys.map { "\($0) \(texts)" } ?? "\(texts)"
      case 3: return "\(texts)"
      case 4:
        if keys != nil { return "\(keys?.contains("w\(look.probe)") == true)" }
        let places = texts.map { text in texts.firstIndex(of: text) ?? -1 }
        let probed = probe(look.probe).map { text in texts.firstIndex(of: text) ?? -1 }
        return "\(places) \(probed ?? -1)"
      default: return extras
      }
    }
  }
}

/// A collection with positions.
final class CollectionView<Items: RealmCollection & ThreadConfined>: LibraryView {
  let items: Items
  private let text: (Items.Element) -> String
  private let extras: (Items) -> String
  private let probe: (Realm, Int) -> Items.Element?

  init(
    _ kind: LibraryKind, _ items: Items, _ text: @escaping (Items.Element) -> String,
    extras: @escaping (Items) -> String = { _ in "" },
    probe: @escaping (Realm, Int) -> Items.Element? = { _, _ in nil }
  ) {
    self.items = items
    self.text = text
    self.extras = extras
    self.probe = probe
    super.init(kind)
  }

  private func remade(_ items: Items?) -> LibraryView? {
    guard let items else { return nil }
    let made = CollectionView(kind, items, text, extras: extras, probe: probe)
    made.books = items as? List<Book>
    return made
  }

  override var realm: Realm? { (items as any RealmCollection).realm }
  override var isInvalidated: Bool { (items as any RealmCollection).isInvalidated }
  override var isFrozen: Bool { (items as any RealmCollection).isFrozen }
  override func freeze() -> LibraryView { remade(items.freeze()) ?? self }
  override func thaw() -> LibraryView? { remade(items.thaw()) }

  override func part(_ number: Int, _ look: LibraryLook) -> String {
    switch number {
    case 0: return "\(items.count) \(items.isEmpty)"
    case 1: return "\(items.first.map(text) ?? "none") \(items.last.map(text) ?? "none")"
    case 2: return "\(items.map(text))"
    case 3: return "\(items.indices.map { text(items[$0]) })"
    case 4:
      let places = items.map { items.index(of: $0) ?? -1 }
      guard let realm, let probe = probe(realm, look.probe) else { return "\(places) -1" }
      let found = items.index(of: probe)
      let isThere = items.contains(probe)
      return "\(places) \(found ?? -1)" + (isThere == (found != nil) ? "" : " but \(isThere)")
    default: return extras(items)
    }
  }

  override func observe(_ copy: LibraryCopy) -> NotificationToken? {
    let text = text
    return items.observe { change in
      switch change {
      case .initial(let items): copy.texts = items.map(text)
      case .update(let items, let deletions, let insertions, let modifications):
        let now = (items as any RealmCollection).isInvalidated ? [] : items.map(text)
        copy.apply(now, deletions, insertions, modifications)
      case .error(let error): copy.problems.append("\(error)")
      }
    }
  }
}

/// A map.
final class MapView<Value: RealmCollectionValue>: LibraryView {
  private let map: Map<String, Value>
  private let text: (Value) -> String
  private let extras: (Map<String, Value>) -> String

  init(
    _ kind: LibraryKind, _ map: Map<String, Value>, _ text: @escaping (Value) -> String,
    extras: @escaping (Map<String, Value>) -> String = { _ in "" }
  ) {
    self.map = map
    self.text = text
    self.extras = extras
    super.init(kind)
  }

  override var realm: Realm? { map.realm }
  override var isInvalidated: Bool { map.isInvalidated }
  override var isFrozen: Bool { map.isFrozen }
  override func freeze() -> LibraryView { MapView(kind, map.freeze(), text, extras: extras) }
  override func thaw() -> LibraryView? {
    map.thaw().map { MapView(kind, $0, text, extras: extras) }
  }

  override func part(_ number: Int, _ look: LibraryLook) -> String {
    let texts = { self.map.values.map(self.text) }
    switch number {
    case 0: return "\(map.count) \(map.isEmpty)"
    case 1: return "\(texts().first ?? "none") \(texts().last ?? "none")"
    case 2: return "\(map.map(\.key)) \(map.map { text($0.value) })"
    case 3: return "\(map.keys.compactMap { map[$0] }.map(text))"
    case 4: return "\(map.object(forKey: "w\(look.probe)") != nil)"
    default: return extras(map)
    }
  }

  override func observe(_ copy: LibraryCopy) -> NotificationToken? {
    var entries: [String: String] = [:]
    let text = text
    return map.observe { change in
      switch change {
      case .initial(let map): for entry in map { entries[entry.key] = text(entry.value) }
      case .update(let map, let deletions, let insertions, let modifications):
        for key in deletions where entries.removeValue(forKey: key) == nil {
          copy.problems.append("\(key) was deleted, and was not there")
        }
        for key in insertions {
          let old = entries.updateValue(map[key].map(text) ?? "", forKey: key)
          if old != nil { copy.problems.append("\(key) was inserted, and was there") }
        }
        for key in modifications { entries[key] = map[key].map(text) }
      case .error(let error): copy.problems.append("\(error)")
      }
      copy.texts = entries.sorted { $0.key < $1.key }.map(\.value)
    }
  }
}

/// Results in sections.
final class SectionsView<Key: Hashable>: LibraryView {
  private let sections: SectionedResults<Key, Book>

  init(_ kind: LibraryKind, _ sections: SectionedResults<Key, Book>) {
    self.sections = sections
    super.init(kind)
  }

  override var realm: Realm? { sections.realm }
  override var isInvalidated: Bool { sections.isInvalidated }
  override var isFrozen: Bool { sections.isFrozen }
  override func freeze() -> LibraryView { SectionsView(kind, sections.freeze()) }
  override func thaw() -> LibraryView? { sections.thaw().map { SectionsView(kind, $0) } }

  override func part(_ number: Int, _ look: LibraryLook) -> String {
    func texts(_ section: ResultsSection<Key, Book>) -> [String] { section.map(LibraryText.book) }
    switch number {
    case 0: return "\(sections.count)"
    case 1: return "\(sections.allKeys.map { "\($0)" })"
    case 2:
      let last = sections.last?.last.map(LibraryText.book)
      return "\(sections.first.map(texts) ?? []) \(last ?? "none")"
    case 3: return "\(sections.map(texts))"
    case 4:
      let all = sections.indices.map { section in
        sections[section].indices.map { LibraryText.book(sections[section, $0]) }
      }
      return "\(all)"
    default: return "\(sections.map(\.count))"
    }
  }

  override func observe(_ copy: LibraryCopy) -> NotificationToken? {
    sections.observe { change in
      switch change {
      case .initial(let sections):
        copy.sections = sections.map { $0.map(LibraryText.book) }
      case .update(
        let sections, let deletions, let insertions, let modifications, let inserted, let deleted):
        let now = sections.isInvalidated ? [] : sections.map { $0.map(LibraryText.book) }
        copy.apply(now, (deletions, insertions, modifications), (deleted, inserted))
      case .error(let error): copy.problems.append("\(error)")
      }
    }
  }
}

/// One section, which may go and come back.
final class SectionView<Key: Hashable>: LibraryView {
  private let section: ResultsSection<Key, Book>

  init(_ kind: LibraryKind, _ section: ResultsSection<Key, Book>) {
    self.section = section
    super.init(kind)
  }

  override var realm: Realm? { section.realm }
  override var isInvalidated: Bool { section.isInvalidated }
  override var isFrozen: Bool { section.isFrozen }
  override func freeze() -> LibraryView { SectionView(kind, section.freeze()) }
  override func thaw() -> LibraryView? { section.thaw().map { SectionView(kind, $0) } }

  override func part(_ number: Int, _ look: LibraryLook) -> String {
    let text = { (book: Book) in LibraryText.book(book) }
    switch number {
    case 0: return "\(section.count) \(section.isEmpty)"
    case 1: return "\(section.first.map(text) ?? "none") \(section.last.map(text) ?? "none")"
    case 2: return "\(section.map(text))"
    case 3: return "\(section.indices.map { text(section[$0]) })"
    case 4:
      let places = section.map { section.firstIndex(of: $0) ?? -1 }
      let probe = realm?.object(ofType: Book.self, forPrimaryKey: look.probe)
      return "\(places) \(probe.flatMap { section.firstIndex(of: $0) } ?? -1)"
    default:
      let numbers = section.map(\.number)
      let ratios = section.compactMap(\.ratio)
      return LibraryExpectation.sums(
        numbers.min(), ratios.max(), numbers.reduce(0, +), ratios.reduce(0, +),
        LibraryExpectation.average(ratios))
    }
  }
}

/// A book.
final class BookView: LibraryView {
  private let book: Book

  init(_ kind: LibraryKind, _ book: Book) {
    self.book = book
    super.init(kind)
  }

  override var realm: Realm? { book.realm }
  override var isInvalidated: Bool { book.isInvalidated }
  override var isFrozen: Bool { book.isFrozen }
  override func freeze() -> LibraryView { BookView(kind, book.freeze()) }
  override func thaw() -> LibraryView? { book.thaw().map { BookView(kind, $0) } }
  override func part(_ number: Int, _ look: LibraryLook) -> String {
    "\(LibraryText.book(book)) \(book.before.map(\.id)) \(book.shelves.map(\.id))"
  }
}

/// A shelf.
final class ShelfView: LibraryView {
  private let shelf: Shelf

  init(_ kind: LibraryKind, _ shelf: Shelf) {
    self.shelf = shelf
    super.init(kind)
  }

  override var realm: Realm? { shelf.realm }
  override var isInvalidated: Bool { shelf.isInvalidated }
  override var isFrozen: Bool { shelf.isFrozen }
  override func freeze() -> LibraryView { ShelfView(kind, shelf.freeze()) }
  override func thaw() -> LibraryView? { shelf.thaw().map { ShelfView(kind, $0) } }
  override func part(_ number: Int, _ look: LibraryLook) -> String {
    "\(shelf.books.map(\.id)) \(Array(shelf.numbers))"
  }
}

/// What an observer knows of a collection by what it was told, and nothing else.
final class LibraryCopy {
  var texts: [String]?
  var sections: [[String]]?
  var problems: [String] = []
  private(set) var updates = 0

  var isTold: Bool { texts != nil || sections != nil }

  func apply(
    _ now: [String], _ deletions: [Int], _ insertions: [Int], _ modifications: [Int]
  ) {
    updates += 1
    var copy = texts ?? []
    for place in deletions.reversed() where copy.indices.contains(place) { copy.remove(at: place) }
    for place in insertions where place <= copy.count && now.indices.contains(place) {
      copy.insert(now[place], at: place)
    }
    for place in modifications where copy.indices.contains(place) && now.indices.contains(place) {
      copy[place] = now[place]
    }
    if copy != now {
      problems.append(
        "\(texts ?? []), \(deletions) \(insertions) \(modifications) give \(copy), not \(now)")
    }
    texts = copy
  }

  func apply(
    _ now: [[String]],
    _ items: (deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath]),
    _ whole: (deletions: IndexSet, insertions: IndexSet)
  ) {
    updates += 1
    var copy = sections ?? []
    func has(_ path: IndexPath, _ all: [[String]]) -> Bool {
      all.indices.contains(path.section) && all[path.section].indices.contains(path.item)
    }
    for path in items.deletions.reversed() where has(path, copy) {
      copy[path.section].remove(at: path.item)
    }
    for number in whole.deletions.reversed() where copy.indices.contains(number) {
      copy.remove(at: number)
    }
    for number in whole.insertions where number <= copy.count { copy.insert([], at: number) }
    for path in items.insertions
    where has(path, now) && path.section < copy.count && path.item <= copy[path.section].count {
      copy[path.section].insert(now[path.section][path.item], at: path.item)
    }
    for path in items.modifications where has(path, now) && has(path, copy) {
      copy[path.section][path.item] = now[path.section][path.item]
    }
    if copy != now {
      problems.append("\(sections ?? []), \(items) \(whole) give \(copy), not \(now)")
    }
    sections = copy
  }
}

extension LibraryCopy {
  var description: String { texts.map { "\($0)" } ?? "\(sections ?? [])" }

  /// What was not told, because the program knows it.
  func become(_ expected: LibraryExpectation, like other: LibraryCopy? = nil) {
    if (other ?? self).sections != nil {
      sections = expected.sections.map(\.texts)
    } else {
      texts = expected.texts
    }
  }
}
