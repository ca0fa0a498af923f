// FuseOperations+Names.swift [U]: callbacks that look up, create, move and remove names.

import CFuse
import Glibc
import LabCore
import Recording

extension FuseOperations {
  static func addNames(to table: inout fuse_lowlevel_ops) {
    unsafe table.forget_multi = { handle, count, forgets in
      guard let request = unsafe FuseRequest(handle) else { return }
      for index in 0..<max(0, count) {
        guard let forget = unsafe forgets?[index] else { break }
        unsafe request.tree.forget(
          InodeNumber(rawValue: UInt64(forget.ino)), count: forget.nlookup)
      }
      unsafe fuse_reply_none(handle)
    }
    addMakers(to: &table)
    addMovers(to: &table)
  }

  private static func addMakers(to table: inout fuse_lowlevel_ops) {
    unsafe table.mkdir = { handle, parent, name, mode in
      unsafe FuseOperations.make(handle, parent, name, .directory, mode)
    }
    unsafe table.mknod = { handle, parent, name, mode, device in
      guard let type = FileType(nodeMode: UInt32(mode)) else {
        unsafe _ = fuse_reply_err(handle, EINVAL)
        return
      }
      unsafe FuseOperations.make(handle, parent, name, type, mode, device: UInt64(device))
    }
    unsafe table.symlink = { handle, target, parent, name in
      let target = unsafe FuseRequest.name(target).bytes
      unsafe FuseOperations.make(handle, parent, name, .symbolicLink, 0o777, target: target)
    }
    unsafe table.link = { handle, number, parent, name in
      guard let request = unsafe FuseRequest(handle) else { return }
      let name = unsafe FuseRequest.name(name)
      unsafe request.answer { () throws(ErrorNumber) in
        let inode = try unsafe request.inode(number)
        try unsafe request.fileSystem.link(
          inode, name, in: request.inode(parent), by: request.caller)
        unsafe request.reply(entry: inode)
      }
    }
    unsafe table.readlink = { handle, number in
      guard let request = unsafe FuseRequest(handle) else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        let inode = try unsafe request.inode(number)
        guard inode.type == .symbolicLink else { throw ErrorNumber(EINVAL) }
        try unsafe request.observe(.readLink, inode)
        unsafe request.tree.noteAccess(to: inode)
        unsafe (inode.target + [0]).withUnsafeBytes { text in
          unsafe _ = fuse_reply_readlink(
            request.handle, text.assumingMemoryBound(to: CChar.self).baseAddress)
        }
      }
    }
  }

  private static func make(
    _ handle: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?,
    _ type: FileType, _ mode: mode_t, target: [UInt8] = [], device: UInt64 = 0
  ) {
    guard let request = unsafe FuseRequest(handle) else { return }
    let name = unsafe FuseRequest.name(name)
    unsafe request.answer { () throws(ErrorNumber) in
      let inode = try unsafe request.fileSystem.create(
        name, in: request.inode(parent), type: type, ownership: request.ownership(mode: mode),
        umask: request.umask, target: target, device: device, by: request.caller)
      unsafe request.reply(entry: inode)
    }
  }

  private static func addMovers(to table: inout fuse_lowlevel_ops) {
    unsafe table.rmdir = { handle, parent, name in
      guard let request = unsafe FuseRequest(handle) else { return }
      let name = unsafe FuseRequest.name(name)
      unsafe request.answer { () throws(ErrorNumber) in
        try unsafe request.fileSystem.remove(
          name, in: request.inode(parent), isDirectory: true, by: request.caller)
        unsafe request.succeed()
      }
    }
    unsafe table.rename = { handle, parent, name, newParent, newName, flags in
      guard let request = unsafe FuseRequest(handle) else { return }
      let name = unsafe FuseRequest.name(name)
      let newName = unsafe FuseRequest.name(newName)
      unsafe request.answer { () throws(ErrorNumber) in
        try unsafe request.fileSystem.rename(
          name, from: request.inode(parent), to: request.inode(newParent), newName,
          flags: flags, whiteoutOwner: request.ownership(mode: 0), by: request.caller)
        unsafe request.succeed()
      }
    }
  }
}
