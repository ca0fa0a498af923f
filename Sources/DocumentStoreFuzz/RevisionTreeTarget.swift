// RevisionTreeTarget.swift: any bytes as a tree of revisions. Invariants checked: a second reader,
// which shares no code with the first, reads the same entries; a tree that was read is written, and
// reads the same again; a tree after growing and pruning can still be read, and keeps its newest
// revision.

import DocumentStore
import Fuzz

enum RevisionTreeTarget {
  static let target = FuzzTarget(
    name: "revisions", judges: "trees of revisions: two readers, there and back, grown, pruned",
    smokeCount: 1500, seeds: { samples }, run: { run($0) }
  ).with { $0.mutate = mutate }

  /// Entries: flags, parent, generation, sequence, body.
  private static let samples: [[UInt8]] = [
    tree([entry(2, nil, 1, at: 0)]),
    tree([entry(2, 1, 2, at: 9), entry(0x80, nil, 1, at: 3, [0x70, 0])]),
    tree(
      [
        entry(2, 2, 3, at: 0), entry(0xa2, 3, 2, at: 5, [0x70, 0]),
        entry(0x90, 3, 2, at: 4, [0x70, 0]),
      ]
        + [entry(0, nil, 1, at: 1)]) + [0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1],
    tree([entry(3, 1, 2, at: 0), entry(8, nil, 1, at: 200)]) + [0, 1, 0, 0, 0, 2, 0, 1],
  ]

  private static func entry(
    _ flags: UInt8, _ parent: UInt8?, _ generation: UInt8, at sequence: UInt8,
    _ body: [UInt8] = []
  ) -> [UInt8] {
    let id = [generation] + (0..<20).map { $0 &* 7 &+ generation &* 31 &+ flags }
    let rest =
      (parent.map { [0, $0] } ?? [0xff, 0xff]) + [flags, UInt8(id.count)] + id
      + (sequence < 128 ? [sequence] : [sequence, 1]) + body
    return [0, 0, 0, UInt8(rest.count + 4)] + rest
  }

  private static func tree(_ entries: [[UInt8]]) -> [UInt8] {
    entries.flatMap { $0 } + [0, 0, 0, 0]
  }

  /// Changes fields of entries, and sizes with what they count.
  @Sendable private static func mutate(
    _ input: [UInt8], _ sizeMax: Int, _ choices: inout MutantChoices
  ) -> [UInt8]? {
    var entries = NaiveTree.ranges(of: input)
    guard !entries.isEmpty, choices.below(4) > 0 else { return nil }
    var bytes = input
    for _ in 0...choices.below(3) {
      let range = entries[choices.below(entries.count)]
      switch choices.below(6) {
      case 0: bytes[range.lowerBound + 5] = UInt8(choices.below(entries.count + 1))
      case 1: bytes[range.lowerBound + 6] ^= 1 << UInt8(choices.below(8))
      case 2: bytes[range.lowerBound + 7] = UInt8(choices.below(40))
      case 3: bytes.insert(contentsOf: bytes[range], at: range.lowerBound)
      case 4: bytes[range.lowerBound + choices.below(range.count)] = UInt8(choices.below(256))
      default: bytes += [0, UInt8(choices.below(3)), 0, UInt8(choices.below(entries.count + 1))]
      }
      entries = NaiveTree.ranges(of: bytes)
      guard !entries.isEmpty else { break }
    }
    return bytes.count <= sizeMax ? bytes : nil
  }

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    guard let tree = try? RevisionTree(reading: input, sequence: sequence) else { return .refused }
    do {
      guard NaiveTree(input)?.isSame(as: tree, sequence: sequence) == true else {
        return .finding("the second reader reads another tree")
      }
      // The current revision's body is in the record.
      let written = try RevisionTree(reading: try tree.encoded(), sequence: sequence)
      guard NaiveTree(try tree.encoded())?.isSame(as: written, sequence: sequence) == true,
        try RevisionTree(reading: try written.encoded(), sequence: sequence) == written,
        written.revisions.map(\.id) == tree.revisions.map(\.id), written.remotes == tree.remotes
      else { return .finding("what was written reads otherwise") }
      return try grow(tree, depthMax: 1 + input.count % 4)
    } catch { return .finding("taken, and then \(error)") }
  }

  private static let sequence: Int64 = 77

  private static func grow(_ tree: RevisionTree, depthMax: Int) throws -> FuzzOutcome {
    var tree = tree
    guard let parent = tree.current, parent.id.generation < 1 << 40 else { return .accepted }
    let child = try RevisionID(
      generation: parent.id.generation + 1, digest: [UInt8](repeating: 0x5a, count: 20))
    let isNew = try tree.insert(history: [child, parent.id], flags: [], body: [0x70, 0])
    let known = tree.remotes.mapValues { tree.revisions[$0].id }
    tree.dropBodies()
    tree.prune(depthMax: depthMax)
    guard tree.remotes.mapValues({ tree.revisions[$0].id }) == known else {
      return .finding("pruning took what a remote has")
    }
    guard isNew || tree.index(of: child) != nil else { return .accepted }
    guard tree.index(of: child) != nil else { return .finding("pruning took the newest revision") }
    for revision in tree.revisions where revision.parent ?? 0 >= tree.revisions.count {
      return .finding("a parent is gone")
    }
    _ = try RevisionTree(reading: try tree.encoded(), sequence: sequence)
    return .accepted
  }
}
