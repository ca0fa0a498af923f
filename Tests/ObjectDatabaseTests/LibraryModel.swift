// LibraryModel.swift: the classes of LongLivedCollectionTests, and what a realm of them holds as
// plain arrays and dictionaries, with every change that the tests make of both.
// Invariants: numbers of books, shelves and slips are never given twice, so that what is gone stays
// gone; the model keeps them in the order in which they were added, which is that of the rows. A
// change that the model does not allow (a shelf that is gone, a place out of bounds) is made in
// neither.

import FoundationEssentials

@testable import ObjectDatabase

class Book: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var number: Int
  @Persisted(indexed: true) var rank: Int
  @Persisted var ratio: Double?
  @Persisted var name: String
  @Persisted var next: Book?
  @Persisted(originProperty: "books") var shelves: LinkingObjects<Shelf>
  @Persisted(originProperty: "next") var before: LinkingObjects<Book>
}

class Shelf: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var books: List<Book>
  @Persisted var numbers: List<Int>
  @Persisted var digits: MutableSet<Int>
  @Persisted var picks: MutableSet<Book>
  @Persisted var words: Map<String, Int?>
  @Persisted var named: Map<String, Book?>
  @Persisted var mixed: List<AnyRealmValue>
  @Persisted var slips: List<Slip>
}

class Slip: EmbeddedObject {
  @Persisted var serial: Int
}

/// What a version of the library holds.
struct LibraryState: Equatable {
  struct BookState: Equatable {
    var number = 0
    var rank = 0
    var ratio: Double?
    var name = ""
    var next: Int?
  }

  struct ShelfState: Equatable {
    var books: [Int] = []
    var numbers: [Int] = []
    var digits: [Int] = []
    var picks: [Int] = []
    var words: [String: Int?] = [:]
    var named: [String: Int?] = [:]
    var mixed: [Int] = []
    var slips: [Int] = []
  }

  var books: [Int: BookState] = [:]
  var shelves: [Int: ShelfState] = [:]
  /// A rule of the schema was broken: the transaction will not commit.
  var isFailed = false

  init(isFailed: Bool = false) { self.isFailed = isFailed }

  /// In the order of the rows.
  private(set) var bookIDs: [Int] = []
  private(set) var shelfIDs: [Int] = []
  private(set) var slips: [Int] = []

  func bookText(_ id: Int) -> String {
    guard let book = books[id] else { return "none" }
    return LibraryText.book(id, book.number, book.rank, book.ratio, book.name, book.next)
  }

  mutating func remove(book id: Int) {
    books[id] = nil
    bookIDs.removeAll { $0 == id }
    for other in bookIDs where books[other]?.next == id { books[other]?.next = nil }
    for shelf in shelfIDs {
      shelves[shelf]?.books.removeAll { $0 == id }
      shelves[shelf]?.picks.removeAll { $0 == id }
      for (key, target) in shelves[shelf]?.named ?? [:] where target == id {
        shelves[shelf]?.named[key] = .some(nil)
      }
    }
  }
}

/// Elements in words, the same for the model and for the realm.
enum LibraryText {
  static func book(
    _ id: Int, _ number: Int, _ rank: Int, _ ratio: Double?, _ name: String, _ next: Int?
  ) -> String {
    "\(id):\(number)/\(rank)/\(ratio.map { "\($0)" } ?? "-")/\(name)>\(next.map(String.init) ?? "")"
  }

  static func book(_ book: Book) -> String {
    self.book(book.id, book.number, book.rank, book.ratio, book.name, book.next?.id)
  }

  static func optional(_ book: Book?) -> String { book.map { self.book($0) } ?? "none" }

  static func shelf(_ shelf: Shelf) -> String { "s\(shelf.id)" }

  /// Values of several types, told apart by a number.
  static func mixed(_ code: Int) -> AnyRealmValue {
    switch code % 4 {
    case 0: .none
    case 1: .int(code)
    case 2: .string("t\(code)")
    default: .double(Double(code) / 2)
    }
  }
}

