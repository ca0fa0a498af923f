// RevisionTreeTests.swift: trees of revisions: their bytes, how they grow, and damage.

import Foundation
import TestFiles
import Testing

@testable import DocumentStore

@Suite("Revision trees")
struct RevisionTreeTests {
  @Test("have IDs that read as they are written")
  func ids() throws {
    for text in ["1-abcd", "2-30b16fec190ce5b400a06d07d2e1976f41725a5d", "70000-00"] {
      let id = try RevisionID(text)
      #expect(id.description == text)
      #expect(try RevisionID(stored: id.stored) == id)
    }
    #expect(try RevisionID("9-ff") < RevisionID("10-00"))
    for bad in ["", "1", "-ab", "0-ab", "1-", "1-a", "1-xy", "-1-ab", "18446744073709551616-ab"] {
      #expect(code { _ = try RevisionID(bad) } == .badRevisionID, "\(bad)")
    }
    let long = "1-" + String(repeating: "ab", count: 255)
    #expect(code { _ = try RevisionID(long) } == .badRevisionID)
    #expect(code { _ = try RevisionID(stored: [0x80]) } == .badRevisionID)
    #expect(code { _ = try RevisionID(stored: []) } == .badRevisionID)
  }

  @Test("refuse damage, and take nothing that they would not write again")
  func damage() throws {
    let folder = try TemporaryFolder()
    let plain = try PlainSQL(try Golden.unpack("conflict", into: folder))
    let trees = try plain.texts("SELECT hex(extra) FROM kv_default WHERE key IN ('a', 'b', 'c')")
    var taken = 0
    for text in trees {
      let bytes = try #require([UInt8](hex: text))
      for offset in bytes.indices {
        for change: UInt8 in [1, 0x80, 0xff] {
          var damaged = bytes
          damaged[offset] ^= change
          guard let tree = try? RevisionTree(reading: damaged, sequence: 9) else { continue }
          taken += 1
          for index in tree.revisions.indices { #expect(!tree.branch(from: index).isEmpty) }
          let again = try RevisionTree(reading: try tree.encoded(.old), sequence: 9)
          #expect(again == tree)
        }
      }
      for count in 0..<bytes.count {
        _ = try? RevisionTree(reading: Array(bytes[..<count]), sequence: 9)
        _ = RevisionTree.isTree(Array(bytes[..<count]))
      }
    }
    #expect(taken > 100)
  }

  @Test("refuse circles of parents, parents that are not there, and pairs out of place")
  func circles() throws {
    func entry(_ parent: UInt16, _ digest: UInt8) -> [UInt8] {
      [0, 0, 0, 11, UInt8(parent >> 8), UInt8(parent & 255), 2, 2, 1, digest, 0]
    }
    let end: [UInt8] = [0, 0, 0, 0]
    let good = entry(1, 1) + entry(0xffff, 2) + end
    #expect(try RevisionTree(reading: good, sequence: 1).revisions.count == 2)
    #expect(RevisionTree.isTree(good))
    let bad = [
      entry(1, 1) + entry(0, 2) + end, entry(0, 1) + end, entry(7, 1) + end, end,
      good + [0, 1, 0, 2], good + [0, 0, 0, 1], good + [0, 1, 0], good.dropLast(),
      good + [0, 0, 0, 0, 0, 1, 0, 0],
    ]
    for bytes in bad {
      #expect(code { _ = try RevisionTree(reading: bytes, sequence: 1) } == .corruptRevisionData)
    }
    var marked = try RevisionTree(reading: good + [0, 3, 0, 1] + end + [0, 0, 0, 1], sequence: 1)
    #expect(marked.remotes == [3: 1] && marked.rejected == [1])
    for index in marked.revisions.indices { marked.revisions[index].sequence = nil }
    #expect(try marked.encoded() == good + [0, 3, 0, 1] + end + [0, 0, 0, 1])
  }

  @Test("keep the best revision first, prune to a depth, and keep what remotes have")
  func growth() throws {
    var tree = RevisionTree()
    for generation in 1...9 {
      let id = try RevisionID(generation: UInt64(generation), digest: [1])
      tree.insert(id, parent: generation == 1 ? nil : 0, flags: [], body: [0x70, 0])
    }
    let remote = try #require(tree.index(of: try RevisionID("2-01")))
    tree.setRemote(1, to: remote)
    let other = try [RevisionID("5-02"), RevisionID("4-02"), RevisionID("3-01")]
    #expect(try tree.insert(history: other, flags: [], body: [0x70, 0]))
    #expect(try !tree.insert(history: other, flags: [], body: [0x70, 0]))
    #expect(tree.current?.id.description == "9-01" && tree.isConflicted)
    #expect(tree.revisions[1].id.description == "5-02")
    #expect(tree.revisions[1].flags.contains(.conflict))
    tree.dropBodies()
    #expect(
      tree.revisions.filter { $0.body != nil }.map(\.id.description) == [
        "9-01", "5-02", "2-01",
      ])
    tree.prune(depthMax: 3)
    #expect(
      Set(tree.revisions.map(\.id.description)) == [
        "9-01", "8-01", "7-01", "5-02", "4-02", "3-01", "2-01",
      ])
    #expect(tree.remotes.mapValues { tree.revisions[$0].id.description } == [1: "2-01"])
    let seventh = try #require(tree.revision(try RevisionID("7-01")))
    #expect(seventh.parent.map { tree.revisions[$0].id.description } == "3-01")
    // Of a branch, the last revision that a remote has keeps its body, and no other.
    var moved = tree
    moved.setRemote(1, to: try #require(moved.index(of: try RevisionID("8-01"))))
    let keeping = moved.revisions.filter { $0.flags.contains(.keepsBody) }
    #expect(keeping.map(\.id.description) == ["8-01"])
    // A conflict is not current, however high its ID is.
    var beside = RevisionTree()
    beside.insert(try RevisionID("1-01"), parent: nil, flags: [], body: nil)
    #expect(try beside.insert(history: [RevisionID("1-ff")], flags: [], body: []))
    #expect(beside.current?.id.description == "1-01")
    let bad = try [RevisionID("9-09"), RevisionID("7-01")]
    #expect(code { _ = try tree.insert(history: bad, flags: [], body: []) } == .badRevisionID)
    #expect(code { _ = try tree.insert(history: [], flags: [], body: []) } == .badRevisionID)
    var pruned = tree
    try pruned.resolve(winner: try RevisionID("5-02"), loser: try RevisionID("9-01"), prunes: true)
    #expect(pruned.current?.id.description == "5-02" && !pruned.isConflicted)
    #expect(pruned.revisions.allSatisfy { !$0.flags.contains(.conflict) })
    #expect(pruned.revision(try RevisionID("3-01")) != nil)
    #expect(pruned.revision(try RevisionID("8-01")) == nil)
    try tree.resolve(winner: try RevisionID("9-01"), loser: try RevisionID("5-02"), prunes: false)
    #expect(tree.current?.id.description == "9-01" && !tree.isConflicted)
    let closed = try #require(tree.revisions.first { $0.flags.contains(.closed) })
    #expect(closed.id.generation == 6 && closed.flags.contains(.deleted))
  }

