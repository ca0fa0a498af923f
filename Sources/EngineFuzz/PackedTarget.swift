// PackedTarget.swift: bytes → integers, with and without nulls → a column, whose leaves hold them
// packed in 0 to 64 bits → all code that reads packed arrays, against plain arrays.

import Engine
import Fuzz

enum PackedTarget {
  static let target = FuzzTarget(
    name: "packed", judges: "columns of integers of every width: scans and reads against arrays",
    smokeCount: 150, seeds: { FuzzTarget.choiceSeeds("packed") }, run: { run($0) })

  private static let columns = [
    ColumnSchema(name: "n", type: .int), ColumnSchema(name: "n?", type: .int, isOptional: true),
  ]

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    var choices = MutantChoices(bytes: input)
    let count = choices.below(3) == 0 ? choices.below(256) * 4 : choices.below(256)
    let base = Int64(bitPattern: choices.interesting())
    let width = [0, 1, 2, 4, 8, 16, 32, 64][choices.below(8)]
    let mask: UInt64 = width == 64 ? .max : 1 << UInt64(width) &- 1
    let gap = Int64([1, 1, 3, 1 << 40][choices.below(4)])
    var keys: [Int64] = []
    var rows: [[Value]] = []
    // Inputs are short: after their end the numbers are derived from the input.
    var filler = MutantChoices(seed: choices.number(4))
    for index in 0..<count {
      keys.append(base / 2 &+ Int64(index) &* gap)
      let bits = choices.isAtEnd ? filler.number(8) : choices.number(2) &* 0x1_0001_0001_0001
      let number = Int64(bitPattern: UInt64(bitPattern: base) &+ bits & mask)
      rows.append([.int(number), bits % 5 == 0 ? .null : .int(number)])
    }
    guard Set(keys).count == count, keys == keys.sorted() else { return .refused }
    do {
      let backend = FuzzBackend([])
      let database = try Database.open(backend: backend)
      let write = try database.beginWrite()
      try write.createTable(TableSchema(name: "T", columns: columns))
      for (key, row) in zip(keys, rows) { try write.insert(into: "T", key: key, row) }
      try write.commit()
      let snapshot = try database.snapshot()
      defer { snapshot.release() }
      let bounds = [base, base &+ 1, Int64(bitPattern: filler.interesting())]
      for column in columns.indices {
        if let wrong = try wrongScan(snapshot, keys, rows, column, bounds) {
          return .finding("width \(width), base \(base), \(count) rows: \(wrong)")
        }
      }
      return .accepted
    } catch { return .finding("rows that a table takes end in \(error)") }
  }

  private static func wrongScan(
    _ snapshot: Snapshot, _ keys: [Int64], _ rows: [[Value]], _ column: Int, _ bounds: [Int64]
  ) throws(EngineError) -> String? {
    let reader = try snapshot.reader(for: "T")
    let ints = try reader.column(columns[column].name, of: Int64.self)
    let numbers = rows.map { row -> Int64? in
      guard case .int(let number) = row[column] else { return nil }
      return number
    }
    let present = numbers.compactMap { $0 }
    for bound in bounds {
      let tests: [(Comparison<Int64>, (Int64) -> Bool)] = [
        (.less(bound), { $0 < bound }), (.atMost(bound), { $0 <= bound }),
        (.equal(bound), { $0 == bound }), (.atLeast(bound), { $0 >= bound }),
        (.greater(bound), { $0 > bound }),
        (.between(bounds[0], bound), { $0 >= bounds[0] && $0 <= bound }),
      ]
      for (comparison, passes) in tests {
        let expected = zip(keys, numbers).filter { $1.map(passes) ?? false }.map(\.0)
        guard try reader.count(ints, where: comparison) == expected.count,
          try reader.keys(ints, where: comparison) == expected
        else { return "\(comparison) finds other rows than \(expected.count)" }
      }
    }
    guard try reader.minimum(ints) == present.min(), try reader.maximum(ints) == present.max()
    else { return "extremes are not \(present.min() ?? 0) and \(present.max() ?? 0)" }
    let sum = present.reduce(0 as Int128) { $0 + Int128($1) }
    // A sum that does not fit is an error, and never another number.
    let found = try? reader.sum(ints)
    guard found.map({ Int128($0) == sum }) ?? (Int64(exactly: sum) == nil) else {
      return "the sum is not \(sum)"
    }
    for (key, number) in zip(keys, numbers) {
      guard let position = try reader.find(key) else { return "key \(key) is not found" }
      let isNull = try reader.isNull(at: position, ints)
      let found = try reader.int(at: position, ints)
      guard isNull == (number == nil), isNull || found == number else {
        return "key \(key) has another number than \(number.map(String.init) ?? "null")"
      }
    }
    return nil
  }
}
