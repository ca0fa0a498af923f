// FuseMount+Direct.swift [U]: reads, writes and syncs of open files, the requests that come most
// often, decoded and answered here. libfuse keeps a record of every request, under a lock, for an
// interrupt to find it; what is answered at once needs none, and an interrupt that comes late finds
// nothing either way. All that rules or flags make special goes to libfuse and `FuseOperations`.
// Numbers and offsets are those of linux/fuse.h, whose layout never changes for a protocol version.
// Safety: every read is inside of the request, whose size is checked; `fh` is what `attach` gave
// out.

import CFuse
import Glibc

/// A request of the kernel: a header, then words that depend on what it asks for.
@safe private struct RawRequest {
  static let headerBytes = 40
  private let bytes: UnsafeRawBufferPointer

  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.headerBytes + 16 else { return nil }
    unsafe self.bytes = unsafe bytes
  }

  private func load<Word: BitwiseCopyable>(_ offset: Int, as type: Word.Type) -> Word {
    unsafe bytes.loadUnaligned(fromByteOffset: offset, as: type)
  }

  var opcode: UInt32 { load(4, as: UInt32.self) }
  var unique: UInt64 { load(8, as: UInt64.self) }
  var inode: UInt64 { load(16, as: UInt64.self) }
  var thread: Int32 { load(32, as: Int32.self) }
  /// The words behind the header; all that are asked for here lie in its first 16 bytes, but for
  /// those of a transfer.
  func word(_ offset: Int) -> UInt32 { load(Self.headerBytes + offset, as: UInt32.self) }
  func longWord(_ offset: Int) -> UInt64 { load(Self.headerBytes + offset, as: UInt64.self) }

  /// Calls `body` with the open file that is asked about, if it is one of the inode.
  func withFile(_ body: (OpenFile) -> Bool) -> Bool {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: UInt(longWord(0))) else { return false }
    // Nobody closes it before this request is answered.
    return unsafe Unmanaged<OpenFile>.fromOpaque(pointer)._withUnsafeGuaranteedRef { file in
      file.inode.number.rawValue == inode && body(file)
    }
  }

  /// struct fuse_read_in and fuse_write_in have 40 bytes: file, offset, size, flags and more.
  static let transferBytes = 40
  var hasTransfer: Bool { unsafe bytes.count >= Self.headerBytes + Self.transferBytes }
  /// What is to be written.
  var payload: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: bytes[(Self.headerBytes + Self.transferBytes)...])
  }
}

extension FuseMount {
  private enum Opcode {
    static let read: UInt32 = 15
    static let write: UInt32 = 16
    static let sync: UInt32 = 20
  }
  /// FUSE_WRITE_LOCKOWNER, which says nothing of the write.
  private static let harmlessWriteFlags: UInt32 = 2

  /// Answers a request, if it is one of the plain ones; the caller has the lock.
  /// - Returns: False when it is left to libfuse, and nothing has happened.
  func answersDirectly(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let request = unsafe RawRequest(bytes), request.thread != 0, fileSystem.plan.isEmpty
    else { return false }
    switch request.opcode {
    case Opcode.write: return request.withFile { write(request, to: $0) }
    case Opcode.sync: return request.withFile { sync(request, of: $0) }
    case Opcode.read: return request.withFile { read(request, from: $0) }
    default: return false
    }
  }

  private func write(_ request: RawRequest, to file: OpenFile) -> Bool {
    let offset = request.hasTransfer ? request.longWord(8) : .max
    guard offset <= Int64.max, !file.isDirect,
      file.flags & O_DSYNC == 0, request.word(20) & ~Self.harmlessWriteFlags == 0,
      unsafe request.payload.count == Int(request.word(16))
    else { return false }
    let inode = file.inode
    let caller = caller(thread: request.thread)
    do throws(ErrorNumber) {
      try fileSystem.dropCapabilities(of: inode, by: caller)
      let taken = try unsafe fileSystem.write(
        request.payload.bytes, at: offset, to: inode, through: file, by: caller)
      fileSystem.noteCached(inode, offset..<offset + UInt64(taken), isRead: false)
      // struct fuse_write_out: the size, and four bytes of nothing.
      var size = UInt64(taken)
      unsafe withUnsafeBytes(of: &size) { unsafe reply(request, 0, $0) }
    } catch {
      unsafe reply(request, error.rawValue)
    }
    return true
  }

  private func sync(_ request: RawRequest, of file: OpenFile) -> Bool {
    if file.isSyncDue { return false }
    do throws(ErrorNumber) {
      try fileSystem.sync(
        file.inode, dataOnly: request.word(8) & 1 != 0, through: file,
        by: caller(thread: request.thread))
      unsafe reply(request, 0)
    } catch {
      unsafe reply(request, error.rawValue)
    }
    return true
  }

  private func read(_ request: RawRequest, from file: OpenFile) -> Bool {
    guard request.hasTransfer, file.inode.shadow == nil,
      let content = file.inode.content,
      let piece = unsafe content.piece(at: request.longWord(8), count: Int(request.word(16)))
    else { return false }
    if file.inode.accessTime.isBefore(file.inode.modificationTime) {
      file.inode.accessTime = fileSystem.tree.now()
    }
    unsafe reply(request, 0, piece)
    return true
  }

  /// struct fuse_out_header: length, error, the request's number.
  ///
  /// A short answer is sent from one place, because the kernel pins the pages of each part of it.
  private func reply(
    _ request: RawRequest, _ number: Int32, _ body: UnsafeRawBufferPointer? = nil
  ) {
    let shortBytes = 64
    let headerBytes = 16
    unsafe withUnsafeTemporaryAllocation(byteCount: shortBytes, alignment: 8) { answer in
      let bodyBytes = unsafe body?.count ?? 0
      unsafe answer.storeBytes(
        of: UInt32(headerBytes + bodyBytes), toByteOffset: 0, as: UInt32.self)
      unsafe answer.storeBytes(of: -number, toByteOffset: 4, as: Int32.self)
      unsafe answer.storeBytes(of: request.unique, toByteOffset: 8, as: UInt64.self)
      let isShort = headerBytes + bodyBytes <= shortBytes
      if isShort, let body = unsafe body {
        unsafe UnsafeMutableRawBufferPointer(rebasing: answer[headerBytes...])
          .copyMemory(from: body)
      }
      // A caller that is gone by now is no error.
      unsafe _ = cfuse_write(
        fuse_session_fd(session), answer.baseAddress, headerBytes + (isShort ? bodyBytes : 0),
        body?.baseAddress, isShort ? 0 : bodyBytes)
    }
  }
}
