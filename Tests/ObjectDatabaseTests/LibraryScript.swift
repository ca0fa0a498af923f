// LibraryScript.swift: draws the steps of LongLivedCollectionTests from a seed, with some kinds of
// steps switched off in each sequence (swarm testing, Groce et al., ISSTA 2012).

import FoundationEssentials

@testable import ObjectDatabase

/// Draws one step after the other, by what the model holds.
struct LibraryScript {
  enum Feature: String, CaseIterable {
    case cancel, silence, requests, handOver, refresh, autorefresh, invalidate, freeze, foreign
    case observe, deletion, lists, values, elsewhere, compact, inside, failure, throughHeld
  }

  let features: Set<Feature>
  private var random: TestRandom
  private var lastID = 0
  private var lastSlot = 0
  private var isFirst = true

  init(_ seed: UInt64) {
    random = TestRandom(seed)
    var features: Set<Feature> = []
    for feature in Feature.allCases where random.below(4) > 0 { features.insert(feature) }
    self.features = features
  }

  /// What is switched off.
  var text: String {
    let off = Feature.allCases.filter { !features.contains($0) }.map(\.rawValue)
    return off.isEmpty ? "everything" : "without " + off.joined(separator: ", ")
  }

  private func has(_ feature: Feature) -> Bool { features.contains(feature) }

  mutating func next(_ runner: LibraryRunner) -> LibraryMove {
    let step = isFirst ? firstStep() : drawnStep(runner)
    isFirst = false
    let look = LibraryLook(
      parts: [0b111111, 0b111111, 1 << random.below(6), random.below(64)][random.below(4)],
      first: random.below(6), probe: random.below(max(1, lastID)))
    let some = random.next()
    let slots: UInt64 = [0, 0, some, some & random.next(), .max][random.below(5)]
    return LibraryMove(step: step, look: look, slots: slots)
  }

  private mutating func newID() -> Int {
    lastID += 1
    return lastID
  }

  private mutating func firstStep() -> LibraryStep {
    var edits: [LibraryEdit] = []
    let shelves = (0..<3).map { _ in newID() }
    for shelf in shelves { edits.append(.addShelf(shelf)) }
    for _ in 0..<6 {
      let id = newID()
      edits.append(.addBook(id, number: random.below(8), rank: random.below(4)))
      edits.append(.insertBook(shelves[random.below(3)], book: id, at: 0))
      edits.append(.setNext(id, to: id - random.below(3)))
      edits.append(.insertNumber(shelves[random.below(3)], number: random.below(5), at: 0))
    }
    return .write(edits, fails: false)
  }

  private mutating func pick(_ ids: [Int]) -> Int {
    ids.isEmpty ? 0 : ids[random.below(ids.count)]
  }

  private mutating func edits(_ state: LibraryState) -> [LibraryEdit] {
    var state = state
    return (0..<random.below(5)).map { _ in
      let edit = edit(state)
      _ = state.apply(edit)
      return edit
    }
  }

  private mutating func drawnStep(_ runner: LibraryRunner) -> LibraryStep {
    var choices = runner.draft == nil ? outside(runner) : inside(runner)
    choices += always(runner)
    var place = random.below(choices.reduce(0) { $0 + $1.weight })
    for choice in choices {
      place -= choice.weight
      if place < 0 { return choice.step }
    }
    return .settle
  }

  private typealias Choice = (weight: Int, step: LibraryStep)

  private mutating func always(_ runner: LibraryRunner) -> [Choice] {
    let state = runner.current
    lastSlot += 1
    // The newest ones often: those of the open transaction, which may be cancelled.
    let isNewest = random.below(3) == 0
    let shelf = isNewest ? state.shelfIDs.last ?? 0 : pick(state.shelfIDs)
    let book = isNewest ? state.bookIDs.last ?? 0 : pick(state.bookIDs)
    let kind = LibraryKind.numbered(
      random.below(LibraryKind.count), shelf: shelf, book: book, random.below(8))
    let slot = pick(runner.slotNumbers)
    let frozen = pick(runner.slotNumbers.filter { runner.slots[$0]?.kept != nil })
    var choices: [Choice] = [(16, .hold(lastSlot, kind)), (1, .drop(slot))]
    if has(.freeze) { choices.append((3, .thaw(frozen, into: lastSlot))) }
    if has(.elsewhere), frozen > 0 { choices.append((3, .readElsewhere(frozen))) }
    if has(.invalidate) { choices.append((1, .invalidate)) }
    if has(.requests) {
      let end = LibraryEnd.allCases[random.below(LibraryEnd.allCases.count)]
      choices.append((5, .request(edits(state), end)))
      if runner.hasRequests { choices.append((2, .cancelRequests)) }
    }
    if has(.observe) { choices.append((1, .unobserve(slot))) }
    if has(.refresh) { choices.append((4, .refresh)) }
    return choices
  }

