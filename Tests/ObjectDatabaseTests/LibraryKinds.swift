// LibraryKinds.swift: every kind of collection that LongLivedCollectionTests hold, how one is made
// of a realm, and what it must show by the model.

import FoundationEssentials

@testable import ObjectDatabase

/// A kind of collection, with the shelf or book that it is of.
enum LibraryKind: Sendable, Equatable {
  case books
  case scan(from: Int)
  case byIndex(rank: Int)
  case aboveByIndex(rank: Int)
  case sorted(ascending: Bool)
  case sortedDistinct
  case byNext(from: Int)
  case sortedByNext
  case shelved
  case anyBefore(from: Int)
  case shelvesWith(from: Int)
  case shelvesOfMore(than: Int)
  case slips
  case shelfBooks(Int)
  case shelfSorted(Int)
  case shelfFiltered(Int, from: Int)
  case shelfDistinct(Int)
  case numbers(Int)
  case numbersSorted(Int)
  case numbersDistinct(Int)
  case digits(Int)
  case digitsDescending(Int)
  case picks(Int)
  case picksSorted(Int)
  case words(Int)
  case wordsSorted(Int)
  case named(Int)
  case namedSorted(Int)
  case mixed(Int)
  case shelfSlips(Int)
  case shelvesOf(Int)
  case before(Int)
  case sections
  case restSections(from: Int)
  case shelfSections(Int)
  case section(rank: Int)
  case book(Int)
  case shelf(Int)

  static let classKinds = 13
  static let count = 38

  /// The kind with a number; of a shelf or a book.
  static func numbered(_ number: Int, shelf: Int, book: Int, _ size: Int) -> LibraryKind {
    let ofClass: [LibraryKind] = [
      .books, .scan(from: size), .byIndex(rank: size / 2), .aboveByIndex(rank: size / 2),
      .sorted(ascending: size % 2 == 0), .sortedDistinct, .byNext(from: size), .sortedByNext,
      .shelved, .anyBefore(from: size), .shelvesWith(from: size), .shelvesOfMore(than: size % 3),
      .slips,
    ]
    let ofOwner: [LibraryKind] = [
      .shelfBooks(shelf), .shelfSorted(shelf), .shelfFiltered(shelf, from: size),
      .shelfDistinct(shelf), .numbers(shelf), .numbersSorted(shelf), .numbersDistinct(shelf),
      .digits(shelf), .digitsDescending(shelf), .picks(shelf), .picksSorted(shelf),
      .words(shelf), .wordsSorted(shelf), .named(shelf), .namedSorted(shelf), .mixed(shelf),
      .shelfSlips(shelf), .shelvesOf(book), .before(book), .sections, .restSections(from: size),
      .shelfSections(shelf), .section(rank: size / 2), .book(book), .shelf(shelf),
    ]
    return (ofClass + ofOwner)[number % count]
  }

  /// Whether it is a view of a whole class, which is there as long as the realm is.
  var isOfClass: Bool {
    switch self {
    case .books, .scan, .byIndex, .aboveByIndex, .sorted, .sortedDistinct, .byNext, .sortedByNext,
      .shelved, .anyBefore, .shelvesWith, .shelvesOfMore, .slips, .sections, .restSections,
      .section:
      true
    default: false
    }
  }
}

// MARK: made of a realm

