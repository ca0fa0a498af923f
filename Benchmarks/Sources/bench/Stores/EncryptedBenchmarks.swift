// EncryptedBenchmarks.swift: encrypted files against SQLCipher from Debian. Its library has the
// names of SQLite's, so the peer is this program again, in a process into which that library is
// loaded first: `bench encrypted WORK PATH`.

import Engine
import Foundation

/// What is timed.
private enum EncryptedWork: String, CaseIterable {
  case bulk
  case lookup
  case scan
  case commit

  var unit: String {
    switch self {
    case .bulk, .scan: "rows/s"
    case .lookup: "lookups/s"
    case .commit: "commits/s"
    }
  }

  var count: Int { self == .commit ? 200 : RowSet.million.count }
}

/// What a side measured, and what it found, which must be the other's.
private struct EncryptedAnswer: Codable {
  let seconds: Double
  let processorSeconds: Double
  let sum: String
}

/// The peer, in its own process.
enum SQLCipher {
  private static let key = [UInt8](repeating: 7, count: 32)
  /// The raw key, so that no time goes into deriving it from a passphrase, and a page cache as
  /// large as ours.
  private static var keyStatement: String {
    "PRAGMA key = \"x'\(String(repeating: "07", count: 32))'\"; PRAGMA cache_size = -65536"
  }

  private static let library = "libsqlcipher.so.0"

  /// Runs WORK on the file at PATH, with the library loaded.
  static func run(_ arguments: [String]) throws {
    guard arguments.count == 3, let work = EncryptedWork(rawValue: arguments[1]) else {
      throw BenchError("encrypted takes WORK PATH")
    }
    let store = try SQLiteStore(arguments[2], wal: work == .commit, key: keyStatement)
    // SQLite itself knows no such pragma, and answers nothing.
    guard try store.answer("PRAGMA cipher_version") > 0 else {
      throw BenchError("\(library) was not loaded; install it with: apt-get install libsqlcipher0")
    }
    let answer = try measure(work) {
      try store.insert($0)
    } lookUp: {
      try store.lookUp($0).answer
    } sum: {
      try store.totals().sum
    } commit: {
      try store.commit($0)
    }
    try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(answer))
  }

  fileprivate static func peer(_ work: EncryptedWork, _ path: String) throws -> EncryptedAnswer {
    let program = Bundle.main.executablePath ?? "/proc/self/exe"
    let output = try Processes.output(
      of: ["/usr/bin/env", "LD_PRELOAD=\(library)", program, "encrypted", work.rawValue, path])
    return try JSONDecoder().decode(EncryptedAnswer.self, from: Data(output.utf8))
  }

  fileprivate static func ours(_ work: EncryptedWork, _ path: String) throws -> EncryptedAnswer {
    var options = Database.Options()
    options.encryptionKey = key + key
    options.commitProtocol = work == .commit ? .checksummed : .twoPhase
    let store = try EngineStore(path, options: options)
    let answer = try measure(work) {
      try store.insert($0)
    } lookUp: {
      try store.lookUp($0).answer
    } sum: {
      try store.sumOfScores().answer
    } commit: {
      try store.commit($0)
    }
    try store.close()
    return answer
  }

  /// The same order of calls on both sides; each on a new file.
  private static func measure(
    _ work: EncryptedWork, insert: (RowSet) throws -> Double, lookUp: ([Int64]) throws -> UInt64,
    sum: () throws -> Double, commit: (RowSet) throws -> Double
  ) throws -> EncryptedAnswer {
    let rows = work == .commit ? RowSet.tenThousand : .million
    let (bulk, _) = try Taken.by { try insert(rows) }
    var found = UInt64(0)
    let taken =
      switch work {
      case .bulk: bulk
      case .lookup:
        try {
          let keys = RowSet.keys(rows.count, of: rows.count)
          found = try lookUp(keys)
          return try Taken.by { try lookUp(keys) }.0
        }()
      case .scan:
        try {
          _ = try sum()
          return try Taken.by(sum).0
        }()
      case .commit:
        try Taken.by { try commit(RowSet(drawn: work.count, of: rows.count, seed: 5)) }.0
      }
    return EncryptedAnswer(
      seconds: taken.seconds, processorSeconds: taken.processorSeconds,
      sum: "\(found), \(try sum())")
  }
}

extension Benchmark {
  static let encrypted: [Benchmark] = EncryptedWork.allCases.map { work in
    let name = "encrypted-\(work.rawValue)/sqlcipher"
    return Benchmark(name: name) { settings in
      let side = { (measure: (EncryptedWork, String) throws -> EncryptedAnswer) in
        try Scratch.withDisk("encrypted") { directory in
          try measure(work, directory.appending(path: "file").path)
        }
      }
      let measured = try turns(rounds: settings.rounds) {
        try side(settings.peerOnBothSides ? SQLCipher.peer : SQLCipher.ours)
      } peer: {
        try side(SQLCipher.peer)
      }
      try expectEqual(name, Set(measured.ours.map(\.sum)), Set(measured.peer.map(\.sum)))
      let middle = { (answers: [EncryptedAnswer], value: (EncryptedAnswer) -> Double) in
        median(answers.map(value))
      }
      var row = Row.rate(
        name, ours: Double(work.count) / middle(measured.ours, \.seconds),
        peer: Double(work.count) / middle(measured.peer, \.seconds),
        peerName: "SQLCipher, raw key", unit: work.unit)
      row.processorRatio =
        middle(measured.peer, \.processorSeconds) / middle(measured.ours, \.processorSeconds)
      return row
    }
  }
}
