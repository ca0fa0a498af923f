// WordBuffer.swift: buffers the words that a batch of rows adds to the full-text index of a column.
// Invariants: the keys of the rows ascend and are those of no row before; the words of the row in
// progress count when it ends, and a flush follows on one that does not.

/// The words of one full-text index that a batch of rows adds.
struct WordBuffer {
  /// So many words are given to the index at once, which bounds the memory for them: some 100 MB.
  private static let wordCountMax = 1 << 22
  private static let firstCountMax = 1 << 10

  /// The position of the column.
  let column: Int
  private let index: MutableKeyPairTree
  private var pairs = WordPairs()

  init(_ table: MutableTable, _ column: Int) {
    self.column = column
    index = table.index(column)
    takeFirst()
  }

  /// Takes what an empty index waits for, if that is the words of a few rows: the first one of a
  /// class comes without a batch.
  private mutating func takeFirst() {
    let waiting = index.waiting
    guard index.root == nil, waiting.count < Self.firstCountMax, waiting.allSatisfy(\.isAdded),
      zip(waiting, waiting.dropFirst()).allSatisfy({ $0.pair.key <= $1.pair.key })
    else { return }
    for (number, change) in waiting.enumerated() {
      pairs.addWord(change.pair.image)
      let next = number + 1 < waiting.count ? waiting[number + 1].pair.key : nil
      if next != change.pair.key { pairs.endText(change.pair.key) }
    }
    index.waiting = []
  }

  /// Takes the words of the row in progress.
  mutating func add(_ text: RawBytes) { pairs.addWords(of: text) }

  /// Ends the row.
  /// - Throws: As `flush` does.
  mutating func endRow(_ key: Int64) throws(EngineError) {
    pairs.endText(key)
    if pairs.wordCount >= Self.wordCountMax { try flush() }
  }

  /// Gives the index what waits.
  /// - Throws: `EngineError` with code `.corrupted` when the index does not agree with the rows.
  mutating func flush() throws(EngineError) {
    guard pairs.wordCount > 0 else { return }
    if index.root == nil, index.waiting.isEmpty {
      pairs.fill(index)
    } else {
      try pairs.forEachPair { pair throws(EngineError) in
        index.waiting.append(WordChange(pair, isAdded: true))
        if index.waiting.count >= MutableKeyPairTree.waitingCountMax { try index.putWaiting() }
      }
    }
    pairs = WordPairs()
  }
}
