// LeafTest.swift: one test of one column, evaluated for a leaf: how many rows match, or which. The
// type of the column is checked once per leaf, so that the loops over rows have one type.

/// A test of a column.
struct LeafTest {
  /// The condition that the column's values are tested against.
  enum Kind {
    case integers(IntegerTest)
    case bools(IntegerTest)
    case doubles(FloatingTest<Double>)
    case floats(FloatingTest<Float>)
    case text(TextPattern)
    /// With a text at some place, or without the differences of case or marks.
    case search(TextSearch)
    /// One of these texts.
    case texts(TextChoices)
    /// Links to one of these rows.
    case links(RowKeySet)
    /// Whether the value is null; the column has any type but mixed.
    case null
  }

  /// Index of the column in the table.
  let column: Int
  let kind: Kind

  private var isNegated: Bool {
    switch kind {
    case .integers(let test), .bools(let test): test.isNegated
    case .doubles(let test): test.isNegated
    case .floats(let test): test.isNegated
    case .text, .search, .texts, .links, .null: false
    }
  }

  /// How many rows of the walk's current leaf match.
  @inline(__always)
  func count(in leaf: LeafView, _ walk: LeafWalk) throws(EngineError) -> Int {
    let tree = walk.tree
    let nulls = try leaf.nulls(column, tree.shape)
    guard nulls.isAllZero else { return try countWithNulls(leaf, nulls, walk) }
    switch kind {
    case .null: return 0
    case .integers(let test):
      let array = try leaf.integers(column, tree.shape)
      walk.prefetchNext(array.bytes, of: leaf)
      return array.count(test)
    case .bools(let test): return try leaf.bools(column, tree.shape).count(test)
    case .doubles(let test):
      let array = try Double.numbers(of: column, in: leaf, tree.shape)
      walk.prefetchNext(array.bytes, of: leaf)
      return array.count(test)
    case .floats(let test):
      let array = try Float.numbers(of: column, in: leaf, tree.shape)
      walk.prefetchNext(array.bytes, of: leaf)
      return array.count(test)
    case .text(let pattern):
      let strings = try leaf.strings(column, tree.shape)
      walk.prefetchNext(strings.ends.bytes, of: leaf)
      walk.prefetchNext(strings.bytes, of: leaf)
      var found = 0
      try strings.forEachMatch(pattern, tree.reader, newest: tree.newest) { _ in found &+= 1 }
      return found
    case .search(let search):
      let strings = try leaf.strings(column, tree.shape)
      walk.prefetchNext(strings.bytes, of: leaf)
      var found = 0
      try strings.forEachMatch(search, tree.reader, newest: tree.newest) { _ in found &+= 1 }
      return found
    case .texts(let choices):
      let strings = try leaf.strings(column, tree.shape)
      var found = 0
      try strings.forEachMatch(oneOf: choices, tree.reader, newest: tree.newest) { _ in
        found &+= 1
      }
      return found
    case .links(let targets):
      let array = try leaf.integers(column, tree.shape)
      walk.prefetchNext(array.bytes, of: leaf)
      var found = 0
      for row in 0..<leaf.count where targets.contains(array[row]) { found &+= 1 }
      return found
    }
  }

  @inline(never)
  private func countWithNulls(
    _ leaf: LeafView, _ nulls: PackedArray, _ walk: LeafWalk
  ) throws(EngineError) -> Int {
    var words: [UInt64] = []
    try fill(&words, from: leaf, nulls, walk)
    return words.reduce(0) { $0 + $1.nonzeroBitCount }
  }

  /// Replaces the content of `words` by the rows that pass of the walk's current leaf, a bit each.
  func fill(
    _ words: inout [UInt64], from leaf: LeafView, _ walk: LeafWalk
  ) throws(EngineError) {
    try fill(&words, from: leaf, leaf.nulls(column, walk.tree.shape), walk)
  }

  private func fill(
    _ words: inout [UInt64], from leaf: LeafView, _ nulls: PackedArray, _ walk: LeafWalk
  ) throws(EngineError) {
    let tree = walk.tree
    let count = (leaf.count + 63) >> 6
    words.removeAll(keepingCapacity: true)
    switch kind {
    case .null:
      for word in 0..<count { words.append(nulls.isAllZero ? 0 : nulls.bits(word: word)) }
      return
    case .integers(let test), .bools(let test):
      let array: PackedArray
      if case .bools = kind {
        array = try leaf.bools(column, tree.shape)
      } else {
        array = try leaf.integers(column, tree.shape)
      }
      walk.prefetchNext(array.bytes, of: leaf)
      let reach = array.reach(test.lower, test.upper)
      for word in 0..<count { words.append(array.matches(reach, word: word)) }
    case .doubles(let test):
      let array = try Double.numbers(of: column, in: leaf, tree.shape)
      walk.prefetchNext(array.bytes, of: leaf)
      for word in 0..<count { words.append(array.matches(test, word: word)) }
    case .floats(let test):
      let array = try Float.numbers(of: column, in: leaf, tree.shape)
      walk.prefetchNext(array.bytes, of: leaf)
      for word in 0..<count { words.append(array.matches(test, word: word)) }
    case .text(let pattern):
      for _ in 0..<count { words.append(0) }
      let strings = try leaf.strings(column, tree.shape)
      walk.prefetchNext(strings.ends.bytes, of: leaf)
      walk.prefetchNext(strings.bytes, of: leaf)
      try strings.forEachMatch(pattern, tree.reader, newest: tree.newest) {
        words[$0 >> 6] |= 1 << UInt64($0 & 63)
      }
    case .search(let search):
      for _ in 0..<count { words.append(0) }
      let strings = try leaf.strings(column, tree.shape)
      walk.prefetchNext(strings.bytes, of: leaf)
      try strings.forEachMatch(search, tree.reader, newest: tree.newest) {
        words[$0 >> 6] |= 1 << UInt64($0 & 63)
      }
    case .texts(let choices):
      for _ in 0..<count { words.append(0) }
      let strings = try leaf.strings(column, tree.shape)
      try strings.forEachMatch(oneOf: choices, tree.reader, newest: tree.newest) {
        words[$0 >> 6] |= 1 << UInt64($0 & 63)
      }
    case .links(let targets):
      let array = try leaf.integers(column, tree.shape)
      for _ in 0..<count { words.append(0) }
      for row in 0..<leaf.count where targets.contains(array[row]) {
        words[row >> 6] |= 1 << UInt64(row & 63)
      }
    }
    if !nulls.isAllZero {
      for word in 0..<count { words[word] &= ~nulls.bits(word: word) }
    }
    guard isNegated else { return }
    for word in 0..<count {
      words[word] = ~words[word] & MatchWord.mask(leaf.count - word << 6)
    }
  }
}

extension PackedArray {
  /// Whether every element is 0: width and base of the array are 0.
  @inline(__always)
  var isAllZero: Bool { width == 0 && base == 0 }
}
