// EngineLoadRecord.swift: the history of transactions reported by the built-in workload, merged
// over several rounds, and judged by the isolation oracle.
// The engine's promise: processes see one order, strict serializable, whatever was killed. After a
// crash, the newest version chosen by recovery is kept. A version that an open found after a kill
// or an error, and that was never acknowledged, may have been read and still be lost: an open does
// not make durable what it finds (decision 0003). So reads of such a version, if it did not
// survive, are judged among those of their round, and then excluded from the comparison with the
// rest. A failing sync can also remove such a version without a power cut: the kernel drops its
// pages, and a process that opens the database alone reads the medium (decision 0773). Every other
// read of a lost version is a broken promise.

import Findings
import LabCore
import Oracles

/// A history of transactions over rounds.
struct EngineLoadRecord {
  /// Relevant lines of earlier rounds.
  private var kept: [String]
  /// Lines of this round.
  private var fresh: [String] = []
  /// The version that each read-only transaction of this round has read.
  private var seen: [Int: UInt64] = [:]
  /// Versions that opens of this round found.
  private var found: Set<UInt64> = []

  /// Histories of this round at the time when an open found less than an earlier one.
  private var parted: [String] = []
  private let mayFail: Bool

  /// Starts with the text of an earlier record.
  /// - Parameters:
  ///   - text: The record.
  ///   - mayFail: Whether syncs may fail, and so remove what an open found.
  init(text: String = HistoryLine.header + "\n", mayFail: Bool = false) {
    kept = text.split(separator: "\n").map(String.init)
    self.mayFail = mayFail
  }

  /// The record as a history file.
  var text: String { (kept + fresh).joined(separator: "\n") + "\n" }

  /// Adds the acknowledgements of a round.
  ///
  /// Between two parts of a round all processes were killed, which is visible in their sessions.
  /// - Throws: `LabError` with code `.usage` for lines that are not part of a history.
  mutating func consume(_ acknowledged: ArraySlice<UInt8>) throws(LabError) {
    var segment: Int?
    for line in acknowledged.split(separator: UInt8(ascii: "\n")) {
      let text = String(decoding: line, as: UTF8.self)
      let words = text.split(separator: " ")
      if words.first == "seen", words.count == 3, let number = Int(words[1]) {
        seen[number] = UInt64(words[2])
      }
      if words.first == "open", words.count == 2, let version = UInt64(words[1]) {
        if mayFail, found.contains(where: { $0 > version }) { try part(at: version) }
        found.insert(version)
      }
      guard line.first == UInt8(ascii: "{") else { continue }
      if let session = try Self.field("session", of: line) {
        let part = session / EngineLoad.Place.sessionsPerSegment
        if let segment, segment != part { fresh.append(HistoryLine.crash) }
        segment = part
      }
      fresh.append(text)
    }
  }

  /// Excludes reads of versions that an open no longer finds; they are judged separately.
  private mutating func part(at version: UInt64) throws(LabError) {
    parted.append(text)
    fresh = try linesThatRemain(at: version)
    found = found.filter { $0 <= version }
  }

  /// This round's lines, without reads of later versions that only an open had found.
  private func linesThatRemain(at version: UInt64) throws(LabError) -> [String] {
    var rest: [String] = []
    for line in fresh {
      let number = try Self.field("number", of: ArraySlice(line.utf8))
      if let number, let seen = seen[number], seen > version, found.contains(seen) { continue }
      rest.append(line)
    }
    return rest
  }

  private static func field(
    _ name: String, of line: ArraySlice<UInt8>
  ) throws(LabError) -> Int? {
    var scanner = HistoryScanner(Array(line), 0..<line.count)
    do throws(HistoryScanner.Fault) {
      let fields = try scanner.fields()
      return name == "session" ? fields.session : fields.begin ?? fields.ops ?? fields.end
    } catch {
      throw .usage(
        "'\(String(decoding: line.prefix(200), as: UTF8.self))' is not a line of a history: "
          + error.message)
    }
  }

  /// Transactions begun since all processes were last killed that have not ended.
  /// - Returns: Processes and threads in words, in the order in which they began.
  /// - Throws: `LabError` with code `.usage` for lines that are not part of a history.
  func waiting() throws(LabError) -> [String] {
    var open: [(number: Int, session: Int)] = []
    for line in fresh {
      if line == HistoryLine.crash { open = [] }
      let bytes = ArraySlice(line.utf8)
      guard let number = try Self.field("number", of: bytes) else { continue }
      if let session = try Self.field("session", of: bytes) { open.append((number, session)) }
      if line.hasPrefix("{\"end\"") { open.removeAll { $0.number == number } }
    }
    return open.map { EngineLoad.Place.words(ofSession: $0.session) }
  }

  /// Judges everything reported so far.
  func violations() throws(LabError) -> [Violation] {
    for part in parted {
      let found = try Self.violations(part)
      if !found.isEmpty { return found }
    }
    return try Self.violations(text)
  }

  private static func violations(_ text: String) throws(LabError) -> [Violation] {
    let history = try HistoryParser.parse(Array(text.utf8), file: "the load's history")
    let report = try IsolationOracle.check(history)
    return report.anomalies.prefix(3).map { anomaly in
      Violation(
        .isolation, promised: "transactions are strict serializable",
        got: "there is \(anomaly.name.rawValue):\n  " + anomaly.lines.joined(separator: "\n  "))
    }
  }

  /// Continues after a power cut, and judges its result.
  /// - Parameters:
  ///   - version: The version that survived.
  ///   - lists: Its lists.
  ///   - round: Number of the round.
  /// - Returns: The promises that the crash broke.
  /// - Throws: `LabError` when the history cannot be read.
  mutating func survive(
    _ version: UInt64, lists: [LoadList], round: Int
  ) throws(LabError) -> [Violation] {
    let rest = try linesThatRemain(at: version)
    // Faultline's own read of the result; no other transaction has a negative number.
    let own = -1 - round
    let reads = lists.map { HistoryOperation.read(list: $0.name, values: $0.values) }
    kept +=
      rest + [
        HistoryLine.crash, HistoryLine.begin(own, session: own),
        HistoryLine.operations(own, reads), HistoryLine.end(own, .committed),
      ]
    fresh = []
    seen = [:]
    found = []
    parted = []
    return try violations()
  }
}