/// A change of the library.
enum LibraryEdit: Sendable {
  case addBook(Int, number: Int, rank: Int)
  case deleteBook(Int)
  case setNumber(Int, to: Int)
  case setRank(Int, to: Int)
  case setRatio(Int, to: Int?)
  case setName(Int, to: Int)
  case setNext(Int, to: Int?)
  case addShelf(Int)
  case addShelfAgain(Int)
  case deleteShelf(Int)
  case insertBook(Int, book: Int, at: Int)
  case removeBook(Int, at: Int)
  case moveBook(Int, from: Int, to: Int)
  case swapBooks(Int, first: Int, second: Int)
  case replaceBook(Int, at: Int, with: Int)
  case clearBooks(Int)
  case insertNumber(Int, number: Int, at: Int)
  case replaceNumber(Int, at: Int, with: Int)
  case removeNumber(Int, at: Int)
  case moveNumber(Int, from: Int, to: Int)
  case clearNumbers(Int)
  case addDigit(Int, digit: Int)
  case removeDigit(Int, digit: Int)
  case addPick(Int, book: Int)
  case removePick(Int, book: Int)
  case setWord(Int, key: Int, to: Int?)
  case removeWord(Int, key: Int)
  case setNamed(Int, key: Int, to: Int?)
  case removeNamed(Int, key: Int)
  case addMixed(Int, code: Int)
  case removeMixed(Int, at: Int)
  case addSlip(Int, serial: Int)
  case removeSlip(Int, at: Int)
  case deleteNumbered(Int)
  case renumberRank(Int, to: Int)
  case deleteAll
}

extension LibraryState {
  /// Makes a change; false when it cannot be made, and nothing is.
  mutating func apply(_ edit: LibraryEdit) -> Bool {
    switch edit {
    case .addShelf(let id):
      guard shelves[id] == nil else { return false }
      shelves[id] = ShelfState()
      shelfIDs.append(id)
    case .addShelfAgain(let id):
      guard shelves[id] != nil else { return false }
      isFailed = true
    case .deleteShelf(let id):
      guard let shelf = shelves.removeValue(forKey: id) else { return false }
      shelfIDs.removeAll { $0 == id }
      slips.removeAll { shelf.slips.contains($0) }
    case .deleteAll: self = LibraryState(isFailed: isFailed)
    case .insertBook(let id, let book, _), .replaceBook(let id, _, let book),
      .addPick(let id, let book), .removePick(let id, let book):
      guard books[book] != nil else { return false }
      return change(id, edit)
    case .setNamed(let id, _, .some(let book)):
      guard books[book] != nil else { return false }
      return change(id, edit)
    default: return applyToBooks(edit) ?? edit.shelf.map { change($0, edit) } ?? false
    }
    return true
  }

  /// Nil for a change of something else.
  private mutating func applyToBooks(_ edit: LibraryEdit) -> Bool? {
    func has(_ id: Int) -> Bool { books[id] != nil }
    switch edit {
    case .addBook(let id, let number, let rank):
      guard !has(id) else { return false }
      bookIDs.append(id)
      books[id] = BookState(
        number: number, rank: rank, ratio: rank % 2 == 0 ? nil : Double(number) / 2,
        name: "b\(number)")
    case .deleteBook(let id):
      guard has(id) else { return false }
      remove(book: id)
    case .setNumber(let id, let number):
      guard has(id) else { return false }
      books[id]?.number = number
    case .setRank(let id, let rank):
      guard has(id) else { return false }
      books[id]?.rank = rank
    case .setRatio(let id, let number):
      guard has(id) else { return false }
      books[id]?.ratio = number.map { Double($0) / 2 }
    case .setName(let id, let number):
      guard has(id) else { return false }
      books[id]?.name = "n\(number)"
    case .setNext(let id, let next):
      guard has(id), next.map(has) ?? true else { return false }
      books[id]?.next = next
    case .deleteNumbered(let number):
      for id in bookIDs where books[id]?.number == number { remove(book: id) }
    case .renumberRank(let rank, let number):
      for id in bookIDs where books[id]?.rank == rank { books[id]?.number = number }
    default: return nil
    }
    return true
  }

