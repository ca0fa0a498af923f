// LineProcess.swift: a child process of the program `faultline` that answers requests in lines.
// Invariant: when the child ends, by itself or by a signal, its ending is the answer; a child that
// does not answer in time is killed, and that is its ending.

import CSystem
import Foundation
import Glibc

/// The result of a request.
package enum LineAnswer: Sendable {
  /// The line, without its line feed.
  case line([UInt8])
  /// The child ended instead.
  case ended(ProcessEnding)
}

/// A child that reads and writes lines.
package final class LineProcess {
  /// Its process number.
  package var pid: Int32 { child.pid }

  private let child: ChildProcess
  private let input: Int32
  private let output: Int32
  private let errorPath: String?
  private var buffer = LineBuffer()
  private var ending: ProcessEnding?

  /// Starts a child of the program `faultline`, from the running program's folder.
  /// - Parameters:
  ///   - program: The subprogram and its arguments.
  ///   - cpu: A CPU to pin the child to.
  ///   - errorPath: File for its standard error; nil discards it.
  ///   - environment: Variables to add to Faultline's own.
  /// - Throws: `LabError` with code `.lab` when it cannot be started.
  package convenience init(
    _ program: some ChildProgram, cpu: Int32? = nil, errorPath: String? = nil,
    environment: [String: String] = [:]
  ) throws(LabError) {
    try self.init(
      command: [try Self.program()] + program.commandLine, cpu: cpu, errorPath: errorPath,
      environment: environment, mounts: type(of: program).mounts)
  }

  /// Starts any program that answers lines with lines.
  /// - Parameters:
  ///   - command: Its path and arguments.
  ///   - cpu: A CPU to pin it to.
  ///   - errorPath: Where its standard error goes; nil drops it.
  ///   - environment: Variables to add to Faultline's own.
  ///   - mounts: Whether it keeps the right to mount.
  /// - Throws: `LabError` with code `.lab` when it cannot be started.
  package init(
    command: [String], cpu: Int32? = nil, errorPath: String? = nil,
    environment: [String: String] = [:], mounts: Bool = false
  ) throws(LabError) {
    self.errorPath = errorPath
    var launch = ChildProcess.Launch(command)
    // A trap is a verdict; a backtrace of it would take seconds.
    launch.environment = environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    launch.cpu = cpu
    launch.mounts = mounts
    do {
      // A socket, so that writing to a dead child is an error and not a SIGPIPE.
      let (childInput, ours) = try Descriptors.makeSocketPair()
      let (theirs, childOutput) = try Descriptors.makePipe()
      let error = errorPath.map { Descriptors.create($0) } ?? -1
      launch.standardInput = childInput
      launch.standardOutput = childOutput
      launch.standardError = error
      input = ours
      output = theirs
      defer { for descriptor in [childInput, childOutput, error] { Glibc.close(descriptor) } }
      child = try ChildProcess(launch)
    } catch let error as LabError {
      throw error
    } catch {
      throw .lab("cannot make pipes for a child: \(error)")
    }
  }

  deinit { end() }

  /// A program of Faultline, in the running program's folder.
  /// - Parameter name: Its name.
  /// - Returns: Its path.
  /// - Throws: `LabError` with code `.lab` when it does not exist.
  package static func program(_ name: String = "faultline") throws(LabError) -> String {
    let folder = PathCalls.executable().map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
    guard let path = folder?.appendingPathComponent(name).path, PathCalls.canAccess(path, X_OK)
    else { throw .lab("no program \(name) in \(folder?.path ?? "?"); build it (swift build)") }
    return path
  }

  /// Writes a line and reads the answer.
  /// - Parameters:
  ///   - line: The request, including its line feed.
  ///   - timeoutSeconds: After this time the child is killed.
  /// - Returns: The line that it answered, or how it ended.
  /// - Throws: `LabError` when Faultline was asked to stop.
  package func ask(_ line: [UInt8], timeoutSeconds: Int) throws(LabError) -> LineAnswer {
    if let ending = send(line) { return .ended(ending) }
    return try read(timeoutSeconds: timeoutSeconds)
  }

  /// Writes a line.
  /// - Parameter line: The request, including its line feed.
  /// - Returns: How the child ended, if it no longer reads.
  package func send(_ line: [UInt8]) -> ProcessEnding? {
    if let ending { return ending }
    do throws(ErrorNumber) {
      try Descriptors.send(line, to: input)
      return nil
    } catch {
      return finish()
    }
  }

  /// Waits for a limited time for the child's next line.
  /// - Parameter seconds: The time limit.
  /// - Returns: Nil when nothing arrived in that time.
  /// - Throws: `LabError` when Faultline was asked to stop.
  package func poll(seconds: Int) throws(LabError) -> LineAnswer? {
    try poll(milliseconds: seconds * 1000)
  }

  /// Waits for a limited time for the child's next line.
  /// - Parameter milliseconds: The time limit.
  /// - Returns: Nil when nothing arrived in that time.
  /// - Throws: `LabError` when Faultline was asked to stop.
  package func poll(milliseconds: Int) throws(LabError) -> LineAnswer? {
    if let line = buffer.next() { return .line(line) }
    if let ending { return .ended(ending) }
    let slice = min(milliseconds, 100)
    for _ in 0..<max(1, milliseconds / max(1, slice)) {
      try Interruption.check()
      if Descriptors.wait([output], timeoutMilliseconds: slice).isEmpty { continue }
      let chunk = try? Descriptors.read(output, limitBytes: 1 << 16)
      guard let chunk, !chunk.isEmpty else { return .ended(finish()) }
      buffer.append(chunk)
      if let line = buffer.next() { return .line(line) }
    }
    return nil
  }

  /// Reads the child's next line.
  /// - Parameter timeoutSeconds: After this time without a line the child is killed.
  /// - Returns: The line, or how it ended.
  /// - Throws: `LabError` when Faultline was asked to stop.
  package func read(timeoutSeconds: Int) throws(LabError) -> LineAnswer {
    if let answer = try poll(seconds: timeoutSeconds) { return answer }
    child.kill()
    ending = .timedOut(seconds: timeoutSeconds)
    return .ended(.timedOut(seconds: timeoutSeconds))
  }

  /// What the child wrote to standard error, limited to some kilobytes.
  package var errorText: String {
    guard let errorPath, let bytes = FileManager.default.contents(atPath: errorPath) else {
      return ""
    }
    return String(String(decoding: bytes, as: UTF8.self).suffix(8 << 10))
  }

  /// Kills the child if it is still running.
  package func end() {
    if ending == nil { ending = child.kill() }
    if !isClosed {
      Glibc.close(input)
      Glibc.close(output)
      isClosed = true
    }
  }

  private var isClosed = false

  /// The child closed its output: waits for its end, or kills it.
  private func finish() -> ProcessEnding {
    let how = child.wait(timeoutSeconds: 10)
    child.killGroup()
    ending = how
    return how
  }
}
