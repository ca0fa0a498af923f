// Inode.swift: one object of the file tree, and the entries of a directory.
// Invariants: `linkCount` of a file is the number of its names, of a directory 2 + its
// subdirectories (0 once removed); `names` lists every name; an inode lives as long as it has a
// name, a lookup of the kernel, or an open file.

import Glibc

/// One name of an inode.
struct InodeName {
  unowned let parent: Inode
  let name: FileName
}

/// A failed sync that each open file is told of once, as the kernel's errseq does it.
struct SyncError {
  /// Rises with each failure of the file.
  let sequence: UInt64
  let number: Int32
  /// The rule whose removal takes the error back.
  let ruleID: Int
}

/// One object of the file tree.
final class Inode {
  /// What a name in a directory stands for; the cookie rises with every name the directory gets.
  struct Entry {
    let inode: Inode
    let cookie: UInt64
  }

  let number: InodeNumber
  let type: FileType
  var ownership: Ownership
  let target: [UInt8]
  let device: UInt64
  /// A regular file's bytes.
  let content: FileContent?
  var linkCount: UInt32
  var accessTime: Timestamp
  var modificationTime: Timestamp
  var changeTime: Timestamp
  var extendedAttributes: [FileName: [UInt8]] = [:]
  /// A directory's entries.
  private(set) var entries: [FileName: Entry] = [:]
  private var nextCookie: UInt64 = 1
  /// Where the inode can be found; a directory has one place at most.
  var names: [InodeName] = []
  /// How many lookups the kernel has not yet forgotten.
  var lookupCount: UInt64 = 0
  var openCount = 0
  /// What the medium holds, while a rule needs it or a failed sync has left pages clean.
  var shadow: PageShadow?
  /// Pages that the kernel has in its cache or had there, while that matters.
  var cachedPages: Set<UInt64> = []
  /// The last failed sync that open files are still to be told of.
  var syncError: SyncError?
  /// True when a fault made the medium differ from what the kernel may have cached.
  var isDamaged = false
  /// False for a file that had no name any more when the recording began: it is not in the trace's
  /// initial tree and no operation can bring it there.
  var isTraced = true

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
  }

  var isDirectory: Bool { type == .directory }

  /// Size as `stat` shows it.
  var sizeBytes: UInt64 {
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

  func removeEntry(_ name: FileName) {
    guard let entry = entries.removeValue(forKey: name) else { return }
    entry.inode.names.removeAll { $0.parent === self && $0.name == name }
  }

  /// The entries in the order in which they got their names.
  func listing() -> [(name: FileName, inode: Inode)] {
    entries.sorted { $0.value.cookie < $1.value.cookie }.map { ($0.key, $0.value.inode) }
  }

  /// A path from the root without a leading slash; nil when the inode has no name any more.
  func path() -> [UInt8]? {
    var parts: [[UInt8]] = []
    var inode = self
    while inode.number != .root {
      guard let place = inode.names.first else { return nil }
      parts.append(place.name.bytes)
      inode = place.parent
    }
    return Array(parts.reversed().joined(separator: [UInt8(ascii: "/")]))
  }
}
