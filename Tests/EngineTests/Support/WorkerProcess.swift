// WorkerProcess.swift [U]: the engine's worker as a process of its own, spoken to by lines.
// Safety: the pointers given to csystem_fork_and_exec live until it returns.

import CSystem
import Glibc
import Testing

@testable import Engine

/// A running engine-worker.
final class WorkerProcess {
  /// Where the tests' own program is, with the others of the build.
  private static let folder: String = {
    let bundle = Syscalls.realPath(of: "/proc/self/exe")
    return String(bundle[..<(bundle.lastIndex(of: "/") ?? bundle.endIndex)])
  }()

  let process: Int32
  private let input: Int32
  private let output: Int32
  private var text: [UInt8] = []
  private var status: Int32?

  convenience init(_ path: String, _ command: String, _ numbers: Int...) throws {
    try self.init(program: "engine-worker", [path, command] + numbers.map(String.init))
  }

  /// Starts a program of the build.
  init(program name: String, _ words: [String]) throws {
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    unsafe csystem_pipe(&toChild, 0)
    unsafe csystem_pipe(&fromChild, 0)
    let program = Self.folder + "/" + name
    let arguments = [program] + words
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    process = unsafe pointers.withUnsafeBufferPointer { argv in
      var spawn = unsafe csystem_spawn()
      unsafe spawn.arguments = argv.baseAddress
      unsafe spawn.environment = UnsafePointer(environ)
      unsafe spawn.standard_input = toChild[0]
      unsafe spawn.standard_output = fromChild[1]
      unsafe spawn.standard_error = 2
      unsafe spawn.inherited = -1
      unsafe spawn.cpu = -1
      return unsafe csystem_fork_and_exec(&spawn)
    }
    close(toChild[0])
    close(fromChild[1])
    input = toChild[1]
    output = fromChild[0]
    guard process > 0 else {
      // Nothing was started, and kill(2) of a negative number would hit everybody.
      status = 127
      throw EngineError.syscall("exec", program, errno: errno)
    }
  }

  deinit {
    if status == nil { kill() }
    close(input)
    close(output)
  }

  /// The next line the worker prints; nil at its end.
  func line() -> String? {
    while true {
      if let end = text.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: text[..<end], as: UTF8.self)
        text.removeSubrange(...end)
        return line
      }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = unsafe read(output, &buffer, buffer.count)
      guard count > 0 else { return nil }
      text += buffer[..<count]
    }
  }

  /// Ends the worker's standard input, so that it goes on.
  func goOn() { _ = dup2(Syscalls.nullDescriptor, input) }

  /// Kills the worker and waits for its end.
  func kill() {
    precondition(process > 0, "only a started worker is killed")
    _ = Glibc.kill(process, SIGKILL)
    _ = wait()
  }

  /// Kills the worker without waiting: a zombie is left until `wait`.
  func killOnly() { _ = Glibc.kill(process, SIGKILL) }

  /// Waits for the worker's end; its status, or 128 + the signal that ended it.
  @discardableResult
  func wait() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    while unsafe waitpid(process, &raw, 0) < 0, errno == EINTR {}
    let ended = raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + (raw & 0x7f)
    status = ended
    return ended
  }
}

extension Syscalls {
  /// /dev/null, opened once.
  static let nullDescriptor: Int32 = unsafe csystem_open("/dev/null", O_RDWR | O_CLOEXEC, 0)
}

/// The tables that the workers use.
enum Accounts {
  static let count = 64
  static let sumWanted: Int64 = 6400

  /// Makes the tables with their rows.
  static func create(_ path: String) throws {
    let database = try Database.open(path: path)
    let write = try database.beginWrite()
    let column = ColumnSchema(name: "amount", type: .int)
    try write.createTable(TableSchema(name: "Account", columns: [column]))
    try write.createTable(TableSchema(name: "Mark", columns: [column]))
    for key in 0..<Int64(count) { try write.insert(into: "Account", key: key, [.int(100)]) }
    try write.commit()
    try database.close()
  }

  static func sum(in database: Database) throws -> Int64 {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    var sum: Int64 = 0
    try snapshot.forEach(in: "Account") { _, values in
      if case .int(let balance) = values[0] { sum += balance }
    }
    return sum
  }

  static func marks(in database: Database) throws -> Int {
    let snapshot = try database.snapshot()
    defer { snapshot.release() }
    return try snapshot.count(of: "Mark")
  }

  /// Adds one mark, or replaces it.
  static func mark(_ key: Int64, in database: Database) throws {
    let write = try database.beginWrite()
    try write.upsert(into: "Mark", key: key, [.int(key)])
    try write.commit()
  }
}

/// Runs `body` with a new folder and the path of a database with accounts in it.
func withAccounts(_ body: (String) throws -> Void) throws {
  try withTemporaryFolder { folder in
    let path = folder + "/a.realm"
    try Accounts.create(path)
    try body(path)
  }
}
