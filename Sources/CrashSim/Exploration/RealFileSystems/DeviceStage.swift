// DeviceStage.swift: crash states of a device: each is mounted, so that the kernel recovers it, and
// unmounted again.
// Invariant: a state that does not mount, or that fails the file system's own checker after
// recovery, gives a verdict that blames the file system and not the program.

import CrashStates
import Findings
import Foundation
import LabCore
import Recording
import Synchronization

/// The file system in the images of a device, and whether fsck runs on them.
package struct DeviceCheck: Sendable, Hashable {
  /// The file system.
  package var system: KernelFileSystem
  /// Whether the file system's own checker runs after each state.
  package var runsFsck: Bool

  /// Makes a choice.
  package init(system: KernelFileSystem, runsFsck: Bool = false) {
    self.system = system
    self.runsFsck = runsFsck
  }
}

/// Crash states mounted from images.
final class DeviceStage: CrashStateStage {
  let directory: String
  private let device: DeviceCheck
  private let volume: String
  private let image: String
  private let log: String
  private let writer: DirectoryWriter
  private let mount = Mutex<LoopMount?>(nil)

  /// A stage below `slot`, an existing directory.
  init(_ device: DeviceCheck, slot: String) throws(LabError) {
    self.device = device
    volume = "\(slot)/volume"
    directory = "\(volume)/\(DeviceLayout.work)"
    image = "\(slot)/image/\(DeviceLayout.image)"
    log = "\(slot)/fsck"
    writer = DirectoryWriter(path: "\(slot)/image")
    for path in [volume, "\(slot)/image"] { try PathCalls.makeDirectory(path) }
  }

  func present(_ tree: TreeImage) throws(LabError) -> CheckResult? {
    try writer.write(tree)
    do throws(MountFailure) {
      let mounted = try LoopMount(image: image, at: volume, as: device.system)
      mount.withLock { $0 = mounted }
    } catch {
      guard let refusal = error.refusal else { throw error.labError(device.system) }
      return broken("it does not mount after the crash: \(describe(errno: refusal))", [])
    }
    guard PathCalls.isDirectory(directory) else {
      _ = try withdraw()
      return broken("a directory that was durable before the program ran is gone", [])
    }
    return nil
  }

  func withdraw() throws(LabError) -> CheckResult? {
    let mounted = mount.withLock { mount in
      defer { mount = nil }
      return mount
    }
    // A file system that a process of the checker still uses cannot be checked; the next state has
    // its own device.
    guard let mounted, mounted.unmount(), device.runsFsck else { return nil }
    var arguments = device.system.checkArguments(image: image)
    let program = arguments[0]
    arguments[0] = KernelFileSystem.tool(program) ?? program
    let (ending, output) = try Tool.run(arguments, log: log)
    try Interruption.check()
    if ending.isSuccess { return nil }
    let lines = output.replacing(image, with: DeviceLayout.image).split(separator: "\n")
    return broken("\(program) finds errors after recovery", lines.map(String.init))
  }

  private func broken(_ what: String, _ lines: [String]) -> CheckResult {
    let headline =
      "file system broken: \(device.system.kind.rawValue): \(what) "
      + "(a fault of the kernel, not of the program)"
    return CheckResult(
      ending: .exited(1), output: ([headline] + lines.prefix(20)).joined(separator: "\n"),
      promised: "\(device.system.kind.rawValue) recovers from every crash that its flushes allow")
  }
}
