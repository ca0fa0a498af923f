// LazyFS.swift: `faultline mount` in the place of LazyFS (docs/reference/lazyfs.md): its arguments,
// its root directory, its pipe and its log.
// Invariant: the root directory is written once the mount is dead or gone, and only when all of it
// had been read; what it had before is removed only when what comes instead is whole.

import ArgumentParser
import CrashStates
import Exploration
import FaultFS
import Findings
import Foundation
import LabCore
import Recording
import Scenarios

/// LazyFS's own arguments.
struct LazyFSArguments: ParsableArguments {
  @Option(
    name: [.customLong("lazyfs"), .customLong("config-path")],
    help: "Behave as LazyFS does with this configuration file (docs/reference/lazyfs.md).")
  var configuration: String?
  @Option(
    name: .customShort("o"),
    help: "Mount options as LazyFS has them: subdir=DIR is the root directory. Can be repeated.")
  var options: [String] = []
  @Flag(name: .customShort("f"), help: "Accepted and ignored: the command stays in the foreground.")
  var foreground = false
  @Flag(name: .customShort("s"), help: "Accepted and ignored.") var singleThread = false

  /// The name by which the command takes LazyFS's arguments.
  static let programName = "lazyfs"

  private func root() throws(LabError) -> String? {
    var root: String?
    for option in options.flatMap({ $0.split(separator: ",").map(String.init) }) {
      if option.hasPrefix("subdir=") {
        root = URL(fileURLWithPath: String(option.dropFirst("subdir=".count))).path
      } else if !["allow_other", "modules=subdir", "default_permissions"].contains(option) {
        throw .usage("-o \(option): known are allow_other, modules=subdir and subdir=DIR")
      }
    }
    guard root.map(PathCalls.isDirectory) != false else {
      throw .usage("-o subdir=\(root ?? ""): there is no such directory")
    }
    return root
  }

  /// What stands in for LazyFS; nil when the command is not asked to.
  func service(mountPoint: String, _ console: Console) throws(LabError) -> LazyFSService? {
    guard let configuration else {
      guard options.isEmpty else { throw .usage("-o goes with --lazyfs FILE") }
      return nil
    }
    let root = try root()
    let mount = URL(fileURLWithPath: mountPoint).path
    let paths = LazyFSPaths(mountPoint: mount, root: root)
    return try LazyFSService(
      try LazyFSConfiguration.load(configuration, paths), paths, root: root, console)
  }
}

/// Stands in for LazyFS on one mount.
final class LazyFSService {
  private let configuration: LazyFSConfiguration
  private let paths: LazyFSPaths
  private let root: String?
  private let console: Console
  private let log: LazyFSLog?
  private let pipe: LazyFSPipe?
  private let completed: LazyFSPipe?
  private var isOver = false
  /// Snapshots so far.
  private var snapshotCount = 0

  init(
    _ configuration: LazyFSConfiguration, _ paths: LazyFSPaths, root: String?, _ console: Console
  ) throws(LabError) {
    self.configuration = configuration
    self.paths = paths
    self.root = root
    self.console = console
    log = try configuration.logFile.map { path throws(LabError) in try LazyFSLog(path: path) }
    pipe = try configuration.fifoPath.map { path throws(LabError) in try LazyFSPipe(path: path) }
    completed = try configuration.completedFifoPath.map { path throws(LabError) in
      try LazyFSPipe(path: path)
    }
  }

  private func say(_ line: String) {
    if let log { log.write(line: line) }
    console.say(line)
  }

