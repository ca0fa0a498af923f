// HistoryParser.swift: parses the lines of a history file into transactions. Every invalid line is
// an error with its number and the remedy; none is skipped.
// Invariants: memory use is a small multiple of the file's bytes; transactions are in the order of
// their begins; those open at a crash are unknown and over, those open at the file's end are
// unknown and may take effect at any time.

import FoundationEssentials
import LabCore

/// Reads history files.
package struct HistoryParser {
  /// Most bytes of a file.
  package static let fileBytesMax = 1 << 30
  /// Most bytes of a line.
  package static let lineBytesMax = 1 << 20

  private let file: String
  private var line = 0
  private var transactions: [HistoryTransaction] = []
  private var hasOperations: [Bool] = []
  private var isOver: [Bool] = []
  private var places: [Int: Int] = [:]
  /// The open transaction of each session.
  private var open: [Int: Int] = [:]
  /// Transactions begun since the last crash.
  private var recent: [Int] = []

  private init(file: String) { self.file = file }

  /// Reads a file.
  /// - Parameter path: The file.
  /// - Returns: Its transactions.
  /// - Throws: `LabError` with code `.usage` that names file, line and remedy.
  /// - Complexity: O(bytes).
  package static func load(_ path: String) throws(LabError) -> History {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    if let sizeBytes = attributes?[.size] as? Int, sizeBytes > fileBytesMax {
      throw .usage("\(path): \(sizeBytes) bytes; a history has at most \(fileBytesMax)")
    }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw .usage("\(path): cannot be read; give a history file (docs/reference/histories.md)")
    }
    return try parse(Array(data), file: path)
  }

  /// Reads the bytes of a file.
  /// - Parameters:
  ///   - bytes: The lines.
  ///   - file: The file's name, for messages.
  /// - Returns: Its transactions.
  /// - Throws: `LabError` with code `.usage` that names file, line and remedy.
  /// - Complexity: O(bytes).
  package static func parse(_ bytes: [UInt8], file: String) throws(LabError) -> History {
    var parser = HistoryParser(file: file)
    guard bytes.count <= fileBytesMax else {
      throw .usage("\(file): \(bytes.count) bytes; a history has at most \(fileBytesMax)")
    }
    var start = 0
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      try parser.take(bytes, start..<end)
      start = end + 1
    }
    guard parser.line > 0 else {
      throw .usage("\(file):1: the file is empty; a history begins with \(HistoryLine.header)")
    }
    return History(transactions: parser.transactions)
  }

  private func wrong(_ message: String, column: Int? = nil) -> LabError {
    .usage("\(file):\(line)\(column.map { ":\($0)" } ?? ""): \(message)")
  }

  private mutating func take(_ bytes: [UInt8], _ range: Range<Int>) throws(LabError) {
    line += 1
    guard range.count <= Self.lineBytesMax else {
      throw wrong("a line of \(range.count) bytes; the most is \(Self.lineBytesMax)")
    }
    let fields: HistoryScanner.Fields
    do throws(HistoryScanner.Fault) {
      var scanner = HistoryScanner(bytes, range)
      fields = try scanner.fields()
    } catch {
      throw wrong(error.message, column: error.column)
    }
    if line == 1 {
      guard fields.history == 1, fields.count == 1 else {
        throw wrong("a history begins with \(HistoryLine.header)")
      }
    } else if let number = fields.begin, let session = fields.session, fields.count == 2 {
      try begin(number, session)
    } else if let number = fields.ops, let operations = fields.operations, fields.count == 2 {
      try note(operations, of: number)
    } else if let number = fields.end, let outcome = fields.outcome, fields.count == 2 {
      try end(number, outcome)
    } else if fields.crash != nil, fields.count == 1 {
      crash()
    } else {
      throw wrong(
        "a line has begin and session, ops and do, end and outcome, or crash, and no other field")
    }
  }

  private mutating func begin(_ number: Int, _ session: Int) throws(LabError) {
    guard places[number] == nil else {
      throw wrong("transaction \(number) began before, in line \(lineOfBegin(number))")
    }
    if let other = open[session] {
      throw wrong(
        "session \(session) is still in transaction \(transactions[other].number); end that, or "
          + "give the process that follows a killed one a session of its own")
    }
    places[number] = transactions.count
    open[session] = transactions.count
    recent.append(transactions.count)
    transactions.append(
      HistoryTransaction(
        number: number, session: session, begin: line, end: nil, outcome: .unknown,
        operations: []))
    hasOperations.append(false)
    isOver.append(false)
  }

  private func lineOfBegin(_ number: Int) -> Int {
    places[number].map { transactions[$0].begin } ?? 0
  }

  /// The index of the open transaction with this number.
  private func place(of number: Int) throws(LabError) -> Int {
    guard let place = places[number] else {
      throw wrong("transaction \(number) has no line {\"begin\":\(number),…} before this one")
    }
    guard !isOver[place] else { throw wrong("transaction \(number) has ended before") }
    return place
  }

  private mutating func note(
    _ operations: [HistoryOperation], of number: Int
  ) throws(LabError) {
    let place = try place(of: number)
    guard !hasOperations[place] else {
      throw wrong("transaction \(number) already has a line; write one line for each")
    }
    hasOperations[place] = true
    transactions[place].operations = operations
  }

  private mutating func end(_ number: Int, _ outcome: HistoryOutcome) throws(LabError) {
    let place = try place(of: number)
    guard outcome != .committed || hasOperations[place] else {
      throw wrong("transaction \(number) is committed without a line {\"ops\":\(number),…}")
    }
    isOver[place] = true
    transactions[place].outcome = outcome
    if outcome != .unknown { transactions[place].end = line }
    open[transactions[place].session] = nil
  }

  /// All current sessions have ended, with everything that may still have been in flight.
  private mutating func crash() {
    for place in recent where transactions[place].end == nil {
      transactions[place].end = line
      isOver[place] = true
    }
    recent = []
    open = [:]
  }
}
