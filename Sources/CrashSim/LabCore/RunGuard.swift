// RunGuard.swift: a process that briefly outlives a killed Faultline and cleans up after it, so
// that the cleanup need not wait for the next start.
// Invariants: it does nothing while Faultline lives; it ends with Faultline, however that ends; it
// keeps neither Faultline's output nor its directory open.

import Foundation
import Glibc
import Synchronization

/// Guards one run.
package final class RunGuard: Sendable {
  private struct State {
    var child: ChildProcess?
    /// The guard waits for the end of this pipe, which the kernel closes when Faultline dies.
    var descriptor: Int32
  }

  private let state: Mutex<State>

  /// Starts the guard of a run's directory; nil when it cannot be started.
  ///
  /// Without it, the next start of Faultline cleans up.
  init?(path: String) {
    guard let program = try? LineProcess.program(), let (theirs, ours) = try? Descriptors.makePipe()
    else { return nil }
    defer { Glibc.close(theirs) }
    var launch = ChildProcess.Launch([program] + RunSweeper(directory: path).commandLine)
    launch.standardInput = theirs
    launch.workingDirectory = "/"
    launch.diesWithParent = false
    launch.mounts = RunSweeper.mounts
    // Not of the run: it must not find itself.
    launch.environment = [RunDirectory.environmentName: "", RunDirectory.programName: ""]
    guard let child = try? ChildProcess(launch) else {
      Glibc.close(ours)
      return nil
    }
    state = Mutex(State(child: child, descriptor: ours))
  }

  deinit { dismiss() }

  /// Ends the guard; the run has done its own cleanup.
  func dismiss() {
    state.withLock { state in
      guard let child = state.child else { return }
      child.kill()
      Glibc.close(state.descriptor)
      state.child = nil
    }
  }
}

/// The guard's own side: waits until Faultline has ended, then cleans up.
package struct RunSweeper: ChildProgram {
  package static let name = "guard"
  package static let parameters = ["DIRECTORY"]
  package static let mounts = true
  /// The run's directory.
  let directory: String

  package var arguments: [String] { [directory] }

  init(directory: String) { self.directory = directory }

  package init(_ arguments: inout ChildArguments) { self.init(directory: arguments.text()) }

  /// Waits for the end of standard input, the pipe that Faultline keeps open.
  package func run() -> Int32 {
    while true {
      do throws(ErrorNumber) {
        // Nil is an interruption by a signal; the guard has nothing to stop.
        if let bytes = try Descriptors.read(0, limitBytes: 16), bytes.isEmpty { break }
      } catch {
        break
      }
    }
    RunDirectory.sweep(run: directory)
    return ExitCode.held.rawValue
  }
}