  @Test("sort at random insertions as a naive order does", arguments: 0..<3)
  func drawn(seed: Int) throws {
    var numbers = SeededNumbers(seed: UInt64(seed))
    var tree = RevisionTree()
    var parents: [String: String] = [:]
    for round in 0..<60 {
      let parent = tree.revisions.isEmpty ? nil : numbers.below(tree.revisions.count + 1)
      let known = parent.flatMap { $0 < tree.revisions.count ? $0 : nil }
      let generation = (known.map { tree.revisions[$0].id.generation } ?? 0) + 1
      let id = try RevisionID(generation: generation, digest: [UInt8(round)])
      parents[id.description] = known.map { tree.revisions[$0].id.description }
      let flags: RevisionFlags = numbers.below(4) == 0 ? .deleted : []
      tree.insert(id, parent: known, flags: flags, body: nil)
      if numbers.below(5) == 0 { tree.setRemote(2, to: numbers.below(tree.revisions.count)) }
    }
    for (index, revision) in tree.revisions.enumerated() {
      let parent = revision.parent.map { tree.revisions[$0].id.description }
      #expect(parents[revision.id.description] == parent)
      #expect(revision.flags.contains(.leaf) == !tree.revisions.contains { $0.parent == index })
    }
    for (first, second) in zip(tree.revisions, tree.revisions.dropFirst()) {
      #expect(first.precedes(second) && !second.precedes(first))
    }
  }
}
