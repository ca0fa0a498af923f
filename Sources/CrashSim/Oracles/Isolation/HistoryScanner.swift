// HistoryScanner.swift: scans one line of a history: JSON of a known form, without building values
// from it. Invariant: every call either advances or throws, and no number overflows.

/// Reads one line.
package struct HistoryScanner {
  /// The fields of a line; the parser checks which of them belong together.
  package struct Fields {
    var history: Int?
    package var begin: Int?
    package var session: Int?
    package var ops: Int?
    var operations: [HistoryOperation]?
    package var end: Int?
    var outcome: HistoryOutcome?
    var crash: Int?
    var count = 0
  }

  /// An error, in words, with its place.
  package struct Fault: Error {
    let column: Int
    package let message: String
  }

  static let operationsMax = 10_000

  private let bytes: [UInt8]
  private let start: Int
  private let end: Int
  private var position: Int

  package init(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    start = range.lowerBound
    end = range.upperBound
    position = range.lowerBound
  }

  private func fault(_ message: String) -> Fault {
    Fault(column: position - start + 1, message: message)
  }

  private mutating func skipSpace() {
    while position < end {
      switch bytes[position] {
      case 0x20, 0x09, 0x0d: position += 1
      default: return
      }
    }
  }

  /// Consumes a byte if it comes next, after spaces.
  private mutating func takes(_ byte: UInt8) -> Bool {
    skipSpace()
    guard position < end, bytes[position] == byte else { return false }
    position += 1
    return true
  }

  private mutating func expect(_ character: Unicode.Scalar) throws(Fault) {
    guard takes(UInt8(ascii: character)) else { throw fault("expected '\(character)'") }
  }

  private mutating func integer() throws(Fault) -> Int {
    skipSpace()
    let isNegative = position < end && bytes[position] == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let first = position
    var number = 0
    while position < end, bytes[position] >= 0x30, bytes[position] <= 0x39 {
      let (tens, isLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isLarger) = tens.addingReportingOverflow(Int(bytes[position] - 0x30))
      guard !isLarge, !isLarger else { throw fault("a number of more than 63 bits") }
      number = sum
      position += 1
    }
    guard position > first else { throw fault("expected a whole number") }
    return isNegative ? -number : number
  }

  private mutating func word() throws(Fault) -> String {
    try expect("\"")
    let first = position
    while position < end, bytes[position] != UInt8(ascii: "\"") {
      guard bytes[position] != UInt8(ascii: "\\"), position - first < 32 else {
        throw fault("expected a word of this format in quotes")
      }
      position += 1
    }
    let text = String(decoding: bytes[first..<position], as: UTF8.self)
    try expect("\"")
    return text
  }

  // MARK: - The line

  /// All fields of the line.
  package mutating func fields() throws(Fault) -> Fields {
    var fields = Fields()
    try expect("{")
    repeat {
      let column = position
      let key = try word()
      try expect(":")
      if try !take(key, into: &fields) {
        position = column
        throw fault(
          "'\(key)' occurs twice in the line, or is none of history, begin, session, ops, do, end, "
            + "outcome, crash")
      }
      fields.count += 1
    } while takes(UInt8(ascii: ","))
    try expect("}")
    skipSpace()
    guard position == end else { throw fault("there is more after the closing '}'") }
    return fields
  }

  /// False when the key is unknown or duplicate.
  private mutating func take(_ key: String, into fields: inout Fields) throws(Fault) -> Bool {
    switch key {
    case "history" where fields.history == nil: fields.history = try integer()
    case "begin" where fields.begin == nil: fields.begin = try integer()
    case "session" where fields.session == nil: fields.session = try integer()
    case "ops" where fields.ops == nil: fields.ops = try integer()
    case "end" where fields.end == nil: fields.end = try integer()
    case "crash" where fields.crash == nil: fields.crash = try integer()
    case "do" where fields.operations == nil: fields.operations = try operations()
    case "outcome" where fields.outcome == nil:
      let name = try word()
      guard let outcome = HistoryOutcome(rawValue: name) else {
        throw fault("outcome '\(name)': write committed, aborted or unknown")
      }
      fields.outcome = outcome
    default: return false
    }
    return true
  }

  private mutating func operations() throws(Fault) -> [HistoryOperation] {
    var operations: [HistoryOperation] = []
    try expect("[")
    if takes(UInt8(ascii: "]")) { return [] }
    repeat {
      guard operations.count < Self.operationsMax else {
        throw fault("more than \(Self.operationsMax) operations in one transaction")
      }
      try expect("[")
      let kind = try word()
      try expect(",")
      let list = try integer()
      try expect(",")
      switch kind {
      case "append": operations.append(.append(list: list, value: try integer()))
      case "read": operations.append(.read(list: list, values: try integers()))
      default: throw fault("operation '\(kind)': write append or read")
      }
      try expect("]")
    } while takes(UInt8(ascii: ","))
    try expect("]")
    return operations
  }

  private mutating func integers() throws(Fault) -> [Int] {
    var numbers: [Int] = []
    try expect("[")
    if takes(UInt8(ascii: "]")) { return [] }
    repeat { numbers.append(try integer()) } while takes(UInt8(ascii: ","))
    try expect("]")
    return numbers
  }
}