extension LibraryKind {
  /// The collection; nil without its owner, or without the section.
  func make(_ realm: Realm) -> LibraryView? {
    let books = realm.objects(Book.self)
    switch self {
    case .books: return view(books: books)
    case .scan(let from): return view(books: books.filter("number >= %@", from))
    case .byIndex(let rank): return view(books: books.filter("rank == %@", rank))
    case .aboveByIndex(let rank): return view(books: books.where { $0.rank > rank })
    case .sorted(let ascending):
      return view(books: books.sorted(byKeyPath: "number", ascending: ascending))
    case .sortedDistinct:
      let sorted = books.sorted(byKeyPath: "number", ascending: false)
      return view(books: sorted.distinct(by: ["rank"]))
    case .byNext(let from): return view(books: books.filter("next.number >= %@", from))
    case .sortedByNext: return view(books: books.sorted(byKeyPath: "next.number"))
    case .shelved: return view(books: books.filter("shelves.@count > 0"))
    case .anyBefore(let from): return view(books: books.filter("ANY before.number >= %@", from))
    case .shelvesWith(let from):
      return view(shelves: realm.objects(Shelf.self).filter("ANY books.number >= %@", from))
    case .shelvesOfMore(let count):
      return view(shelves: realm.objects(Shelf.self).filter("books.@count > %@", count))
    case .slips: return view(slips: realm.objects(Slip.self))
    case .sections: return SectionsView(self, books.sectioned(by: \.number))
    case .restSections(let from):
      let sections = books.filter("number >= %@", from).sectioned { $0.rank % 3 }
      return SectionsView(self, sections)
    case .section(let rank):
      let sections = books.sectioned(by: \.rank)
      return sections.first { $0.key == rank }.map { SectionView(self, $0) }
    case .shelvesOf(let id), .before(let id), .book(let id):
      return realm.object(ofType: Book.self, forPrimaryKey: id).flatMap { make(of: $0) }
    default:
      return owner.flatMap { realm.object(ofType: Shelf.self, forPrimaryKey: $0) }
        .flatMap { make(of: $0) }
    }
  }

  private func make(of book: Book) -> LibraryView? {
    switch self {
    case .shelvesOf: view(shelves: book.shelves)
    case .before: view(books: book.before)
    default: BookView(self, book)
    }
  }

  private func make(of shelf: Shelf) -> LibraryView? {
    switch self {
    case .shelfBooks:
      let view = view(books: shelf.books)
      view.books = shelf.books
      return view
    case .shelfSorted: return view(books: shelf.books.sorted(byKeyPath: "number"))
    case .shelfFiltered(_, let from): return view(books: shelf.books.filter("number >= %@", from))
    case .shelfDistinct: return view(books: shelf.books.distinct(by: ["rank"]))
    case .shelfSections: return SectionsView(self, shelf.books.sectioned(by: \.rank))
    case .numbers: return view(numbers: shelf.numbers)
    case .numbersSorted: return view(numbers: shelf.numbers.sorted())
    case .numbersDistinct: return view(numbers: shelf.numbers.distinct())
    case .digits: return view(numbers: shelf.digits)
    case .digitsDescending: return view(numbers: shelf.digits.sorted(ascending: false))
    case .picks: return view(books: shelf.picks)
    case .picksSorted: return view(books: shelf.picks.sorted(byKeyPath: "number"))
    case .words:
      return MapView(self, shelf.words) {
        $0.map(String.init) ?? "nil"
      } extras: {
        "\($0.sum() ?? 0) \(String(describing: $0.max() ?? nil))"
      }
    case .wordsSorted:
      return CollectionView(self, shelf.words.sorted()) { $0.map(String.init) ?? "nil" }
    case .named: return MapView(self, shelf.named, LibraryText.optional)
    case .namedSorted:
      return CollectionView(
        self, shelf.named.sorted(byKeyPath: "number"), LibraryText.optional,
        probe: { realm, id in
          realm.object(ofType: Book.self, forPrimaryKey: id).map { .some($0) }
        })
    case .mixed: return CollectionView(self, shelf.mixed) { "\($0)" }
    case .shelfSlips: return view(slips: shelf.slips)
    case .shelf: return ShelfView(self, shelf)
    default: return nil
    }
  }

