// FaultFileSystem+OpenFiles.swift: the requests of clients on open files. The backend only decodes
// a request into these arguments and encodes the result.
// Invariant: an open file refers to an inode of the tree until it is closed, exactly once.

import CSystem
import Glibc
import LabCore
import Recording

/// An open file or directory, as the kernel's `fh` names it.
package final class OpenFile {
  let inode: Inode
  let flags: Int32
  /// True when the kernel caches no pages for it: each read and write arrives as made.
  fileprivate(set) var isDirect = false
  /// True when the kernel may continue to show its cached pages of the file.
  fileprivate(set) var keepsPages = true
  /// The last failed sync of the file that was reported to this open file.
  var seenSyncError: UInt64
  /// The rules with one error per open file that have already returned it to this one.
  var toldBy: Set<Int> = []
  /// True when the mount itself opened it to write dirty pages back; no rule applies to it.
  fileprivate(set) var isOwn = false
  /// Threads whose writes require a sync, which the kernel sends after the write.
  fileprivate var threadsWithSyncDue: [Int32] = []
  /// A directory's entries when the reader started.
  var listing: [(name: FileName, number: InodeNumber, type: FileType)] = []

  fileprivate init(_ inode: Inode, flags: Int32) {
    self.inode = inode
    self.flags = flags
    seenSyncError = inode.syncError?.sequence ?? 0
    inode.openCount += 1
    if canWrite { inode.writerCount += 1 }
  }

  var canWrite: Bool { flags & O_ACCMODE != O_RDONLY }
  /// True if a read must not change the access time (O_NOATIME, missing in the Glibc module).
  var leavesAccessTime: Bool { flags & 0o1000000 != 0 }
}

extension FaultFileSystem {
  // MARK: Opening and closing

  /// Opens a file or directory; `killsPrivileges`: truncation clears set-uid and set-gid.
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

  /// Makes a file and opens it, or opens an existing one.
  func create(
    _ name: FileName, in directory: Inode, flags: Int32, ownership: Ownership, umask: UInt32,
    killsPrivileges: Bool, by caller: Caller
  ) throws(ErrorNumber) -> OpenFile {
    if let known = directory.entries[name]?.inode {
      // Another client created it first; without O_EXCL this is an open.
      if flags & O_EXCL != 0 { throw ErrorNumber(EEXIST) }
      if known.isDirectory { throw ErrorNumber(EISDIR) }
      return try open(known, flags: flags, killsPrivileges: killsPrivileges, by: caller)
    }
    let inode = try create(
      name, in: directory, type: .regular, ownership: ownership, umask: umask, by: caller)
    return makeOpenFile(inode, flags, caller)
  }

  /// Makes and opens a file without a name (O_TMPFILE); with O_EXCL it can never get one.
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
    // A rule on reads must see each of them, and the cache must not mask damage.
    file.isDirect = !file.isOwn && inode.type == .regular && plan.watchesReads(of: inode)
    file.keepsPages = !file.isDirect && (!inode.isDamaged || file.isOwn)
    return file
  }

  /// Closes an open file that the kernel did not accept.
  func abandon(_ file: OpenFile) {
    if file.canWrite { file.inode.writerCount -= 1 }
    tree.close(file.inode)
  }

  /// Closes an open file to which no descriptor refers any more.
  func close(_ file: OpenFile, by caller: Caller) {
    if file.isOwn {
      abandon(file)
    } else {
      close(file.inode, couldWrite: file.canWrite, by: caller)
    }
  }

  // MARK: Bytes

  /// Writes, and returns the byte count for the caller.
  ///
  /// A page that the kernel writes back may use any open file of the inode. `flags` are those of
  /// the request: the open file's, plus O_DSYNC or O_SYNC if this write alone requires a sync
  /// (RWF_DSYNC, RWF_SYNC).
  func write(
    _ bytes: RawSpan, at offset: UInt64, through file: OpenFile, flags: Int32,
    killsPrivileges: Bool, by caller: Caller
  ) throws(ErrorNumber) -> Int {
    let inode = file.inode
    let wantsSync = flags & O_DSYNC != 0 && !caller.isWriteBack
    if wantsSync, file.isDirect, let taken = decisions.bytesWritten(of: bytes.byteCount) {
      // The request waited between the write and its sync, which is now restarted.
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
    // Also for a file that a rule has taken out of the cache: a later reader with a cache finds
    // that its pages have left it.
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

  /// The kernel sends no sync after a write to a file without a cache.
  private func syncDirect(
    _ file: OpenFile, _ flags: Int32, _ caller: Caller
  ) throws(ErrorNumber) {
    try sync(
      file.inode, dataOnly: flags & O_SYNC != O_SYNC, flags: .openFlagSync, through: file,
      by: caller)
  }

  /// fsync and fdatasync, or the sync that the kernel sends after a write.
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

  /// Reads; `isPageIn`: the kernel reads pages into its cache, not into a caller's buffer.
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
    // The pages of a file without a cache are held by FaultFS and never leave.
    if !isWithoutRules || inode.shadow != nil, !file.isDirect {
      noteRead(offset..<end, through: file)
    }
    if !file.leavesAccessTime { tree.noteAccess(to: inode) }
    return bytes
  }

  /// Shows the medium's content where the kernel has dropped pages that a failed sync left clean.
  @inline(never)
  private func noteRead(_ range: Range<UInt64>, through file: OpenFile) {
    let inode = file.inode
    let isCached = file.flags & csystem_open_direct() == 0
    let changed = evict(inode, range, isCached: isCached)
    if isCached {
      noteCached(inode, range, isRead: true)
    } else if !changed.isEmpty {
      // The kernel may continue to show what was lost until the file is opened again.
      inode.isDamaged = true
    }
  }
}

/// The result of a read.
enum ReadBytes {
  /// Bytes that a rule produced.
  case made([UInt8])
  /// The file's content.
  case held(FileContent)
}
