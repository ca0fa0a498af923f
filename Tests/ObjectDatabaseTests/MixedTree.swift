// MixedTree.swift: a model of lists and dictionaries in mixed values: what a value holds, without a
// database, and random changes of it here and in a realm.

import ObjectDatabase

/// What a mixed value holds, without a database.
indirect enum MixedTree: Equatable {
  case number(Int)
  case list([MixedTree])
  case entries([String: MixedTree])

  init(_ value: AnyRealmValue) {
    switch value {
    case .list(let list): self = .list(list.map { MixedTree($0) })
    case .dictionary(let map):
      var entries: [String: MixedTree] = [:]
      for entry in map { entries[entry.key] = MixedTree(entry.value) }
      self = .entries(entries)
    default: self = .number(value.intValue ?? -1)
    }
  }

  init(_ seed: inout MixedDraws, depth: Int) {
    switch seed.below(depth > 0 ? 4 : 2) {
    case 0, 1: self = .number(seed.below(100))
    case 2: self = .list((0..<seed.below(4)).map { _ in MixedTree(&seed, depth: depth - 1) })
    default:
      var entries: [String: MixedTree] = [:]
      for _ in 0..<seed.below(4) {
        entries["k\(seed.below(5))"] = MixedTree(&seed, depth: depth - 1)
      }
      self = .entries(entries)
    }
  }

  var value: AnyRealmValue {
    switch self {
    case .number(let number): .int(number)
    case .list(let trees): .fromArray(trees.map(\.value))
    case .entries(let trees): .fromDictionary(trees.mapValues(\.value))
    }
  }

  /// How many collections there are.
  var count: Int {
    switch self {
    case .number: 0
    case .list(let trees): trees.reduce(1) { $0 + $1.count }
    case .entries(let trees): trees.values.reduce(1) { $0 + $1.count }
    }
  }

  /// Changes a collection at a random place, here and in the realm.
  mutating func change(_ value: AnyRealmValue, _ seed: inout MixedDraws) {
    switch self {
    case .number: break
    case .list(var trees):
      guard let list = value.listValue else { return }
      let index = seed.below(max(trees.count, 1))
      let new = MixedTree(&seed, depth: 2)
      switch (seed.below(6), trees.isEmpty) {
      case (0, _), (_, true):
        trees.append(new)
        list.append(new.value)
      case (1, _):
        trees[index] = new
        list[index] = new.value
      case (2, _):
        trees.remove(at: index)
        list.remove(at: index)
      case (3, _):
        trees.swapAt(0, index)
        list.swapAt(0, index)
      default: trees[index].change(list[index], &seed)
      }
      self = .list(trees)
    case .entries(var trees):
      guard let map = value.dictionaryValue else { return }
      let key = "k\(seed.below(5))"
      switch seed.below(4) {
      case 0:
        trees[key] = nil
        map[key] = nil
      case 1:
        let new = MixedTree(&seed, depth: 2)
        trees[key] = new
        map[key] = new.value
      default:
        if let old = map[key] { trees[key]?.change(old, &seed) }
      }
      self = .entries(trees)
    }
  }
}

/// Drawn numbers.
struct MixedDraws {
  var state: UInt64

  mutating func below(_ end: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(end))
  }
}