  /// Reads the root directory into the mount, all of it durable, and puts the faults in force.
  func begin(_ fileSystem: FaultFSClient) throws(LabError) {
    if let root {
      let copy = try ChildProcess(
        .init(["/bin/cp", "-a", "--", "\(root)/.", fileSystem.mountPoint]))
      let ending = copy.wait()
      guard ending.isSuccess else {
        throw .lab("cannot read the root directory \(root) into the mount: cp: \(ending)")
      }
    }
    try fileSystem.watchUnsynced()
    for fault in configuration.faults { try add(fault, fileSystem) }
    for note in configuration.notes { say("[lazyfs.config]: not as in LazyFS: \(note)") }
    if !configuration.faults.isEmpty {
      say("[lazyfs.config]: \(configuration.faults.count) faults in force")
    }
    say("[lazyfs.fifo]: running LazyFS...")
    if pipe != nil { say("[lazyfs.faults.worker]: waiting for fault commands...") }
  }

  private func add(_ fault: LazyFSFault, _ fileSystem: FaultFSClient) throws(LabError) {
    if !fault.rules.isEmpty { try fileSystem.addRules(fault.rules) }
    if !fault.tears.isEmpty { try fileSystem.addTears(fault.tears) }
  }

  /// Obeys what has come in, and sees whether a fault has ended the file system.
  func serve(_ fileSystem: FaultFSClient) throws(LabError) {
    guard !isOver else { return }
    if try fileSystem.statistics().isDead {
      say("Triggered fault condition")
      try fileSystem.clearCache()
      try end(fileSystem)
      // Harnesses wait for this line, and mount again at once.
      return say("Killing LazyFS pid \(getpid())!")
    }
    for line in pipe?.readLines() ?? [] {
      say("[lazyfs.faults.worker]: received '\(line.filter { !$0.isNewline })'")
      try obey(LazyFSCommand(parsing: line, paths), fileSystem)
    }
  }

  private func obey(_ command: LazyFSCommand, _ fileSystem: FaultFSClient) throws(LabError) {
    switch command {
    case .clearCache:
      say("[lazyfs.cmds]: clear cache request submitted...")
      try fileSystem.clearCache()
      say("[lazyfs.cmds]: cache is cleared.")
      completed?.write(line: "finished::clear-cache")
    case .checkpoint:
      try fileSystem.checkpoint()
      say("[lazyfs.cmds]: checkpoint is done.")
      completed?.write(line: "finished::cache-checkpoint")
    case .displayUsage:
      let bytes = Self.bytes(try fileSystem.unsyncedFiles())
      let percent = Formatting.fixed(Double(bytes) * 100 / Double(configuration.cacheBytes), 2)
      say("[lazyfs.cmds]: cache usage (%pages) is \(percent)%")
    case .unsyncedReport: try report(fileSystem)
    case .help:
      for name in LazyFSCommand.names { say("[lazyfs.faults.worker] help: '\(name)'") }
    case .syncPages(let pages):
      say("[lazyfs.cmds]: sync pages request submitted...")
      do throws(LabError) {
        try fileSystem.syncPages(pages)
        say("[lazyfs.cmds]: sync pages requested finished.")
      } catch {
        sayInvalid("sync-pages", error.message)
      }
      completed?.write(line: "finished::sync-pages")
    case .snapshot(let files, let save):
      do throws(LabError) {
        let count = try snapshot(fileSystem, files, save)
        say("[lazyfs.cmds]: snapshot of \(count) files done.")
      } catch {
        sayInvalid("snapshot", error.message)
      }
      completed?.write(line: "finished::snapshot")
    case .fault(let name, let fault):
      do throws(LabError) {
        try add(fault, fileSystem)
        // The colon is where LazyFS has one.
        say("[lazyfs.faults.worker]: received\(name == "crash" ? ":" : "") VALID \(name) fault:")
      } catch {
        sayInvalid(name, error.message)
      }
    case .invalid(let name, let words): sayInvalid(name, words)
    case .unknown(let line):
      say("[lazyfs.faults.worker]: command unknown '\(line.filter { !$0.isNewline })'")
    }
  }

  private func sayInvalid(_ name: String, _ words: String) {
    say("[lazyfs.faults.worker]: received: INVALID \(name) fault:")
    say("[lazyfs.faults.worker]: \(name) fault error: \(words)")
  }