  private mutating func change(_ id: Int, _ edit: LibraryEdit) -> Bool {
    guard var shelf = shelves[id] else { return false }
    if case .addSlip(_, let serial) = edit, slips.contains(serial) { return false }
    let before = shelf.slips
    guard shelf.apply(edit) else { return false }
    shelf.picks = bookIDs.filter { shelf.picks.contains($0) }
    shelves[id] = shelf
    slips.removeAll { before.contains($0) && !shelf.slips.contains($0) }
    slips += shelf.slips.filter { !before.contains($0) }
    return true
  }
}

extension LibraryState.ShelfState {
  /// Makes a change of a shelf; false when it cannot be made.
  fileprivate mutating func apply(_ edit: LibraryEdit) -> Bool {
    switch edit {
    case .insertBook(_, let book, let place): return Self.insert(book, place, &books)
    case .removeBook(_, let place): return Self.remove(place, &books)
    case .moveBook(_, let from, let to): return Self.move(from, to, &books)
    case .swapBooks(_, let first, let second):
      guard books.indices.contains(first), books.indices.contains(second) else { return false }
      books.swapAt(first, second)
    case .replaceBook(_, let place, let book): return Self.replace(place, book, &books)
    case .clearBooks: books = []
    case .insertNumber(_, let number, let place): return Self.insert(number, place, &numbers)
    case .replaceNumber(_, let place, let number): return Self.replace(place, number, &numbers)
    case .removeNumber(_, let place): return Self.remove(place, &numbers)
    case .moveNumber(_, let from, let to): return Self.move(from, to, &numbers)
    case .clearNumbers: numbers = []
    case .addDigit(_, let digit): digits = Set(digits + [digit]).sorted()
    case .removeDigit(_, let digit): digits.removeAll { $0 == digit }
    case .addPick(_, let book): picks.append(book)
    case .removePick(_, let book): picks.removeAll { $0 == book }
    case .setWord(_, let key, let number): words["w\(key)"] = .some(number)
    case .removeWord(_, let key): words["w\(key)"] = nil
    case .setNamed(_, let key, let book): named["k\(key)"] = .some(book)
    case .removeNamed(_, let key): named["k\(key)"] = nil
    case .addMixed(_, let code): mixed.append(code)
    case .removeMixed(_, let place): return Self.remove(place, &mixed)
    case .addSlip(_, let serial): slips.append(serial)
    case .removeSlip(_, let place): return Self.remove(place, &slips)
    default: return false
    }
    return true
  }

  private static func insert(_ item: Int, _ place: Int, _ items: inout [Int]) -> Bool {
    guard place <= items.count else { return false }
    items.insert(item, at: place)
    return true
  }

  private static func replace(_ place: Int, _ item: Int, _ items: inout [Int]) -> Bool {
    guard items.indices.contains(place) else { return false }
    items[place] = item
    return true
  }

  private static func remove(_ place: Int, _ items: inout [Int]) -> Bool {
    guard items.indices.contains(place) else { return false }
    items.remove(at: place)
    return true
  }

  private static func move(_ from: Int, _ to: Int, _ items: inout [Int]) -> Bool {
    guard items.indices.contains(from), items.indices.contains(to) else { return false }
    items.insert(items.remove(at: from), at: to)
    return true
  }
}

extension LibraryEdit {
  /// The shelf that is changed; nil for other changes.
  var shelf: Int? {
    switch self {
    case .insertBook(let id, _, _), .removeBook(let id, _), .moveBook(let id, _, _),
      .swapBooks(let id, _, _), .replaceBook(let id, _, _), .clearBooks(let id),
      .insertNumber(let id, _, _), .replaceNumber(let id, _, _), .removeNumber(let id, _),
      .moveNumber(let id, _, _), .clearNumbers(let id), .addDigit(let id, _),
      .removeDigit(let id, _), .addPick(let id, _), .removePick(let id, _),
      .setWord(let id, _, _), .removeWord(let id, _), .setNamed(let id, _, _),
      .removeNamed(let id, _), .addMixed(let id, _), .removeMixed(let id, _),
      .addSlip(let id, _), .removeSlip(let id, _):
      id
    default: nil
    }
  }

