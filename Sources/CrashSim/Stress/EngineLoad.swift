// EngineLoad.swift: [U] one process of the built-in workload: threads that commit to one database
// and threads that read it, until they are killed. Each line it writes is one acknowledgement:
// `open V`, `begin V S` while it holds the writer lock, `commit V`. S is the seed of the
// transaction, from which whoever judges knows its statements.
// Safety: a line is written by one system call from memory that nobody else sees.

import Dispatch
import Engine
import Foundation
import Glibc

/// The built-in workload's process.
public enum EngineLoad {
  /// How one process of it ended.
  public enum Ending: Sendable {
    /// All transactions were run, or the disk refused one.
    case done
    /// The engine broke a promise, which standard error names.
    case broken
  }

  private static let writers = 2
  private static let readers = 1
  /// Nobody waits for so many: the power goes before.
  private static let transactionsPerWriter = 20_000

  /// The one table.
  static var table: TableDeclaration {
    var number = ColumnDeclaration(name: "number", type: .int)
    number.isIndexed = true
    let text = ColumnDeclaration(name: "text", type: .string)
    return TableDeclaration(name: "Row", key: "_id", columns: [number, text])
  }

  /// The statements that follow from a seed; a delete of a row that is not there does nothing.
  static func statements(_ seed: UInt64) -> [Mutation] {
    var random = PRNG(Seed(rawValue: seed))
    return (0..<1 + random.below(6)).map { _ in
      let key = Int64(random.below(200))
      if random.chance(Ratio(1, in: 4)) { return Mutation(.delete, table.name, key: key) }
      let letter = UInt8(ascii: "a") + UInt8(random.below(26))
      let bytes = [UInt8](repeating: letter, count: random.below(300))
      let text = PlannedValue.string(String(decoding: bytes, as: UTF8.self))
      let number = PlannedValue.int(Int64(random.below(1 << 20)))
      return Mutation(.upsert, table.name, key: key, values: [number, text])
    }
  }

  /// Runs one process of the workload.
  /// - Parameters:
  ///   - directory: Where the database lies.
  ///   - process: Its number among the processes.
  ///   - seed: What the transactions follow from.
  /// - Returns: How it went; while all is well it is killed before.
  public static func run(directory: String, process: Int, seed: Seed) -> Ending {
    let database: Database
    do throws(EngineError) {
      database = try Database.open(path: "\(directory)/\(EngineWorker.fileName)")
    } catch {
      return ending(error)
    }
    say("open \(database.version)")
    let broken = DispatchSemaphore(value: 0)
    let threads = DispatchGroup()
    for index in 0..<writers + readers {
      let own = seed.derived("process").derived(UInt64(process)).derived(UInt64(index))
      threads.enter()
      let thread = Thread {
        do throws(EngineError) {
          let isRight = try index < writers ? write(own, to: database) : read(database)
          if !isRight { broken.signal() }
        } catch {
          if case .broken = ending(error) { broken.signal() }
        }
        threads.leave()
      }
      thread.start()
    }
    threads.wait()
    return broken.wait(timeout: .now()) == .success ? .broken : .done
  }

  /// Errors that a faulty disk may cause end the work, but break no promise.
  private static func ending(_ error: EngineError) -> Ending {
    complain("\(error)")
    switch error.code {
    case .io, .noSpace, .poisoned: return .done
    default: return .broken
    }
  }

  private static func write(
    _ seed: Seed, to database: Database
  ) throws(EngineError) -> Bool {
    for number in 0..<transactionsPerWriter {
      let own = seed.derived(UInt64(number)).rawValue
      let transaction = try database.beginWrite()
      let version = database.version.next
      do throws(EngineError) {
        do throws(EngineError) {
          try transaction.createTable(table.schema)
        } catch  where error.code == .tableExists {}
        for statement in statements(own) { try apply(statement, to: transaction) }
      } catch {
        transaction.cancel()
        throw error
      }
      say("begin \(version) \(own)")
      let committed = try transaction.commit()
      say("commit \(committed)")
      if committed != version {
        complain("the commit after version \(version.rawValue - 1) became version \(committed)")
        return false
      }
    }
    return true
  }

  private static func apply(
    _ statement: Mutation, to transaction: WriteTransaction
  ) throws(EngineError) {
    switch statement.kind {
    case .delete:
      do throws(EngineError) {
        try transaction.delete(from: statement.table, key: statement.key)
      } catch  where error.code == .keyNotFound {}
    default:
      try transaction.upsert(
        into: statement.table, key: statement.key, statement.values.map(\.engineValue))
    }
  }

  /// Reads one version twice, again and again.
  private static func read(_ database: Database) throws(EngineError) -> Bool {
    for _ in 0..<transactionsPerWriter {
      let snapshot = try database.snapshot()
      defer { snapshot.release() }
      let first = try snapshot.contentHash()
      sched_yield()
      let second = try snapshot.contentHash()
      if first != second {
        complain("isolation: version \(snapshot.version) changed while it was pinned")
        return false
      }
    }
    return true
  }

  /// One line, one write(2): one mark.
  private static func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe _ = Glibc.write(STDOUT_FILENO, buffer.baseAddress, buffer.count)
    }
  }

  private static func complain(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
