// FuseOperations+Attributes.swift [U]: callbacks on attributes, including extended ones.

import CFuse
import Glibc
import LabCore
import Recording

extension FuseOperations {
  static func addAttributes(to table: inout fuse_lowlevel_ops) {
    unsafe table.setattr = { handle, number, attributes, valid, info in
      guard let request = unsafe FuseRequest(handle), let attributes = unsafe attributes
      else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        let inode = try unsafe request.inode(number)
        let file = unsafe info.flatMap { unsafe FuseOperations.openFile($0) }
        try unsafe FuseOperations.change(request, inode, attributes.pointee, valid, file)
        unsafe request.reply(attributesOf: inode)
      }
    }
    addExtendedAttributes(to: &table)
  }

  private static func change(
    _ request: FuseRequest, _ inode: Inode, _ attributes: stat, _ valid: Int32, _ file: OpenFile?
  ) throws(ErrorNumber) {
    let caller = unsafe request.caller
    let fileSystem = unsafe request.fileSystem
    if valid & FUSE_SET_ATTR_SIZE != 0 {
      guard attributes.st_size >= 0 else { throw ErrorNumber(EINVAL) }
      // A truncate by a caller without CAP_FSETID.
      if unsafe request.mount.requestWord(at: 0) & UInt32(FATTR_KILL_SUIDGID) != 0 {
        try fileSystem.dropPrivileges(of: inode, by: caller)
      }
      try fileSystem.truncate(
        inode, to: UInt64(attributes.st_size), through: file, by: caller)
    }
    let (access, modification) = times(attributes, valid)
    let setsTimes = valid & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME) != 0
    if setsTimes, valid & FUSE_SET_ATTR_SIZE != 0 {
      // The time of the truncate.
      fileSystem.tree.setTimes(of: inode, access: access, modification: modification)
    } else if setsTimes {
      try fileSystem.setTimes(of: inode, access: access, modification: modification, by: caller)
    }
    let ownershipBits = FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID
    if valid & ownershipBits != 0 {
      var ownership = inode.ownership
      if valid & FUSE_SET_ATTR_UID != 0 { ownership.user = attributes.st_uid }
      if valid & FUSE_SET_ATTR_GID != 0 { ownership.group = attributes.st_gid }
      if valid & FUSE_SET_ATTR_MODE != 0 {
        ownership.mode = attributes.st_mode & 0o7777
      } else if let mode = unsafe request.tree.modeWithoutPrivileges(inode) {
        ownership.mode = mode
      }
      try fileSystem.setOwnership(ownership, of: inode, by: caller)
    }
  }

  private static func times(
    _ attributes: stat, _ valid: Int32
  ) -> (access: FileTree.TimeChange, modification: FileTree.TimeChange) {
    func change(_ set: Int32, _ now: Int32, _ time: timespec) -> FileTree.TimeChange {
      if valid & set == 0 { return .unchanged }
      return valid & now != 0 ? .now : .chosen(Timestamp(time))
    }
    return (
      change(FUSE_SET_ATTR_ATIME, FUSE_SET_ATTR_ATIME_NOW, attributes.st_atim),
      change(FUSE_SET_ATTR_MTIME, FUSE_SET_ATTR_MTIME_NOW, attributes.st_mtim)
    )
  }

  // MARK: Extended attributes

  private static func addExtendedAttributes(to table: inout fuse_lowlevel_ops) {
    unsafe table.getxattr = { handle, number, name, size in
      guard let request = unsafe FuseRequest(handle) else { return }
      let name = unsafe FuseRequest.name(name)
      unsafe request.answer { () throws(ErrorNumber) in
        let inode = try unsafe request.inode(number)
        // The kernel itself requests access lists, so these requests do not come from a program.
        if !name.isAccessList { try unsafe request.observe(.getExtendedAttribute, inode) }
        let value = try unsafe request.tree.extendedAttribute(name, of: inode)
        try unsafe FuseOperations.reply(request, value, size: size)
      }
    }
    unsafe table.listxattr = { handle, number, size in
      guard let request = unsafe FuseRequest(handle) else { return }
      unsafe request.answer { () throws(ErrorNumber) in
        let inode = try unsafe request.inode(number)
        try unsafe request.observe(.getExtendedAttribute, inode)
        let hidden = unsafe request.isRoot ? nil : "trusted."
        let names = inode.extendedAttributes.keys.sorted().filter { name in
          hidden.map { !name.bytes.starts(with: $0.utf8) } ?? true
        }
        try unsafe FuseOperations.reply(request, names.flatMap { $0.bytes + [0] }, size: size)
      }
    }
    unsafe table.removexattr = { handle, number, name in
      guard let request = unsafe FuseRequest(handle) else { return }
      let name = unsafe FuseRequest.name(name)
      unsafe request.answer { () throws(ErrorNumber) in
        let inode = try unsafe request.inode(number)
        try unsafe request.fileSystem.removeExtendedAttribute(
          name, of: inode, by: request.caller)
        unsafe request.succeed()
      }
    }
  }

  /// Size 0 asks for the number of bytes; a size that is too small gets `ERANGE`.
  private static func reply(
    _ request: FuseRequest, _ bytes: [UInt8], size: Int
  ) throws(ErrorNumber) {
    if size == 0 {
      unsafe _ = fuse_reply_xattr(request.handle, bytes.count)
    } else if bytes.count > size {
      throw ErrorNumber(ERANGE)
    } else {
      unsafe request.reply(bytes: bytes)
    }
  }
}
