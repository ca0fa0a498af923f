// RankFunction.swift: how well a text matches: for each phrase and column, the hits in this
// document's column over those in all documents'.

import Fleece

/// The SQL function `rank`.
enum RankFunction {
  static let all = [SQLFunction(name: "rank", argumentCount: 1, body: rank)]

  /// Computed from the bytes of SQLite's `matchinfo`: 32-bit numbers in the machine's order, the
  /// count of phrases, that of columns, and three for each phrase and column.
  private static func rank(_ call: FunctionCall) throws {
    let info = call.bytes(0)
    guard call.kind(0) == .blob, info.count >= 8 else {
      return call.result(error: "rank takes what matchinfo returns")
    }
    func number(_ index: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 | UInt32(info[4 * index + $1]) << UInt32(8 * $1) }
    }
    let pairs = UInt64(number(0)).multipliedReportingOverflow(by: UInt64(number(1)))
    guard !pairs.overflow, pairs.partialValue <= UInt64((info.count / 4 - 2) / 3) else {
      return call.result(error: "rank takes what matchinfo returns")
    }
    var score = 0.0
    for pair in 0..<Int(pairs.partialValue) {
      let (hits, all) = (number(2 + 3 * pair), number(3 + 3 * pair))
      if hits > 0, all > 0 { score += Double(hits) / Double(all) }
    }
    call.result(score)
  }
}
