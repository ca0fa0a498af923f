// LibraryRunner.swift: what LongLivedCollectionTests do to a realm and to the model of it, one step
// after the other, and how what is held is compared after each.
// Invariants: nothing happens between two steps, because the run loop of the thread turns in
// `pump` only, and whoever commits elsewhere is waited for; so a sequence of steps gives the same
// each time. `versions` are the states that were committed, one for each version of the database;
// `position` is the one that the realm reads, nil while it has given its version up.

import Dispatch
import Engine
import Foundation
import Synchronization

@testable import ObjectDatabase

/// An actor with a realm of its own.
actor LibraryActor {
  private var realm: Realm?

  func write(_ edits: [LibraryEdit], _ configuration: Realm.Configuration) async throws {
    let realm = try await Realm(configuration: configuration, actor: self)
    self.realm = realm
    try await realm.asyncWrite { for edit in edits { edit.apply(realm) } }
    realm.invalidate()
  }
}

/// A realm, what is held of it, and the model.
final class LibraryRunner {
  struct Slot {
    var view: LibraryView
    /// What a frozen one shows.
    var kept: LibraryState?
    /// Whether the realm was invalidated since.
    var isCutOff = false
    /// Whether its owner was added in the open transaction.
    var isYoung = false
    var copy: LibraryCopy?
    var token: NotificationToken?
  }

  static let types: [ObjectBase.Type] = [Book.self, Shelf.self, Slip.self]

  let realm: Realm
  private let configuration: Realm.Configuration
  private let queue = DispatchQueue(label: "LibraryRunner")
  private let writer = LibraryActor()
  private let keep = Timer(timeInterval: 3600, repeats: true) { _ in }
  private let baseVersion: UInt64
  private var database: Database { realm.core.store.database }

  private(set) var versions = [LibraryState()]
  private(set) var position: Int?
  private(set) var draft: LibraryState?
  private(set) var slots: [Int: Slot] = [:]
  private(set) var failure: String?
  /// Commits that were handed over and whose end was not heard of, as positions in `versions`.
  private(set) var pending: [Int] = []
  private var requests: [(number: Int, id: Int)] = []
  private var completionIDs: [Int] = []
  /// Completions that will be called.
  private var awaited = 0
  private var requestCount = 0
  /// A transaction may be on its way here, which nobody else can begin before.
  private var mayBeAsked = false
  private var isListening = false
  private var isAutorefreshing = true
  private var look = LibraryMove(step: .settle, look: LibraryLook(), slots: 0)
  private(set) var comparisons = 0
  private(set) var compactions = 0
  private(set) var updates = 0

  init(_ configuration: Realm.Configuration) throws {
    self.configuration = configuration
    realm = try Realm(configuration: configuration)
    baseVersion = realm.core.store.database.version.rawValue
    position = realm.core.heldSnapshot == nil ? nil : 0
    RunLoop.current.add(keep, forMode: .default)
  }

  // MARK: the model

  var newest: Int { versions.count - 1 }
  /// What the realm shows.
  var current: LibraryState { draft ?? versions[position ?? newest] }
  var slotNumbers: [Int] { slots.keys.sorted() }
  var hasRequests: Bool { !requests.isEmpty }

  private func fail(_ text: String) { if failure == nil { failure = text } }

  /// Has the realm read a version, if it has none.
  private func pin() {
    guard position == nil, draft == nil else { return }
    settle()
    _ = realm.isEmpty
    position = newest
  }

  private func noteBegin() {
    position = newest
    draft = versions[newest]
  }

  private func noteCancel() {
    // The next transaction gives their keys to others (docs/reference/object-database.md, In the
    // file): what must be let go of is compared no more.
    for number in slotNumbers where slots[number]?.isYoung == true { slots[number] = nil }
    draft = nil
    position = newest
  }

  private func noteCommit() {
    guard let done = draft else { return }
    versions.append(done)
    noteGrown()
    noteCancel()
  }

  private func noteGrown() { for number in slotNumbers { slots[number]?.isYoung = false } }

  /// The transaction goes to another thread.
  /// - Returns: Its version; nil when it fails.
  private func noteHandOver() -> Int? {
    guard let done = draft, !done.isFailed else {
      noteCancel()
      return nil
    }
    draft = nil
    noteGrown()
    versions.append(done)
    pending.append(newest)
    return newest
  }

  /// A commit that was handed over is known to be durable.
  private func noteEnd(_ version: Int) {
    pending.removeAll { $0 <= version }
    guard draft == nil else { return }
    if position ?? -1 < version { position = version }
    noteAutorefresh()
  }

