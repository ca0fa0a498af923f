// LoopMount.swift: [U] a file system in an image file, mounted through a loop device.
// Invariants: the device detaches itself after its last use, also when this process is killed; when
// `unmount` returns, the mount is removed from the tree, and if it returns true, the file system is
// closed: no mount namespace that another process made meanwhile has a copy of the mount.
// Safety: paths are passed to one system call each and not kept.

import CSystem
import Glibc
import LabCore
import Synchronization

/// A mounted image file.
final class LoopMount: Sendable {
  /// Where it is mounted.
  let path: String
  private let isMounted = Atomic<Bool>(true)
  /// The loop device: open for as long as it is asked whether it is mounted anywhere.
  private let device: OwnedDescriptor
  private let devicePath: String

  /// How long unmounting a busy mount is retried, and copies of it are waited for.
  private static let patienceMilliseconds = 2000

  /// Attaches a file and mounts the file system in it.
  /// - Parameters:
  ///   - image: The image file.
  ///   - path: An existing directory.
  ///   - system: The file system in the file.
  /// - Throws: `MountFailure` when the kernel rejects the file system; with a `LabError` as its
  ///   cause when there is no loop device.
  init(
    image: String, at path: String, as system: KernelFileSystem
  ) throws(MountFailure) {
    self.path = path
    let file = unsafe csystem_open(image, O_RDWR | O_CLOEXEC, 0)
    guard file >= 0 else {
      throw MountFailure(.lab("open \(image): \(describe(errno: errno))"))
    }
    defer { Glibc.close(file) }
    var number: Int32 = -1
    device = OwnedDescriptor(unsafe csystem_attach_loop(file, &number))
    devicePath = "/dev/loop\(number)"
    guard device.number >= 0 else {
      throw MountFailure(.lab("cannot attach \(image) to a loop device: \(describe(errno: errno))"))
    }
    let status = unsafe csystem_mount(
      devicePath, path, system.kind.rawValue, 0, system.mountData)
    guard status == 0 else { throw MountFailure(refusedWith: errno) }
  }

  deinit { unmount() }

  /// Unmounts; a second call has no effect.
  /// - Returns: False when the mount is still in use, or in another mount namespace: it is removed
  ///   from the tree, but not closed.
  @discardableResult
  func unmount() -> Bool {
    guard isMounted.exchange(false, ordering: .acquiringAndReleasing) else { return true }
    let end = monotonicNanoseconds() + UInt64(Self.patienceMilliseconds) * 1_000_000
    while unsafe csystem_unmount(path) != 0 {
      if errno == EBUSY && monotonicNanoseconds() < end {
        usleep(2000)
        continue
      }
      _ = unsafe csystem_detach_mount(path)
      return false
    }
    while isInUse {
      guard monotonicNanoseconds() < end else { return false }
      usleep(2000)
    }
    return true
  }

  /// Whether the device is mounted anywhere: only then the kernel refuses it to exclusive use.
  private var isInUse: Bool {
    let other = OwnedDescriptor(unsafe csystem_open(devicePath, O_RDONLY | O_EXCL | O_CLOEXEC, 0))
    return other.number < 0 && errno == EBUSY
  }
}

/// Why a file system could not be mounted.
struct MountFailure: Error {
  /// The error of mount(2), if it was called.
  let refusal: Int32?
  /// The error of a step before mount(2).
  let cause: LabError?

  init(_ cause: LabError) {
    self.cause = cause
    refusal = nil
  }

  init(refusedWith number: Int32) {
    cause = nil
    refusal = number
  }

  /// The failure as a `LabError`, for images that must mount.
  func labError(_ system: KernelFileSystem) -> LabError {
    if let cause { return cause }
    return .usage(
      "--on \(system): mount: \(describe(errno: refusal ?? 0)); mount options: \(system.mountData)"
        + (system.makeOptions.isEmpty
          ? "" : "; this kernel may not support the options of mkfs= (see dmesg): drop mkfs="))
  }
}
