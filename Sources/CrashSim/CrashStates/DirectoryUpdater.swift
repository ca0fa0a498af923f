// DirectoryUpdater.swift: [U] makes a directory that holds some image, or what a checker made of
// one, hold another image, and rewrites only what differs.
// Invariant: afterwards the directory holds what `DirectoryWriter.write` would have put there. What
// is there is compared itself, bytes included, and no time is believed: a store to a mapping of a
// file in shared memory changes none, and a checker may set any. A time that no program chose is
// one of this run; the time that a file has may be a chosen one of the image before.
// Safety: buffers are passed to one system call each and not kept.

import CSystem
import Glibc
import LabCore
import Recording

/// Turns what a directory holds into an image.
public struct DirectoryUpdater {
  private let writer: DirectoryWriter
  private let tree: TreeImage
  private let isRoot = getuid() == 0
  /// The times that the lab itself may have given: from its first update until now.
  private let ownTimes: ClosedRange<Int>
  private static let began = time(nil)
  /// How many names each inode of the image has.
  private var nameCounts: [InodeNumber: UInt] = [:]
  /// Where each inode of the image is by now, and what the kernel calls it there.
  private var places: [InodeNumber: (path: KernelPath, number: ino_t)] = [:]
  /// Inodes of the kernel that are taken.
  private var taken: Set<ino_t> = []
  private var buffer: [UInt8] = []
  /// Bytes that were written.
  public private(set) var writtenBytes = 0

  private init(_ tree: TreeImage, in path: String) {
    writer = DirectoryWriter(path: path)
    self.tree = tree
    let first = Self.began
    ownTimes = first...max(first, time(nil))
    for inode in tree.inodes.values {
      for number in inode.entries.values { nameCounts[number, default: 0] += 1 }
    }
  }

  /// Makes a directory hold an image.
  /// - Parameters:
  ///   - path: An existing directory.
  ///   - tree: What it is to hold.
  /// - Returns: How many bytes of files were written.
  /// - Throws: `LabError` naming the path when a call fails.
  /// - Complexity: O(bytes of the image) reads, and writes of what differs.
  @discardableResult
  public static func update(_ path: String, to tree: TreeImage) throws(LabError) -> Int {
    var updater = DirectoryUpdater(tree, in: path)
    try updater.update()
    return updater.writtenBytes
  }

  private mutating func update() throws(LabError) {
    guard let root = tree.inodes[.root] else {
      throw .internalError("a crash image without a root")
    }
    // Directories get their permissions last, deepest first, so that none locks its own writer out.
    var directories: [(path: KernelPath, inode: InodeImage)] = [(KernelPath(writer.path), root)]
    var next = 0
    while next < directories.count {
      let (directory, image) = directories[next]
      next += 1
      if !isRoot { _ = unsafe chmod(directory.characters, 0o700) }
      try removeOthers(than: image.entries, in: directory)
      for (name, number) in image.entries.sorted(by: { $0.key < $1.key }) {
        guard let inode = tree.inodes[number] else {
          throw .lab("entry \(name) in \(directory) names inode \(number), which is missing")
        }
        let entry = directory.appending(name.bytes)
        try place(inode, number, at: entry)
        if inode.type == .directory { directories.append((entry, inode)) }
      }
    }
    for (directory, inode) in directories.reversed() {
      guard let found = attributes(of: directory), hasAttributes(of: inode, found, directory)
      else {
        try removeAttributes(of: directory)
        try writer.finish(inode, at: directory)
        continue
      }
      try correctTime(of: inode, found, at: directory)
    }
  }

  /// Removes what an image does not name.
  private func removeOthers(
    than entries: [FileName: InodeNumber], in directory: KernelPath
  ) throws(LabError) {
    let wanted = Set(entries.keys.map(\.bytes))
    for name in try DirectoryCleaner.names(in: directory) where !wanted.contains(name) {
      try remove(directory.appending(name))
    }
  }

  private func remove(_ entry: KernelPath) throws(LabError) {
    guard let found = attributes(of: entry) else { return }
    if found.st_mode & Glibc.S_IFMT == Glibc.S_IFDIR {
      try DirectoryCleaner(path: entry).clear()
      try writer.must(unsafe rmdir(entry.characters), "rmdir", entry)
    } else if unsafe unlink(entry.characters) < 0, errno != ENOENT {
      try writer.must(-1, "unlink", entry)
    }
  }

