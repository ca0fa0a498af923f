// ContentHasher.swift [U]: one number for the content of a database, whatever its nodes look like.
// hash(row)  := fold of the values into mixed(table seed ^ key), column by column
// hash(all)  := mixed(sum of the table seeds + sum of the row hashes + counts)
// Sums make the result independent of the order in which rows and tables come, so a model over a
// dictionary can feed them as they are; the key in each row's hash makes the order count where it
// should. It is no part of the file format and guards against accidents only.

/// Computes the same number as `Snapshot.contentHash()` from tables, keys and values.
///
/// Feed each table's schema, then its rows: `beginTable`, `combine`…, and `finalize` at the end.
public struct ContentHasher: Sendable {
  private var sum: UInt64 = 0
  private var count: UInt64 = 0
  private var seed: UInt64 = 0

  /// Starts with no content.
  public init() {}

  /// Starts a table; the rows that follow belong to it.
  public mutating func beginTable(_ schema: TableSchema) {
    var hash = Self.hash(of: schema.name)
    for column in schema.columns {
      hash = Self.fold(hash, Self.hash(of: column.name) ^ UInt64(column.type.rawValue))
    }
    seed = hash
    sum &+= Self.fold(hash, 1)
  }

  /// Adds a row of the table begun last.
  /// - Complexity: O(bytes of the row).
  public mutating func combine(key: Int64, _ values: [Value]) {
    var hash = Self.fold(seed, UInt64(bitPattern: key))
    for value in values {
      switch value {
      case .int(let number): hash = Self.fold(hash, UInt64(bitPattern: number))
      case .string(let string): hash = Self.fold(hash, Self.hash(of: string))
      }
    }
    sum &+= hash
    count += 1
  }

  /// The hash of everything fed so far.
  public func finalize() -> UInt64 {
    Self.fold(sum, count)
  }

  /// Adds the rows of a leaf, a column at a time and without making values of them.
  mutating func combine(
    _ leaf: LeafView, _ shape: LeafShape, _ reader: NodeReader, newest: Version,
    scratch: inout Scratch
  ) throws(EngineError) {
    leaf.keys.decode(into: &scratch.numbers)
    scratch.hashes.removeAll(keepingCapacity: true)
    for key in scratch.numbers {
      scratch.hashes.append(Self.fold(seed, UInt64(bitPattern: key)))
    }
    for column in shape.types.indices {
      switch shape.types[column] {
      case .int:
        try leaf.integers(column, shape).decode(into: &scratch.numbers)
        for row in scratch.hashes.indices {
          scratch.hashes[row] = Self.fold(
            scratch.hashes[row], UInt64(bitPattern: scratch.numbers[row]))
        }
      case .string:
        let strings = try leaf.strings(column, shape)
        for row in scratch.hashes.indices {
          let bytes = try reader.stringBytes(strings, row, newest: newest)
          scratch.hashes[row] = Self.fold(scratch.hashes[row], Self.hash(bytes))
        }
      }
    }
    for hash in scratch.hashes { sum &+= hash }
    count += UInt64(leaf.count)
  }

  /// Memory that is used again for each leaf.
  struct Scratch {
    var numbers: [Int64] = []
    var hashes: [UInt64] = []
  }

  @inline(__always)
  private static func fold(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let (high, low) = (hash ^ word ^ 0x9e37_79b9_7f4a_7c15).multipliedFullWidth(
      by: 0xd6e8_feb8_6659_fd93)
    var mixed = high ^ low ^ (hash << 1 | hash >> 63)
    mixed = (mixed ^ (mixed >> 29)) &* 0xbf58_476d_1ce4_e5b9
    return mixed ^ (mixed >> 32)
  }

  @inline(__always)
  private static func hash(_ bytes: RawBytes) -> UInt64 {
    var hash = UInt64(bytes.count)
    var offset = 0
    while offset <= bytes.count - 8 {
      hash = fold(hash, bytes.uint64(offset))
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < bytes.count {
      rest = rest << 8 | UInt64(bytes.uint8(offset))
      offset += 1
    }
    return fold(hash, rest)
  }

  private static func hash(of string: String) -> UInt64 {
    var string = string
    return string.withUTF8 { buffer in
      // Safety: the view is used inside this closure only.
      unsafe hash(RawBytes(UnsafeRawBufferPointer(buffer)))
    }
  }
}