  private static func bytes(_ files: [UnsyncedFile]) -> UInt64 {
    files.flatMap(\.ranges).reduce(0) { $0 + $1[1] - $1[0] }
  }

  private func report(_ fileSystem: FaultFSClient) throws(LabError) {
    say("[lazyfs.cmds]: report request submitted...")
    let files = try fileSystem.unsyncedFiles()
    say("[lazyfs.cmds]: report generated.")
    if files.isEmpty { return say("[lazyfs.cmds]: report: all data blocks are synced!") }
    for file in files {
      say("[lazyfs.report] \t=> file: '\(root.map { $0 + "/" } ?? "")\(file.path)'")
      for range in file.ranges {
        say(
          "[lazyfs.report] (block \(range[0] / 4096)) to (block \((range[1] - 1) / 4096)) "
            + "[byte index \(range[0]) to index \(range[1] - 1)]")
      }
    }
    say("[lazyfs.report] Total number of bytes un-fsynced: \(Self.bytes(files)) bytes.")
  }

  /// Copies files as programs see them to `snapshotN` in a folder, by their last names as LazyFS
  /// does; two of one name get a number.
  private func snapshot(
    _ fileSystem: FaultFSClient, _ files: Glob, _ save: String
  ) throws(LabError) -> Int {
    guard PathCalls.isDirectory(save) else { throw .usage("save \(save): there is no directory") }
    let chosen = try tree(of: fileSystem).regularFiles().filter { path, _ in
      files.matches(Array(path.utf8))
    }
    if chosen.isEmpty { return 0 }
    var snapshot = TreeImage()
    for (path, image) in chosen {
      let last = path.split(separator: "/").last.map(String.init) ?? path
      var name = FileName(last)
      var count = 2
      while snapshot.inodes[.root]?.entries[name] != nil {
        name = FileName("\(last).\(count)")
        count += 1
      }
      let number = InodeNumber(rawValue: UInt64(snapshot.inodes.count + 1))
      snapshot.inodes[number] = image
      snapshot.inodes[.root]?.entries[name] = number
    }
    let folder = "\(save)/snapshot\(snapshotCount)"
    // One of an earlier mount is replaced.
    guard try PathCalls.makesDirectory(folder, 0o755) || PathCalls.isOwnDirectory(folder) else {
      throw .usage("\(folder) is there, and is no directory of user \(geteuid())")
    }
    try DirectoryWriter(path: folder).write(snapshot)
    snapshotCount += 1
    return chosen.count
  }

  private func tree(of fileSystem: FaultFSClient) throws(LabError) -> TreeImage {
    let run = try RunDirectory()
    defer { run.remove() }
    let saved = "\(run.path)/root.sqlite"
    try fileSystem.saveTree(to: saved)
    return try TraceFile.load(saved).initial
  }

  /// Writes the root directory as the file system is now; the second time nothing.
  func end(_ fileSystem: FaultFSClient) throws(LabError) {
    guard !isOver else { return }
    isOver = true
    guard let root else { return }
    let tree = try tree(of: fileSystem)
    // Beside the root, so that what is moved stays on one file system.
    let new = root + ".faultline-\(getpid())"
    guard try PathCalls.makesDirectory(new, 0o700) else {
      throw .lab("cannot write \(root): \(new) is there already")
    }
    do {
      try DirectoryWriter(path: new).write(tree)
      // The slash follows a root that is a link, as the user gave it.
      try DirectoryCleaner(path: root + "/.").clear()
      for name in try FileManager.default.contentsOfDirectory(atPath: new) {
        try FileManager.default.moveItem(atPath: "\(new)/\(name)", toPath: "\(root)/\(name)")
      }
      try FileManager.default.removeItem(atPath: new)
    } catch let error as LabError {
      throw error
    } catch {
      throw .lab("cannot write \(root): \(error.localizedDescription); see \(new)")
    }
  }
}
