// MergeFaultTests.swift: what a correct merge never meets is noticed: a state that is not that of
// its history, effects that do not fit, and what a stale changeset builds on that never came to be.

import SyncFuzz
import Testing

@testable import SyncCore

@Suite("A merge that has gone wrong")
struct MergeFaultTests {
  private let dog = Alphabet.dog
  private let cat = Alphabet.cat

  private func age(_ value: Int64) -> SyncOperation { .change(field("age"), .set(.int(value))) }

  /// A server and a client with one entry, which makes the dog.
  private func pair() throws -> (server: SyncMerger, client: SyncMerger) {
    var (server, client) = (SyncMerger(), SyncMerger())
    try client.take(server.accept(changeset(1, base: 0, stamp: 1, [.create(dog), age(2)])))
    #expect(server.breach() == nil && client.breach() == nil && server.replayBreach() == nil)
    return (server, client)
  }

  private func code(_ body: () throws -> Void) -> SyncError.Code? {
    do { try body() } catch { return (error as? SyncError)?.code }
    return nil
  }

  @Test("accepts nothing more once what it has resolved does not fit its state (I2)")
  func accepted() throws {
    var (server, _) = try pair()
    server.state = SyncState()
    let next = changeset(1, 2, base: 1, stamp: 2, [age(3)])
    #expect(code { try server.accept(next) } == .divergence)
    #expect(server.breach() == "what was resolved did not fit")
    #expect(code { try server.accept(next) } == .divergence)
    let count = server.entries.count
    server.trim(to: server.head)
    #expect(server.entries.count == count)
  }

  @Test("takes nothing more once an entry does not fit its state (I2)")
  func taken() throws {
    var (server, client) = try pair()
    client.state = SyncState()
    let entry = try server.accept(changeset(1, 2, base: 1, stamp: 2, [age(3)]))
    #expect(code { try client.take(entry) } == .divergence)
    #expect(client.breach() == "what was resolved did not fit")
  }

  @Test("says which object is not what its history makes of it, and from where (I3, I15)")
  func histories() throws {
    var (server, _) = try pair()
    server.state.replace(dog, by: nil)
    #expect(server.breach()?.contains("is not there, and by its history [") == true)
    #expect(server.replayBreach()?.hasPrefix("from the beginning, ") == true)
    var moved = try pair().server
    try moved.accept(changeset(2, base: 1, stamp: 2, []), barrierAtMost: SyncVersion(2))
    #expect(moved.barrier == SyncVersion(2) && moved.replayBreach() == nil)
    moved.entries[0].resolved = []
    #expect(moved.replayBreach()?.hasPrefix("from barrier 2, ") == true)
  }

  @Test("says that a link leads nowhere, and that a digest is not that of the objects (I2, I13)")
  func states() throws {
    var state = SyncState()
    try state.apply(.create(dog))
    try state.apply(.create(cat))
    try state.apply(.change(SyncField(cat, [], "friend"), .set(.link(dog))))
    var linked = SyncMerger(state)
    #expect(linked.breach() == nil)
    try linked.state.apply(.delete(dog))
    #expect(linked.breach()?.hasSuffix("are linked and dead") == true)
    var counted = SyncMerger(state)
    counted.state.digest &+= 1
    #expect(counted.breach() == "the digest is not that of the objects")
    #expect(counted.breach(countsDigest: false) == nil)
  }

  @Test("takes no changeset with too many operations")
  func limit() {
    let many = [SyncOperation](repeating: .delete(dog), count: SyncLimits.operationsMax + 1)
    let changeset = changeset(1, base: 0, stamp: 1, many)
    #expect(code { try SyncMerger().check(changeset) } == .limit)
  }

  @Test("reports what a stale changeset does to elements that never came to be, by nobody")
  func stale() throws {
    let toys = field("toys")
    func entry(_ operations: [SyncOperation]) throws -> SyncEntry {
      var merger = try log(beginningWith: [
        .create(dog), .change(toys, .listAssign([.text("a")])),
      ])
      try merger.accept(
        changeset(2, base: 1, stamp: 30, [.change(toys, .listAssign([.text("b")]))]))
      try merger.accept(changeset(3, base: 2, stamp: 40, []), barrierAtMost: SyncVersion(3))
      let entry = try merger.accept(changeset(1, base: 1, stamp: 20, operations))
      #expect(entry.isStale && merger.breach() == nil && merger.replayBreach() == nil)
      #expect(merger.state.objects[dog]?.fields["toys"] != nil)
      return entry
    }
    let lost = try entry([.change(toys, .listAssign([.text("c"), .text("d")]))])
    #expect(lost.overruled.map(\.by) == [SyncVersion(2)])
    // Its elements are there for their author alone.
    for change in [.listSet(at: 0, .text("e")), .listMove(from: 0, to: 1)] as [SyncChange] {
      let later = try entry([
        .change(toys, .listAssign([.text("c"), .text("d")])), .change(toys, change),
      ])
      #expect(later.overruled.map(\.cause) == [.erased, .erased], "\(change)")
      #expect(later.overruled.map(\.by) == [SyncVersion(2), .zero], "\(change)")
    }
    // The second half of an assignment is no operation of a client's.
    let filled = try entry([.change(toys, .listFill([.text("f")]))])
    #expect(filled.overruled.map(\.cause) == [.missing] && filled.effect == [])
  }
}
