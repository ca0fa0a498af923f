// ChildProcess.swift: [U] a program started by Faultline, and how it ended.
// Invariants: every child is reaped exactly once, by `wait` or `kill`; when a child that leads a
// process group is killed, its whole group is.
// Safety: pointers to arguments and environment are valid only for the call that starts the child.

import CSystem
import Glibc

/// How a process ended.
package enum ProcessEnding: Sendable, Hashable, Codable, CustomStringConvertible {
  /// It exited with a status.
  case exited(Int32)
  /// A signal ended it.
  case signalled(Int32)
  /// It was still running at its time limit, and was killed.
  case timedOut(seconds: Int)

  /// True for exit status 0.
  package var isSuccess: Bool { self == .exited(0) }

  /// For example `exit status 1`.
  package var description: String {
    switch self {
    case .exited(let status): "exit status \(status)"
    case .signalled(let signal): "killed by \(Self.name(of: signal))"
    case .timedOut(let seconds): "no answer within \(seconds) s"
    }
  }

  private static func name(of signal: Int32) -> String {
    switch signal {
    case SIGSEGV: "SIGSEGV"
    case SIGBUS: "SIGBUS"
    case SIGABRT: "SIGABRT"
    case SIGILL: "SIGILL"
    case SIGTRAP: "SIGTRAP"
    case SIGFPE: "SIGFPE"
    case SIGKILL: "SIGKILL"
    case SIGTERM: "SIGTERM"
    default: "signal \(signal)"
    }
  }
}