  private func view<Books: RealmCollection & ThreadConfined>(
    books: Books
  ) -> CollectionView<Books> where Books.Element == Book {
    CollectionView(
      self, books, LibraryText.book,
      extras: { books in
        let smallest: Int? = books.min(ofProperty: "number")
        let greatest: Double? = books.max(ofProperty: "ratio")
        let sum: Int = books.sum(ofProperty: "number")
        let ratios: Double? = books.sum(ofProperty: "ratio")
        return LibraryExpectation.sums(
          smallest, greatest, sum, ratios ?? 0, books.average(ofProperty: "ratio"))
      },
      probe: { realm, id in realm.object(ofType: Book.self, forPrimaryKey: id) })
  }

  private func view<Shelves: RealmCollection & ThreadConfined>(
    shelves: Shelves
  ) -> LibraryView where Shelves.Element == Shelf {
    CollectionView(
      self, shelves, LibraryText.shelf,
      probe: { realm, id in realm.object(ofType: Shelf.self, forPrimaryKey: id) })
  }

  private func view<Slips: RealmCollection & ThreadConfined>(
    slips: Slips
  ) -> LibraryView where Slips.Element == Slip {
    CollectionView(self, slips, { "p\($0.serial)" })
  }

  private func view<Numbers: RealmCollection & ThreadConfined>(
    numbers: Numbers
  ) -> LibraryView where Numbers.Element == Int {
    CollectionView(
      self, numbers, { String($0) },
      extras: { numbers in
        let (smallest, greatest): (Int?, Int?) = (numbers.min(), numbers.max())
        let sum: Int = numbers.sum()
        return LibraryExpectation.sums(smallest, greatest, sum, numbers.average())
      },
      probe: { _, id in id })
  }

  /// The shelf that it is of, or the book.
  var owner: Int? {
    switch self {
    case .shelfBooks(let id), .shelfSorted(let id), .shelfFiltered(let id, _),
      .shelfDistinct(let id), .numbers(let id), .numbersSorted(let id), .numbersDistinct(let id),
      .digits(let id), .digitsDescending(let id), .picks(let id), .picksSorted(let id),
      .words(let id), .wordsSorted(let id), .named(let id), .namedSorted(let id), .mixed(let id),
      .shelfSlips(let id), .shelfSections(let id), .shelf(let id), .shelvesOf(let id),
      .before(let id), .book(let id):
      id
    default: nil
    }
  }
}

// MARK: by the model

/// What a collection must show.
struct LibraryExpectation {
  var texts: [String] = []
  var extras = ""
  /// What the element with a number looks like.
  var probe: (Int) -> String? = { _ in nil }
  /// Keys and elements of sections; of a map the keys.
  var sections: [(key: String, texts: [String])] = []
  var keys: [String]?

  static func sums(
    _ smallest: Int?, _ greatest: Int?, _ sum: Int, _ average: Double?
  ) -> String {
    "\(text(smallest)) \(text(greatest)) \(sum) \(text(average))"
  }

  static func sums(
    _ smallest: Int?, _ greatest: Double?, _ sum: Int, _ ratios: Double, _ average: Double?
  ) -> String {
    "\(text(smallest)) \(text(greatest)) \(sum) \(ratios) \(text(average))"
  }

  private static func text<Value>(_ value: Value?) -> String { value.map { "\($0)" } ?? "nil" }

  static func average(_ numbers: [Double]) -> Double? {
    numbers.isEmpty ? nil : numbers.reduce(0, +) / Double(numbers.count)
  }
}