  /// Makes a change that the model allowed; through a list of books that somebody holds, if it is
  /// that of the shelf.
  func apply(_ realm: Realm, held: List<Book>? = nil) {
    func book(_ id: Int) -> Book? { realm.object(ofType: Book.self, forPrimaryKey: id) }
    switch self {
    case .addBook(let id, let number, let rank):
      let book = Book()
      (book.id, book.number, book.rank, book.name) = (id, number, rank, "b\(number)")
      book.ratio = rank % 2 == 0 ? nil : Double(number) / 2
      realm.add(book)
    case .deleteBook(let id): if let book = book(id) { realm.delete(book) }
    case .setNumber(let id, let number): book(id)?.number = number
    case .setRank(let id, let rank): book(id)?.rank = rank
    case .setRatio(let id, let number): book(id)?.ratio = number.map { Double($0) / 2 }
    case .setName(let id, let number): book(id)?.name = "n\(number)"
    case .setNext(let id, let next): book(id)?.next = next.flatMap { book($0) }
    case .addShelf(let id), .addShelfAgain(let id):
      let shelf = Shelf()
      shelf.id = id
      realm.add(shelf)
    case .deleteNumbered(let number):
      realm.delete(realm.objects(Book.self).filter("number == %@", number))
    case .renumberRank(let rank, let number):
      realm.objects(Book.self).filter("rank == %@", rank).setValue(number, forKey: "number")
    case .deleteAll: realm.deleteAll()
    case .deleteShelf(let id):
      if let shelf = realm.object(ofType: Shelf.self, forPrimaryKey: id) { realm.delete(shelf) }
    default:
      guard let id = shelf, let shelf = realm.object(ofType: Shelf.self, forPrimaryKey: id) else {
        return
      }
      change(shelf, held ?? shelf.books, book)
    }
  }

  private func change(_ shelf: Shelf, _ books: List<Book>, _ book: (Int) -> Book?) {
    switch self {
    case .insertBook(_, let id, let place): if let book = book(id) { books.insert(book, at: place) }
    case .removeBook(_, let place): books.remove(at: place)
    case .moveBook(_, let from, let to): books.move(from: from, to: to)
    case .swapBooks(_, let first, let second): books.swapAt(first, second)
    case .replaceBook(_, let place, let id): if let book = book(id) { books[place] = book }
    case .clearBooks: books.removeAll()
    case .insertNumber(_, let number, let place): shelf.numbers.insert(number, at: place)
    case .replaceNumber(_, let place, let number): shelf.numbers[place] = number
    case .removeNumber(_, let place): shelf.numbers.remove(at: place)
    case .moveNumber(_, let from, let to): shelf.numbers.move(from: from, to: to)
    case .clearNumbers: shelf.numbers.removeAll()
    case .addDigit(_, let digit): shelf.digits.insert(digit)
    case .removeDigit(_, let digit): shelf.digits.remove(digit)
    case .addPick(_, let id): if let book = book(id) { shelf.picks.insert(book) }
    case .removePick(_, let id): if let book = book(id) { shelf.picks.remove(book) }
    case .setWord(_, let key, let number): shelf.words["w\(key)"] = .some(number)
    case .removeWord(_, let key): shelf.words.removeObject(for: "w\(key)")
    case .setNamed(_, let key, let id): shelf.named["k\(key)"] = .some(id.flatMap { book($0) })
    case .removeNamed(_, let key): shelf.named.removeObject(for: "k\(key)")
    case .addMixed(_, let code): shelf.mixed.append(LibraryText.mixed(code))
    case .removeMixed(_, let place): shelf.mixed.remove(at: place)
    case .addSlip(_, let serial):
      let slip = Slip()
      slip.serial = serial
      shelf.slips.append(slip)
    case .removeSlip(_, let place): shelf.slips.remove(at: place)
    default: break
    }
  }
}
