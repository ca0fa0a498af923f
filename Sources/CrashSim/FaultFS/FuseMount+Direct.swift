// FuseMount+Direct.swift [U]: the requests that come most often, decoded and answered here while no
// rule is in force: reads, writes and syncs of open files, names that are looked up, made and
// removed, attributes. libfuse keeps a record of every request, under a lock, for an interrupt to
// find it; what is answered at once needs none, and an interrupt that comes late finds nothing
// either way. All that rules or flags make special goes to libfuse and `FuseOperations`.
// Safety: see RawRequest.swift; answers are values of this stack.

import CFuse
import Glibc
import LabCore
import Recording

extension FuseMount {
  /// Answers a request, if it is one of the plain ones; the caller has the lock.
  /// - Returns: False when it is left to libfuse, and nothing has happened.
  func answersDirectly(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let request = unsafe RawRequest(bytes), fileSystem.plan.isEmpty else { return false }
    switch request.opcode {
    case FUSE_WRITE: return write(request)
    case FUSE_FSYNC: return sync(request)
    case FUSE_READ: return read(request)
    case FUSE_GETATTR: return getAttributes(request)
    case FUSE_LOOKUP: return lookUp(request)
    case FUSE_CREATE: return create(request)
    case FUSE_UNLINK: return unlink(request)
    case FUSE_RELEASE: return release(request)
    case FUSE_FORGET: return forget(request)
    default: return false
    }
  }

  // MARK: Bytes

  /// FUSE_WRITE_LOCKOWNER, which says nothing of the write.
  private static let harmlessWriteFlags: UInt32 = 2

  private func write(_ request: RawRequest) -> Bool {
    guard let asked = request.record(fuse_write_in.self), request.thread != 0,
      asked.offset <= Int64.max, asked.write_flags & ~Self.harmlessWriteFlags == 0,
      unsafe request.payload.count == Int(asked.size)
    else { return false }
    return request.withFile(asked.fh) { file in
      guard !file.isDirect, file.flags & O_DSYNC == 0 else { return false }
      let inode = file.inode
      let caller = caller(thread: request.thread)
      answer(request) { () throws(ErrorNumber) in
        try fileSystem.dropCapabilities(of: inode, by: caller)
        let taken = try unsafe fileSystem.write(
          request.payload.bytes, at: asked.offset, to: inode, through: file, by: caller)
        fileSystem.noteCached(inode, asked.offset..<asked.offset + UInt64(taken), isRead: false)
        fileSystem.recorder.fetchAhead()
        reply(request, fuse_write_out(size: UInt32(taken), padding: 0))
      }
      return true
    }
  }

  private func sync(_ request: RawRequest) -> Bool {
    guard let asked = request.record(fuse_fsync_in.self), request.thread != 0
    else { return false }
    return request.withFile(asked.fh) { file in
      if file.isSyncDue { return false }
      answer(request) { () throws(ErrorNumber) in
        try fileSystem.sync(
          file.inode, dataOnly: asked.fsync_flags & 1 != 0, through: file,
          by: caller(thread: request.thread))
        succeed(request)
      }
      return true
    }
  }

  private func read(_ request: RawRequest) -> Bool {
    guard let asked = request.record(fuse_read_in.self), request.thread != 0
    else { return false }
    return request.withFile(asked.fh) { file in
      guard file.inode.shadow == nil, let content = file.inode.content,
        let piece = unsafe content.piece(at: asked.offset, count: Int(asked.size))
      else { return false }
      if file.inode.accessTime.isBefore(file.inode.modificationTime) {
        file.inode.accessTime = fileSystem.tree.now()
      }
      unsafe send(0, piece, to: request)
      return true
    }
  }

  // MARK: Names and attributes

  private func getAttributes(_ request: RawRequest) -> Bool {
    guard let inode = fileSystem.tree.inodes[request.inode] else { return false }
    reply(request, fuse_attr_out(inode))
    return true
  }

  private func lookUp(_ request: RawRequest) -> Bool {
    guard let folder = fileSystem.tree.inodes[request.inode], let name = request.name()
    else { return false }
    answer(request) { () throws(ErrorNumber) in
      let inode = try fileSystem.tree.lookUp(name, in: folder)
      inode.lookupCount += 1
      let isTaken = reply(request, fuse_entry_out(inode))
      if !isTaken { fileSystem.tree.forget(inode.number, count: 1) }
    }
    return true
  }

