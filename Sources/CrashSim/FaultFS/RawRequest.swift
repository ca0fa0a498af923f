// RawRequest.swift [U]: a request as sent by the kernel: a header, then a record and a name that
// depend on its kind, all as defined in linux/fuse.h.
// Safety: every read is inside the request, whose size is checked first; a handle comes from
// `handOut`.

import CFuse
import Glibc
import LabCore
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
  /// 0 for the kernel's own requests.
  var thread: Int32 { Int32(bitPattern: header.pid) }

  /// The record after the header.
  /// - Throws: `EIO` when the request is too short for it, which the kernel's never are.
  @inline(__always)
  func record<Record: BitwiseCopyable>(_ type: Record.Type) throws(ErrorNumber) -> Record {
    guard unsafe bytes.count >= Self.headerBytes + MemoryLayout<Record>.size else {
      throw ErrorNumber(EIO)
    }
    return unsafe bytes.loadUnaligned(fromByteOffset: Self.headerBytes, as: type)
  }

  /// The name after a record of the given size.
  /// - Throws: `EIO` when there is none.
  func name(behind recordBytes: Int = 0) throws(ErrorNumber) -> FileName {
    let start = Self.headerBytes + recordBytes
    guard unsafe start < bytes.count, let end = unsafe bytes[start...].firstIndex(of: 0)
    else { throw ErrorNumber(EIO) }
    return FileName(bytes: unsafe Array(bytes[start..<end]))
  }

  /// The bytes that follow a record and start after its first `recordBytes`.
  /// - Throws: `EIO` when there are fewer.
  func bytes(behind recordBytes: Int, count: Int) throws(ErrorNumber) -> [UInt8] {
    let start = Self.headerBytes + recordBytes
    guard count >= 0, unsafe start + count <= bytes.count else { throw ErrorNumber(EIO) }
    return unsafe Array(bytes[start..<start + count])
  }

  /// The bytes to write, after a fuse_write_in.
  var payload: UnsafeRawBufferPointer {
    let start = Self.headerBytes + MemoryLayout<fuse_write_in>.size
    return unsafe UnsafeRawBufferPointer(rebasing: bytes[min(start, bytes.count)...])
  }

  /// Calls `body` with the open file of a handle.
  /// - Throws: `EBADF` when it is not of the request's inode; whatever `body` throws.
  @inline(__always)
  func withFile(
    _ handle: UInt64, _ body: (OpenFile) throws(ErrorNumber) -> Void
  ) throws(ErrorNumber) {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: UInt(handle)) else {
      throw ErrorNumber(EBADF)
    }
    // It is not closed before this request is answered.
    var failure: ErrorNumber?
    unsafe Unmanaged<OpenFile>.fromOpaque(pointer)._withUnsafeGuaranteedRef { file in
      do throws(ErrorNumber) {
        guard file.inode.number == inode else { throw ErrorNumber(EBADF) }
        try body(file)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }
}

extension OpenFile {
  /// A handle for the kernel, which retains the file until `takeBack`.
  func handOut() -> UInt64 {
    unsafe UInt64(UInt(bitPattern: Unmanaged.passRetained(self).toOpaque()))
  }

  /// Releases the file of a handle that the kernel has released, or has not accepted.
  static func takeBack(_ handle: UInt64) {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: UInt(handle)) else { return }
    unsafe Unmanaged<OpenFile>.fromOpaque(pointer).release()
  }

  /// The kernel's cache mode, as FOPEN_ flags.
  var kernelFlags: UInt32 {
    (isDirect ? UInt32(FOPEN_DIRECT_IO) : 0) | (keepsPages ? UInt32(FOPEN_KEEP_CACHE) : 0)
  }
}

extension Inode {
  /// Its `stat` record.
  var attributes: stat {
    var attributes = stat()
    attributes.st_ino = numericCast(number.rawValue)
    attributes.st_mode = type.modeBits | ownership.mode
    attributes.st_nlink = numericCast(linkCount)
    attributes.st_uid = ownership.user
    attributes.st_gid = ownership.group
    attributes.st_rdev = numericCast(device)
    attributes.st_size = numericCast(sizeBytes)
    attributes.st_blksize = numericCast(FileContent.pageBytes)
    attributes.st_blocks = numericCast((content?.pageCount ?? 0) * 8)
    attributes.st_atim = accessTime.specification
    attributes.st_mtim = modificationTime.specification
    attributes.st_ctim = changeTime.specification
    return attributes
  }
}

extension fuse_attr {
  init(_ inode: Inode) {
    let attributes = inode.attributes
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

extension cfuse_statx_out {
  init(_ inode: Inode, validSeconds: UInt64) {
    let attributes = fuse_attr(inode)
    self.init()
    attr_valid = validSeconds
    mask = Self.basicAndBirth
    blksize = attributes.blksize
    nlink = attributes.nlink
    uid = attributes.uid
    gid = attributes.gid
    mode = UInt16(truncatingIfNeeded: attributes.mode)
    ino = attributes.ino
    size = attributes.size
    blocks = attributes.blocks
    atime = cfuse_sx_time(inode.accessTime)
    btime = cfuse_sx_time(inode.birthTime)
    ctime = cfuse_sx_time(inode.changeTime)
    mtime = cfuse_sx_time(inode.modificationTime)
    // As encoded in the kernel's device numbers, which `rdev` above is.
    rdev_major = (attributes.rdev & 0xfff00) >> 8
    rdev_minor = (attributes.rdev & 0xff) | ((attributes.rdev >> 12) & 0xfff00)
  }

  /// STATX_BASIC_STATS and STATX_BTIME.
  private static let basicAndBirth: UInt32 = 0xfff
}

extension cfuse_sx_time {
  init(_ time: Timestamp) {
    self.init()
    tv_sec = time.seconds
    tv_nsec = UInt32(time.nanoseconds)
  }
}

extension fuse_attr_out {
  init(_ inode: Inode, validSeconds: UInt64) {
    self.init()
    attr_valid = validSeconds
    attr = fuse_attr(inode)
  }
}

extension fuse_entry_out {
  init(_ inode: Inode, validSeconds: UInt64) {
    self.init()
    nodeid = inode.number.rawValue
    entry_valid = validSeconds
    attr_valid = validSeconds
    attr = fuse_attr(inode)
  }
}