  /// Makes a name mean an inode of the image.
  private mutating func place(
    _ inode: InodeImage, _ number: InodeNumber, at entry: KernelPath
  ) throws(LabError) {
    let found = attributes(of: entry)
    if let first = places[number] {
      if found?.st_ino == first.number { return }
      try remove(entry)
      try writer.must(
        unsafe Glibc.link(first.path.characters, entry.characters), "link", entry)
      return
    }
    let isKept: Bool
    if let found, isUsable(found, for: inode, number) {
      isKept = try correct(inode, found, at: entry)
    } else {
      isKept = false
    }
    if !isKept {
      try remove(entry)
      try writer.make(inode, at: entry)
      writtenBytes += inode.extents.reduce(0) { $0 + $1.countBytes }
    }
    if isKept, let found, inode.type != .directory {
      try correctTime(of: inode, found, at: entry)
    }
    let now = isKept ? found : attributes(of: entry)
    guard let now else { return try writer.must(-1, "lstat", entry) }
    places[number] = (entry, now.st_ino)
    taken.insert(now.st_ino)
  }

  /// Whether what a name means can become an inode of the image without a new name.
  private func isUsable(_ found: stat, for inode: InodeImage, _ number: InodeNumber) -> Bool {
    guard found.st_mode & Glibc.S_IFMT == inode.type.modeBits else { return false }
    if inode.type == .directory { return true }
    // Another name of it, in the image as it was or wherever a checker put it, would change too.
    return UInt(found.st_nlink) == nameCounts[number] && !taken.contains(found.st_ino)
  }

  /// Gives what is there the content and the attributes of the image; false when it has to be made.
  private mutating func correct(
    _ inode: InodeImage, _ found: stat, at entry: KernelPath
  ) throws(LabError) -> Bool {
    switch inode.type {
    // Its attributes come when what it holds has.
    case .directory: return true
    case .symbolicLink: return hasTarget(of: inode, at: entry) && isOwned(as: inode, found)
    case .fifo, .socket: return hasAttributes(of: inode, found, entry)
    case .characterDevice, .blockDevice:
      return UInt64(found.st_rdev) == inode.device && hasAttributes(of: inode, found, entry)
    case .regular:
      // Bytes first: the owner and the mode of the image may forbid to write them.
      guard try correctBytes(of: inode, found, at: entry) else { return false }
      // A write takes set-user-ID bits and capabilities away.
      guard let now = attributes(of: entry), hasAttributes(of: inode, now, entry) else {
        try removeAttributes(of: entry)
        try writer.finish(inode, at: entry)
        return true
      }
      return true
    }
  }

  /// Gives what is there the chosen time of the image, or takes one away that is not in it.
  private func correctTime(
    of inode: InodeImage, _ found: stat, at entry: KernelPath
  ) throws(LabError) {
    if inode.modificationTime != nil {
      try writer.setTime(inode.modificationTime, at: entry)
    } else if !ownTimes.contains(found.st_mtim.tv_sec) {
      try writer.setCurrentTime(at: entry)
    }
  }

  // MARK: Content

  /// Makes a file's bytes those of the image; false when it is better made anew.
  private mutating func correctBytes(
    of inode: InodeImage, _ found: stat, at entry: KernelPath
  ) throws(LabError) -> Bool {
    let descriptor = unsafe csystem_open(
      entry.characters, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0)
    guard descriptor >= 0 else { return false }
    defer { Glibc.close(descriptor) }
    var end: UInt64 = 0
    for extent in inode.extents {
      // What is not in the image is a hole, which a write would not bring back.
      guard isZero(descriptor, end..<extent.offsetBytes, below: found.st_size) else { return false }
      try correct(extent, of: descriptor, sizeBytes: UInt64(found.st_size), entry)
      end = extent.endBytes
    }
    guard isZero(descriptor, end..<max(end, inode.sizeBytes), below: found.st_size) else {
      return false
    }
    if UInt64(found.st_size) != inode.sizeBytes {
      try writer.must(ftruncate(descriptor, off_t(inode.sizeBytes)), "ftruncate", entry)
    }
    return true
  }

  /// A change of few bytes rewrites few.
  private static let pieceBytes = 4096

  private mutating func correct(
    _ extent: Extent, of descriptor: Int32, sizeBytes: UInt64, _ entry: KernelPath
  ) throws(LabError) {
    let content = extent.bytes
    let known = read(descriptor, at: extent.offsetBytes, countBytes: content.count)
    var start = 0
    while start < content.count {
      var stop = min(start + Self.pieceBytes, content.count)
      guard !isSame(content, start..<stop, known) else {
        start = stop
        continue
      }
      while stop < content.count {
        let following = min(stop + Self.pieceBytes, content.count)
        if isSame(content, stop..<following, known) { break }
        stop = following
      }
      try write(content, start..<stop, to: descriptor, at: extent.offsetBytes, entry)
      start = stop
    }
  }

  /// Whether a range of some bytes is what the buffer holds there.
  private func isSame(_ content: [UInt8], _ range: Range<Int>, _ known: Int) -> Bool {
    guard range.upperBound <= known else { return false }
    return unsafe content.withUnsafeBytes { wanted in
      unsafe buffer.withUnsafeBytes { have in
        guard let one = wanted.baseAddress, let other = have.baseAddress else {
          return true
        }
        return unsafe memcmp(one + range.lowerBound, other + range.lowerBound, range.count) == 0
      }
    }
  }

