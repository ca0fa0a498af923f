// DeviceRecorder.swift: runs a program on a real file system of the kernel whose device is a file
// on FaultFS, so that block writes and flushes are the trace.
//   program ─► ext4/XFS/Btrfs (mount) ─► loop device ─► file `device` on FaultFS ─► trace
// Invariants: marks are ordered among block writes as among the operations of other traces; a flush
// of the device is a sync of that one file; when the recorder returns, both mounts are gone.

import CSystem
import FaultFS
import Foundation
import LabCore
import Recording

/// Names below a mounted image, the same in recordings and in crash states.
enum DeviceLayout {
  /// The image file, in the trace's root.
  static let image = "device"
  /// The program's directory, below the root of the mounted file system.
  static let work = "work"
  /// A file next to it, through which Faultline commits the journal.
  static let scratch = "scratch"
}

extension ProgramRecorder {
  /// Runs setup, then records the workload on a file system of the kernel.
  ///
  /// After the workload's end Faultline makes the kernel do at once what it would do later: first
  /// commit its journal, then write everything. States in between are part of the trace.
  /// - Parameters:
  ///   - program: The commands.
  ///   - system: The file system.
  /// - Returns: Block writes, flushes and marks.
  /// - Throws: `LabError` with code `.usage` when a command of the user fails.
  public func record(
    _ program: ProgramUnderTest, on system: KernelFileSystem
  ) throws(LabError) -> Trace {
    try system.demand()
    let mountPoint = try run.subdirectory("mount")
    let volume = try run.subdirectory("volume")
    let tracePath = "\(run.path)/trace.sqlite"
    var options = FaultFSOptions()
    options.marks = marks
    let fileSystem = try FaultFSClient(
      mountPoint: mountPoint, options: options, cpu: csystem_first_allowed_cpu())
    defer { try? fileSystem.shutdown() }
    let image = "\(fileSystem.mountPoint)/\(DeviceLayout.image)"
    try makeImage(of: system, at: image)
    let work = "\(volume)/\(DeviceLayout.work)"
    let scratch = "\(volume)/\(DeviceLayout.scratch)"
    try withMount(of: image, at: volume, as: system) { () throws(LabError) in
      try makeDirectory(work)
      try WriteBack.journal(through: scratch, of: system.kind)
      guard let setup = program.setup else { return }
      try execute(setup, as: "setup", on: fileSystem, in: work)
    }
    // Mounted again: the journal is empty, and nothing of the setup is dirty or cached.
    try withMount(of: image, at: volume, as: system) { () throws(LabError) in
      try WriteBack.all(below: volume)
      try fileSystem.beginRecording()
      try execute(
        program.workload, as: "workload", on: fileSystem, in: work,
        acknowledges: true)
      try WriteBack.journal(through: scratch, of: system.kind)
      try WriteBack.all(below: volume)
      _ = try fileSystem.endRecording(savingTo: tracePath)
    }
    try fileSystem.shutdown()
    return try TraceFile.load(tracePath)
  }

  /// Makes the file system, with holes for zeros.
  private func makeImage(of system: KernelFileSystem, at path: String) throws(LabError) {
    let base = "\(run.path)/base-image"
    let manager = FileManager.default
    // Only root may read the image, and copies of it: it has the files that others may not read.
    guard
      manager.createFile(atPath: base, contents: nil, attributes: [.posixPermissions: 0o600]),
      let file = FileHandle(forWritingAtPath: base)
    else { throw .lab("cannot write \(base)") }
    defer { try? manager.removeItem(atPath: base) }
    do {
      try file.truncate(atOffset: UInt64(system.imageSizeBytes))
      try file.close()
    } catch {
      throw .lab("cannot write \(base): \(error.localizedDescription)")
    }
    var arguments = system.makeArguments(image: base, run: run.name)
    arguments[0] = KernelFileSystem.tool(arguments[0]) ?? arguments[0]
    for command in [arguments, ["/bin/cp", "--sparse=always", base, path]] {
      let (ending, output) = try Tool.run(command, log: "\(run.path)/tool-output")
      guard ending.isSuccess else {
        if command == arguments, !system.makeOptions.isEmpty {
          throw .usage(
            "--on \(system): \(command.joined(separator: " ")): \(ending)\n\(output)\n"
              + "change the options after mkfs=, or leave them out")
        }
        throw .lab("\(command.joined(separator: " ")): \(ending)\n\(output)")
      }
    }
  }

  private func withMount(
    of image: String, at path: String, as system: KernelFileSystem,
    _ body: () throws(LabError) -> Void
  ) throws(LabError) {
    let mount: LoopMount
    do throws(MountFailure) {
      mount = try LoopMount(image: image, at: path, as: system)
    } catch {
      throw error.labError(system)
    }
    do throws(LabError) {
      try body()
    } catch {
      mount.unmount()
      throw error
    }
    guard mount.unmount() else {
      throw .lab(
        "\(path) is held by another process, or by a mount namespace that another one made; "
          + "Faultline detached it; run Faultline where nobody copies its mounts: unshare -m "
          + "faultline …")
    }
  }

  private func makeDirectory(_ path: String) throws(LabError) {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    } catch {
      throw .lab("cannot make \(path): \(error.localizedDescription)")
    }
  }
}

/// Short runs of programs that Faultline needs.
package enum Tool {
  /// Time limit of a tool in seconds.
  private static let timeoutSeconds = 120

  /// Runs a program to its end.
  /// - Returns: How it ended, and its output.
  static func run(
    _ arguments: [String], log: String
  ) throws(LabError) -> (ProcessEnding, String) {
    let descriptor = Descriptors.create(log)
    guard descriptor >= 0 else { throw .lab("open \(log): \(describe(errno: errno))") }
    let output = OwnedDescriptor(descriptor)
    var launch = ChildProcess.Launch(arguments)
    launch.standardOutput = output.number
    launch.standardError = output.number
    let ending = try ChildProcess(launch).wait(timeoutSeconds: timeoutSeconds)
    let text = FileManager.default.contents(atPath: log) ?? Data()
    return (ending, String(decoding: text.prefix(4000), as: UTF8.self))
  }
}
