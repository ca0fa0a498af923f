// KeyPairTreeTests.swift: an index against a dictionary, in several shapes, down to empty.

import Testing

@testable import Engine

@Suite("Key pair tree")
struct KeyPairTreeTests {
  enum Shape: CaseIterable {
    /// Hashes: no two images alike.
    case scattered
    /// Few images with many keys each.
    case crowded
    /// Images and keys that come in order.
    case ascending
    case descending
    /// Images and keys at the ends of their range, so that widths jump.
    case extreme
    /// Pairs that are there many times.
    case repeated
  }

  private static func pair(
    _ shape: Shape, _ step: Int, _ random: inout TestRandom
  ) -> KeyPair {
    switch shape {
    case .scattered: KeyPair(UInt64(random.below(3000)) &* 0x9e37_79b9_7f4a_7c15, 1)
    case .crowded: KeyPair(UInt64(random.below(3)), Int64(random.below(4000)))
    case .ascending: KeyPair(UInt64(step), Int64(step))
    case .descending: KeyPair(UInt64(1 << 40 - step), Int64(-step))
    case .extreme:
      KeyPair(
        random.next() & 0xc000_0000_0000_0003,
        Int64(bitPattern: random.next() & 0x8000_0000_0000_00ff)
      )
    case .repeated: KeyPair(UInt64(random.below(40)), Int64(random.below(40)))
    }
  }

  @Test("thousands of changes agree with a dictionary", arguments: Shape.allCases)
  func againstDictionary(_ shape: Shape) throws {
    var random = TestRandom(7)
    var store = try KeyPairStore()
    for round in 0..<12 {
      try store.change { tree, model in
        for step in 0..<(round == 3 ? 8000 : 600) {
          let pair = Self.pair(shape, round * 10_000 + step, &random)
          if random.below(3) == 0 {
            #expect(try tree.remove(pair) == (model[pair] != nil))
            let left = (model[pair] ?? 1) - 1
            model[pair] = left == 0 ? nil : left
          } else {
            let expected = (model[pair] ?? 0) + 1
            #expect(try tree.insert(pair) == expected)
            model[pair] = expected
          }
          if step % 97 == 0 {
            #expect(try tree.count(of: pair) == model[pair] ?? 0)
          }
        }
        try KeyPairStore.compare(tree, model)
      }
      try store.check()
    }
    try compareRanges(store, &random)
    try removeAll(&store, &random)
  }

  private func compareRanges(_ store: KeyPairStore, _ random: inout TestRandom) throws {
    let images = store.model.keys.map(\.image).sorted()
    for _ in 0..<200 {
      let ends = [images[random.below(images.count)], images[random.below(images.count)]].sorted()
      // Ends that are there, and ends next to them.
      let lower = ends[0] &+ (random.below(2) == 0 || ends[0] == ends[1] ? 0 : 1)
      let range = lower...max(lower, ends[1])
      var found: [KeyPair] = []
      try store.tree.forEach(in: range) { image, key, _ in
        found.append(KeyPair(image, key))
        return true
      }
      let inRange = store.model.keys.filter { range.contains($0.image) }.sorted()
      #expect(found == inRange)
      #expect(try store.tree.pairCount(in: range) == found.count)
      let smallest = store.model.keys.filter { $0.image == lower }.map(\.key).min()
      #expect(try store.tree.first(lower) == smallest)
    }
    var calls = 0
    try store.tree.forEach(in: 0...UInt64.max) { _, _, _ in
      calls += 1
      return calls < 3
    }
    #expect(calls == min(3, store.model.count))
  }

  private func removeAll(_ store: inout KeyPairStore, _ random: inout TestRandom) throws {
    var pairs = store.model.keys.sorted()
    pairs.shuffle(using: &random)
    let half = pairs.count / 2
    for part in [pairs[..<half], pairs[half...]] {
      try store.change { tree, model in
        for pair in part {
          for _ in 0..<(model[pair] ?? 0) {
            let isRemoved = try tree.remove(pair)
            #expect(isRemoved)
          }
          model[pair] = nil
          let isRemovedAgain = try tree.remove(pair)
          #expect(!isRemovedAgain)
        }
      }
      try store.check()
    }
    #expect(store.root.isNone && store.level == 0)
    #expect(try store.tree.first(1) == nil)
    #expect(try store.tree.pairCount(in: 0...UInt64.max) == 0)
    try store.change { tree, model in
      try tree.insert(KeyPair(5, 6))
      model[KeyPair(5, 6)] = 1
    }
    try store.check()
  }

