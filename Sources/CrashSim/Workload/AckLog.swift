// AckLog.swift: what a workload has acknowledged so far, read from the marks of its trace.
// The marks, one per line:
//   begin N                  transaction N is about to be requested
//   number N version V       its commit, if it happens, will be version V
//   commit N version V       it was acknowledged as version V: it must be present
//   failed N CODE            it ended with an error (see `isIndeterminate`)
//   cancel N                 it was rolled back: it must be absent
//   recovered version V      a database was opened, and V is its newest version
//   copied NAME              the copy NAME.realm of the newest version is complete
// Invariant: at most one transaction of each actor is open (`begin` without an end), and actors
// begin in the order of their turns; lines that begin with none of these words are a program's own
// output and are ignored.

import Recording

/// The acknowledgements of a workload, in order.
package struct AckLog: Sendable, Hashable {
  /// One mark.
  package enum Entry: Sendable, Hashable, CustomStringConvertible {
    case begin(Int)
    case number(Int, version: UInt64)
    case commit(Int, version: UInt64)
    case failed(Int, code: String)
    case cancel(Int)
    case recovered(version: UInt64)
    case copied(String)

    /// The mark's text, without a line feed.
    package var description: String {
      switch self {
      case .begin(let number): "begin \(number)"
      case .number(let number, let version): "number \(number) version \(version)"
      case .commit(let number, let version): "commit \(number) version \(version)"
      case .failed(let number, let code): "failed \(number) \(code)"
      case .cancel(let number): "cancel \(number)"
      case .recovered(let version): "recovered version \(version)"
      case .copied(let name): "copied \(name)"
      }
    }

    /// The mark for a trace; it ends in a line feed.
    package var mark: Mark { Mark(description + "\n") }

    /// Reads a line; nil when it is not an acknowledgement.
    package init?(_ line: some StringProtocol) {
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      func number(_ index: Int) -> Int? {
        words[index].first.map { $0 != "+" } ?? false ? Int(words[index]) : nil
      }
      switch (words.first, words.count) {
      case ("begin", 2):
        guard let transaction = number(1) else { return nil }
        self = .begin(transaction)
      case ("number", 4) where words[2] == "version":
        guard let transaction = number(1), let version = UInt64(words[3]) else { return nil }
        self = .number(transaction, version: version)
      case ("commit", 4) where words[2] == "version":
        guard let transaction = number(1), let version = UInt64(words[3]) else { return nil }
        self = .commit(transaction, version: version)
      case ("failed", 3):
        guard let transaction = number(1), !words[2].isEmpty else { return nil }
        self = .failed(transaction, code: String(words[2]))
      case ("cancel", 2):
        guard let transaction = number(1) else { return nil }
        self = .cancel(transaction)
      case ("recovered", 3) where words[1] == "version":
        guard let version = UInt64(words[2]) else { return nil }
        self = .recovered(version: version)
      case ("copied", 2) where !words[1].isEmpty:
        self = .copied(String(words[1]))
      default:
        return nil
      }
    }
  }

  /// The acknowledgements so far.
  package private(set) var entries: [Entry] = []
  private var rest: [UInt8] = []

  /// An empty log.
  package init() {}

  /// Reads all marks of a trace, or of the part before a crash point.
  package init(_ marks: some Sequence<Mark>) {
    for mark in marks { append(mark) }
  }

  /// Reads another mark.
  ///
  /// A line may be split over several marks, and a mark may hold several lines.
  package mutating func append(_ mark: Mark) {
    for byte in mark.bytes {
      if byte != UInt8(ascii: "\n") {
        rest.append(byte)
        continue
      }
      if let entry = Entry(String(decoding: rest, as: UTF8.self)) { entries.append(entry) }
      rest.removeAll(keepingCapacity: true)
    }
  }

  /// Adds an acknowledgement.
  package mutating func append(_ entry: Entry) {
    entries.append(entry)
  }

  /// Transactions that must be present, in order.
  package var acked: [Int] {
    entries.compactMap { if case .commit(let number, _) = $0 { number } else { nil } }
  }

  /// Transactions that must be absent.
  package var cancelled: [Int] {
    entries.compactMap { if case .cancel(let number) = $0 { number } else { nil } }
  }

  /// The transaction that may be present as a whole, because its outcome was not reported.
  package var inFlight: Int? {
    var open: Int?
    for entry in entries {
      switch entry {
      case .begin(let number): open = number
      case .commit, .failed, .cancel, .recovered: open = nil
      case .copied, .number: continue
      }
    }
    return open
  }

  /// The version that the last open found.
  package var lastFound: UInt64? {
    for case .recovered(let version) in entries.reversed() { return version }
    return nil
  }

  /// The newest version that was acknowledged, by a commit or by an open.
  package var lastAckedVersion: UInt64? {
    for entry in entries.reversed() {
      switch entry {
      case .commit(_, let version), .recovered(let version): return version
      case .begin, .number, .failed, .cancel, .copied: continue
      }
    }
    return nil
  }

  /// True when a transaction that failed with this code may nevertheless be on the disk.
  ///
  /// After a failed write or sync the medium's content is unknown, so such a transaction may be
  /// present as a whole, until the next open shows it (E4). Every other code is returned before any
  /// byte of the transaction could be published, so it must be absent.
  /// transaction could be published, so that it must not be there.
  package static func isIndeterminate(_ code: String) -> Bool {
    code == "io" || code == "noSpace" || code == killedCode
  }

  /// The code of a transaction whose process was killed during it.
  package static let killedCode = "killed"
}
