// Inode.swift: one object of the file tree, and the entries of a directory.
// Invariants: `linkCount` of a file is the number of its names, of a directory 2 + its
// subdirectories (0 once removed); `names` lists every name; an inode exists while it has a name, a
// lookup of the kernel, or an open file.

import Glibc
import LabCore

/// One name of an inode.
package struct InodeName {
  package unowned let parent: Inode
  package let name: FileName

  package init(parent: Inode, name: FileName) {
    self.parent = parent
    self.name = name
  }
}

/// A failed sync that each open file reports once, as the kernel's errseq does.
package struct SyncError {
  /// Increases with each failure of the file.
  package let sequence: UInt64
  package let number: Int32
  /// The rule whose removal clears the error.
  package let ruleID: Int

  package init(sequence: UInt64, number: Int32, ruleID: Int) {
    self.sequence = sequence
    self.number = number
    self.ruleID = ruleID
  }
}

/// One object of the file tree.
package final class Inode {
  /// The target of a name in a directory; the cookie increases with every name added.
  package struct Entry {
    package let inode: Inode
    package let cookie: UInt64
  }

  package let number: InodeNumber
  package let type: FileType
  package var ownership: Ownership
  package let target: [UInt8]
  package let device: UInt64
  /// A regular file's bytes.
  package let content: FileContent?
  package var linkCount: UInt32
  package var accessTime: Timestamp
  package var modificationTime: Timestamp
  /// The modification time that a program set last; `chosenTime` says whether the inode still has
  /// it.
  var lastChosenTime: Timestamp?
  package var changeTime: Timestamp
  package let birthTime: Timestamp
  package var extendedAttributes: [FileName: [UInt8]] = [:]
  /// A directory's entries.
  package private(set) var entries: [FileName: Entry] = [:]
  private var nextCookie: UInt64 = 1
  /// The inode's places in the tree; a directory has at most one.
  package var names: [InodeName] = []
  /// Number of lookups that the kernel has not yet forgotten.
  package var lookupCount: UInt64 = 0
  package var openCount = 0
  /// Number of open files that may write, including through a mapping.
  package var writerCount = 0
  /// What the medium holds, while a rule needs it or a failed sync has left pages clean.
  package var shadow: PageShadow?
  /// Pages that the kernel has or had in its cache, while that matters.
  package var cachedPages: Set<UInt64> = []
  /// The last failed sync that some open files have still to report.
  package var syncError: SyncError?
  /// True when a fault made the medium differ from what the kernel may have cached.
  package var isDamaged = false
  /// True for a file that never had a name and may get one: open(O_TMPFILE) without O_EXCL.
  package var isLinkable = false
  /// False for a file that had lost its last name before the recording began: it is not in the
  /// trace's initial tree, and no operation can add it.
  package var isTraced = true

  init(
    number: InodeNumber, type: FileType, ownership: Ownership, target: [UInt8], device: UInt64,
    content: FileContent?, time: Timestamp
  ) {
    self.number = number
    self.type = type
    self.ownership = ownership
    self.target = target
    self.device = device
    self.content = content
    linkCount = type == .directory ? 2 : 0
    accessTime = time
    modificationTime = time
    changeTime = time
    birthTime = time
  }

  package var isDirectory: Bool { type == .directory }

  /// The modification time, if a program chose it and nothing has changed the inode since.
  package var chosenTime: Timestamp? { lastChosenTime == modificationTime ? lastChosenTime : nil }

  /// Size as `stat` shows it.
  package var sizeBytes: UInt64 {
    switch type {
    case .regular: content?.sizeBytes ?? 0
    case .directory: UInt64(entries.count) * 32
    case .symbolicLink: UInt64(target.count)
    default: 0
    }
  }

  func addEntry(_ name: FileName, _ inode: Inode) {
    entries[name] = Entry(inode: inode, cookie: nextCookie)
    nextCookie += 1
    inode.names.append(InodeName(parent: self, name: name))
  }

  package func removeEntry(_ name: FileName) {
    guard let entry = entries.removeValue(forKey: name) else { return }
    entry.inode.names.removeAll { $0.parent === self && $0.name == name }
  }

  /// The entries in the order in which their names were added.
  package func listing() -> [(name: FileName, inode: Inode)] {
    entries.sorted { $0.value.cookie < $1.value.cookie }.map { ($0.key, $0.value.inode) }
  }

  /// A path from the root without a leading slash; nil when the inode has no name left.
  package func path() -> [UInt8]? {
    var parts: [[UInt8]] = []
    var inode = self
    while inode.number != .root {
      guard let place = inode.names.first else { return nil }
      parts.append(place.name.bytes)
      inode = place.parent
    }
    return Array(parts.reversed().joined(separator: [UInt8(ascii: "/")]))
  }

  /// Takes a modification time that a program chose; nil changes nothing.
  func adopt(chosenTime time: Timestamp?) {
    guard let time else { return }
    modificationTime = time
    lastChosenTime = time
  }
}
