// RunDirectory.swift: [U] the directory for a run's mounts and crash images, and the cleanup after
// an earlier run that was killed.
// Layout: ROOT/faultline-UID/PID-STARTTIME-SPACE/N/{mount, checker-K, …}; N counts the runs of a
// process, of which several may be active. Pids are reused, so STARTTIME is field 22 of
// /proc/PID/stat; containers have their own pids and may share the memory of ROOT, so SPACE is the
// pid namespace. The process holds a lock on its directory (flock(2)), which ends with it and shows
// in every container whether it is alive.
// Invariant: nothing is removed below a path that is still mounted, and nothing of a live run; a
// note of a mount elsewhere is removed by who would see that mount, or when nobody would.
// Safety: paths are passed to one system call and not kept.

import CSystem
import Foundation
import Glibc
import Synchronization

/// The private directory of one run, in shared memory if there is enough, otherwise in the
/// temporary directory.
package struct RunDirectory: Sendable {
  /// Variable that marks every process of a run, so that a later run can find leftover ones.
  package static let environmentName = "FAULTLINE_RUN"
  /// Variable that marks programs under test and their checkers, but no process of Faultline.
  package static let programName = "FAULTLINE_PROGRAM"

  /// Absolute path; not shared with another run of this process.
  package let path: String
  /// Name of this process's runs: process, start time and pid namespace.
  package let name: String
  private let number: Int
  /// The directory of all runs of this process.
  private let shared: String
  private let watch: RunGuard?
  private let use = Use()

  /// One user of the process's directory, which releases it once.
  private final class Use: Sendable {
    let isOver = Atomic<Bool>(false)
    let strayCount = Atomic(0)
    let syncsError = Atomic<Int32>(0)
    let refusedModes = Atomic<Int32>(0)
  }

  /// The runs of this process: how many were started, and how many use its directory; the last one
  /// removes it.
  private static let runs = Mutex((begun: 0, using: 0, lock: Int32(-1)))

  /// Cleans up after dead runs, then makes this run's directory.
  /// - Throws: `LabError` when no directory can be created.
  package init() throws(LabError) {
    let root = try Self.makeRoot()
    Self.sweep(root: root)
    name = "\(getpid())-\(Self.startTime(of: getpid()) ?? "0")-\(Self.space("pid"))"
    let shared = "\(root)/\(name)"
    self.shared = shared
    number = try Self.runs.withLock { runs throws(LabError) in
      if runs.using == 0 { runs.lock = try Self.makeLockedDirectory(shared) }
      try PrivateDirectory.make("\(shared)/\(runs.begun + 1)")
      runs.begun += 1
      runs.using += 1
      return runs.begun
    }
    path = "\(shared)/\(number)"
    watch = RunGuard(path: shared)
    // Inherited by every process that the run starts.
    _ = unsafe setenv(Self.environmentName, name, 1)
  }

  /// Makes a subdirectory.
  package func subdirectory(_ name: String) throws(LabError) -> String {
    let full = "\(path)/\(name)"
    try PrivateDirectory.make(full)
    return full
  }

  /// Removes the run's directory; mounts in it must be gone.
  package func remove() {
    guard !use.isOver.exchange(true, ordering: .relaxed) else { return }
    Self.runs.withLock { runs in
      runs.using -= 1
      Self.remove(path)
      guard runs.using == 0 else { return }
      unsafe _ = rmdir(shared)
      close(runs.lock)
    }
    watch?.dismiss()
  }

  /// Environment variables of every program under test, besides those of its role.
  package var programEnvironment: [String: String] {
    [Self.programName: mark, OwnCommands.variable: ""]
  }

  /// The file in which `faultline` commands report their results, once requested.
  package var ownCommandsPath: String { "\(path)/own-commands" }

  private var mark: String { "\(name)/\(number)" }

  /// Kills the remaining programs under test, including those that left their process group.
  package func killPrograms() {
    for pid in livePrograms() { kill(pid, SIGKILL) }
  }

  /// The live processes of programs under test.
  package func livePrograms() -> [Int32] { Self.processes { $0.has(Self.programName, mark) } }

  /// Number of processes that the last acknowledging program left when its shell had ended.
  package var strayCount: Int {
    get { use.strayCount.load(ordering: .relaxed) }
    nonmutating set { use.strayCount.store(newValue, ordering: .relaxed) }
  }

  /// Why sync(2) and syncfs(2) of the last program were not intercepted; 0 if they were.
  package var syncsError: Int32 {
    get { use.syncsError.load(ordering: .relaxed) }
    nonmutating set { use.syncsError.store(newValue, ordering: .relaxed) }
  }

  /// Modes of fallocate(2) that the last program asked for on a mount, and that the kernel refuses
  /// any FUSE file system.
  package var refusedModes: Int32 {
    get { use.refusedModes.load(ordering: .relaxed) }
    nonmutating set { use.refusedModes.store(newValue, ordering: .relaxed) }
  }

  /// Records a mount outside of the directory before it is made, so that a later run can detach it.
  /// - Parameters:
  ///   - mountPoint: Its future place.
  ///   - source: What the table of mounts will name as its source.
  /// - Throws: `LabError` when the record cannot be written.
  package func note(mountPoint: String, source: String) throws(LabError) {
    // The client says what is wrong with a path that cannot be resolved.
    guard let point = PathCalls.resolve(mountPoint) else { return }
    do {
      let note = NotedMount(
        point: point, source: source, space: Self.space("mnt"), userSpace: Self.space("user"))
      try JSONEncoder().encode(note).write(to: URL(fileURLWithPath: "\(path)/\(Self.notedMount)"))
    } catch {
      throw .lab("cannot write below \(path): \(error.localizedDescription)")
    }
  }

  private struct NotedMount: Codable {
    let point: String
    let source: String
    /// The mount namespace that it is in.
    let space: String
    /// The user namespace of those who made it.
    let userSpace: String

    /// True while it is mounted; another mount at the same place is another run's.
    var isMounted: Bool {
      MountTable.mounts().contains {
        $0.point == point && $0.source == source && $0.type == "fuse.faultfs"
      }
    }
  }

  private static let notedMount = "mount-outside"

  /// Unmounts, kills and removes the leftovers of runs that are no longer alive; nothing when the
  /// root is somebody else's, who could have put links to this user's files there.
  /// - Complexity: one pass over `/proc` when there is a dead run, otherwise O(runs).
  package static func sweep(root: String = Self.root()) {
    guard PrivateDirectory.isOwn(root) else { return }
    let runs = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    for run in runs.sorted().map({ "\(root)/\($0)" }) where !isAlive(run: run) { sweep(run: run) }
  }

  /// Unmounts, kills and removes the leftovers of one dead process's runs.
  package static func sweep(run path: String) {
    // A container that shares the memory sees no mount of ours, and we see none of its.
    guard notes(ofRun: path).allSatisfy(isOurs) else { return }
    let name = String(path.split(separator: "/").last ?? "")
    // A process may start another between check and kill, or end a mount(2) after it was killed;
    // after some rounds none is left.
    for round in 1...20 {
      let killed = killProcesses { $0.has(environmentName, name) || $0.worksBelow(path) }
      let stale = mounts(ofRun: path)
      for mount in stale { try? PathCalls.abortMount(mount) }
      let isQuiet = killed == 0 && stale.isEmpty
      if isQuiet || round == 20 && mounts(ofRun: path).isEmpty { remove(path) }
      if !FileManager.default.fileExists(atPath: path) { return }
      Thread.sleep(forTimeInterval: 0.05)
    }
  }

  /// The mounts in the directory of a process's runs, and those that it noted elsewhere.
  private static func mounts(ofRun path: String) -> [String] {
    MountTable.points(below: path)
      + notes(ofRun: path).filter(\.isMounted).map(\.point)
  }

  private static func notes(ofRun path: String) -> [NotedMount] {
    let runs = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return runs.sorted().compactMap { run in
      FileManager.default.contents(atPath: "\(path)/\(run)/\(notedMount)")
        .flatMap { try? JSONDecoder().decode(NotedMount.self, from: $0) }
    }
  }

  /// Whether a mount is ours to remove: it is in our mount namespace, or nobody is in its one.
  ///
  /// In a user namespace we are not told where processes outside of it are.
  private static func isOurs(_ note: NotedMount) -> Bool {
    if note.space == space("mnt") { return true }
    guard note.userSpace == space("user") || isInitialUserSpace else { return false }
    return processes { $0.mountSpace == note.space }.isEmpty
  }

  /// Makes the directory of all runs, unless it is there.
  /// - Returns: Its path.
  /// - Throws: `LabError` that names the cause and the variable for another place.
  package static func makeRoot() throws(LabError) -> String {
    let root = root()
    try PrivateDirectory.make(root)
    return root
  }

  /// Variable with the directory for mounts, traces and crash images, if shared memory is too small
  /// for them or memory is scarce.
  package static let scratchName = "FAULTLINE_SCRATCH"

  /// `ROOT/faultline-UID`; if that belongs to another user, with the number of the user namespace.
  package static func root() -> String {
    let sharedMemory = "/dev/shm"
    let environment = ProcessInfo.processInfo.environment
    let base =
      environment[scratchName]
      ?? (hasSpace(sharedMemory) ? sharedMemory : environment["TMPDIR"] ?? "/tmp")
    let paths = [
      "\(base)/faultline-\(outerUser())", "\(base)/faultline-\(getuid())-\(space("user"))",
    ]
    return paths.first(where: PrivateDirectory.isFreeOrOwn) ?? paths[0]
  }

  /// The user's number outside of our namespace: root of a user namespace is not root there, and
  /// shares /dev/shm with the real root (user_namespaces(7)).
  private static func outerUser() -> UInt64 {
    let own = UInt64(getuid())
    for range in userMap where own >= range[0] && own - range[0] < range[2] {
      return range[1] + (own - range[0])
    }
    return own
  }

  /// True outside of user namespaces: all users are who they are.
  private static var isInitialUserSpace: Bool { userMap == [[0, 0, UInt64(UInt32.max)]] }

  /// Ranges of users of our user namespace: the first one inside, the first one outside, how many.
  private static var userMap: [[UInt64]] {
    let table = FileManager.default.contents(atPath: "/proc/self/uid_map") ?? Data()
    return String(decoding: table, as: UTF8.self).split(separator: "\n")
      .map { $0.split(separator: " ").compactMap { UInt64($0) } }.filter { $0.count == 3 }
  }

  /// A directory on a disk, for what may be larger than memory.
  package static let diskRoot: String = {
    let environment = ProcessInfo.processInfo.environment
    return environment[scratchName] ?? environment["TMPDIR"] ?? "/var/tmp"
  }()

  private static func hasSpace(_ path: String) -> Bool {
    let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
    let freeBytes = (attributes?[.systemFreeSize] as? NSNumber)?.uint64Value ?? 0
    return FileManager.default.isWritableFile(atPath: path) && freeBytes >= 512 << 20
  }

  /// Removes a directory whose names may be any bytes.
  private static func remove(_ path: String) {
    try? DirectoryCleaner(path: path).clear()
    _ = unsafe rmdir(path)
  }

  /// Makes the directory of this process, locked before it has the name that others look at.
  /// - Returns: The descriptor that holds the lock; programs that are started do not inherit it.
  private static func makeLockedDirectory(_ path: String) throws(LabError) -> Int32 {
    let unnamed = "\(path)-new"
    try PrivateDirectory.make(unnamed)
    let lock = unsafe csystem_open(unnamed, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0, unsafe rename(unnamed, path) == 0 else {
      let error = lastError()
      close(lock)
      throw .lab("cannot make and lock \(path): \(error)")
    }
    return lock
  }

  /// The number in the link text `pid:[4026531836]` (namespaces(7)).
  fileprivate static func space(_ kind: String, of process: String = "self") -> String {
    let path = "/proc/\(process)/ns/\(kind)"
    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
    return String((link ?? "0").filter(\.isWholeNumber))
  }

  /// True while a process, in any container, holds the directory's lock.
  private static func isAlive(run path: String) -> Bool {
    let parts = path.split(separator: "/").last?.split(separator: "-") ?? []
    // A name that is not in the form of a run's is not ours to remove.
    guard parts.count == 3, parts.allSatisfy({ UInt64($0) != nil }) else { return true }
    let descriptor = unsafe csystem_open(
      path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }

  /// Field 22 of /proc/PID/stat; the name in field 2 may hold spaces and parentheses.
  static func startTime(of pid: Int32) -> String? {
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    // A zombie is dead; only its parent has not reaped it yet.
    guard fields.count > 19, fields[0] != "Z" else { return nil }
    return String(fields[19])
  }

  /// Kills all other processes that fulfil a condition.
  /// - Returns: How many there were.
  private static func killProcesses(_ isMeant: (ProcessEntry) -> Bool) -> Int {
    let meant = processes(isMeant)
    for pid in meant { kill(pid, SIGKILL) }
    return meant.count
  }

  private static func processes(_ isMeant: (ProcessEntry) -> Bool) -> [Int32] {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return entries.compactMap { Int32($0) }
      .filter { $0 != getpid() && isMeant(ProcessEntry(pid: $0)) }
  }
}

/// A process's entry in `/proc`.
private struct ProcessEntry {
  let pid: Int32

  /// True when it was started with this value of a variable.
  func has(_ variable: String, _ value: String) -> Bool {
    let environment = FileManager.default.contents(atPath: "/proc/\(pid)/environ") ?? Data()
    let wanted = Array("\(variable)=\(value)".utf8)
    return environment.split(separator: 0).contains { $0.elementsEqual(wanted) }
  }

  /// The number of its mount namespace; 0 when we may not know it.
  var mountSpace: String { RunDirectory.space("mnt", of: "\(pid)") }

  /// True when its working directory is at or below a run's, and it started after the run.
  ///
  /// It may have cleared its environment. An older process may be a user's shell.
  func worksBelow(_ path: String) -> Bool {
    let began = RunDirectory.startTime(of: pid).flatMap { UInt64($0) } ?? 0
    let name = path.split(separator: "/").last?.split(separator: "-") ?? []
    guard name.count == 3, let runBegan = UInt64(name[1]), began >= runBegan else { return false }
    let manager = FileManager.default
    guard let directory = try? manager.destinationOfSymbolicLink(atPath: "/proc/\(pid)/cwd")
    else { return false }
    return directory == path || directory.hasPrefix(path + "/")
  }
}
