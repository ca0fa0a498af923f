// N1QLChoices.swift: functions that choose between missing, null and other values.

import Fleece

/// Functions for missing and null values.
enum N1QLChoices {
  static let all = [
    SQLFunction(name: "isvalued", argumentCount: 1) { call in
      call.result(Int64(call.kind(0) == .null || call.isNull(0) ? 0 : 1))
    },
    SQLFunction(name: "N1QL_ifnull", argumentCount: -1) { call in
      let chosen = (0..<call.count).first { !call.isNull($0) }
      if let chosen { call.result(argument: chosen) } else { call.resultNull() }
    },
    SQLFunction(name: "ifmissingornull", argumentCount: -1) { call in
      let chosen = (0..<call.count).first { call.kind($0) != .null && !call.isNull($0) }
      if let chosen { return call.result(argument: chosen) }
      // All are missing or null.
      if (0..<call.count).contains(where: { call.kind($0) != .null }) {
        call.resultNull()
      } else {
        call.resultMissing()
      }
    },
    SQLFunction(name: "missingif", argumentCount: 2) { call in
      if ends(call) { return }
      if call.areEqual() { call.resultMissing() } else { call.result(argument: 0) }
    },
    SQLFunction(name: "N1QL_nullif", argumentCount: 2) { call in
      if ends(call) { return }
      if call.areEqual() { call.resultNull() } else { call.result(argument: 0) }
    },
  ]

  private static func ends(_ call: FunctionCall) -> Bool {
    guard call.kind(0) != .null, call.kind(1) != .null else {
      call.resultMissing()
      return true
    }
    guard !call.isNull(0), !call.isNull(1) else {
      call.resultNull()
      return true
    }
    return false
  }
}

extension FunctionCall {
  /// Whether the first two arguments are equal, as in SQL.
  func areEqual() -> Bool {
    switch (kind(0), kind(1)) {
    case (.integer, .integer): integer(0) == integer(1)
    case (.integer, .real): SQLOrder.isEqual(integer(0), real(1))
    case (.real, .integer): SQLOrder.isEqual(integer(1), real(0))
    case (.real, .real): real(0) == real(1)
    case (.text, .text), (.blob, .blob): bytes(0).array == bytes(1).array
    default: false
    }
  }
}

/// How numbers of SQL compare.
enum SQLOrder {
  /// Whether an integer and a double are the same number, exactly.
  static func isEqual(_ integer: Int64, _ double: Double) -> Bool {
    Int64(exactly: double) == integer
  }
}
