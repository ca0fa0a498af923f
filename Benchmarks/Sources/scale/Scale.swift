// Scale.swift [U]: what an item costs in files of a million rows and a hundred million: one table
// as the other benchmarks have it (age, score, a name of 12 letters), by growing keys.
//   scale [--rows N,N…] [--directory DIR] [--no-read-ahead] [--csv FILE] [--svg FILE]
// The scan is another process, `scale --read FILE`, so that its memory is that of a reader alone.

import CBench
import Engine
import Foundation

/// One size, measured.
struct Measured {
  let rows: Int
  var bytes = 0
  /// Nanoseconds for each item, by the name of the operation.
  var costs: [(name: String, nanoseconds: Double)] = []
  /// Anonymous memory of the process that scanned the file, in bytes.
  var ownBytes = 0

  subscript(name: String) -> Double {
    costs.first { $0.name == name }?.nanoseconds ?? .nan
  }
}

/// Numbers that are spread over a range, the same in every run.
struct Spread {
  let range: UInt64

  subscript(index: Int) -> Int64 {
    let product = UInt64(index + 1) &* 0x9e37_79b9_7f4a_7c15
    return Int64((product ^ (product >> 29)) % range)
  }
}

/// A file of so many rows, and what is done to it.
struct Scale {
  private static let table = "row"
  private static let batch = 1_000_000
  private static let names: [[UInt8]] = {
    let letters = Spread(range: 26)
    return (0..<10_000).map { name in (0..<12).map { 97 + UInt8(letters[name * 12 + $0]) } }
  }()

  let path: String
  /// Of lookups and commits, which are in random order.
  var readsAhead = true

  /// Makes the file, and measures everything in it.
  func measure(rows: Int) throws -> Measured {
    var measured = Measured(rows: rows)
    measured.costs.append(("insert", try fill(rows)))
    measured.bytes =
      (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    measured.costs.append(("open", try open()))
    let (scan, own) = try readElsewhere()
    measured.costs.append(("scan", scan))
    measured.ownBytes = own
    var options = Database.Options()
    options.readsAhead = readsAhead
    var database = try Database.open(path: path, options: options)
    measured.costs.append(("lookup", try lookUp(database, rows)))
    measured.costs.append(("commit", try commit(database, rows)))
    try database.close()
    database = try Database.open(path: path)
    measured.costs.append(("verify", try Self.nanoseconds { try database.verify() } / Double(rows)))
    try database.close()
    measured.costs.append(("lmdb-lookup", try lookUpInPeer(rows)))
    return measured
  }

  private static func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return start.duration(to: .now) / .nanoseconds(1)
  }

  /// Durable transactions of a million rows.
  private func fill(_ rows: Int) throws -> Double {
    let database = try Database.open(path: path)
    let nanoseconds = try Self.nanoseconds {
      var write = try database.beginWrite()
      try write.createTable(
        TableSchema(
          name: Self.table,
          columns: [
            ColumnSchema(name: "age", type: .int), ColumnSchema(name: "score", type: .double),
            ColumnSchema(name: "name", type: .string),
          ]))
      for start in stride(from: 0, to: rows, by: Self.batch) {
        if start > 0 { write = try database.beginWrite() }
        let names = Self.names
        let count = min(Self.batch, rows - start)
        try write.insert(into: Self.table, count: count) { row, index throws(EngineError) in
          let key = Int64(start + index)
          try row.append(key &* 37 % 100)
          try row.append(Double(key) / 7)
          let name = names[Int(key &* 7919 % 10_000)]
          try row.append(utf8: name.span)
          return key
        }
        try write.commit()
      }
    }
    try database.close()
    return nanoseconds / Double(rows)
  }

  /// The median of 31 times; the file was open before, so its first pages are in memory.
  private func open() throws -> Double {
    let times = try (0..<31).map { _ in
      var opened: Database?
      let time = try Self.nanoseconds { opened = try Database.open(path: path) }
      try opened?.close()
      return time
    }
    return times.sorted()[15]
  }

