// IndexBuffer.swift: buffers the pairs that a batch of rows adds to the search index of a column of
// integers. Pairs greater than all those of the index are buffered until the batch is flushed and
// need no lookup in the index: it has no equal one. A pair that does not ascend is inserted at
// once. Invariants: buffered pairs ascend and come after every pair of the index, and no pair of
// either is greater than `last`; so an integer whose image is greater than that of `last` does not
// occur yet.

/// The pairs of one index that a batch of rows adds.
struct IndexBuffer {
  /// The position of the column.
  let column: Int
  private let table: MutableTable
  private let index: MutableKeyPairTree
  private let isUnique: Bool
  /// At least the greatest pair of the index and of the buffered ones.
  private var last: KeyPair?
  private var waiting: [KeyPair] = []

  /// - Throws: `EngineError` with code `.corrupted`.
  init(_ table: MutableTable, _ column: Int) throws(EngineError) {
    self.table = table
    self.column = column
    index = table.index(column)
    isUnique = table.schema.columns[column].isUnique
    last = try index.lastPair()
  }

  /// Refuses an integer that another row has in a unique column.
  mutating func check(_ number: Int64, _ key: Int64) throws(EngineError) {
    guard isUnique else { return }
    let image = ValueImage.ordered(number)
    guard let last, image <= last.image else { return }
    try flush()
    try table.checkUnique(key, column, .int(number))
  }

  /// Takes the pair of a row.
  mutating func add(_ number: Int64, _ key: Int64) throws(EngineError) {
    let pair = KeyPair(ValueImage.ordered(number), key)
    if let last, pair <= last {
      try flush()
      try table.reindex(key, column, old: nil, new: .int(number))
      return
    }
    last = pair
    waiting.append(pair)
  }

  /// A row goes into the table by another way, after a flush.
  mutating func pass(_ number: Int64, _ key: Int64) {
    let pair = KeyPair(ValueImage.ordered(number), key)
    if last.map({ $0 < pair }) ?? true { last = pair }
  }

  /// Gives the index what waits.
  mutating func flush() throws(EngineError) {
    guard !waiting.isEmpty else { return }
    if index.root == nil {
      try index.fill(waiting)
    } else {
      for pair in waiting {
        guard try index.insert(pair) == 1 else {
          throw .corrupted("the index of \(table.schema.name) had \(pair) before its row was there")
        }
      }
    }
    waiting = []
  }
}
