// FuseOperations+Files.swift [U]: libfuse's callbacks on files, except reads and writes.

import CFuse
import Glibc
import LabCore
import Recording

extension FuseOperations {
  static func addFiles(to table: inout fuse_lowlevel_ops) {
    unsafe table.open = { handle, number, info in
      guard let request = unsafe FuseRequest(handle), let info = unsafe info else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        let kills = unsafe request.mount.requestWord(at: 4) & UInt32(FUSE_OPEN_KILL_SUIDGID) != 0
        let file = try unsafe request.fileSystem.open(
          request.inode(number), flags: info.pointee.flags, killsPrivileges: kills,
          by: request.caller)
        unsafe FuseOperations.reply(request, opened: file, info)
      }
    }
    addSpace(to: &table)
  }

  // MARK: Open files

  /// The open file of a handle; the kernel only returns handles that it was given.
  static func openFile(_ info: UnsafeMutablePointer<fuse_file_info>) -> OpenFile? {
    guard let pointer = unsafe UnsafeMutableRawPointer(bitPattern: UInt(info.pointee.fh)) else {
      return nil
    }
    return unsafe Unmanaged<OpenFile>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Answers with an open file or directory, which is closed when the kernel does not accept it.
  static func reply(
    _ request: FuseRequest, opened file: OpenFile, _ info: UnsafeMutablePointer<fuse_file_info>
  ) {
    unsafe info.pointee.fh = file.handOut()
    unsafe info.pointee.direct_io = file.isDirect ? 1 : 0
    unsafe info.pointee.keep_cache = file.keepsPages ? 1 : 0
    if unsafe fuse_reply_open(request.handle, info) != 0 {
      unsafe request.fileSystem.abandon(file)
      unsafe OpenFile.takeBack(info.pointee.fh)
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
          through: info.flatMap { unsafe FuseOperations.openFile($0) },
          killsPrivileges: !request.isRoot, by: request.caller)
        unsafe request.succeed()
      }
    }
    unsafe table.lseek = { handle, number, offset, origin, info in
      guard let request = unsafe FuseRequest(handle) else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        // SEEK_DATA is 3 and SEEK_HOLE is 4; the kernel handles the others itself.
        guard offset >= 0 else { throw ErrorNumber(ENXIO) }
        guard origin == 3 || origin == 4 else { throw ErrorNumber(EINVAL) }
        let inode = try unsafe request.inode(number)
        let content = try unsafe request.tree.content(of: inode)
        let file = unsafe info.flatMap { unsafe FuseOperations.openFile($0) }
        try unsafe request.observe(.seek, inode, through: file)
        // Pages that the kernel has written back for this call count in the blocks.
        if inode.writerCount > 0 {
          unsafe request.fileSystem.sideEffects.forgetAttributes(inode.number)
        }
        let found = try content.seek(from: UInt64(offset), isData: origin == 3)
        unsafe _ = fuse_reply_lseek(request.handle, off_t(found))
      }
    }
    unsafe table.statfs = { handle, number in
      guard let request = unsafe FuseRequest(handle) else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        try unsafe request.observe(.status, unsafe request.inode(number))
        unsafe FuseOperations.replyStatus(request)
      }
    }
  }

  private static func replyStatus(_ request: FuseRequest) {
    let quota = unsafe request.tree.quota
    // df shows the space that rules leave, as on a small disk.
    let limits = unsafe request.fileSystem.plan.spaceLimits()
    let left = quota.limitBytes - quota.usedBytes
    let free = min(limits.free ?? left, left) / 4096
    var reply = statvfs()
    reply.f_bsize = 4096
    reply.f_frsize = 4096
    reply.f_blocks = numericCast(min(limits.total ?? .max, quota.limitBytes) / 4096)
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
