// FuseOperations+Files.swift [U]: callbacks on the content of files.

import CFuse
import CSystem
import Glibc
import LabCore
import Recording

extension FuseOperations {
  /// FUSE_OPEN_KILL_SUIDGID: the open truncates, and the caller has no CAP_FSETID.
  private static let openKillsPrivileges: UInt32 = 1
  /// FUSE_WRITE_KILL_SUIDGID, the same for a write.
  private static let writeKillsPrivileges: UInt32 = 4

  static func addFiles(to table: inout fuse_lowlevel_ops) {
    unsafe table.open = { handle, number, info in
      guard let request = unsafe FuseRequest(handle), let info = unsafe info else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        let inode = try unsafe request.inode(number)
        let kills =
          unsafe request.mount.requestWord(at: 4) & FuseOperations.openKillsPrivileges != 0
        try unsafe FuseOperations.prepareOpen(request, inode, info.pointee.flags, kills)
        let file = unsafe OpenFile(inode, flags: info.pointee.flags)
        file.isOwn = unsafe request.caller.thread == request.fileSystem.plan.ownThread
        unsafe FuseOperations.attach(file, to: info, in: request.fileSystem)
        if unsafe fuse_reply_open(request.handle, info) != 0 {
          unsafe FuseOperations.drop(request, info)
        }
      }
    }
    unsafe table.create = { handle, parent, name, mode, info in
      guard let request = unsafe FuseRequest(handle), let info = unsafe info else { return }
      let name = unsafe FuseRequest.name(name)
      unsafe request.answer { () throws(ErrorNumber) in
        try unsafe FuseOperations.create(request, parent, name, mode, info)
      }
    }
    unsafe table.release = { handle, _, info in
      guard let request = unsafe FuseRequest(handle), let info = unsafe info else { return }
      let file = unsafe Unmanaged<OpenFile>.fromOpaque(FuseOperations.pointer(info))
        .takeRetainedValue()
      if file.isOwn {
        unsafe request.tree.close(file.inode)
      } else {
        unsafe request.fileSystem.close(
          file.inode, couldWrite: file.canWrite, by: request.caller)
      }
      unsafe request.succeed()
    }
    unsafe table.fsync = { handle, number, dataOnly, info in
      guard let request = unsafe FuseRequest(handle) else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        let inode = try unsafe request.inode(number)
        var flags: OperationFlags = []
        let file = unsafe info.flatMap { unsafe FuseOperations.openFile($0) }
        if let file, file.isSyncDue { flags = .openFlagSync }
        try unsafe request.fileSystem.sync(
          inode, dataOnly: dataOnly != 0, flags: flags, through: file, by: request.caller)
        file?.isSyncDue = false
        unsafe request.succeed()
      }
    }
    addTransfers(to: &table)
    addSpace(to: &table)
  }

  // MARK: Open files

  private static func pointer(
    _ info: UnsafeMutablePointer<fuse_file_info>
  ) -> UnsafeMutableRawPointer {
    unsafe UnsafeMutableRawPointer(bitPattern: UInt(info.pointee.fh)).unsafelyUnwrapped
  }

  /// The open file that a handle stands for; the kernel only gives back what `attach` gave out.
  static func openFile(_ info: UnsafeMutablePointer<fuse_file_info>) -> OpenFile? {
    guard unsafe info.pointee.fh != 0 else { return nil }
    return unsafe Unmanaged<OpenFile>.fromOpaque(pointer(info)).takeUnretainedValue()
  }

  static func attach(
    _ file: OpenFile, to info: UnsafeMutablePointer<fuse_file_info>,
    in fileSystem: FaultFileSystem
  ) {
    let pointer = unsafe Unmanaged.passRetained(file).toOpaque()
    unsafe info.pointee.fh = UInt64(UInt(bitPattern: pointer))
    // A rule on reads must see each of them, and damage must not hide behind the cache.
    file.isDirect =
      !file.isOwn && file.inode.type == .regular && fileSystem.plan.watchesReads(of: file.inode)
    unsafe info.pointee.direct_io = file.isDirect ? 1 : 0
    let dropsPages = file.isDirect || (file.inode.isDamaged && !file.isOwn)
    unsafe info.pointee.keep_cache = dropsPages ? 0 : 1
  }

  /// Undoes `attach` when the kernel did not take the answer, or released a directory.
  static func drop(_ request: FuseRequest, _ info: UnsafeMutablePointer<fuse_file_info>) {
    let file = unsafe Unmanaged<OpenFile>.fromOpaque(pointer(info)).takeRetainedValue()
    unsafe request.tree.close(file.inode)
  }

  private static func prepareOpen(
    _ request: FuseRequest, _ inode: Inode, _ flags: Int32, _ killsPrivileges: Bool
  ) throws(ErrorNumber) {
    let caller = unsafe request.caller
    let fileSystem = unsafe request.fileSystem
    let firing = try fileSystem.begin(
      .open, inode, wantsWrite: flags & O_ACCMODE != O_RDONLY, by: caller)
    if flags & O_TRUNC != 0, inode.type == .regular {
      if killsPrivileges { try fileSystem.dropPrivileges(of: inode, by: caller) }
      try fileSystem.truncate(inode, to: 0, by: caller)
    }
    fileSystem.finish(firing, by: caller)
  }

  private static func create(
    _ request: FuseRequest, _ parent: fuse_ino_t, _ name: FileName, _ mode: mode_t,
    _ info: UnsafeMutablePointer<fuse_file_info>
  ) throws(ErrorNumber) {
    let directory = try unsafe request.inode(parent)
    let inode: Inode
    if let known = directory.entries[name]?.inode {
      // Another client was faster; without O_EXCL this is an open.
      if unsafe info.pointee.flags & O_EXCL != 0 { throw ErrorNumber(EEXIST) }
      if known.isDirectory { throw ErrorNumber(EISDIR) }
      let kills = unsafe request.mount.requestWord(at: 12) & openKillsPrivileges != 0
      try unsafe prepareOpen(request, known, info.pointee.flags, kills)
      inode = known
    } else {
      inode = try unsafe request.fileSystem.create(
        name, in: directory, type: .regular, ownership: request.ownership(mode: mode),
        by: request.caller)
    }
    unsafe attach(OpenFile(inode, flags: info.pointee.flags), to: info, in: request.fileSystem)
    var entry = unsafe request.entry(inode)
    inode.lookupCount += 1
    if unsafe fuse_reply_create(request.handle, &entry, info) != 0 {
      unsafe drop(request, info)
      unsafe request.tree.forget(inode.number, count: 1)
    }
  }

  // MARK: Bytes

  private static func addTransfers(to table: inout fuse_lowlevel_ops) {
    unsafe table.write = { handle, number, bytes, count, offset, info in
      guard let request = unsafe FuseRequest(handle), let info = unsafe info else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        guard offset >= 0 else { throw ErrorNumber(EINVAL) }
        let taken = try unsafe FuseOperations.write(
          request, number, UnsafeRawBufferPointer(start: bytes, count: count), UInt64(offset),
          info)
        unsafe _ = fuse_reply_write(request.handle, taken)
      }
    }
    unsafe table.read = { handle, number, count, offset, info in
      guard let request = unsafe FuseRequest(handle), let info = unsafe info else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        guard offset >= 0 else { throw ErrorNumber(EINVAL) }
        try unsafe FuseOperations.read(request, number, count, UInt64(offset), info)
      }
    }
  }

  private static func write(
    _ request: FuseRequest, _ number: fuse_ino_t, _ bytes: UnsafeRawBufferPointer,
    _ offset: UInt64, _ info: UnsafeMutablePointer<fuse_file_info>
  ) throws(ErrorNumber) -> Int {
    // A page that the kernel writes back may come with any handle of the inode, and from no one.
    let isWriteBack =
      unsafe info.pointee.writepage != 0 || fuse_req_ctx(request.handle).pointee.pid == 0
    var caller = unsafe request.caller
    caller.isWriteBack = isWriteBack
    let file = unsafe openFile(info)
    let inode: Inode
    if let file, file.inode.number.rawValue == UInt64(number) {
      inode = file.inode
    } else {
      inode = try unsafe request.inode(number)
    }
    let fileSystem = unsafe request.fileSystem
    if unsafe request.mount.requestWord(at: 20) & writeKillsPrivileges != 0 {
      try fileSystem.dropPrivileges(of: inode, by: caller)
    } else {
      try fileSystem.dropCapabilities(of: inode, by: caller)
    }
    if let file, file.isSyncDue, file.isDirect {
      // The request waited between the write and its sync, which now begins once more.
      return try syncDirect(file, fileSystem, bytes.count, caller)
    }
    let taken = try unsafe fileSystem.write(
      bytes.bytes, at: offset, to: inode, through: isWriteBack ? nil : file, by: caller)
    // Of a file that a rule has taken out of the cache, too: whoever reads it later, with a cache,
    // finds its pages gone from there.
    fileSystem.noteCached(inode, offset..<offset + UInt64(max(0, taken)), isRead: false)
    guard let file, !isWriteBack, file.flags & O_DSYNC != 0 else { return taken }
    file.isSyncDue = true
    return file.isDirect ? try syncDirect(file, fileSystem, taken, caller) : taken
  }

  /// The kernel lets no sync follow a write through O_DSYNC to a file without a cache.
  private static func syncDirect(
    _ file: OpenFile, _ fileSystem: FaultFileSystem, _ taken: Int, _ caller: Caller
  ) throws(ErrorNumber) -> Int {
    do throws(ErrorNumber) {
      try fileSystem.sync(
        file.inode, dataOnly: file.flags & O_SYNC != O_SYNC, flags: .openFlagSync, through: file,
        by: caller)
    } catch {
      if error != .waits { file.isSyncDue = false }
      throw error
    }
    file.isSyncDue = false
    return taken
  }

  private static func read(
    _ request: FuseRequest, _ number: fuse_ino_t, _ count: Int, _ offset: UInt64,
    _ info: UnsafeMutablePointer<fuse_file_info>
  ) throws(ErrorNumber) {
    let file = unsafe openFile(info)
    let inode: Inode
    if let file { inode = file.inode } else { inode = try unsafe request.inode(number) }
    let content = try unsafe request.tree.content(of: inode)
    let caller = unsafe request.caller
    let fileSystem = unsafe request.fileSystem
    let end = offset.addingReportingOverflow(UInt64(count))
    guard !end.overflow else { throw ErrorNumber(EINVAL) }
    let injection = try fileSystem.begin(
      .read, inode, bytes: offset..<end.partialValue, through: file, by: caller)
    if let firing = injection?.outcome {
      let bytes = try fileSystem.read(inode, at: offset, count: count, firing, by: caller)
      fileSystem.finish(injection, by: caller)
      return unsafe request.reply(bytes: bytes)
    }
    fileSystem.finish(injection, by: caller)
    unsafe noteRead(request, inode, offset..<end.partialValue, file)
    if inode.accessTime.isBefore(inode.modificationTime) {
      inode.accessTime = unsafe request.tree.now()
    }
    // Straight from the file's memory: one piece in nearly all cases.
    if let piece = unsafe content.piece(at: offset, count: count) {
      unsafe _ = fuse_reply_buf(
        request.handle, piece.assumingMemoryBound(to: CChar.self).baseAddress, piece.count)
      return
    }
    var pieces: [iovec] = unsafe []
    unsafe content.forEachPiece(at: offset, count: UInt64(count)) { piece in
      unsafe pieces.append(
        iovec(
          iov_base: UnsafeMutableRawPointer(mutating: piece.baseAddress), iov_len: piece.count))
    }
    unsafe _ = fuse_reply_iov(request.handle, pieces, Int32(pieces.count))
  }

  /// Shows what the medium has where the kernel no longer has what a failed sync left clean.
  private static func noteRead(
    _ request: FuseRequest, _ inode: Inode, _ range: Range<UInt64>, _ file: OpenFile?
  ) {
    let fileSystem = unsafe request.fileSystem
    // Of a file without a cache the pages are with us, and nothing makes them leave.
    if file?.isDirect == true { return }
    let isCached = (file?.flags ?? 0) & csystem_open_direct() == 0
    let changed = fileSystem.evict(inode, range, isCached: isCached)
    if isCached {
      fileSystem.noteCached(inode, range, isRead: true)
    } else if !changed.isEmpty {
      // The kernel may go on to show what was lost, until somebody opens the file again.
      inode.isDamaged = true
    }
  }

  // MARK: Space

  private static func addSpace(to table: inout fuse_lowlevel_ops) {
    unsafe table.fallocate = { handle, number, mode, offset, count, info in
      guard let request = unsafe FuseRequest(handle) else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        guard offset >= 0, count > 0 else { throw ErrorNumber(EINVAL) }
        let inode = try unsafe request.inode(number)
        try unsafe request.fileSystem.allocate(
          inode, at: UInt64(offset), count: UInt64(count),
          mode: FileTree.AllocationMode(rawValue: mode),
          through: info.flatMap { unsafe FuseOperations.openFile($0) }, by: request.caller)
        unsafe request.succeed()
      }
    }
    unsafe table.lseek = { handle, number, offset, origin, info in
      guard let request = unsafe FuseRequest(handle) else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        // SEEK_DATA is 3 and SEEK_HOLE is 4; the kernel does the others itself.
        guard offset >= 0 else { throw ErrorNumber(ENXIO) }
        guard origin == 3 || origin == 4 else { throw ErrorNumber(EINVAL) }
        let inode = try unsafe request.inode(number)
        let content = try unsafe request.tree.content(of: inode)
        let file = unsafe info.flatMap { unsafe FuseOperations.openFile($0) }
        try unsafe request.decide(.seek, inode, through: file)
        let found = try content.seek(from: UInt64(offset), isData: origin == 3)
        unsafe _ = fuse_reply_lseek(request.handle, off_t(found))
      }
    }
    unsafe table.statfs = { handle, number in
      guard let request = unsafe FuseRequest(handle) else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        try unsafe request.decide(.status, unsafe request.inode(number))
        unsafe FuseOperations.replyStatus(request)
      }
    }
  }

  private static func replyStatus(_ request: FuseRequest) {
    let quota = unsafe request.tree.quota
    let free = (quota.limitBytes - quota.usedBytes) / 4096
    var reply = statvfs()
    reply.f_bsize = 4096
    reply.f_frsize = 4096
    reply.f_blocks = numericCast(quota.limitBytes / 4096)
    reply.f_bfree = numericCast(free)
    reply.f_bavail = numericCast(free)
    reply.f_files = numericCast(quota.limitBytes / UInt64(FileTree.inodeCostBytes))
    reply.f_ffree = numericCast(
      (quota.limitBytes - quota.usedBytes) / UInt64(FileTree.inodeCostBytes))
    reply.f_favail = reply.f_ffree
    reply.f_namemax = numericCast(FileTree.nameBytesMax)
    unsafe _ = fuse_reply_statfs(request.handle, &reply)
  }
}

extension Timestamp {
  func isBefore(_ other: Timestamp) -> Bool {
    (seconds, nanoseconds) < (other.seconds, other.nanoseconds)
  }
}
