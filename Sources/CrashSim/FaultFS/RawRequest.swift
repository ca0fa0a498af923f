// RawRequest.swift [U]: a request as the kernel sends it: a header, then a record and a name that
// depend on what it asks for, all of them those of linux/fuse.h.
// Safety: every read is inside of the request, whose size is checked first; `fh` is what `attach`
// gave out.

import CFuse
import Glibc
import Recording

/// A request of the kernel.
@safe struct RawRequest {
  let header: fuse_in_header
  private let bytes: UnsafeRawBufferPointer
  private static let headerBytes = MemoryLayout<fuse_in_header>.size

  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.headerBytes else { return nil }
    unsafe header = bytes.loadUnaligned(as: fuse_in_header.self)
    unsafe self.bytes = unsafe bytes
  }

  var opcode: fuse_opcode { fuse_opcode(header.opcode) }
  var inode: InodeNumber { InodeNumber(rawValue: header.nodeid) }
  /// 0 when the kernel asks for itself.
  var thread: Int32 { Int32(bitPattern: header.pid) }

  /// The record behind the header; nil when the request is too short for it.
  func record<Record: BitwiseCopyable>(_ type: Record.Type) -> Record? {
    guard unsafe bytes.count >= Self.headerBytes + MemoryLayout<Record>.size else { return nil }
    return unsafe bytes.loadUnaligned(fromByteOffset: Self.headerBytes, as: type)
  }

  /// The name behind a record of so many bytes; nil when there is none.
  func name(behind recordBytes: Int = 0) -> FileName? {
    let start = Self.headerBytes + recordBytes
    guard unsafe start < bytes.count, let end = unsafe bytes[start...].firstIndex(of: 0)
    else { return nil }
    return FileName(bytes: unsafe Array(bytes[start..<end]))
  }

  /// What is to be written, behind a fuse_write_in.
  var payload: UnsafeRawBufferPointer {
    let start = Self.headerBytes + MemoryLayout<fuse_write_in>.size
    return unsafe UnsafeRawBufferPointer(rebasing: bytes[min(start, bytes.count)...])
  }

  /// Calls `body` with the open file that a handle stands for, if it is one of the inode.
  func withFile(_ handle: UInt64, _ body: (OpenFile) -> Bool) -> Bool {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: UInt(handle)) else { return false }
    // Nobody closes it before this request is answered.
    return unsafe Unmanaged<OpenFile>.fromOpaque(pointer)._withUnsafeGuaranteedRef { file in
      file.inode.number == inode && body(file)
    }
  }

  /// Gives back what `attach` retained.
  func letGo(of handle: UInt64) {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: UInt(handle)) else { return }
    unsafe Unmanaged<OpenFile>.fromOpaque(pointer).release()
  }
}

extension fuse_attr {
  init(_ inode: Inode) {
    let attributes = unsafe FuseRequest.attributes(of: inode)
    self.init()
    ino = UInt64(attributes.st_ino)
    size = UInt64(attributes.st_size)
    blocks = UInt64(attributes.st_blocks)
    atime = UInt64(bitPattern: Int64(attributes.st_atim.tv_sec))
    mtime = UInt64(bitPattern: Int64(attributes.st_mtim.tv_sec))
    ctime = UInt64(bitPattern: Int64(attributes.st_ctim.tv_sec))
    atimensec = UInt32(attributes.st_atim.tv_nsec)
    mtimensec = UInt32(attributes.st_mtim.tv_nsec)
    ctimensec = UInt32(attributes.st_ctim.tv_nsec)
    mode = attributes.st_mode
    nlink = UInt32(attributes.st_nlink)
    uid = attributes.st_uid
    gid = attributes.st_gid
    rdev = UInt32(truncatingIfNeeded: attributes.st_rdev)
    blksize = UInt32(attributes.st_blksize)
  }
}

extension fuse_attr_out {
  init(_ inode: Inode) {
    self.init()
    attr_valid = UInt64(FuseOperations.timeoutSeconds)
    attr = fuse_attr(inode)
  }
}

extension fuse_entry_out {
  init(_ inode: Inode) {
    self.init()
    nodeid = inode.number.rawValue
    entry_valid = UInt64(FuseOperations.timeoutSeconds)
    attr_valid = entry_valid
    attr = fuse_attr(inode)
  }
}