  /// While the run loop turns the realm may have gone on by itself, or will soon.
  private func noteAutorefresh() {
    guard draft == nil, isListening, isAutorefreshing, let held = realm.core.heldSnapshot,
      let old = position
    else { return }
    let place = Int(held.version.rawValue - baseVersion)
    guard (old...newest).contains(place) else {
      return fail("version \(place) is read, which is none of \(old) to \(newest)")
    }
    position = place
  }

  private func apply(_ edits: [LibraryEdit], throughHeld: Bool = false) {
    for edit in edits where draft?.apply(edit) == true {
      edit.apply(realm, held: throughHeld ? heldList(edit) : nil)
    }
  }

  private func heldList(_ edit: LibraryEdit) -> List<Book>? {
    guard let shelf = edit.shelf else { return nil }
    for number in slotNumbers {
      guard let slot = slots[number], slot.kept == nil, !slot.isCutOff,
        slot.view.kind == .shelfBooks(shelf)
      else { continue }
      return slot.view.books
    }
    return nil
  }

  // MARK: waiting

  private func turn() {
    _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.002))
  }

  /// Waits until what was handed over is durable.
  private func settle() {
    for _ in 0..<50_000 where database.version.rawValue < baseVersion + UInt64(newest) {
      usleep(100)
    }
    let place = database.version.rawValue - baseVersion
    if place != UInt64(newest) { fail("version \(place) is the newest, not \(newest)") }
  }

  /// Turns the run loop until there is nothing left to do.
  private func pump() {
    if draft != nil {
      mayBeAsked = mayBeAsked || !requests.isEmpty
      for _ in 0..<2_000 where awaited > 0 && failure == nil { turn() }
      if awaited > 0 { fail("\(awaited) completions never came, within a write transaction") }
      return turn()
    }
    var turns = 0
    while failure == nil, realm.isPerformingAsynchronousWriteOperations || isBehind {
      turn()
      turns += 1
      if turns > 2_000 { fail("\(requests.count) requests, \(awaited) completions never came") }
    }
    if let last = pending.last { noteEnd(last) }
    mayBeAsked = false
    if isListening, isAutorefreshing, position != nil { position = newest }
    if !requests.isEmpty || awaited > 0 { fail("a block was never called") }
  }

  private var isBehind: Bool {
    guard isListening, isAutorefreshing, let held = realm.core.heldSnapshot else { return false }
    return held.version.rawValue < baseVersion + UInt64(newest)
  }

  // MARK: steps

  /// Does one step, and compares.
  func perform(_ move: LibraryMove) {
    look = move
    perform(move.step)
    check()
  }

  private func perform(_ step: LibraryStep) {
    switch step {
    case .hold(let number, let kind):
      pin()
      guard let view = kind.make(realm) else { return }
      slots[number] = Slot(
        view: view, isYoung: draft != nil && kind.expected(versions[newest]) == nil)
    case .drop(let number):
      endObserving(number)
      slots[number] = nil
    case .settle: settle()
    case .pump: pump()
    case .refresh: refresh()
    case .autorefresh(let isOn):
      realm.autorefresh = isOn
      (isAutorefreshing, isListening) = (isOn, true)
    case .invalidate: invalidate()
    case .freeze(let from, let into): freeze(from, into)
    case .thaw(let from, let into): thaw(from, into)
    case .readElsewhere(let number): readElsewhere(number)
    case .foreign(let edits, let way): foreign(edits, way)
    case .observe(let number, let isTold):
      observe(number)
      if isTold { refresh() }
    case .unobserve(let number): endObserving(number)
    case .compact:
      guard draft == nil, pending.isEmpty, !mayBeAsked else { return }
      do { if try database.compact() { compactions += 1 } } catch { fail("compact: \(error)") }
    default: write(step)
    }
  }

  private func write(_ step: LibraryStep) {
    switch step {
    case .begin:
      guard draft == nil else { return }
      realm.beginWrite()
      noteBegin()
    case .edit(let edit, let throughHeld):
      guard draft != nil else { return }
      apply([edit], throughHeld: throughHeld)
    case .cancel:
      guard draft != nil else { return }
      realm.cancelWrite()
      noteCancel()
    case .commit: commit()
    case .commitSkipping(let number): commit(skipping: number)
    case .write(let edits, let fails): write(edits, fails: fails)
    case .request(let edits, let end): request(edits, end)
    case .handOver(let grouping, let isForgotten):
      guard draft != nil else { return }
      handOver(grouping: grouping)
      guard isForgotten, let id = completionIDs.popLast() else { return }
      realm.cancelAsyncWrite(id)
      awaited -= 1
    case .cancelRequests:
      for request in requests { realm.cancelAsyncWrite(request.id) }
      requests = []
    default: break
    }
  }

  private func commit(skipping number: Int? = nil) {
    guard let done = draft else { return }
    let slot = number.flatMap { slots[$0] }
    let tokens = slot?.token.map { [$0] } ?? []
    do {
      try realm.commitWrite(withoutNotifying: tokens)
      if done.isFailed { fail("a transaction that broke a rule was committed") }
      noteCommit()
      if slot?.copy?.isTold == true, let slot { slot.copy?.become(shown(slot.view.kind)) }
    } catch {
      if !done.isFailed { fail("\(error)") }
      if (error as? Realm.Error)?.code != .invalidValue { fail("another error: \(error)") }
      noteCancel()
    }
  }

  private func write(_ edits: [LibraryEdit], fails: Bool) {
    guard draft == nil else { return }
    var isFailed = fails
    do {
      try realm.write {
        noteBegin()
        apply(edits)
        check()
        isFailed = isFailed || draft?.isFailed == true
        if fails { throw Failure("of the block") }
      }
      if isFailed { fail("a transaction that failed was committed") }
      noteCommit()
    } catch {
      if !isFailed { fail("\(error)") }
      noteCancel()
    }
  }

  /// Commits on another thread.
  private func handOver(grouping: Bool) {
    let version = noteHandOver()
    isListening = true
    awaited += 1
    let id = realm.commitAsyncWrite(allowGrouping: grouping) { [unowned self] error in
      completed(version, error)
    }
    completionIDs.append(id)
  }

  private func completed(_ version: Int?, _ error: (any Error)?) {
    awaited -= 1
    if (error == nil) != (version != nil) {
      fail("a commit ended with \(String(describing: error))")
    }
    if let version { noteEnd(version) } else { noteAutorefresh() }
    check()
  }

  private func request(_ edits: [LibraryEdit], _ end: LibraryEnd) {
    requestCount += 1
    let number = requestCount
    isListening = true
    let id: Int
    if end == .writeAsync {
      var version: Int?
      id = realm.writeAsync { [unowned self] in
        granted(number, edits)
        version = noteHandOver()
        awaited += 1
      } onComplete: { [unowned self] error in
        completed(version, error)
      }
    } else {
      id = realm.beginAsyncWrite { [unowned self] in
        granted(number, edits)
        switch end {
        case .handOver: handOver(grouping: number % 2 == 0)
        case .commit: commit()
        case .cancel:
          realm.cancelWrite()
          noteCancel()
        default: return noteCancel()
        }
        check()
      }
    }
    requests.append((number, id))
  }

  private func granted(_ number: Int, _ edits: [LibraryEdit]) {
    guard let place = requests.firstIndex(where: { $0.number == number }) else {
      return fail("a block was called that was cancelled")
    }
    requests.remove(at: place)
    noteBegin()
    check()
    apply(edits)
    check()
  }

  private func refresh() {
    settle()
    let isNewer = draft == nil && position.map { $0 < newest } ?? false
    if realm.refresh() != isNewer { fail("refresh() did not return \(isNewer)") }
    if draft == nil, position != nil { position = newest }
  }

  private func invalidate() {
    realm.invalidate()
    draft = nil
    position = nil
    for number in slotNumbers where slots[number]?.kept == nil {
      slots[number]?.isCutOff = true
      endObserving(number)
    }
  }

  private func freeze(_ from: Int, _ into: Int) {
    guard draft == nil, let slot = slots[from], !slot.isCutOff else { return }
    pin()
    let state = slot.kept ?? current
    guard slot.view.kind.expected(state) != nil else { return }
    slots[into] = Slot(view: slot.view.freeze(), kept: state)
  }

  private func thaw(_ from: Int, _ into: Int) {
    guard let slot = slots[from], slot.kept != nil else { return }
    pin()
    let thawed = slot.view.thaw()
    if (thawed == nil) != (slot.view.kind.expected(current) == nil) {
      fail("thaw() of \(slot.view.kind) gives \(thawed == nil ? "nothing" : "something")")
    }
    if let thawed { slots[into] = Slot(view: thawed) }
  }

  private func readElsewhere(_ number: Int) {
    guard let slot = slots[number], let kept = slot.kept,
      let expected = slot.view.kind.expected(kept)
    else { return }
    let (view, look) = (Smuggled(slot.view), look.look)
    do {
      let shown = try onThread { view.value.read(look) }
      if shown != expected.read(slot.view.kind, look) {
        fail("on another thread \(number) \(slot.view.kind) is\n  \(shown)")
      }
    } catch { fail("\(error)") }
  }

  private func foreign(_ edits: [LibraryEdit], _ way: LibraryWriter) {
    guard draft == nil else { return }
    if mayBeAsked { pump() }
    guard failure == nil, !mayBeAsked else { return }
    var state = versions[newest]
    let allowed = edits.filter { edit in
      if case .addShelfAgain = edit { return false }
      return state.apply(edit)
    }
    let (configuration, queue) = (configuration, queue)
    let body = { @Sendable in
      let realm = try Realm(configuration: configuration, queue: queue)
      try realm.write { for edit in allowed { edit.apply(realm) } }
      realm.invalidate()
    }
    do {
      switch way {
      case .queue: try queue.sync { try body() }
      case .thread:
        try onThread {
          let realm = try Realm(configuration: configuration)
          try realm.write { for edit in allowed { edit.apply(realm) } }
        }
      case .actor:
        let isOver = DispatchSemaphore(value: 0)
        let failed = Mutex<String?>(nil)
        Task { [writer] in
          do { try await writer.write(allowed, configuration) } catch {
            failed.withLock { $0 = "\(error)" }
          }
          isOver.signal()
        }
        isOver.wait()
        if let text = failed.withLock({ $0 }) { fail(text) }
      }
    } catch { fail("\(error)") }
    versions.append(state)
  }

  private func observe(_ number: Int) {
    guard draft == nil, let slot = slots[number], slot.kept == nil, !slot.isCutOff else { return }
    pin()
    guard slot.view.kind.expected(current) != nil else { return }
    endObserving(number)
    let copy = LibraryCopy()
    guard let token = slot.view.observe(copy) else { return }
    slots[number]?.copy = copy
    slots[number]?.token = token
    isListening = true
  }

  private func endObserving(_ number: Int) {
    slots[number]?.token?.invalidate()
    slots[number]?.token = nil
    updates += slots[number]?.copy?.updates ?? 0
    slots[number]?.copy = nil
  }

  // MARK: comparing

  private func shown(_ kind: LibraryKind) -> LibraryExpectation {
    kind.expected(versions[position ?? newest]) ?? LibraryExpectation()
  }

  /// Compares what is held, and what observers were told.
  private func check() {
    for number in slotNumbers where failure == nil && look.slots >> UInt64(number % 64) & 1 == 1 {
      guard let slot = slots[number] else { continue }
      if slot.kept == nil { pin() }
      check(number, slot)
    }
    guard position != nil else { return }
    for number in slotNumbers {
      guard failure == nil, let slot = slots[number], let copy = slot.copy else { continue }
      if let problem = copy.problems.first { fail("observer of \(slot.view.kind): \(problem)") }
      guard copy.isTold else { continue }
      let told = copy.description
      let expected = LibraryCopy()
      expected.become(shown(slot.view.kind), like: copy)
      if told != expected.description {
        fail(
          "what observer \(number) of \(slot.view.kind) was told is\n  \(told), not\n  "
            + expected.description)
      }
    }
  }

  private func check(_ number: Int, _ slot: Slot) {
    comparisons += 1
    let (view, kind) = (slot.view, slot.view.kind)
    let state = slot.kept ?? current
    let expected = slot.isCutOff ? nil : kind.expected(state)
    func fail(_ text: String) { self.fail("slot \(number), \(kind): \(text)") }
    if view.isFrozen != (slot.kept != nil) { fail("isFrozen is \(view.isFrozen)") }
    if view.isInvalidated != (expected == nil) { fail("isInvalidated is \(view.isInvalidated)") }
    // What is of an owner that is gone stops the process (`useWhatIsGone`); what is of a class that
    // was cut off has no elements.
    guard failure == nil, expected != nil || slot.isCutOff && kind.isOfClass else { return }
    let wanted = (expected ?? kind.expected(LibraryState()) ?? LibraryExpectation())
      .read(kind, look.look)
    func compare(_ shown: [String], _ name: String) {
      if shown != wanted { fail("\(name) shows\n  \(shown), not\n  \(wanted)") }
    }
    func compareFresh() {
      guard let realm = view.realm, let fresh = kind.make(realm) else {
        if case .section = kind { return }
        return fail("none can be made afresh")
      }
      compare(fresh.read(look.look), "one made afresh")
    }
    if look.look.first % 2 == 0, !slot.isCutOff { compareFresh() }
    compare(view.read(look.look), "the held one")
    if look.look.first % 2 == 1, !slot.isCutOff { compareFresh() }
  }

  /// Ends the sequence, and reads everything.
  func end() {
    look = LibraryMove(step: .pump, look: LibraryLook(), slots: .max)
    if draft != nil {
      realm.cancelWrite()
      noteCancel()
    }
    pump()
    check()
    for number in slotNumbers { endObserving(number) }
    keep.invalidate()
    do { _ = try database.verify() } catch { fail("\(error)") }
  }
}
