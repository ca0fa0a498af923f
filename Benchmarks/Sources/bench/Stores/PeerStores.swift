// PeerStores.swift [U]: LMDB and SQLite at work. Safety: each object owns its C handle from init to
// deinit; rows and keys are borrowed for the length of a call.

import CBench
import Foundation

/// The seconds of a call that returns nanoseconds, or a negative number for an error.
private func seconds(_ nanoseconds: Int64) throws -> Double {
  guard nanoseconds >= 0 else { throw BenchError(unsafe String(cString: cbench_store_error())) }
  return Double(nanoseconds) / 1e9
}

/// LMDB.
@safe final class LMDBStore {
  private let handle: OpaquePointer
  let path: String

  init(_ path: String) throws {
    guard let opened = unsafe cbench_lmdb_open(path, 1) else {
      throw BenchError(unsafe String(cString: cbench_store_error()))
    }
    unsafe handle = opened
    self.path = path
  }

  deinit { unsafe cbench_lmdb_close(handle) }

  func insert(_ set: RowSet, appends: Bool) throws -> Double {
    try seconds(unsafe cbench_lmdb_insert(handle, set.rows, Int64(set.count), appends ? 1 : 0))
  }

  func commit(_ set: RowSet) throws -> Double {
    try seconds(unsafe cbench_lmdb_commits(handle, set.rows, Int64(set.count), nil))
  }

  /// The same; returns the nanoseconds of each commit.
  func latencies(_ set: RowSet) throws -> [Int64] {
    var latencies = [Int64](repeating: 0, count: set.count)
    _ = try seconds(unsafe cbench_lmdb_commits(handle, set.rows, Int64(set.count), &latencies))
    return latencies
  }

  /// Puts rows in one transaction, replacing those that are there.
  func put(_ set: RowSet) throws -> Double { try insert(set, appends: false) }

  func lookUp(_ keys: [Int64]) throws -> (seconds: Double, answer: UInt64) {
    var checksum: UInt64 = 0
    let taken = unsafe cbench_lmdb_lookups(handle, keys, Int64(keys.count), &checksum)
    return (try seconds(taken), checksum)
  }

  func countYounger(than age: Int64) throws -> (seconds: Double, answer: Int64) {
    var found: Int64 = 0
    return (try seconds(unsafe cbench_lmdb_count_age(handle, age, &found)), found)
  }

  func sumOfScores() throws -> (seconds: Double, answer: Double) {
    var sum = 0.0
    return (try seconds(unsafe cbench_lmdb_sum_score(handle, &sum)), sum)
  }

  func count(named name: String) throws -> (seconds: Double, answer: Int64) {
    var found: Int64 = 0
    return (try seconds(unsafe cbench_lmdb_count_name(handle, name, &found)), found)
  }

  func sumOfAges() throws -> Int64 {
    var sum: Int64 = 0
    _ = try seconds(unsafe cbench_lmdb_sum_age(handle, &sum))
    return sum
  }

  func count(withPrefix prefix: String) throws -> Int64 {
    var found: Int64 = 0
    _ = try seconds(unsafe cbench_lmdb_count_prefix(handle, prefix, &found))
    return found
  }

  func count(youngerThan age: Int64, scoreBelow score: Double) throws -> Int64 {
    var found: Int64 = 0
    _ = try seconds(unsafe cbench_lmdb_count_both(handle, age, score, &found))
    return found
  }

  /// The number of rows that differ from the pinned version.
  func changes() throws -> Int64 {
    var found: Int64 = 0
    _ = try seconds(unsafe cbench_lmdb_changes(handle, &found))
    return found
  }

  /// Holds the present version until the store is closed.
  func pin() throws {
    guard unsafe cbench_lmdb_pin(handle) == 0 else {
      throw BenchError(unsafe String(cString: cbench_store_error()))
    }
  }
}

/// SQLite.
@safe final class SQLiteStore {
  private let handle: OpaquePointer

  /// Opens a file; `key` is the statement that sets SQLCipher's key.
  init(_ path: String, wal: Bool = false, key: String? = nil) throws {
    guard let opened = unsafe cbench_sqlite_open(path, wal ? 1 : 0, key) else {
      throw BenchError(unsafe String(cString: cbench_store_error()))
    }
    unsafe handle = opened
  }

  deinit { unsafe cbench_sqlite_close(handle) }

  func insert(_ set: RowSet) throws -> Double {
    try seconds(unsafe cbench_sqlite_insert(handle, set.rows, Int64(set.count)))
  }

  func commit(_ set: RowSet) throws -> Double {
    try seconds(unsafe cbench_sqlite_commits(handle, set.rows, Int64(set.count), nil))
  }

  /// The same; returns the nanoseconds of each commit.
  func latencies(_ set: RowSet) throws -> [Int64] {
    var latencies = [Int64](repeating: 0, count: set.count)
    _ = try seconds(unsafe cbench_sqlite_commits(handle, set.rows, Int64(set.count), &latencies))
    return latencies
  }

  func lookUp(_ keys: [Int64]) throws -> (seconds: Double, answer: UInt64) {
    var checksum: UInt64 = 0
    let taken = unsafe cbench_sqlite_lookups(handle, keys, Int64(keys.count), &checksum)
    return (try seconds(taken), checksum)
  }

  /// Runs a statement of a number and a text for each text, in one transaction.
  func insert(texts: TextSet, _ statement: String) throws -> Double {
    try seconds(
      unsafe cbench_sqlite_insert_texts(handle, statement, texts.bytes, Int64(texts.texts.count)))
  }

  /// Gives row i the age (i + turn) % 100, one row after the other in one transaction.
  func assignAges(_ count: Int, turn: Int) throws {
    _ = try seconds(unsafe cbench_sqlite_assign_ages(handle, Int64(count), Int64(turn)))
  }

  /// Runs statements that answer nothing.
  func execute(_ text: String) throws {
    _ = try seconds(unsafe cbench_sqlite_execute(handle, text))
  }

  /// The number that a query answers; of many rows, one made of every 1,000th.
  func answer(_ text: String) throws -> Int64 {
    var answer: Int64 = 0
    _ = try seconds(unsafe cbench_sqlite_answer(handle, text, &answer))
    return answer
  }

  /// Deletes every second row.
  func thin() throws { _ = try seconds(unsafe cbench_sqlite_thin(handle)) }

  func compact() throws -> Double { try seconds(unsafe cbench_sqlite_compact(handle)) }

  /// The number of rows and the sum of their scores.
  func totals() throws -> (rows: Int64, sum: Double) {
    var rows: Int64 = 0
    var sum = 0.0
    _ = try seconds(unsafe cbench_sqlite_totals(handle, &rows, &sum))
    return (rows, sum)
  }
}

/// Syncs that this process asks for, by whichever library.
enum SyncCount {
  /// Runs `body` and returns how many it asked for.
  static func during(_ body: () throws -> Void) rethrows -> Int {
    cbench_sync_count_start()
    defer { _ = cbench_sync_count_stop() }
    try body()
    return Int(cbench_sync_count_stop())
  }
}

/// Reading a file and hashing it, as the engine's nodes are hashed.
enum PlainRead {
  static func hash(_ path: String) throws -> (seconds: Double, bytes: Int) {
    var bytes: Int64 = 0
    let taken = unsafe cbench_read_and_hash(path, &bytes)
    return (try seconds(taken), Int(bytes))
  }
}