extension LibraryKind {
  /// What the collection shows of a state; nil when its owner is not there.
  func expected(_ state: LibraryState) -> LibraryExpectation? {
    switch self {
    case .shelvesOf(let id), .before(let id), .book(let id):
      return state.books[id] == nil ? nil : expected(ofBook: id, state)
    case .sections: return sections(state, sorted(state.bookIDs, state)) { state.books[$0]?.number }
    case .restSections(let from):
      let ids = state.bookIDs.filter { (state.books[$0]?.number ?? 0) >= from }
      return sections(state, ids) { (state.books[$0]?.rank ?? 0) % 3 }
    case .shelvesWith(let from):
      return expected(
        shelves: state.shelfIDs.filter { id in
          state.shelves[id]?.books.contains { (state.books[$0]?.number ?? 0) >= from } ?? false
        })
    case .shelvesOfMore(let count):
      return expected(
        shelves: state.shelfIDs.filter { (state.shelves[$0]?.books.count ?? 0) > count })
    case .slips:
      return LibraryExpectation(texts: state.slips.map { "p\($0)" })
    default:
      if isOfClass { return expected(books: ofClass(state), state) }
      return owner.flatMap { state.shelves[$0] }.flatMap { expected(of: $0, state) }
    }
  }

  private func ofClass(_ state: LibraryState) -> [Int] {
    func number(_ id: Int?) -> Int { id.flatMap { state.books[$0]?.number } ?? -1 }
    func rank(_ id: Int) -> Int { state.books[id]?.rank ?? -1 }
    func next(_ id: Int) -> Int? { state.books[id]?.next }
    let ids = state.bookIDs
    switch self {
    case .scan(let from): return ids.filter { number($0) >= from }
    case .byIndex(let wanted): return ids.filter { rank($0) == wanted }
    case .section(let wanted): return ids.filter { rank($0) == wanted }
    case .aboveByIndex(let wanted): return ids.filter { rank($0) > wanted }
    case .sorted(let ascending): return sorted(ids, state, ascending: ascending)
    case .sortedDistinct: return distinct(sorted(ids, state, ascending: false), state)
    case .byNext(let from): return ids.filter { next($0) != nil && number(next($0)) >= from }
    case .sortedByNext: return ids.stablySorted { number(next($0)) < number(next($1)) }
    case .shelved:
      let shelved = Set(state.shelfIDs.flatMap { state.shelves[$0]?.books ?? [] })
      return ids.filter { shelved.contains($0) }
    case .anyBefore(let from):
      return ids.filter { id in ids.contains { next($0) == id && number($0) >= from } }
    default: return ids
    }
  }

  private func sorted(_ ids: [Int], _ state: LibraryState, ascending: Bool = true) -> [Int] {
    func number(_ id: Int) -> Int { state.books[id]?.number ?? 0 }
    return ids.stablySorted {
      ascending ? number($0) < number($1) : number($0) > number($1)
    }
  }

  private func distinct(_ ids: [Int], _ state: LibraryState) -> [Int] {
    var seen: Set<Int> = []
    return ids.filter { seen.insert(state.books[$0]?.rank ?? -1).inserted }
  }

  private func expected(of shelf: LibraryState.ShelfState, _ state: LibraryState)
    -> LibraryExpectation?
  {
    switch self {
    case .shelfBooks: return expected(books: shelf.books, state)
    case .shelfSorted: return expected(books: sorted(shelf.books, state), state)
    case .shelfFiltered(_, let from):
      let found = shelf.books.filter { (state.books[$0]?.number ?? 0) >= from }
      return expected(books: found, state)
    case .shelfDistinct: return expected(books: distinct(shelf.books, state), state)
    case .shelfSections:
      let ids = shelf.books.stablySorted {
        (state.books[$0]?.rank ?? 0) < (state.books[$1]?.rank ?? 0)
      }
      return sections(state, ids) { state.books[$0]?.rank }
    case .numbers: return expected(numbers: shelf.numbers)
    case .numbersSorted: return expected(numbers: shelf.numbers.sorted())
    case .numbersDistinct:
      var seen: Set<Int> = []
      return expected(numbers: shelf.numbers.filter { seen.insert($0).inserted })
    case .digits: return expected(numbers: shelf.digits)
    case .digitsDescending: return expected(numbers: shelf.digits.reversed())
    case .picks: return expected(books: shelf.picks, state)
    case .picksSorted: return expected(books: sorted(shelf.picks, state), state)
    case .mixed:
      return LibraryExpectation(texts: shelf.mixed.map { "\(LibraryText.mixed($0))" })
    case .shelfSlips: return LibraryExpectation(texts: shelf.slips.map { "p\($0)" })
    case .shelf: return LibraryExpectation(texts: ["\(shelf.books) \(shelf.numbers)"])
    default: return expected(map: shelf, state)
    }
  }

