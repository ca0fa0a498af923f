// FaultFileSystem+OpenFiles.swift: requests as clients make them of open files. Who answers them
// decodes a request into these arguments and encodes what comes back, and knows no more of it.
// Invariant: an open file is one of the tree's inode until it is closed, once.

import CSystem
import Glibc
import LabCore
import Recording

/// An open file or directory, as the kernel's `fh` names it.
package final class OpenFile {
  let inode: Inode
  let flags: Int32
  /// True when the kernel keeps no pages for it: each read and write comes as it was asked for.
  fileprivate(set) var isDirect = false
  /// True when the kernel may go on to show the pages that it has of the file.
  fileprivate(set) var keepsPages = true
  /// The last failed sync of the file that this open file knows of.
  var seenSyncError: UInt64
  /// The rules that tell an error once per open file and have told it this one.
  var toldBy: Set<Int> = []
  /// True when the mount itself has it open, to write dirty pages back: no rule is about it.
  fileprivate(set) var isOwn = false
  /// The threads whose writes asked for a sync, which the kernel lets follow.
  fileprivate var threadsWithSyncDue: [Int32] = []
  /// A directory's entries as they were when the reader began.
  var listing: [(name: FileName, number: InodeNumber, type: FileType)] = []

  fileprivate init(_ inode: Inode, flags: Int32) {
    self.inode = inode
    self.flags = flags
    seenSyncError = inode.syncError?.sequence ?? 0
    inode.openCount += 1
    if canWrite { inode.writerCount += 1 }
  }

  var canWrite: Bool { flags & O_ACCMODE != O_RDONLY }
  /// True where a read is to leave the access time alone (O_NOATIME, which Glibc's module lacks).
  var leavesAccessTime: Bool { flags & 0o1000000 != 0 }
}

extension FaultFileSystem {
  // MARK: Opening and closing

  /// Opens a file or a directory; `killsPrivileges` says that truncating takes set-uid and set-gid.
  func open(
    _ inode: Inode, flags: Int32, killsPrivileges: Bool = false, by caller: Caller
  ) throws(ErrorNumber) -> OpenFile {
    let wantsWrite = flags & O_ACCMODE != O_RDONLY
    try perform(.open, inode, wantsWrite: wantsWrite, by: caller) { () throws(ErrorNumber) in
      if flags & O_TRUNC != 0, inode.type == .regular {
        if killsPrivileges { try dropPrivileges(of: inode, by: caller) }
        try truncate(inode, to: 0, by: caller)
      }
      return .nothing
    }
    return makeOpenFile(inode, flags, caller)
  }

  /// Makes a file and opens it, or opens the one that is there.
  func create(
    _ name: FileName, in directory: Inode, flags: Int32, ownership: Ownership, umask: UInt32,
    killsPrivileges: Bool, by caller: Caller
  ) throws(ErrorNumber) -> OpenFile {
    if let known = directory.entries[name]?.inode {
      // Another client was faster; without O_EXCL this is an open.
      if flags & O_EXCL != 0 { throw ErrorNumber(EEXIST) }
      if known.isDirectory { throw ErrorNumber(EISDIR) }
      return try open(known, flags: flags, killsPrivileges: killsPrivileges, by: caller)
    }
    let inode = try create(
      name, in: directory, type: .regular, ownership: ownership, umask: umask, by: caller)
    return makeOpenFile(inode, flags, caller)
  }

  /// Makes a file without a name and opens it (O_TMPFILE); with O_EXCL it can never get one.
  func createNameless(
    in folder: Inode, flags: Int32, ownership: Ownership, umask: UInt32, by caller: Caller
  ) throws(ErrorNumber) -> OpenFile {
    let inode = try createNameless(
      in: folder, ownership: ownership, umask: umask, isLinkable: flags & O_EXCL == 0, by: caller)
    return makeOpenFile(inode, flags, caller)
  }

  private func makeOpenFile(_ inode: Inode, _ flags: Int32, _ caller: Caller) -> OpenFile {
    let file = OpenFile(inode, flags: flags)
    file.isOwn = caller.thread == plan.ownThread
    // A rule on reads must see each of them, and damage must not hide behind the cache.
    file.isDirect = !file.isOwn && inode.type == .regular && plan.watchesReads(of: inode)
    file.keepsPages = !file.isDirect && (!inode.isDamaged || file.isOwn)
    return file
  }

  /// Closes what the kernel did not take.
  func abandon(_ file: OpenFile) {
    if file.canWrite { file.inode.writerCount -= 1 }
    tree.close(file.inode)
  }

  /// Closes what no descriptor stands for any more.
  func close(_ file: OpenFile, by caller: Caller) {
    if file.isOwn {
      abandon(file)
    } else {
      close(file.inode, couldWrite: file.canWrite, by: caller)
    }
  }