  private mutating func outside(_ runner: LibraryRunner) -> [Choice] {
    let state = runner.versions[runner.newest]
    let slot = pick(runner.slotNumbers)
    var choices: [Choice] = [
      (14, .begin), (8, .write(edits(state), fails: has(.cancel) && random.below(3) == 0)),
      (7, .pump), (2, .settle),
    ]
    if has(.autorefresh) { choices.append((2, .autorefresh(random.below(2) == 0))) }
    if has(.freeze) { choices.append((9, .freeze(slot, into: lastSlot))) }
    if has(.observe) {
      let live = runner.slotNumbers.filter { number in
        runner.slots[number].map { $0.kept == nil && !$0.isCutOff && $0.copy == nil } ?? false
      }
      choices.append((12, .observe(pick(live), isTold: random.below(4) > 0)))
    }
    if has(.compact) { choices.append((2, .compact)) }
    if has(.foreign) {
      let way = LibraryWriter.allCases[random.below(LibraryWriter.allCases.count)]
      choices.append((9, .foreign(edits(state), way)))
    }
    return choices
  }

  private mutating func inside(_ runner: LibraryRunner) -> [Choice] {
    let edit = edit(runner.current)
    var choices: [Choice] = [
      (50, .edit(edit, throughHeld: has(.throughHeld) && random.below(2) == 0)), (8, .commit),
    ]
    if has(.cancel) { choices.append((9, .cancel)) }
    if has(.silence) { choices.append((4, .commitSkipping(pick(runner.slotNumbers)))) }
    if has(.handOver) {
      let (grouping, isForgotten) = (random.below(2) == 0, random.below(4) == 0)
      choices.append((7, .handOver(grouping: grouping, isForgotten: isForgotten)))
    }
    if has(.inside) { choices.append((3, .pump)) }
    return choices
  }

  // MARK: changes

  private mutating func edit(_ state: LibraryState) -> LibraryEdit {
    let number = random.below(8)
    let books = state.bookIDs
    let (book, other, shelf) = (pick(books), pick(books), pick(state.shelfIDs))
    switch random.below(10) {
    case 0: return .addBook(newID(), number: number, rank: random.below(4))
    case 1: return .setNumber(book, to: number)
    case 2: return .setRank(book, to: random.below(4))
    case 3:
      return [
        .setRatio(book, to: number < 2 ? nil : number), .setName(book, to: number),
        .addShelf(newID()), .renumberRank(random.below(4), to: number),
      ][random.below(4)]
    case 4: return .setNext(book, to: number == 0 ? nil : other)
    case 5 where has(.deletion): return deletion(book, shelf)
    case 6 where has(.values), 7 where has(.values): return value(state, shelf, book)
    default:
      return has(.lists)
        ? listEdit(state, shelf, book) : .setNumber(book, to: number)
    }
  }

  private mutating func deletion(_ book: Int, _ shelf: Int) -> LibraryEdit {
    switch random.below(12) {
    case 0: .deleteAll
    case 1: .deleteNumbered(random.below(8))
    case 2, 3, 4: .deleteShelf(shelf)
    case 5 where has(.failure): .addShelfAgain(shelf)
    default: .deleteBook(book)
    }
  }

  private mutating func listEdit(_ state: LibraryState, _ shelf: Int, _ book: Int) -> LibraryEdit {
    let count = state.shelves[shelf]?.books.count ?? 0
    let (place, to) = (random.below(count), random.below(count))
    switch random.below(12) {
    case 0, 1, 2, 3: return .insertBook(shelf, book: book, at: random.below(count + 1))
    case 4, 5: return .removeBook(shelf, at: place)
    case 6: return .moveBook(shelf, from: place, to: to)
    case 7: return .swapBooks(shelf, first: place, second: to)
    case 8: return .replaceBook(shelf, at: place, with: book)
    case 9: return random.below(3) == 0 ? .clearBooks(shelf) : .removeBook(shelf, at: to)
    case 10: return .addPick(shelf, book: book)
    default: return .removePick(shelf, book: book)
    }
  }

  private mutating func value(_ state: LibraryState, _ shelf: Int, _ book: Int) -> LibraryEdit {
    let numbers = state.shelves[shelf]?.numbers.count ?? 0
    let number = random.below(8)
    switch random.below(16) {
    case 0, 1: return .insertNumber(shelf, number: number, at: random.below(numbers + 1))
    case 2: return .replaceNumber(shelf, at: random.below(numbers), with: number)
    case 3: return .removeNumber(shelf, at: random.below(numbers))
    case 4: return .moveNumber(shelf, from: random.below(numbers), to: random.below(numbers))
    case 5: return number < 2 ? .clearNumbers(shelf) : .insertNumber(shelf, number: 3, at: 0)
    case 6: return .addDigit(shelf, digit: number)
    case 7: return .removeDigit(shelf, digit: number)
    case 8, 9: return .setWord(shelf, key: random.below(5), to: number < 3 ? nil : number)
    case 10: return .removeWord(shelf, key: random.below(5))
    case 11: return .setNamed(shelf, key: random.below(4), to: number < 2 ? nil : book)
    case 12: return .removeNamed(shelf, key: random.below(4))
    case 13:
      return number < 5 ? .addMixed(shelf, code: number) : .removeMixed(shelf, at: number % 3)
    case 14: return .addSlip(shelf, serial: newID())
    default: return .removeSlip(shelf, at: random.below(3))
    }
  }
}
