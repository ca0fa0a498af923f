// RowSet.swift [U]: the rows that every store gets. Safety: allocated once, written before anybody
// else sees them, never freed.

import CBench
import Foundation

/// Rows 0, 1, 2, … of the data set, made once.
@safe struct RowSet: @unchecked Sendable {
  let rows: UnsafePointer<cbench_row>
  let count: Int

  /// The table of 1 M rows.
  static let million = RowSet(0, count: 1_000_000)
  /// The table that commits change.
  static let tenThousand = RowSet(0, count: 10_000)

  private init(_ first: Int, count: Int) {
    let made = UnsafeMutablePointer<cbench_row>.allocate(capacity: count)
    unsafe cbench_rows(made, Int64(first), Int64(count))
    unsafe rows = UnsafePointer(made)
    self.count = count
  }

  /// Rows 0 ..< count drawn `draws` times, each with the values of another one.
  init(drawn draws: Int, of count: Int, seed: UInt64) {
    var random = Draw(seed)
    let made = UnsafeMutablePointer<cbench_row>.allocate(capacity: draws)
    for index in 0..<draws {
      unsafe cbench_rows(made + index, Int64(random.next() >> 24), 1)
      unsafe made[index].id = Int64(random.next() % UInt64(count))
    }
    unsafe rows = UnsafePointer(made)
    self.count = draws
  }

  /// `draws` rows, evenly spread over 0 ..< count, each with the values of another one.
  static func spread(_ draws: Int, of count: Int) -> RowSet {
    RowSet(ids: (0..<draws).map { Int64($0 * (count / draws)) }, seed: 7)
  }

  private init(ids: [Int64], seed: UInt64) {
    var random = Draw(seed)
    let made = UnsafeMutablePointer<cbench_row>.allocate(capacity: ids.count)
    for index in ids.indices {
      // Behind the million, so that a score seldom is what it was.
      unsafe cbench_rows(made + index, Int64(random.next() >> 24), 1)
      unsafe made[index].id = ids[index]
    }
    unsafe rows = UnsafePointer(made)
    count = ids.count
  }

  /// The numbers of the rows.
  var ids: [Int] { (0..<count).map { unsafe Int(rows[$0].id) } }
  /// Their scores.
  var scores: [Double] { (0..<count).map { unsafe rows[$0].score } }

  /// What a row adds to the checksum of lookups.
  static func checksum(age: Int, score: Double, name: String) -> UInt64 {
    var name = name
    return name.withUTF8 { text in
      precondition(text.count == 12, "names have 12 letters")
      return unsafe cbench_row_checksum(Int64(age), score, text.baseAddress)
    }
  }

  /// The name of a row.
  func name(_ index: Int) -> String {
    precondition(index >= 0 && index < count)
    return unsafe withUnsafeBytes(of: rows[index].name) {
      unsafe String(decoding: $0, as: UTF8.self)
    }
  }

  /// Keys 0 ..< count, drawn.
  static func keys(_ draws: Int, of count: Int) -> [Int64] {
    var random = Draw(42)
    return (0..<draws).map { _ in Int64(random.next() % UInt64(count)) }
  }
}

/// SplitMix64.
struct Draw {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
