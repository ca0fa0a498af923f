// FuseOperations+Directories.swift [U]: callbacks that read directories.
// A listing is taken when a reader starts, so names added or removed later move no other entry.

import CFuse
import Glibc
import LabCore
import Recording

extension FuseOperations {
  static func addDirectories(to table: inout fuse_lowlevel_ops) {
    unsafe table.opendir = { handle, number, info in
      guard let request = unsafe FuseRequest(handle), let info = unsafe info else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        let inode = try unsafe request.inode(number)
        guard inode.isDirectory else { throw ErrorNumber(ENOTDIR) }
        let file = try unsafe request.fileSystem.open(
          inode, flags: info.pointee.flags & ~O_ACCMODE, by: request.caller)
        unsafe FuseOperations.reply(request, opened: file, info)
      }
    }
    unsafe table.releasedir = { handle, _, info in
      guard let request = unsafe FuseRequest(handle), let info = unsafe info else { return }
      guard let file = unsafe FuseOperations.openFile(info) else {
        return unsafe request.fail(ErrorNumber(EBADF))
      }
      unsafe request.fileSystem.abandon(file)
      unsafe OpenFile.takeBack(info.pointee.fh)
      unsafe request.succeed()
      if file.isOwn { unsafe request.mount.drops.noteOwnClose() }
    }
    unsafe table.readdir = { handle, _, size, offset, info in
      guard let request = unsafe FuseRequest(handle), let info = unsafe info else { return }
      guard let file = unsafe FuseOperations.openFile(info), offset >= 0, size > 0 else {
        return unsafe request.fail(ErrorNumber(EINVAL))
      }
      unsafe request.answer { () throws(ErrorNumber) in
        try unsafe request.observe(.readDirectory, file.inode, through: file)
        if offset == 0 {
          FuseOperations.list(file)
          if !file.leavesAccessTime { unsafe request.tree.noteAccess(to: file.inode) }
        }
        unsafe FuseOperations.reply(request, file, from: offset, size: min(size, 1 << 20))
      }
    }
    unsafe table.fsyncdir = { handle, number, dataOnly, info in
      guard let request = unsafe FuseRequest(handle) else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        try unsafe request.fileSystem.sync(
          request.inode(number), dataOnly: dataOnly != 0,
          through: info.flatMap { unsafe FuseOperations.openFile($0) }, by: request.caller)
        unsafe request.succeed()
      }
    }
  }

  private static func list(_ file: OpenFile) {
    let inode = file.inode
    let parent = inode.names.first?.parent.number ?? inode.number
    file.listing =
      [(FileName("."), inode.number, .directory), (FileName(".."), parent, .directory)]
      + inode.listing().map { ($0.name, $0.inode.number, $0.inode.type) }
  }

  private static func reply(
    _ request: FuseRequest, _ file: OpenFile, from first: off_t, size: Int
  ) {
    var used = 0
    var index = Int(clamping: first)
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      var attributes = stat()
      while index < file.listing.count {
        let entry = file.listing[index]
        attributes.st_ino = numericCast(entry.number.rawValue)
        attributes.st_mode = entry.type.modeBits
        let needed = unsafe (entry.name.bytes + [0]).withUnsafeBytes { name in
          unsafe fuse_add_direntry(
            request.handle,
            UnsafeMutableRawPointer(buffer.baseAddress.unsafelyUnwrapped + used)
              .assumingMemoryBound(to: CChar.self),
            size - used, name.assumingMemoryBound(to: CChar.self).baseAddress, &attributes,
            off_t(index + 1))
        }
        if needed > size - used { break }
        used += needed
        index += 1
      }
      count = used
    }
    unsafe request.reply(bytes: bytes)
  }
}
