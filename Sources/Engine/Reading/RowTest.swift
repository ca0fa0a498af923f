// RowTest.swift: a condition on several columns of a table, evaluated one leaf at a time: each
// column's scan gives a bit per row, and the bits are combined. Invariant: bits after the last row
// of a leaf are 0, also after a negation.

/// A condition on the columns of a table's rows, made by `TableReader.test`.
public indirect enum RowTest: Sendable {
  /// A test of one column.
  case column(ColumnTest)
  /// Every one of them.
  case all([RowTest])
  /// At least one of them.
  case any([RowTest])
  /// Not this.
  case not(RowTest)

  /// Replaces the content of `words` by the rows that pass of the walk's current leaf, a bit each.
  ///
  /// In `spare` are arrays that are not in use, for the members' own rows.
  func fill(
    _ words: inout [UInt64], from leaf: LeafView, _ walk: LeafWalk, spare: inout [[UInt64]]
  ) throws(EngineError) {
    switch self {
    case .column(let test): try test.leafTest.fill(&words, from: leaf, walk)
    case .not(let member):
      try member.fill(&words, from: leaf, walk, spare: &spare)
      for word in words.indices {
        words[word] = ~words[word] & MatchWord.mask(leaf.count - word << 6)
      }
    case .all(let members):
      guard let first = members.first else {
        words.removeAll(keepingCapacity: true)
        for word in 0..<(leaf.count + 63) >> 6 {
          words.append(MatchWord.mask(leaf.count - word << 6))
        }
        return
      }
      try first.fill(&words, from: leaf, walk, spare: &spare)
      var own = spare.popLast() ?? []
      for member in members.dropFirst() where words.contains(where: { $0 != 0 }) {
        try member.fill(&own, from: leaf, walk, spare: &spare)
        for word in words.indices { words[word] &= own[word] }
      }
      spare.append(own)
    case .any(let members):
      guard let first = members.first else {
        words.removeAll(keepingCapacity: true)
        for _ in 0..<(leaf.count + 63) >> 6 { words.append(0) }
        return
      }
      try first.fill(&words, from: leaf, walk, spare: &spare)
      var own = spare.popLast() ?? []
      for member in members.dropFirst() {
        try member.fill(&own, from: leaf, walk, spare: &spare)
        for word in words.indices { words[word] |= own[word] }
      }
      spare.append(own)
    }
  }

  /// A test belongs to the reader that made it.
  func check(_ reader: UInt64) {
    switch self {
    case .column(let test):
      precondition(test.reader == reader, "a test belongs to the reader that made it")
    case .all(let members), .any(let members):
      for member in members { member.check(reader) }
    case .not(let member): member.check(reader)
    }
  }
}

/// A condition on one column.
public struct ColumnTest: Sendable {
  let leafTest: LeafTest
  let reader: UInt64
}
