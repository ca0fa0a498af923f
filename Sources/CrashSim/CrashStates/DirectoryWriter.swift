// DirectoryWriter.swift: [U] writes a crash image into a real directory, for checkers that are
// programs.
// Invariant: afterwards the directory holds the image and nothing else: names, types, hard links,
// sizes, bytes, permissions, owners (as root), extended attributes, and modification times that the
// program chose. Other times are those of writing.
// Safety: buffers are passed to one system call each and not kept.

import CSystem
import Foundation
import Glibc
import LabCore
import Recording

/// Writes file trees into directories.
public struct DirectoryWriter: Sendable {
  /// The directory that receives the image.
  public let path: String
  private let isRoot = getuid() == 0

  /// A writer for an existing directory.
  public init(path: String) { self.path = path }

  /// Replaces the directory's content with an image.
  /// - Throws: `LabError` naming the path when a call fails.
  /// - Complexity: O(bytes of the image + previous content).
  public func write(_ tree: TreeImage) throws(LabError) {
    try DirectoryCleaner(path: path).clear()
    guard let root = tree.inodes[.root] else {
      throw .internalError("a crash image without a root")
    }
    var firstPaths: [InodeNumber: KernelPath] = [:]
    // Directories get their permissions last, deepest first, so that they stay writable.
    var directories: [(path: KernelPath, inode: InodeImage)] = [(KernelPath(path), root)]
    var next = 0
    while next < directories.count {
      let (directory, image) = directories[next]
      next += 1
      for (name, number) in image.entries.sorted(by: { $0.key < $1.key }) {
        guard let inode = tree.inodes[number] else {
          throw .lab("entry \(name) in \(directory) names inode \(number), which is missing")
        }
        let entry = directory.appending(name.bytes)
        if let first = firstPaths[number] {
          try must(unsafe Glibc.link(first.characters, entry.characters), "link", entry)
          continue
        }
        firstPaths[number] = entry
        try make(inode, at: entry)
        if inode.type == .directory { directories.append((entry, inode)) }
      }
    }
    for (directory, inode) in directories.reversed() { try finish(inode, at: directory) }
  }

  func make(_ inode: InodeImage, at entry: KernelPath) throws(LabError) {
    switch inode.type {
    case .regular:
      try writeFile(inode, at: entry)
      try finish(inode, at: entry)
    case .directory:
      try must(unsafe mkdir(entry.characters, 0o700), "mkdir", entry)
    case .symbolicLink:
      let target = KernelPath.terminated(inode.target)
      try must(unsafe symlink(target, entry.characters), "symlink", entry)
      if isRoot {
        try must(
          unsafe lchown(entry.characters, inode.ownership.user, inode.ownership.group), "lchown",
          entry)
      }
      try setTime(inode.modificationTime, at: entry)
    case .fifo, .socket, .characterDevice, .blockDevice:
      let mode = inode.type.modeBits | 0o600
      try must(unsafe mknod(entry.characters, mode, dev_t(inode.device)), "mknod", entry)
      try finish(inode, at: entry)
    }
  }

  private func writeFile(_ inode: InodeImage, at entry: KernelPath) throws(LabError) {
    let descriptor = unsafe csystem_open(
      entry.characters, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    try must(descriptor, "open", entry)
    defer { Glibc.close(descriptor) }
    for extent in inode.extents {
      let content = extent.bytes
      var done = 0
      while done < content.count {
        let count = unsafe content.withUnsafeBytes { bytes in
          unsafe pwrite(
            descriptor, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done,
            off_t(extent.offsetBytes) + off_t(done))
        }
        try must(Int32(clamping: count), "pwrite", entry)
        done += count
      }
    }
    try must(ftruncate(descriptor, off_t(inode.sizeBytes)), "ftruncate", entry)
  }

  func finish(_ inode: InodeImage, at entry: KernelPath) throws(LabError) {
    for (name, value) in inode.extendedAttributes.sorted(by: { $0.key < $1.key }) {
      let status = unsafe value.withUnsafeBytes { bytes in
        unsafe csystem_set_attribute(
          entry.characters, KernelPath.terminated(name.bytes), bytes.baseAddress, bytes.count)
      }
      try must(status, "setxattr \(name)", entry)
    }
    if isRoot {
      try must(
        unsafe chown(entry.characters, inode.ownership.user, inode.ownership.group), "chown", entry)
    }
    try must(unsafe chmod(entry.characters, inode.ownership.mode & 0o7777), "chmod", entry)
    try setTime(inode.modificationTime, at: entry)
  }

  /// UTIME_OMIT and UTIME_NOW, missing in the Glibc module.
  private static let unchanged = (1 << 30) - 2
  private static let currentTime = (1 << 30) - 1

  /// Sets a chosen modification time; nil leaves the time of writing.
  func setTime(_ time: Timestamp?, at entry: KernelPath) throws(LabError) {
    guard let time else { return }
    let times = [
      timespec(tv_sec: 0, tv_nsec: Self.unchanged),
      timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds)),
    ]
    try must(
      unsafe utimensat(AT_FDCWD, entry.characters, times, AT_SYMLINK_NOFOLLOW), "utimensat", entry)
  }

  /// Sets the modification time to the current time.
  func setCurrentTime(at entry: KernelPath) throws(LabError) {
    let times = [Self.unchanged, Self.currentTime].map { timespec(tv_sec: 0, tv_nsec: $0) }
    try must(
      unsafe utimensat(AT_FDCWD, entry.characters, times, AT_SYMLINK_NOFOLLOW), "utimensat", entry)
  }

  func must(_ status: Int32, _ call: String, _ entry: KernelPath) throws(LabError) {
    guard status < 0 else { return }
    throw .lab("\(call) \(entry): \(describe(errno: errno)), while writing a crash image")
  }
}

extension FileType {
  /// The bits of st_mode that say so.
  var modeBits: mode_t {
    switch self {
    case .fifo: Glibc.S_IFIFO
    case .socket: Glibc.S_IFSOCK
    case .characterDevice: Glibc.S_IFCHR
    case .blockDevice: Glibc.S_IFBLK
    case .regular: Glibc.S_IFREG
    case .directory: Glibc.S_IFDIR
    case .symbolicLink: Glibc.S_IFLNK
    }
  }
}
