// MachineSurvey.swift: [U] looks at the machine for `faultline doctor`. Whatever can be tried is
// tried, and nothing is changed.
// Safety: a path is passed to one system call and not kept.

import FaultFS
import Foundation
import Glibc
import LabCore

/// What this machine offers to this process.
public enum MachineSurvey {
  private static let perUser = "explore, certify, stress and mount; run keeps files in memory"

  /// Looks at everything; takes the time of one mount.
  /// - Throws: `LabError` when there is no place for a mount.
  /// - Complexity: O(1).
  public static func report() throws(LabError) -> MachineReport {
    let speed = MountSpeed.measured()
    return MachineReport(
      mounts: speed.state == .ok,
      capabilities: [
        device, way, fusermount, namespaces, seccomp, loopDevices, makers, runDirectory,
        sharedMemory, readers, debugger, speed,
      ])
  }

  private static var device: MachineCapability {
    let path = "/dev/fuse"
    let name = path
    guard PathCalls.canAccess(path, F_OK) else {
      return .missing(
        name, found: "there is none", lost: perUser,
        mend: "modprobe fuse (in a container: docker run --device /dev/fuse)")
    }
    guard PathCalls.canAccess(path, R_OK | W_OK) else {
      return .missing(
        name, found: "user \(geteuid()) may not open it", lost: perUser,
        mend: "sudo chmod 666 /dev/fuse")
    }
    return .ok(name, found: "user \(geteuid()) may open it")
  }

  private static var way: MachineCapability {
    switch MountRight.way() {
    case .direct?: .ok("mount", found: "by mount(2), as user \(geteuid())")
    case .fusermount?: .ok("mount", found: "by fusermount3")
    case .namespace?:
      .ok("mount", found: "by mount(2), in a user and mount namespace that each command makes")
    case nil:
      .missing(
        "mount", found: "neither mount(2), nor fusermount3, nor a user namespace", lost: perUser,
        mend: "sudo apt-get install fuse3 (in a container: --cap-add SYS_ADMIN "
          + "--security-opt apparmor=unconfined)")
    }
  }

  private static var fusermount: MachineCapability {
    guard let lack = Fusermount.lack else {
      return .ok("fusermount3", found: "\(Fusermount.path ?? "?"), set-uid root")
    }
    let mend =
      if Fusermount.path == nil {
        "sudo apt-get install fuse3"
      } else if !Fusermount.hasName {
        "sudo useradd --uid \(getuid()) NAME"
      } else {
        "leave the container, or start it without no_new_privs"
      }
    return .missing(
      "fusermount3", found: lack,
      lost: "mounts of ordinary users that other processes see, of faultline mount for example",
      mend: mend)
  }

  private static var namespaces: MachineCapability {
    let error = MountRight.namespaceError
    guard error != 0 else { return .ok("user namespaces", found: "this user may make them") }
    return .missing(
      "user namespaces", found: "refused (\(describe(errno: error)))",
      lost: "mounting without root and without fusermount3",
      mend: "sudo sysctl -w user.max_user_namespaces=10000 "
        + "kernel.apparmor_restrict_unprivileged_userns=0 kernel.unprivileged_userns_clone=1")
  }

  private static var seccomp: MachineCapability {
    var launch = ChildProcess.Launch(shell: "exit 0")
    launch.holdsSyncs = true
    var error = EIO
    if let child = try? ChildProcess(launch) {
      error = child.syncCalls >= 0 ? 0 : -child.syncCalls
      if child.syncCalls >= 0 { close(child.syncCalls) }
      _ = child.wait(timeoutSeconds: 10)
    }
    guard error != 0 else { return .ok("seccomp", found: "calls of sync(2) can be held") }
    return .missing(
      "seccomp", found: "refused (\(describe(errno: error)))",
      lost: "sync(2) and syncfs(2) of programs are not seen, so failing states are no findings",
      mend: "docker run --security-opt seccomp=unconfined, or FAULTLINE_WITHOUT_SYNC=1 for "
        + "programs that call neither")
  }

  private static let onDisk = "explore --on, calibrate"

  private static var loopDevices: MachineCapability {
    let name = "loop devices"
    guard geteuid() == 0, MountRight.mayMount else {
      return .missing(
        name, found: "only root can use them", lost: onDisk, mend: "sudo faultline explore --on …")
    }
    guard PathCalls.canAccess("/dev/loop-control", R_OK | W_OK) else {
      return .missing(
        name, found: "there is no /dev/loop-control", lost: onDisk,
        mend: "modprobe loop (in a container: docker run --privileged)")
    }
    return .ok(name, found: "/dev/loop-control may be opened")
  }

  private static var makers: MachineCapability {
    let tools = [
      ("mkfs.ext4", "e2fsprogs"), ("mkfs.xfs", "xfsprogs"), ("mkfs.btrfs", "btrfs-progs"),
    ]
    let lacking = tools.filter { KernelFileSystem.tool($0.0) == nil }
    let there = tools.map(\.0).filter { KernelFileSystem.tool($0) != nil }
    let found = there.isEmpty ? "none" : there.joined(separator: ", ")
    if lacking.isEmpty { return .ok("mkfs", found: found) }
    let names = lacking.map { "--on \($0.0.dropFirst(5))" }.joined(separator: ", ")
    return .missing(
      "mkfs", found: found, lost: names,
      mend: "sudo apt-get install \(lacking.map(\.1).joined(separator: " "))")
  }

  private static var readers: MachineCapability {
    let name = "format readers"
    let lacking = (try? FormatReader.lacking()) ?? KnownFormat.allCases
    let there = KnownFormat.allCases.filter { !lacking.contains($0) }.map(\.rawValue)
    let found = there.isEmpty ? "none" : there.joined(separator: ", ")
    if lacking.isEmpty { return .ok(name, found: found) }
    var packages: [String] = []
    for package in lacking.compactMap(\.packages.first) where !packages.contains(package) {
      packages.append(package)
    }
    return .missing(
      name, found: found,
      lost: "judging without a checker opens no "
        + lacking.map(\.rawValue).joined(separator: ", "),
      mend: "sudo apt-get install \(packages.joined(separator: " "))")
  }

  private static var runDirectory: MachineCapability {
    let name = "run directory"
    do throws(LabError) {
      return .ok(name, found: try RunDirectory.makeRoot())
    } catch {
      return .missing(
        name, found: error.message.components(separatedBy: "; ")[0],
        lost: "everything that runs a program",
        mend: "mkdir -p ~/.cache/faultline && "
          + "export \(RunDirectory.scratchName)=~/.cache/faultline")
    }
  }

  private static var debugger: MachineCapability {
    guard let path = Debugger.path else {
      return .missing(
        "gdb", found: "none in PATH", lost: "replay --gdb", mend: "sudo apt-get install gdb")
    }
    return .ok("gdb", found: path)
  }

  private static var sharedMemory: MachineCapability {
    let path = "/dev/shm"
    let needed: UInt64 = 512 << 20
    var system = statvfs()
    let isThere = unsafe statvfs(path, &system) == 0
    let free = isThere ? UInt64(system.f_bavail) * UInt64(system.f_frsize) : 0
    if free >= needed, PathCalls.canAccess(path, W_OK) {
      return .ok("shared memory", found: "\(free >> 20) MiB free in \(path)")
    }
    return .missing(
      "shared memory", found: isThere ? "\(free >> 20) MiB free in \(path)" : "no \(path)",
      lost: "crash states lie in $TMPDIR, which is slower on a disk",
      mend: "sudo mount -o remount,size=1G /dev/shm (docker run --shm-size 1g)")
  }
}