  /// All three columns of a million random rows.
  private func lookUp(_ database: Database, _ rows: Int) throws -> Double {
    let spread = Spread(range: UInt64(rows))
    let keys = (0..<1_000_000).map { spread[$0] }
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    let reader = try snapshot.reader(for: Self.table)
    let age = try reader.column("age", of: Int64.self)
    let score = try reader.column("score", of: Double.self)
    let name = try reader.column("name", of: String.self)
    let nanoseconds = try Self.nanoseconds {
      for key in keys {
        guard let row = try reader.find(key), try reader.int(at: row, age) == key &* 37 % 100,
          try reader.double(at: row, score) == Double(key) / 7,
          try reader.withUTF8(at: row, name, { $0.count }) == 12
        else { throw ScaleError("the row of key \(key) is another one") }
      }
    }
    return nanoseconds / Double(keys.count)
  }

  /// The same number of random rows in a file of LMDB, which has as many: what memory alone costs.
  private func lookUpInPeer(_ rows: Int) throws -> Double {
    let other = path + ".lmdb"
    func checked(_ nanoseconds: Int64) throws -> Double {
      if nanoseconds < 0 { throw ScaleError(unsafe String(cString: cbench_store_error())) }
      return Double(nanoseconds)
    }
    guard let store = unsafe cbench_lmdb_open(other, readsAhead ? 1 : 0) else {
      throw ScaleError(unsafe String(cString: cbench_store_error()))
    }
    defer {
      unsafe cbench_lmdb_close(store)
      for suffix in ["", "-lock"] { try? FileManager.default.removeItem(atPath: other + suffix) }
    }
    for start in stride(from: 0, to: rows, by: Self.batch) {
      let count = min(Self.batch, rows - start)
      var batch = [cbench_row](repeating: cbench_row(), count: count)
      unsafe cbench_rows(&batch, Int64(start), Int64(count))
      _ = try checked(unsafe cbench_lmdb_insert(store, batch, Int64(count), 1))
    }
    let spread = Spread(range: UInt64(rows))
    let keys = (0..<1_000_000).map { spread[$0] }
    var checksum: UInt64 = 0
    return try checked(
      unsafe cbench_lmdb_lookups(store, keys, Int64(keys.count), &checksum)) / Double(keys.count)
  }

  /// 1,000 durable transactions, each of one row.
  private func commit(_ database: Database, _ rows: Int) throws -> Double {
    let spread = Spread(range: UInt64(rows))
    let nanoseconds = try Self.nanoseconds {
      for index in 0..<1_000 {
        let key = spread[index]
        let write = try database.beginWrite()
        try write.update(
          in: Self.table, key: key,
          [
            .int(key &* 37 % 100), .double(Double(key)),
            .string(String(decoding: Self.names[Int(key % 10_000)], as: UTF8.self)),
          ])
        try write.commit()
      }
    }
    return nanoseconds / 1_000
  }

  // MARK: the reader

  /// The scan of another process, and its memory.
  private func readElsewhere() throws -> (nanoseconds: Double, ownBytes: Int) {
    let process = Process()
    process.executableURL = Bundle.main.executableURL
    process.arguments = ["--read", path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let words = String(decoding: output, as: UTF8.self).split(separator: " ")
    guard process.terminationStatus == 0, words.count == 2, let nanoseconds = Double(words[0]),
      let own = Int(words[1].trimmingCharacters(in: .newlines))
    else { throw ScaleError("the reader of \(path) failed") }
    return (nanoseconds, own)
  }

  /// Adds up a column and reads another; prints the cost of a row, and the memory.
  func read() throws {
    let database = try Database.open(path: path)
    let snapshot = try database.snapshot()
    let reader = try snapshot.reader(for: Self.table)
    let score = try reader.column("score", of: Double.self)
    let name = try reader.column("name", of: String.self)
    var total = 0.0
    var found = 0
    let nanoseconds = try Self.nanoseconds {
      total = try reader.sum(score)
      found = try reader.count(name, equalTo: String(decoding: Self.names[1], as: UTF8.self))
    }
    guard total >= 0, found > 0 else { throw ScaleError("sum \(total), found \(found)") }
    print(nanoseconds / Double(reader.rowCount), try Self.anonymousBytes())
    snapshot.release()
    try database.close()
  }

  /// The anonymous memory of this process that is resident (proc(5), `RssAnon`).
  private static func anonymousBytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    guard let number = line?.split(separator: " ").dropLast().last.flatMap({ Int($0) }) else {
      throw ScaleError("/proc/self/status has no RssAnon")
    }
    return number << 10
  }
}

/// Why nothing could be measured.
struct ScaleError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