/// A running child.
package struct ChildProcess: Sendable {
  /// The program to start, and its settings.
  package struct Launch: Sendable {
    /// Program path, then its arguments.
    package var arguments: [String]
    /// Variables added to Faultline's own environment, or replacing them.
    package var environment: [String: String] = [:]
    /// Working directory.
    package var workingDirectory: String?
    /// Descriptors for 0, 1 and 2; -1 is /dev/null.
    package var standardInput: Int32 = -1
    /// See `standardInput`.
    package var standardOutput: Int32 = -1
    /// See `standardInput`.
    package var standardError: Int32 = -1
    /// A further descriptor, and its number in the child.
    package var inherited: (descriptor: Int32, number: Int32)?
    /// CPU to pin the child to.
    package var cpu: Int32?
    /// Whether the child leads a process group.
    package var ownGroup = true
    /// Whether the child is killed when the thread that started it ends.
    package var diesWithParent = true
    /// Whether sync(2) and syncfs(2) of the child, and of all that it starts, wait for an answer.
    package var holdsSyncs = false
    /// Whether the child keeps the right to mount that this process has.
    package var mounts = false

    /// A launch of a program with arguments.
    package init(_ arguments: [String]) { self.arguments = arguments }

    /// A launch of a shell command line.
    package init(shell command: String) { arguments = ["/bin/sh", "-c", command] }
  }

  /// Number of the process, and of its group when it leads one.
  package let pid: Int32
  /// The descriptor with pending syncs, for `SyncAnswerer`; if negative, the error of seccomp(2),
  /// or -1 when syncs are not held.
  package let syncCalls: Int32
  private let leadsGroup: Bool

  /// Starts a child.
  /// - Throws: `LabError` with code `.lab` when fork or exec fails.
  package init(_ launch: Launch) throws(LabError) {
    let environment = Self.merged(launch.environment)
    var arguments = unsafe launch.arguments.map { unsafe strdup($0) }
    var variables = unsafe environment.map { unsafe strdup($0) }
    unsafe arguments.append(nil)
    unsafe variables.append(nil)
    defer {
      for index in unsafe arguments.indices { unsafe free(arguments[index]) }
      for index in unsafe variables.indices { unsafe free(variables[index]) }
    }
    var syncCalls: Int32 = -1
    let pid = unsafe arguments.withUnsafeBufferPointer { argv in
      unsafe variables.withUnsafeBufferPointer { envp in
        MountRight.handingOn(launch.mounts) {
          unsafe Self.fork(launch, argv: argv, envp: envp, syncCalls: &syncCalls)
        }
      }
    }
    guard pid > 0 else {
      throw .lab("cannot start \(launch.arguments[0]): \(describe(errno: errno))")
    }
    self.pid = pid
    self.syncCalls = syncCalls
    leadsGroup = launch.ownGroup
  }

  private static func fork(
    _ launch: Launch, argv: UnsafeBufferPointer<UnsafeMutablePointer<CChar>?>,
    envp: UnsafeBufferPointer<UnsafeMutablePointer<CChar>?>, syncCalls: inout Int32
  ) -> Int32 {
    func start(_ directory: UnsafePointer<CChar>?) -> Int32 {
      var spawn = unsafe csystem_spawn(
        arguments: argv.baseAddress, environment: envp.baseAddress,
        working_directory: directory, standard_input: launch.standardInput,
        standard_output: launch.standardOutput, standard_error: launch.standardError,
        inherited: launch.inherited?.descriptor ?? -1,
        inherited_as: launch.inherited?.number ?? -1, cpu: launch.cpu ?? -1,
        own_group: launch.ownGroup ? 1 : 0,
        parent_death_signal: launch.diesWithParent ? SIGKILL : 0, sync_calls: nil)
      guard launch.holdsSyncs else { return unsafe csystem_fork_and_exec(&spawn) }
      return unsafe withUnsafeMutablePointer(to: &syncCalls) { place in
        unsafe spawn.sync_calls = place
        return unsafe csystem_fork_and_exec(&spawn)
      }
    }
    guard let directory = launch.workingDirectory else { return start(nil) }
    return unsafe directory.withCString { unsafe start($0) }
  }

  private static func merged(_ changes: [String: String]) -> [String] {
    var lines: [String] = []
    var pointer = unsafe environ
    while let entry = unsafe pointer.pointee {
      let line = unsafe String(cString: entry)
      let name = String(line.prefix { $0 != "=" })
      if changes[name] == nil { lines.append(line) }
      unsafe pointer += 1
    }
    return lines + changes.keys.sorted().map { "\($0)=\(changes[$0] ?? "")" }
  }

  /// Waits until the child ends, and reaps it.
  /// - Parameter timeoutSeconds: After this time the child and its group are killed; nil waits
  ///   forever.
  /// - Returns: How it ended. An interruption of Faultline (Ctrl-C) also kills the child.
  package func wait(timeoutSeconds: Int? = nil) -> ProcessEnding {
    let descriptor = csystem_open_process(pid)
    defer { if descriptor >= 0 { Glibc.close(descriptor) } }
    let sliceMilliseconds = 100
    var remaining = timeoutSeconds.map { $0 * 1000 }
    while true {
      let slice = min(remaining ?? sliceMilliseconds, sliceMilliseconds)
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&request, 1, Int32(slice))
      // Without pidfd_open (an old kernel, a seccomp filter) the poll is only a sleep.
      if let ending = reap(options: WNOHANG) { return ending }
      if Interruption.isRequested { return kill() }
      if let left = remaining {
        remaining = left - slice
        if left <= slice {
          _ = kill()
          return .timedOut(seconds: timeoutSeconds ?? 0)
        }
      }
    }
  }

  /// Kills the child and its group, and reaps it.
  @discardableResult
  package func kill() -> ProcessEnding {
    killGroup()
    Glibc.kill(pid, SIGKILL)
    return reap(options: 0) ?? .signalled(SIGKILL)
  }

  /// Kills what is left of the child's group, after the child itself has ended too.
  package func killGroup() {
    if leadsGroup { Glibc.kill(-pid, SIGKILL) }
  }

  private func reap(options: Int32) -> ProcessEnding? {
    var status: Int32 = 0
    var reaped = unsafe waitpid(pid, &status, options)
    while reaped < 0 && errno == EINTR { reaped = unsafe waitpid(pid, &status, options) }
    if reaped == 0 { return nil }
    precondition(reaped == pid, "a child is reaped once, by its parent")
    let signal = status & 0x7f
    return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
  }
}

/// The text of an errno, with its number.
package func describe(errno code: Int32) -> String {
  let name = ErrnoTable.name(of: code)
  let word = name.first?.isLetter == true ? name : "errno \(code)"
  return "\(unsafe String(cString: strerror(code))) (\(word))"
}
