// Shell.swift [U]: runs programs for tests, with the descriptors that they need.
// Safety: the pointers passed to csystem_fork_and_exec are valid until it returns.

import CSystem
import Foundation
@unsafe @preconcurrency import Glibc

/// The result of a program.
public struct ProgramResult: Sendable {
  /// Exit status, or 128 + the signal that ended it.
  public let status: Int32
  /// Standard output and standard error, in order of arrival.
  public let output: String
}

/// A program that runs in parallel to the test.
public final class RunningProgram {
  /// Its process, which also leads a process group.
  public let process: Int32
  private let outputPath: String
  private var status: Int32?

  /// Starts a program.
  public init(
    _ arguments: [String], in directory: String, marksDescriptor: Int32 = -1
  ) throws {
    outputPath =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("faultline-output-\(UUID().uuidString)").path
    let output = unsafe csystem_open(outputPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(output) }
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    process = unsafe pointers.withUnsafeBufferPointer { argv in
      var spawn = unsafe csystem_spawn()
      unsafe spawn.arguments = argv.baseAddress
      unsafe spawn.environment = UnsafePointer(environ)
      return unsafe directory.withCString { directory in
        unsafe spawn.working_directory = directory
        unsafe spawn.standard_input = -1
        unsafe spawn.standard_output = output
        unsafe spawn.standard_error = output
        unsafe spawn.inherited = marksDescriptor
        unsafe spawn.inherited_as = 3
        unsafe spawn.cpu = -1
        unsafe spawn.own_group = 1
        return unsafe csystem_fork_and_exec(&spawn)
      }
    }
    guard process > 0 else { throw CocoaError(.executableNotLoadable) }
  }

  deinit {
    if status == nil {
      kill(-process, SIGKILL)
      _ = wait()
    }
  }

  /// Waits for the end, but only for a limited time: a program that hangs must fail its test, but
  /// not block the whole run.
  public func wait(limitSeconds: Int = 300) -> ProgramResult {
    var excess = ""
    if status == nil {
      if !waitsUntilEnded(limitSeconds: limitSeconds) {
        excess = "\nstill running after \(limitSeconds) s, so it was killed\n"
        kill(-process, SIGKILL)
        // A call that a file system does not answer cannot be killed.
        if !waitsUntilEnded(limitSeconds: 5) { status = 128 + SIGKILL }
      }
    }
    let data = FileManager.default.contents(atPath: outputPath) ?? Data()
    unsafe _ = unlink(outputPath)
    let output = String(decoding: data, as: UTF8.self) + excess
    return ProgramResult(status: status ?? -1, output: output)
  }

  /// Sets the status if the program ends in time.
  private func waitsUntilEnded(limitSeconds: Int) -> Bool {
    let descriptor = csystem_open_process(process)
    defer { if descriptor >= 0 { close(descriptor) } }
    let end = ContinuousClock.now + .seconds(limitSeconds)
    while true {
      var raw: Int32 = 0
      let ended = unsafe waitpid(process, &raw, WNOHANG)
      if ended == process {
        status = raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + (raw & 0x7f)
        return true
      }
      if ended < 0, errno != EINTR {
        status = -1
        return true
      }
      if ContinuousClock.now >= end { return false }
      // Without pidfd_open the poll is only a sleep.
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&entry, 1, descriptor >= 0 ? 1000 : 5)
    }
  }
}

/// Runs a shell script to its end.
/// - Parameters:
///   - script: Text for `/bin/bash -c`.
///   - directory: Working directory.
///   - marksDescriptor: Becomes the script's descriptor 3 when not -1.
/// - Returns: Status and output.
/// - Throws: When the shell cannot be started.
public func runShell(
  _ script: String, in directory: String, marksDescriptor: Int32 = -1
) throws -> ProgramResult {
  try RunningProgram(
    ["/bin/bash", "-c", script], in: directory, marksDescriptor: marksDescriptor
  ).wait()
}