  // MARK: Bytes

  /// Writes, and returns how many bytes the caller is told.
  ///
  /// A page that the kernel writes back may come with any open file of the inode. `flags` are those
  /// of the request: the open file's, and O_DSYNC or O_SYNC where this write alone asks for a sync
  /// (RWF_DSYNC, RWF_SYNC).
  func write(
    _ bytes: RawSpan, at offset: UInt64, through file: OpenFile, flags: Int32,
    killsPrivileges: Bool, by caller: Caller
  ) throws(ErrorNumber) -> Int {
    let inode = file.inode
    let wantsSync = flags & O_DSYNC != 0 && !caller.isWriteBack
    if wantsSync, file.isDirect, let taken = decisions.bytesWritten(of: bytes.byteCount) {
      // The request waited between the write and its sync, which now begins once more.
      try syncDirect(file, flags, caller)
      return taken
    }
    if killsPrivileges {
      try dropPrivileges(of: inode, by: caller)
    } else {
      try dropCapabilities(of: inode, by: caller)
    }
    let taken = try write(
      bytes, at: offset, to: inode, through: caller.isWriteBack ? nil : file, by: caller)
    // Of a file that a rule has taken out of the cache, too: whoever reads it later, with a cache,
    // finds its pages gone from there.
    noteCached(inode, offset..<offset + UInt64(taken), isRead: false)
    if wantsSync {
      if file.isDirect {
        try syncDirect(file, flags, caller)
      } else if !file.threadsWithSyncDue.contains(caller.thread) {
        file.threadsWithSyncDue.append(caller.thread)
      }
    }
    return taken
  }

  /// The kernel lets no sync follow a write to a file without a cache.
  private func syncDirect(
    _ file: OpenFile, _ flags: Int32, _ caller: Caller
  ) throws(ErrorNumber) {
    try sync(
      file.inode, dataOnly: flags & O_SYNC != O_SYNC, flags: .openFlagSync, through: file,
      by: caller)
  }

  /// fsync and fdatasync, or what the kernel lets follow a write.
  func sync(_ file: OpenFile, dataOnly: Bool, by caller: Caller) throws(ErrorNumber) {
    let due = file.threadsWithSyncDue.firstIndex(of: caller.thread)
    do throws(ErrorNumber) {
      try sync(
        file.inode, dataOnly: dataOnly, flags: due == nil ? [] : .openFlagSync, through: file,
        by: caller)
    } catch {
      if let due, error != .waits { file.threadsWithSyncDue.remove(at: due) }
      throw error
    }
    if let due { file.threadsWithSyncDue.remove(at: due) }
  }

  /// Reads; `isPageIn` says that the kernel asks for pages to keep, not for a caller's buffer.
  @inline(__always)
  func read(
    at offset: UInt64, count: Int, through file: OpenFile, isPageIn: Bool,
    by caller: @autoclosure () -> Caller
  ) throws(ErrorNumber) -> ReadBytes {
    let inode = file.inode
    let content = try tree.content(of: inode)
    let (end, overflow) = offset.addingReportingOverflow(UInt64(count))
    if overflow { throw ErrorNumber(EINVAL) }
    let bytes = try perform(
      .read, inode, bytes: offset..<end, through: file, isPageIn: isPageIn, by: caller()
    ) { (firing, subject) throws(ErrorNumber) -> ReadBytes? in
      .made(try read(inode, at: offset, count: count, firing, subject))
    } change: { () throws(ErrorNumber) -> (ReadBytes, RecordedEvent) in
      (.held(content), .nothing)
    }
    if case .made = bytes { return bytes }
    // Of a file without a cache the pages are with us, and nothing makes them leave.
    if !isWithoutRules || inode.shadow != nil, !file.isDirect {
      noteRead(offset..<end, through: file)
    }
    if !file.leavesAccessTime { tree.noteAccess(to: inode) }
    return bytes
  }

  /// Shows what the medium has where the kernel no longer has what a failed sync left clean.
  @inline(never)
  private func noteRead(_ range: Range<UInt64>, through file: OpenFile) {
    let inode = file.inode
    let isCached = file.flags & csystem_open_direct() == 0
    let changed = evict(inode, range, isCached: isCached)
    if isCached {
      noteCached(inode, range, isRead: true)
    } else if !changed.isEmpty {
      // The kernel may go on to show what was lost, until somebody opens the file again.
      inode.isDamaged = true
    }
  }
}

/// What a reader gets.
enum ReadBytes {
  /// Bytes that a rule made up.
  case made([UInt8])
  /// What the file holds there.
  case held(FileContent)
}
