// Verify+Index.swift: checks indexes against the rows they are made from, both ways. Each row's
// values are looked up in the index, and the number of pairs found must equal the number in the
// index. Pairs of different rows differ, so the index can hold no others. It also checks that links
// lead to rows, and that values of unique columns are unique.

extension Verifier {
  /// Verifies the indexes of a table: their nodes, and that they agree with the rows.
  mutating func verifyIndexes(of table: TableRecord) throws(EngineError) {
    for (position, record) in table.columns.enumerated() {
      let pairs = KeyPairTree(
        reader: state.reader, root: record.index.root, level: record.index.level,
        newest: state.version, ofWords: table.schema.columns[position].isFullText)
      let place = "\(table.schema.name).\(table.schema.columns[position].name)"
      let found = try pairs.verify { node throws(EngineError) in try count(node) }
      guard found == record.index.entryCount else {
        throw .corrupted("pairs=\(found) != entry_count=\(record.index.entryCount) of \(place)")
      }
      guard table.schema.columns[position].hasIndex else {
        guard found == 0 else {
          throw .corrupted("\(place) has an index, but the schema asks for none")
        }
        continue
      }
      guard !table.schema.columns[position].isFullText else {
        try verifyWords(of: table, position, pairs, place)
        continue
      }
      let expected = try verifyRows(of: table, position, pairs, place)
      guard expected == found else {
        throw .corrupted("the index of \(place) has pairs=\(found), its rows give \(expected)")
      }
      if table.schema.columns[position].type == .link {
        try verifyTargets(record, pairs, place)
      } else if table.schema.columns[position].isUnique {
        try verifyUnique(table, position, pairs, place)
      }
    }
  }

  private func rows(_ table: TableRecord) -> BPlusTree {
    BPlusTree(
      reader: state.reader, root: table.root, level: table.level, shape: table.shape,
      newest: state.version)
  }

  /// Looks up every row.
  /// - Returns: The number of pairs that the rows give.
  private func verifyRows(
    of table: TableRecord, _ column: Int, _ pairs: KeyPairTree, _ place: String
  ) throws(EngineError) -> UInt64 {
    let isLink = table.schema.columns[column].type == .link
    var expected: UInt64 = 0
    try rows(table).forEachValue(of: column) { key, value throws(EngineError) in
      guard isLink else {
        try Self.check(pairs, KeyPair(ValueImage.of(value), key), 1, place)
        expected += 1
        return
      }
      let targets = MutableTable.targets(value).sorted()
      var start = 0
      for end in 1..<targets.count + 1 where end == targets.count || targets[end] != targets[start]
      {
        let pair = KeyPair(ValueImage.ordered(targets[start]), key)
        try Self.check(pairs, pair, Int64(end - start), place)
        expected += 1
        start = end
      }
    }
    return expected
  }

  private static func check(
    _ pairs: KeyPairTree, _ pair: KeyPair, _ expected: Int64, _ place: String
  ) throws(EngineError) {
    let count = try pairs.count(of: pair)
    guard count == expected else {
      throw .corrupted(
        "the index of \(place) has \(pair) \(count) times, the row \(expected) times")
    }
  }

  /// Compares the pairs of words with those that the rows give, by their number and two sums of
  /// 64-bit hashes: each pair occurs once on both sides, so equal sums mean equal pairs.
  private func verifyWords(
    of table: TableRecord, _ column: Int, _ pairs: KeyPairTree, _ place: String
  ) throws(EngineError) {
    var (found, expected) = (PairSum(), PairSum())
    try pairs.forEach(in: 0...UInt64.max) { image, key, _ in
      found.add(image, key)
      return true
    }
    var words: [UInt64] = []
    try rows(table).forEachText(of: column) { key, text in
      words.removeAll(keepingCapacity: true)
      Words.forEachImage(in: text) { words.append($0) }
      words.sort()
      for index in words.indices where index == 0 || words[index] != words[index - 1] {
        expected.add(words[index], key)
      }
    }
    guard found == expected else {
      throw .corrupted(
        "the full-text index of \(place) has \(found.count) words of rows, its rows have "
          + "\(expected.count); they are not the same")
    }
  }

  /// The number of pairs, and sums of hashes of them.
  private struct PairSum: Equatable {
    var count: UInt64 = 0
    private var sums: SIMD2<UInt64> = .zero

    mutating func add(_ image: UInt64, _ key: Int64) {
      let key = UInt64(bitPattern: key)
      count += 1
      // Every bit of both goes into every bit, so that pairs with keys exchanged differ.
      sums[0] &+= Self.hash((image, key), seed: 0x9fb2_1c65_1e98_df25)
      sums[1] &+= Self.hash((key, image), seed: 0xd6e8_feb8_6659_fd93)
    }

    private static func hash(_ pair: (UInt64, UInt64), seed: UInt64) -> UInt64 {
      ValueImage.finished(ValueImage.step(ValueImage.step(seed, pair.0), pair.1))
    }
  }

  /// No link leads to a row that is not there.
  private func verifyTargets(
    _ record: ColumnRecord, _ pairs: KeyPairTree, _ place: String
  ) throws(EngineError) {
    guard let target = state.group.table(id: record.targetID) else {
      throw .corrupted("links of \(place) lead to table id \(record.targetID), which is not there")
    }
    let rows = rows(target)
    var last: UInt64?
    try pairs.forEach(in: 0...UInt64.max) { image, key, _ throws(EngineError) in
      guard image != last else { return true }
      last = image
      guard try rows.find(ValueImage.number(image)) != nil else {
        throw .corrupted(
          "\(place) of key \(key) links to key \(ValueImage.number(image)) of "
            + "\(target.schema.name), which has no such row")
      }
      return true
    }
  }

  /// No two rows have one value.
  private func verifyUnique(
    _ table: TableRecord, _ column: Int, _ pairs: KeyPairTree, _ place: String
  ) throws(EngineError) {
    let rows = rows(table)
    var group: [Int64] = []
    var last: UInt64?
    func checkGroup() throws(EngineError) {
      guard group.count > 1 else { return }
      var seen: [Value: Int64] = [:]
      for key in group {
        guard let value = try rows.value(key, column) else { continue }
        if let other = seen.updateValue(key, forKey: value) {
          throw .corrupted("\(place) is unique, and keys \(other) and \(key) have one value")
        }
      }
    }
    try pairs.forEach(in: 0...UInt64.max) { image, key, _ throws(EngineError) in
      if image != last {
        try checkGroup()
        group.removeAll(keepingCapacity: true)
        last = image
      }
      group.append(key)
      return true
    }
    try checkGroup()
  }
}