  /// A new file; an open of one that is there already is left to libfuse.
  private func create(_ request: RawRequest) -> Bool {
    guard let asked = request.record(fuse_create_in.self),
      let name = request.name(behind: MemoryLayout<fuse_create_in>.size),
      let folder = fileSystem.tree.inodes[request.inode], folder.entries[name] == nil
    else { return false }
    answer(request) { () throws(ErrorNumber) in
      let ownership = Ownership(
        mode: asked.mode & 0o7777, user: request.header.uid, group: request.header.gid)
      let inode = try fileSystem.create(
        name, in: folder, type: .regular, ownership: ownership,
        by: caller(thread: request.thread))
      let flags = Int32(bitPattern: asked.flags)
      var info = fuse_file_info()
      info.flags = flags
      let file = OpenFile(inode, flags: flags)
      unsafe FuseOperations.attach(file, to: &info, in: fileSystem)
      inode.lookupCount += 1
      let opened = fuse_open_out(
        fh: info.fh, open_flags: info.keep_cache != 0 ? UInt32(FOPEN_KEEP_CACHE) : 0, padding: 0)
      let isTaken = reply(request, (fuse_entry_out(inode), opened))
      if !isTaken {
        request.letGo(of: info.fh)
        fileSystem.tree.close(inode)
        fileSystem.tree.forget(inode.number, count: 1)
      }
    }
    return true
  }

  private func unlink(_ request: RawRequest) -> Bool {
    guard let folder = fileSystem.tree.inodes[request.inode], let name = request.name()
    else { return false }
    answer(request) { () throws(ErrorNumber) in
      try fileSystem.remove(
        name, in: folder, isDirectory: false, by: caller(thread: request.thread))
      succeed(request)
    }
    return true
  }

  private func release(_ request: RawRequest) -> Bool {
    guard let asked = request.record(fuse_release_in.self) else { return false }
    let isClosed = request.withFile(asked.fh) { file in
      if file.isOwn { return false }
      fileSystem.close(
        file.inode, couldWrite: file.canWrite, by: caller(thread: request.thread))
      return true
    }
    guard isClosed else { return false }
    request.letGo(of: asked.fh)
    succeed(request)
    return true
  }

  /// The one request that has no answer.
  private func forget(_ request: RawRequest) -> Bool {
    guard let asked = request.record(fuse_forget_in.self) else { return false }
    fileSystem.tree.forget(request.inode, count: asked.nlookup)
    return true
  }

  // MARK: Answers

  /// Runs a request's work; what it throws is the answer.
  private func answer(_ request: RawRequest, _ work: () throws(ErrorNumber) -> Void) {
    do throws(ErrorNumber) {
      try work()
    } catch {
      unsafe send(error.rawValue, nil, to: request)
    }
  }

  private func succeed(_ request: RawRequest) { unsafe send(0, nil, to: request) }

  /// Answers with a record of linux/fuse.h.
  /// - Returns: Whether the kernel took it.
  @discardableResult
  private func reply<Record: BitwiseCopyable>(_ request: RawRequest, _ record: Record) -> Bool {
    unsafe withUnsafeBytes(of: record) { unsafe send(0, $0, to: request) }
  }

  /// A short answer is sent from one place, because the kernel pins the pages of each part of it.
  @discardableResult
  private func send(
    _ number: Int32, _ body: UnsafeRawBufferPointer?, to request: RawRequest
  ) -> Bool {
    let shortBytes = 192
    let headerBytes = MemoryLayout<fuse_out_header>.size
    return unsafe withUnsafeTemporaryAllocation(byteCount: shortBytes, alignment: 8) { answer in
      let bodyBytes = unsafe body?.count ?? 0
      let header = fuse_out_header(
        len: UInt32(headerBytes + bodyBytes), error: -number, unique: request.header.unique)
      unsafe answer.storeBytes(of: header, as: fuse_out_header.self)
      let isShort = headerBytes + bodyBytes <= shortBytes
      if isShort, let body = unsafe body {
        unsafe UnsafeMutableRawBufferPointer(rebasing: answer[headerBytes...])
          .copyMemory(from: body)
      }
      // A caller that is gone by now is no error.
      return unsafe cfuse_write(
        fuse_session_fd(session), answer.baseAddress, headerBytes + (isShort ? bodyBytes : 0),
        body?.baseAddress, isShort ? 0 : bodyBytes) >= 0
    }
  }
}
