// FaultFSDaemon.swift: the process that serves one mount: mounts, serves, unmounts, exits.
// Invariants: it ends at its client's request, on a signal, and when its client exits, and never
// leaves a mount; it does no file operation on its own mount.

import CSystem
import Foundation
import Glibc
import LabCore
import Recording

/// The process that serves a mount.
public enum FaultFSDaemon {
  /// Mounts, serves until a request or signal ends it, and unmounts.
  /// - Parameters:
  ///   - mountPoint: An existing directory.
  ///   - controlDescriptor: Stream socket to the client; its end is the daemon's end.
  ///   - marksDescriptor: Read end of a packet pipe, or of an output socket where
  ///     `FaultFSOptions.marks` is lines; or -1.
  ///   - cpu: The CPU that serves, on which its clients run; nil is any.
  ///   - options: How the mount behaves.
  /// - Throws: `LabError` when the mount fails; the client gets the error, too.
  public static func run(
    mountPoint: String, controlDescriptor: Int32, marksDescriptor: Int32, cpu: Int32? = nil,
    options: FaultFSOptions = FaultFSOptions()
  ) throws(LabError) {
    signal(SIGPIPE, SIG_IGN)
    // A recording holds what the files hold, whoever may read those.
    umask(0o077)
    // The next recording fills the memory of the last one without a page fault per payload.
    csystem_keep_freed_memory(1 << 30)
    let signals = csystem_termination_descriptor()
    guard signals >= 0 else { throw .lab("signalfd failed: \(lastError())") }
    // Threads inherit the CPU and the signal mask: this one is started between the two settings, so
    // that it runs beside the serving thread.
    let pieces = PayloadPieces()
    Thread.detachNewThread {
      // Woken by the serving thread, it would otherwise be placed on the same CPU.
      if let cpu { _ = csystem_leave_cpu(cpu) }
      pieces.makeAhead()
    }
    if let cpu { _ = csystem_pin_to_cpu(0, cpu) }
    let mount: FuseMount
    var listener: Int32 = -1
    do throws(LabError) {
      if let path = options.controlPath { listener = try listen(at: path) }
      mount = try makeMount(mountPoint, marksDescriptor, options, pieces)
    } catch {
      let reply = ControlReply(error: error.message, isUsageError: error.code == .usage)
      try? Descriptors.send(try ControlFrames.encode(reply), to: controlDescriptor)
      throw error
    }
    let control = FaultFSControl(
      mount: mount, controlDescriptor: controlDescriptor, signalDescriptor: signals,
      listener: listener)
    control.send(ControlReply())
    Thread.detachNewThread { mount.serveLate() }
    Thread.detachNewThread { mount.serveDrops() }
    Thread.detachNewThread { control.run() }
    mount.serve()
    // The mount is gone: unmounted by our control thread, by a fault, or by another process. The
    // client may still fetch the recording; the control thread ends the process when the client
    // exits.
    while true { pause() }
  }

  /// The path is an entry in the mount table, in which commas and spaces have a meaning.
  private static func listen(at path: String) throws(LabError) -> Int32 {
    let isPlain = path.utf8.allSatisfy { byte in
      UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
        || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || "/._-+".utf8.contains(byte)
    }
    guard isPlain, path.hasPrefix("/") else {
      throw .usage(
        "control socket \(path): give an absolute path of letters, digits, '/', '.', '_', '-', '+'")
    }
    return try PathSocket.listen(at: path)
  }

  private static func makeMount(
    _ mountPoint: String, _ marks: Int32, _ options: FaultFSOptions, _ pieces: PayloadPieces
  ) throws(LabError) -> FuseMount {
    guard let path = PathCalls.resolve(mountPoint), PathCalls.isDirectory(path) else {
      throw .usage("mount point \(mountPoint) is not a directory; create it first")
    }
    try checkDevice()
    return try FuseMount(at: path, marksDescriptor: marks, options: options, pieces: pieces)
  }

  /// Checks early for what every mount needs.
  /// - Throws: `LabError` that says how to get access to the device.
  static func checkDevice() throws(LabError) {
    guard PathCalls.canAccess("/dev/fuse", F_OK) else {
      throw .lab(
        "/dev/fuse is missing; load the fuse module, or pass the device to the container; "
          + MountRight.pointer)
    }
    guard PathCalls.canAccess("/dev/fuse", R_OK | W_OK) else {
      throw .lab(
        "/dev/fuse may not be opened by user \(geteuid()); \(deviceRemedy); \(MountRight.pointer)")
    }
  }

  /// Advice for a user who may not open the device: a container denies it even to root, and the
  /// device's owner denies it to a user who is root in a user namespace only.
  private static var deviceRemedy: String {
    geteuid() == 0
      ? "the container does not pass it (docker and podman: --device /dev/fuse), or it is not open "
        + "to the user that is root in this user namespace (chmod 666 /dev/fuse outside)"
      : "have root open it to users (chmod 666 /dev/fuse)"
  }

  /// Advice for when the device can be opened but mounting is refused.
  static var mountRemedy: String {
    let remedy =
      geteuid() == 0
      ? "root may not mount here: give the container the right to "
        + "(docker and podman: --cap-add SYS_ADMIN --security-opt apparmor=unconfined)"
      : "install fuse3, whose fusermount3 mounts for users, or allow user namespaces"
    return "\(remedy); \(MountRight.pointer)"
  }
}
