// FileTree.swift: a POSIX file tree in memory: what FaultFS serves.
// It does not depend on FUSE, faults or traces; one thread uses it at a time.
// Invariants: a method that throws changed nothing; inode numbers are never reused; every inode of
// `inodes` has a name, a lookup or an open file.

import Glibc
import LabCore

/// A POSIX file tree in memory.
package final class FileTree {
  /// Longest name of a file.
  package static let nameBytesMax = 255
  /// The quota cost of an inode or a name, so that empty files cannot fill the memory.
  package static let inodeCostBytes = 512

  package private(set) var inodes: [InodeNumber: Inode] = [:]
  package let root: Inode
  package let quota: MemoryQuota
  private var nextNumber: UInt64
  package let now: () -> Timestamp

  /// Makes a tree from an image.
  /// - Throws: `EINVAL` when the image violates an invariant, `ENOSPC` when it exceeds the quota.
  package init(
    image: TreeImage = TreeImage(), quotaBytes: UInt64, now: @escaping () -> Timestamp
  ) throws(ErrorNumber) {
    self.now = now
    quota = MemoryQuota(limitBytes: quotaBytes)
    nextNumber = 2
    guard let rootImage = image.inodes[.root], rootImage.type == .directory else {
      throw ErrorNumber(EINVAL)
    }
    root = Inode(
      number: .root, type: .directory, ownership: rootImage.ownership, target: [], device: 0,
      content: nil, time: now())
    root.extendedAttributes = rootImage.extendedAttributes
    root.adopt(chosenTime: rootImage.modificationTime)
    for (name, value) in root.extendedAttributes {
      guard quota.reserve(name.bytes.count + value.count) else { throw ErrorNumber(ENOSPC) }
    }
    inodes[.root] = root
    try load(image)
  }

  private func load(_ image: TreeImage) throws(ErrorNumber) {
    var directories = [root]
    while let directory = directories.popLast() {
      let entries = image.inodes[directory.number]?.entries ?? [:]
      for (name, number) in entries.sorted(by: { $0.key < $1.key }) {
        try Self.check(name)
        guard let inodeImage = image.inodes[number] else { throw ErrorNumber(EINVAL) }
        let known: Inode? = inodes[number]
        // A directory has one name: a second one would make a cycle or a hard link to it.
        if known?.isDirectory == true { throw ErrorNumber(EINVAL) }
        let inode: Inode
        if let known { inode = known } else { inode = try adopt(number, inodeImage) }
        directory.addEntry(name, inode)
        inode.linkCount = inode.isDirectory ? 2 : inode.linkCount + 1
        if inode.isDirectory {
          directory.linkCount += 1
          directories.append(inode)
        }
      }
    }
  }

  private func adopt(
    _ number: InodeNumber, _ image: InodeImage
  ) throws(ErrorNumber) -> Inode {
    guard number.rawValue > 1, number.rawValue < UInt64.max / 2 else { throw ErrorNumber(EINVAL) }
    let inode = try makeInode(
      number, type: image.type, ownership: image.ownership, target: image.target,
      device: image.device)
    let attributeBytes = image.extendedAttributes.reduce(0) {
      $0 + $1.key.bytes.count + $1.value.count
    }
    guard quota.reserve(attributeBytes) else { throw ErrorNumber(ENOSPC) }
    inode.extendedAttributes = image.extendedAttributes
    for extent in image.extents {
      try inode.content?.write(extent.bytes, at: extent.offsetBytes)
    }
    if let content = inode.content {
      guard content.sizeBytes <= image.sizeBytes else { throw ErrorNumber(EINVAL) }
      try content.truncate(to: image.sizeBytes)
    }
    inode.adopt(chosenTime: image.modificationTime)
    nextNumber = max(nextNumber, number.rawValue + 1)
    return inode
  }

  /// The tree as a value: everything reachable from the root, files as maximal non-zero runs.
  package func image() -> TreeImage {
    var image = TreeImage()
    let store = PayloadStore(wrappingUpTo: PayloadStore.memoryBytesMax)
    var waiting = [root]
    while let inode = waiting.popLast() {
      var copy = InodeImage(type: inode.type, ownership: inode.ownership)
      copy.extendedAttributes = inode.extendedAttributes
      copy.target = inode.target
      copy.device = inode.device
      copy.modificationTime = inode.chosenTime
      if let content = inode.content {
        copy.sizeBytes = content.sizeBytes
        copy.extents = content.extents(in: store)
      }
      for (name, entry) in inode.entries {
        copy.entries[name] = entry.inode.number
        let isNew = image.inodes[entry.inode.number] == nil
        if isNew { waiting.append(entry.inode) }
      }
      image.inodes[inode.number] = copy
    }
    return image
  }

  // MARK: Inodes

  private func makeInode(
    _ number: InodeNumber, type: FileType, ownership: Ownership, target: [UInt8], device: UInt64
  ) throws(ErrorNumber) -> Inode {
    guard quota.reserve(Self.inodeCostBytes + target.count) else { throw ErrorNumber(ENOSPC) }
    let inode = Inode(
      number: number, type: type, ownership: ownership, target: target, device: device,
      content: type == .regular ? FileContent(quota: quota) : nil, time: now())
    inodes[number] = inode
    return inode
  }

  /// Frees an inode that nothing refers to any more.
  func reclaim(_ inode: Inode) {
    guard inode.names.isEmpty, inode.lookupCount == 0, inode.openCount == 0,
      inode.number != .root
    else { return }
    guard inodes.removeValue(forKey: inode.number) != nil else { return }
    quota.release(Self.inodeCostBytes + inode.target.count)
    quota.release(inode.extendedAttributes.reduce(0) { $0 + $1.key.bytes.count + $1.value.count })
  }

  /// Subtracts forgotten lookups of the kernel.
  package func forget(_ number: InodeNumber, count: UInt64) {
    guard let inode = inodes[number] else { return }
    inode.lookupCount -= min(inode.lookupCount, count)
    reclaim(inode)
  }

  package func close(_ inode: Inode) {
    precondition(inode.openCount > 0, "closed more often than opened")
    inode.openCount -= 1
    reclaim(inode)
  }

  // MARK: Names

  static func check(_ name: FileName) throws(ErrorNumber) {
    if name.bytes.isEmpty { throw ErrorNumber(ENOENT) }
    if name.bytes.count > nameBytesMax { throw ErrorNumber(ENAMETOOLONG) }
    let dot = UInt8(ascii: ".")
    if name.bytes == [dot] || name.bytes == [dot, dot] { throw ErrorNumber(EINVAL) }
    if name.bytes.contains(0) || name.bytes.contains(UInt8(ascii: "/")) {
      throw ErrorNumber(EINVAL)
    }
  }

  package func lookUp(_ name: FileName, in parent: Inode) throws(ErrorNumber) -> Inode {
    guard parent.isDirectory else { throw ErrorNumber(ENOTDIR) }
    if name.bytes.count > Self.nameBytesMax { throw ErrorNumber(ENAMETOOLONG) }
    guard let entry = parent.entries[name] else { throw ErrorNumber(ENOENT) }
    return entry.inode
  }

  /// The inode itself or its folder, for file handles (open_by_handle_at(2)); nil for any other
  /// name.
  package func lookUpDots(_ name: FileName, from inode: Inode) throws(ErrorNumber) -> Inode? {
    if name == FileName(".") { return inode }
    guard name == FileName("..") else { return nil }
    guard inode.isDirectory else { throw ErrorNumber(ENOTDIR) }
    return inode.names.first?.parent ?? inode
  }

  private func checkNew(_ name: FileName, in parent: Inode) throws(ErrorNumber) {
    guard parent.isDirectory else { throw ErrorNumber(ENOTDIR) }
    try Self.check(name)
    if parent.linkCount == 0 { throw ErrorNumber(ENOENT) }
    if parent.entries[name] != nil { throw ErrorNumber(EEXIST) }
  }

  /// A new inode without a name, with the attributes inherited from a folder.
  private func makeInode(
    in parent: Inode, type: FileType, ownership: Ownership, umask: UInt32 = 0,
    target: [UInt8] = [], device: UInt64 = 0
  ) throws(ErrorNumber) -> Inode {
    let (ownership, attributes) = try inherit(from: parent, type, ownership, umask: umask)
    let attributeBytes = attributes.reduce(0) { $0 + $1.key.bytes.count + $1.value.count }
    guard quota.reserve(attributeBytes) else { throw ErrorNumber(ENOSPC) }
    let inode: Inode
    do throws(ErrorNumber) {
      inode = try makeInode(
        InodeNumber(rawValue: nextNumber), type: type, ownership: ownership, target: target,
        device: device)
    } catch {
      quota.release(attributeBytes)
      throw error
    }
    if !attributes.isEmpty { inode.extendedAttributes = attributes }
    nextNumber += 1
    return inode
  }

  /// open(O_CREAT), mknod, mkdir, symlink.
  package func create(
    _ name: FileName, in parent: Inode, type: FileType, ownership: Ownership, umask: UInt32 = 0,
    target: [UInt8] = [], device: UInt64 = 0
  ) throws(ErrorNumber) -> Inode {
    try checkNew(name, in: parent)
    let inode = try makeInode(
      in: parent, type: type, ownership: ownership, umask: umask, target: target, device: device)
    parent.addEntry(name, inode)
    if type == .directory { parent.linkCount += 1 } else { inode.linkCount = 1 }
    touch(parent)
    return inode
  }

  package func link(_ inode: Inode, _ name: FileName, in parent: Inode) throws(ErrorNumber) {
    if inode.isDirectory { throw ErrorNumber(EPERM) }
    try checkNew(name, in: parent)
    if inode.linkCount == 0, !inode.isLinkable { throw ErrorNumber(ENOENT) }
    if inode.linkCount >= 1 << 20 { throw ErrorNumber(EMLINK) }
    parent.addEntry(name, inode)
    inode.linkCount += 1
    inode.isLinkable = false
    inode.changeTime = now()
    touch(parent)
  }

  /// open(O_TMPFILE): a regular file without a name, which exists while it is open unless a link
  /// gives it a name.
  package func createNameless(
    in folder: Inode, ownership: Ownership, umask: UInt32, isLinkable: Bool
  ) throws(ErrorNumber) -> Inode {
    guard folder.isDirectory else { throw ErrorNumber(ENOTDIR) }
    if folder.linkCount == 0 { throw ErrorNumber(ENOENT) }
    let inode = try makeInode(
      in: folder, type: .regular, ownership: ownership, umask: umask)
    inode.isLinkable = isLinkable
    return inode
  }

  /// unlink or rmdir; the inode exists while it is open.
  package func remove(
    _ name: FileName, in parent: Inode, isDirectory: Bool
  ) throws(ErrorNumber) -> Inode {
    let inode = try lookUp(name, in: parent)
    if isDirectory {
      guard inode.isDirectory else { throw ErrorNumber(ENOTDIR) }
      guard inode.entries.isEmpty else { throw ErrorNumber(ENOTEMPTY) }
    } else if inode.isDirectory {
      throw ErrorNumber(EISDIR)
    }
    detach(name, inode, from: parent)
    touch(parent)
    reclaim(inode)
    return inode
  }

  /// Removes a name and updates the link counts of both inodes.
  private func detach(_ name: FileName, _ inode: Inode, from parent: Inode) {
    parent.removeEntry(name)
    inode.linkCount = inode.isDirectory ? 0 : inode.linkCount - 1
    if inode.isDirectory { parent.linkCount -= 1 }
    inode.changeTime = now()
  }

  func touch(_ directory: Inode) {
    let time = now()
    directory.modificationTime = time
    directory.changeTime = time
  }

  // MARK: Rename

  /// The result of a rename.
  package enum Renaming {
    /// Both names were links to one file: nothing happened.
    case nothing
    /// `whiteout` is the device that took the old name's place.
    case moved(Inode, replaced: Inode?, whiteout: Inode?)
    case exchanged(Inode, Inode)
  }

  static let noReplace: UInt32 = 1
  static let exchange: UInt32 = 2
  /// A device that hides the old name from a file system below takes its place (RENAME_WHITEOUT).
  package static let whiteout: UInt32 = 4

  /// rename and renameat2; a device that takes the old name's place has an owner.
  package func rename(
    _ name: FileName, from: Inode, to: Inode, _ newName: FileName, flags: UInt32,
    whiteoutOwner: Ownership = Ownership(mode: 0)
  ) throws(ErrorNumber) -> Renaming {
    let isExchange = flags & Self.exchange != 0
    if flags & ~(Self.noReplace | Self.exchange | Self.whiteout) != 0
      || isExchange && flags != Self.exchange
    {
      throw ErrorNumber(EINVAL)
    }
    let inode = try lookUp(name, in: from)
    guard to.isDirectory else { throw ErrorNumber(ENOTDIR) }
    try Self.check(newName)
    if to.linkCount == 0 { throw ErrorNumber(ENOENT) }
    let other = to.entries[newName]?.inode
    if flags & Self.noReplace != 0, other != nil { throw ErrorNumber(EEXIST) }
    if inode.isDirectory, isInside(to, inode) { throw ErrorNumber(EINVAL) }
    if flags & Self.exchange != 0 {
      guard let other else { throw ErrorNumber(ENOENT) }
      if other.isDirectory, isInside(from, other) { throw ErrorNumber(EINVAL) }
      return swap(inode, name, in: from, with: other, newName, in: to)
    }
    if other === inode { return .nothing }
    if let other {
      if inode.isDirectory, !other.isDirectory { throw ErrorNumber(ENOTDIR) }
      if !inode.isDirectory, other.isDirectory { throw ErrorNumber(EISDIR) }
      guard other.entries.isEmpty else { throw ErrorNumber(ENOTEMPTY) }
    }
    // If there is no space for it, nothing is changed.
    var device: Inode?
    if flags & Self.whiteout != 0 {
      device = try makeInode(in: from, type: .characterDevice, ownership: whiteoutOwner)
    }
    if let other { detach(newName, other, from: to) }
    from.removeEntry(name)
    if let device {
      from.addEntry(name, device)
      device.linkCount = 1
    }
    to.addEntry(newName, inode)
    if inode.isDirectory {
      from.linkCount -= 1
      to.linkCount += 1
    }
    inode.changeTime = now()
    touch(from)
    touch(to)
    if let other { reclaim(other) }
    return .moved(inode, replaced: other, whiteout: device)
  }

  private func swap(
    _ a: Inode, _ nameA: FileName, in parentA: Inode,
    with b: Inode, _ nameB: FileName, in parentB: Inode
  ) -> Renaming {
    if a === b { return .nothing }
    parentA.removeEntry(nameA)
    parentB.removeEntry(nameB)
    parentA.addEntry(nameA, b)
    parentB.addEntry(nameB, a)
    if a.isDirectory {
      parentA.linkCount -= 1
      parentB.linkCount += 1
    }
    if b.isDirectory {
      parentB.linkCount -= 1
      parentA.linkCount += 1
    }
    for inode in [a, b] { inode.changeTime = now() }
    touch(parentA)
    touch(parentB)
    return .exchanged(a, b)
  }

  /// True when a directory is `ancestor` or lies below it.
  private func isInside(_ directory: Inode, _ ancestor: Inode) -> Bool {
    var current = directory
    while true {
      if current === ancestor { return true }
      guard let parent = current.names.first?.parent else { return false }
      current = parent
    }
  }
}