  /// Reads into the buffer; how many bytes it got.
  private mutating func read(_ descriptor: Int32, at offset: UInt64, countBytes: Int) -> Int {
    if buffer.count < countBytes { buffer = [UInt8](repeating: 0, count: countBytes) }
    var done = 0
    while done < countBytes {
      let count = unsafe buffer.withUnsafeMutableBytes { space in
        unsafe pread(
          descriptor, space.baseAddress.map { unsafe $0 + done }, countBytes - done,
          off_t(offset) + off_t(done))
      }
      if count <= 0 { break }
      done += count
    }
    return done
  }

  private mutating func write(
    _ content: [UInt8], _ range: Range<Int>, to descriptor: Int32, at offset: UInt64,
    _ entry: KernelPath
  ) throws(LabError) {
    var done = range.lowerBound
    while done < range.upperBound {
      let count = unsafe content.withUnsafeBytes { bytes in
        unsafe pwrite(
          descriptor, bytes.baseAddress.map { unsafe $0 + done }, range.upperBound - done,
          off_t(offset) + off_t(done))
      }
      try writer.must(Int32(clamping: count), "pwrite", entry)
      done += count
    }
    writtenBytes += range.count
  }

  /// Whether a range reads as zeros, which all behind a file's size does.
  private mutating func isZero(
    _ descriptor: Int32, _ range: Range<UInt64>, below size: off_t
  ) -> Bool {
    var position = range.lowerBound
    let end = min(range.upperBound, UInt64(size))
    while position < end {
      // Holes are passed over without reading them.
      let data = csystem_seek_data(descriptor, off_t(position))
      if data < 0 { return errno == ENXIO }
      position = max(position, UInt64(data))
      if position >= end { break }
      let count = read(
        descriptor, at: position, countBytes: Int(min(end - position, Extent.blockBytes)))
      guard count > 0, buffer[..<count].allSatisfy({ $0 == 0 }) else { return false }
      position += UInt64(count)
    }
    return true
  }

  // MARK: Attributes

  private func attributes(of entry: KernelPath) -> stat? {
    var attributes = stat()
    return unsafe lstat(entry.characters, &attributes) == 0 ? attributes : nil
  }

  private func isOwned(as inode: InodeImage, _ found: stat) -> Bool {
    !isRoot
      || (found.st_uid == inode.ownership.user && found.st_gid == inode.ownership.group)
  }

  private func hasTarget(of inode: InodeImage, at entry: KernelPath) -> Bool {
    var target = [CChar](repeating: 0, count: inode.target.count + 1)
    let count = unsafe readlink(entry.characters, &target, target.count)
    return count == inode.target.count
      && target.prefix(count).elementsEqual(inode.target.map { CChar(bitPattern: $0) })
  }

  private func hasAttributes(
    of inode: InodeImage, _ found: stat, _ entry: KernelPath
  ) -> Bool {
    guard isOwned(as: inode, found),
      found.st_mode & 0o7777 == inode.ownership.mode & 0o7777
    else { return false }
    let names = ExtendedAttributes.names(of: entry)
    guard names.count == inode.extendedAttributes.count else { return false }
    return inode.extendedAttributes.allSatisfy { name, value in
      ExtendedAttributes.value(name.bytes, of: entry) == value
    }
  }

  private func removeAttributes(of entry: KernelPath) throws(LabError) {
    if !isRoot { _ = unsafe chmod(entry.characters, 0o700) }
    for name in ExtendedAttributes.names(of: entry) {
      ExtendedAttributes.remove(name, of: entry)
    }
  }
}

/// Extended attributes of files that lie in a directory of the lab.
private enum ExtendedAttributes {
  /// None where the file system has none.
  static func names(of entry: KernelPath) -> [[UInt8]] {
    let size = unsafe csystem_list_attributes(entry.characters, nil, 0)
    guard size > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: size)
    let count = unsafe bytes.withUnsafeMutableBytes { space in
      unsafe csystem_list_attributes(
        entry.characters, space.baseAddress?.assumingMemoryBound(to: CChar.self), space.count)
    }
    return bytes[..<max(0, count)].split(separator: 0).map(Array.init)
  }

  static func value(_ name: [UInt8], of entry: KernelPath) -> [UInt8]? {
    let name = KernelPath.terminated(name)
    let size = unsafe csystem_get_attribute(entry.characters, name, nil, 0)
    guard size >= 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: size)
    let count = unsafe bytes.withUnsafeMutableBytes { space in
      unsafe csystem_get_attribute(entry.characters, name, space.baseAddress, space.count)
    }
    return count < 0 ? nil : Array(bytes[..<count])
  }

  static func remove(_ name: [UInt8], of entry: KernelPath) {
    _ = unsafe csystem_remove_attribute(entry.characters, KernelPath.terminated(name))
  }
}