  @Test("many keys of one image are found, counted and taken out again")
  func manyDuplicates() throws {
    let count = TableSize.rows(100_000)
    let kept = Int64(count / 2)
    var store = try KeyPairStore()
    try store.change { tree, model in
      for key in 0..<count {
        // Every second from the end, so that keys come in no simple order.
        let pair = KeyPair(77, Int64(key % 2 == 0 ? key : 2 * count + 1 - key))
        try tree.insert(pair)
        model[pair] = 1
      }
      for image: UInt64 in [76, 78] {
        try tree.insert(KeyPair(image, .max))
        model[KeyPair(image, .max)] = 1
      }
    }
    try store.check()
    #expect(try store.tree.pairCount(in: 77...77) == count)
    #expect(try store.tree.first(77) == 0)
    var last = Int64.min
    try store.tree.forEach(in: 77...77) { image, key, _ in
      #expect(image == 77 && key > last)
      last = key
      return true
    }
    try store.change { tree, model in
      for pair in model.keys.sorted() where pair.image == 77 && pair.key != kept {
        try tree.remove(pair)
        model[pair] = nil
      }
    }
    try store.check()
    #expect(try store.tree.first(77) == kept)
    #expect(store.level == 0)
  }

  @Test(
    "a sorted lot fills leaves, and equal pairs add up",
    arguments: [0, 1, 700, TableSize.rows(200_000)])
  func bulk(_ count: Int) throws {
    var random = TestRandom(3)
    var store = try KeyPairStore()
    var pairs = (0..<count).map { _ in KeyPair(UInt64(random.below(count)), Int64(random.below(4)))
    }
    pairs.sort()
    try store.change { tree, model in
      try tree.fill(pairs)
      for pair in pairs { model[pair, default: 0] += 1 }
    }
    try store.check()
    var nodes = 0
    var bytes = 0
    _ = try store.tree.verify { node in
      nodes += 1
      bytes += node.bytes.count
    }
    // Nearly every byte of every sector is used, but of the last one of each level.
    if count > 10_000 { #expect(bytes > (nodes - 2) * 4096 * 95 / 100) }
    // And the tree can be changed like any other.
    try store.change { tree, model in
      for pair in pairs.prefix(300) {
        for _ in 0..<(model[pair] ?? 0) { try tree.remove(pair) }
        model[pair] = nil
      }
      for key in 0..<300 {
        try tree.insert(KeyPair(3, Int64(key + 10)))
        model[KeyPair(3, Int64(key + 10))] = 1
      }
    }
    try store.check()
    try store.change { tree, model in
      try tree.insert(KeyPair(0, 99))
      try tree.releaseAll()
      model = [:]
    }
    try store.check()
    #expect(store.root.isNone)
  }

  @Test("leaves of single pairs and of repeated ones merge, either way round")
  func mergingCounts() throws {
    for doubled in [0..<3000, 3000..<6000] {
      var store = try KeyPairStore()
      try store.change { tree, model in
        try tree.fill((0..<6000).map { KeyPair(UInt64($0) << 16, Int64($0)) })
        for step in 0..<6000 { model[KeyPair(UInt64(step) << 16, Int64(step))] = 1 }
        for step in doubled {
          let pair = KeyPair(UInt64(step) << 16, Int64(step))
          model[pair] = try tree.insert(pair)
        }
      }
      try store.check()
      let level = store.level
      try store.change { tree, model in
        for pair in model.keys.sorted() where pair.key % 60 != 0 {
          try tree.removeAll(pair)
          model[pair] = nil
        }
      }
      try store.check()
      #expect(store.level < level)
    }
  }

  @Test("a pair that widens a full leaf eightfold splits it until every part fits a sector")
  func wideningSplit() throws {
    var store = try KeyPairStore()
    try store.change { tree, model in
      for image in 0..<8 {
        for key in 0..<256 {
          try tree.insert(KeyPair(UInt64(image), Int64(key)))
          model[KeyPair(UInt64(image), Int64(key))] = 1
        }
      }
      try tree.insert(KeyPair(3, .max))
      model[KeyPair(3, .max)] = 1
    }
    // Committed at once: a later insert would find a leaf that is too large, and split it.
    try store.check()
    try store.change { tree, model in
      try tree.insert(KeyPair(9, 0))
      model[KeyPair(9, 0)] = 1
      for _ in 0..<70_000 { try tree.insert(KeyPair(5, 5)) }
      model[KeyPair(5, 5)] = 70_001
    }
    try store.check()
  }

  @Test("a leaf out of order, or with a count of 0, is an error for readers and writers")
  func wrongLeaf() throws {
    var store = try KeyPairStore()
    try store.change { tree, model in
      for key in 0..<300 {
        try tree.insert(KeyPair(1, Int64(key * 10)))
        model[KeyPair(1, Int64(key * 10))] = 1
      }
    }
    let keys = 48 + 3 * 16
    let wrong: [(String, (inout [UInt8]) -> Void)] = [
      (
        "order",
        { leaf in (leaf[keys + 100], leaf[keys + 102]) = (leaf[keys + 102], leaf[keys + 100]) }
      ),
      ("twice", { leaf in leaf[keys + 100] = leaf[keys + 102] }),
      ("count", { leaf in leaf[48 + 32] = 0 }),
    ]
    for (name, change) in wrong {
      let damaged = try store.changingLeaf(change)
      #expect(errorCode { try damaged.tree.verify { _ in } } == .corrupted, "\(name)")
      let tree = MutableKeyPairTree(
        writer: TreeWriter(reader: damaged.reader, base: damaged.version), root: damaged.root,
        level: 0, pairCount: 300)
      #expect(errorCode { try tree.insert(KeyPair(2, 2)) } == .corrupted, "\(name)")
      #expect(errorCode { try tree.remove(KeyPair(1, 10)) } == .corrupted, "\(name)")
    }
    let empty = try store.changingLeaf { $0[48 + 32] = 0 }
    #expect(errorCode { try empty.tree.contains(KeyPair(1, 10)) } == .corrupted)
    #expect(errorCode { try empty.tree.forEach(in: 1...1) { _, _, _ in true } } == .corrupted)
    let same = try store.changingLeaf { _ in }
    #expect(try same.tree.verify { _ in } == 300)
  }

  @Test("damaged nodes with checksums made to fit are errors or other pairs, and never a trap")
  func damage() throws {
    var random = TestRandom(11)
    var store = try KeyPairStore()
    try store.change { tree, model in
      for step in 0..<9000 {
        let pair = KeyPair(UInt64(step % 300) << 20, Int64(step))
        try tree.insert(pair)
        model[pair] = 1
        if step % 5 == 0 { model[pair] = try tree.insert(pair) }
      }
    }
    #expect(store.level == 1)
    var errors = 0
    var misses = 0
    for _ in 0..<1500 {
      let damaged = try store.damaged(&random)
      let pairs = try? damaged.tree.verify { _ in }
      if pairs == nil { errors += 1 }
      if pairs == 9000 { misses += 1 }
      _ = try? damaged.tree.forEach(in: 0...UInt64.max) { _, _, _ in true }
      _ = try? damaged.tree.pairCount(in: 5...UInt64.max / 2)
      let writer = TreeWriter(reader: damaged.reader, base: damaged.version)
      let tree = MutableKeyPairTree(
        writer: writer, root: damaged.root, level: damaged.level, pairCount: 9000)
      for step in 0..<60 {
        let pair = KeyPair(UInt64(random.below(300)) << 20, Int64(random.below(9000)))
        _ = step % 2 == 0 ? try? tree.insert(pair) > 0 : try? tree.remove(pair)
      }
      _ = try? tree.forEach(in: 0...UInt64.max) { _, _, _ in true }
      var sink = NodeSink(
        slab: Slab(), version: damaged.version.next, reader: damaged.reader, space: store.space)
      _ = tree.encode(into: &sink)
      try? tree.releaseAll()
    }
    // A changed key that still stands in order is for the data to tell.
    #expect(errors > 700)
    #expect(misses > 0)
  }
}
