// Processes.swift [U]: the only caller of CBench: pinned processes that leave nothing behind.
// Safety: every pointer handed to C lives as long as the call; C keeps none.

import CBench
import Foundation

/// A program that runs beside us and ends when we do, even if we are killed.
struct BackgroundProcess {
  /// Process id.
  let id: Int32

  /// Starts a program.
  init(_ arguments: [String], log: URL) throws {
    let copies = unsafe arguments.map { unsafe strdup($0) }
    defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
    var pointers = unsafe copies + [nil]
    id = unsafe cbench_spawn(&pointers, log.path)
    guard id > 0 else { throw BenchError("cannot start \(arguments[0]): errno \(-id)") }
  }

  /// True once it has ended.
  var hasEnded: Bool { cbench_has_ended(id) != 0 }

  /// Asks it to end, and waits until it has.
  func stop() throws {
    guard cbench_stop(id, 5000) == 0 else {
      throw BenchError("process \(id) did not end within 5 s of SIGTERM and was killed")
    }
  }
}

/// The client of a file system, on this side and on the other side of its process boundary.
enum Client {
  /// Operations per second of one kind of work in a directory, by a process of its own.
  static func operationsPerSecond(kind: String, directory: URL, count: Int) throws -> Double {
    let client = ["/proc/self/exe", "client", kind, directory.path, String(count)]
    let answer = try Processes.output(of: client)
    guard let nanoseconds = Double(answer.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw BenchError("the client answered '\(answer)' for \(kind) in \(directory.path)")
    }
    return Double(count) / (nanoseconds / 1e9)
  }

  /// The client itself: `client KIND DIRECTORY COUNT`.
  static func run(_ arguments: [String]) throws {
    guard arguments.count == 4, let count = Int(arguments[3]) else {
      throw BenchError("client takes KIND DIRECTORY COUNT")
    }
    let nanoseconds = unsafe cbench_client(arguments[1], arguments[2], count)
    guard nanoseconds > 0 else {
      throw BenchError("\(arguments[1]) in \(arguments[2]): errno \(-nanoseconds)")
    }
    print(nanoseconds)
  }
}

/// What else we ask of the system.
enum Processes {
  /// Pins us and all that we start to one CPU.
  ///
  /// Across two CPUs a FUSE request costs several times as much, and how much depends on which
  /// two; on one, a row compares file systems and not wake-ups.
  static func pin() throws -> Int {
    let cpu = cbench_pin()
    guard cpu >= 0 else { throw BenchError("cannot pin to a CPU: errno \(-cpu)") }
    return Int(cpu)
  }

  /// Runs something that chooses the CPU itself; it is told which one we are pinned to.
  static func unpinned<T>(_ body: (Int32) throws -> T) throws -> T {
    let cpu = try pin()
    guard cbench_unpin() == 0 else { throw BenchError("cannot go back to all CPUs") }
    defer { _ = cbench_pin() }
    return try body(Int32(cpu))
  }

  /// True when the directory lies on tmpfs.
  static func isTmpfs(_ directory: URL) -> Bool { unsafe cbench_is_tmpfs(directory.path) == 1 }

  /// True when something is mounted on the directory.
  static func isMounted(_ directory: URL) -> Bool { unsafe cbench_is_mounted(directory.path) == 1 }

  /// Runs a program to its end and returns its exit status; no shell, no pipes.
  static func status(of arguments: [String]) throws -> Int {
    let copies = unsafe arguments.map { unsafe strdup($0) }
    defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
    var pointers = unsafe copies + [nil]
    let status = unsafe cbench_run(&pointers)
    guard status >= 0 else { throw BenchError("cannot start \(arguments[0]): errno \(-status)") }
    return Int(status)
  }

  /// Makes bytes the content of a file in one write, in the space that it has already.
  static func overwrite(_ path: String, with bytes: [UInt8]) throws {
    let result = unsafe bytes.withUnsafeBytes { buffer in
      unsafe cbench_overwrite(path, buffer.baseAddress, buffer.count)
    }
    guard result == 0 else { throw BenchError("cannot write \(path): errno \(-result)") }
  }

  /// Runs a program to its end and returns its standard output.
  static func output(of arguments: [String]) throws -> String {
    let process = Process()
    let executable = arguments[0] == "/proc/self/exe" ? Bundle.main.executablePath : arguments[0]
    process.executableURL = URL(filePath: executable ?? arguments[0])
    process.arguments = Array(arguments.dropFirst())
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BenchError("\(arguments.joined(separator: " ")): exit \(process.terminationStatus)")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