  private func expected(map shelf: LibraryState.ShelfState, _ state: LibraryState)
    -> LibraryExpectation?
  {
    let words = shelf.words.sorted { $0.key < $1.key }
    let named = shelf.named.sorted { $0.key < $1.key }
    switch self {
    case .words:
      let numbers = words.compactMap(\.value)
      return LibraryExpectation(
        texts: words.map { $0.value.map(String.init) ?? "nil" },
        extras: "\(numbers.reduce(0, +)) \(String(describing: numbers.max()))",
        keys: words.map(\.key))
    case .wordsSorted:
      let sorted = words.map { $0.value ?? -1 }.sorted()
      return LibraryExpectation(texts: sorted.map { $0 < 0 ? "nil" : String($0) })
    case .named:
      return LibraryExpectation(
        texts: named.map { $0.value.map { state.bookText($0) } ?? "none" }, keys: named.map(\.key))
    case .namedSorted:
      var found = expected(books: sorted(named.compactMap(\.value), state), state)
      found.extras = ""
      return found
    default: return nil
    }
  }

  private func expected(ofBook id: Int, _ state: LibraryState) -> LibraryExpectation {
    let before = state.bookIDs.filter { state.books[$0]?.next == id }
    let shelves = state.shelfIDs.flatMap { shelf in
      (state.shelves[shelf]?.books ?? []).filter { $0 == id }.map { _ in shelf }
    }
    switch self {
    case .before: return expected(books: before, state)
    case .shelvesOf: return expected(shelves: shelves)
    default: return LibraryExpectation(texts: ["\(state.bookText(id)) \(before) \(shelves)"])
    }
  }

  private func expected(books ids: [Int], _ state: LibraryState) -> LibraryExpectation {
    let books = ids.compactMap { state.books[$0] }
    let ratios = books.compactMap(\.ratio)
    return LibraryExpectation(
      texts: ids.map { state.bookText($0) },
      extras: LibraryExpectation.sums(
        books.map(\.number).min(), ratios.max(), books.map(\.number).reduce(0, +),
        ratios.reduce(0, +), LibraryExpectation.average(ratios)),
      probe: { id in state.books[id] == nil ? nil : state.bookText(id) })
  }

  private func expected(shelves ids: [Int]) -> LibraryExpectation {
    LibraryExpectation(texts: ids.map { "s\($0)" }, probe: { "s\($0)" })
  }

  private func expected(numbers: [Int]) -> LibraryExpectation {
    LibraryExpectation(
      texts: numbers.map(String.init),
      extras: LibraryExpectation.sums(
        numbers.min(), numbers.max(), numbers.reduce(0, +),
        LibraryExpectation.average(numbers.map(Double.init))),
      probe: { String($0) })
  }

  private func sections(
    _ state: LibraryState, _ ids: [Int], _ key: (Int) -> Int?
  ) -> LibraryExpectation {
    var found = LibraryExpectation()
    for id in ids {
      let name = key(id).map(String.init) ?? "none"
      if let number = found.sections.firstIndex(where: { $0.key == name }) {
        found.sections[number].texts.append(state.bookText(id))
      } else {
        found.sections.append((name, [state.bookText(id)]))
      }
    }
    return found
  }
}

extension Array {
  /// Sorted so that equal elements keep their order.
  func stablySorted(_ isBefore: (Element, Element) -> Bool) -> [Element] {
    enumerated().sorted {
      isBefore($0.element, $1.element)
        || !isBefore($1.element, $0.element) && $0.offset < $1.offset
    }.map(\.element)
  }
}
