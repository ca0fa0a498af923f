// FuseMount+Direct.swift [U]: decodes and answers the most frequent requests: reads, writes and
// syncs of open files, lookups, creations and removals of names, attributes; and two that libfuse
// 3.14 does not support. libfuse has no callback for any of them, so each is answered in one place.
// libfuse keeps a record of every request, under a lock, so that an interrupt can find it; a
// request answered at once needs none, one that waits is found among the postponed ones, and a late
// interrupt finds nothing in either case.
// Invariant: a request is answered once, or kept for later and not answered.
// Safety: see RawRequest.swift; answers are values on this stack.

import CFuse
import Glibc
import LabCore
import Recording

extension FuseMount {
  /// Answers a request of one of those kinds; the caller holds the lock.
  /// - Returns: False when it is left to libfuse; then nothing has happened.
  func answersDirectly(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let request = unsafe RawRequest(bytes) else { return false }
    do throws(ErrorNumber) {
      switch request.opcode {
      case FUSE_WRITE: try write(request)
      case FUSE_FSYNC: try sync(request)
      case FUSE_READ: try read(request)
      case FUSE_GETATTR: try getAttributes(request)
      case Self.extendedStatus: try getStatus(request)
      case FUSE_LOOKUP: try lookUp(request)
      case FUSE_CREATE: try create(request)
      case Self.temporaryFile: try createNameless(request)
      case FUSE_UNLINK: try unlink(request)
      case FUSE_RELEASE: try release(request)
      case FUSE_FORGET: try forget(request)
      case FUSE_SETXATTR: try setExtendedAttribute(request)
      default: return false
      }
    } catch {
      // A request that waits is restarted later.
      if error != .waits { finish(request, error.rawValue) }
    }
    return true
  }

  // MARK: Bytes

  private func write(_ request: RawRequest) throws(ErrorNumber) {
    let asked = try request.record(fuse_write_in.self)
    guard asked.offset <= Int64.max, unsafe request.payload.count == Int(asked.size) else {
      throw ErrorNumber(EINVAL)
    }
    if asked.flags & alignedFlag != 0, asked.write_flags & UInt32(FUSE_WRITE_CACHE) == 0 {
      try checkAlignment(asked.offset, asked.size)
    }
    try request.withFile(asked.fh) { file throws(ErrorNumber) in
      var caller = caller(thread: request.thread)
      // Mapped pages have no calling process, or carry a flag that says what they are.
      caller.isWriteBack =
        request.thread == 0 || asked.write_flags & UInt32(FUSE_WRITE_CACHE) != 0
      let taken = try unsafe fileSystem.write(
        request.payload.bytes, at: asked.offset, through: file,
        flags: Int32(bitPattern: asked.flags),
        killsPrivileges: asked.write_flags & UInt32(FUSE_WRITE_KILL_SUIDGID) != 0, by: caller)
      fileSystem.recorder.fetchAhead()
      reply(request, fuse_write_out(size: UInt32(taken), padding: 0))
    }
  }

  private func sync(_ request: RawRequest) throws(ErrorNumber) {
    let asked = try request.record(fuse_fsync_in.self)
    try request.withFile(asked.fh) { file throws(ErrorNumber) in
      try fileSystem.sync(
        file, dataOnly: asked.fsync_flags & 1 != 0, by: caller(thread: request.thread))
      finish(request, 0)
    }
  }

  private func read(_ request: RawRequest) throws(ErrorNumber) {
    let asked = try request.record(fuse_read_in.self)
    guard asked.offset <= Int64.max else { throw ErrorNumber(EINVAL) }
    if asked.flags & alignedFlag != 0 { try checkAlignment(asked.offset, asked.size) }
    try request.withFile(asked.fh) { file throws(ErrorNumber) in
      let count = Int(asked.size)
      let unique = request.header.unique
      // A read into a caller's buffer names the owner of its locks; a read of pages does not.
      let isPageIn = asked.read_flags & UInt32(FUSE_READ_LOCKOWNER) == 0
      switch try fileSystem.read(
        at: asked.offset, count: count, through: file, isPageIn: isPageIn,
        by: caller(thread: request.thread))
      {
      case .made(let bytes): unsafe bytes.withUnsafeBytes { unsafe _ = send(0, $0, to: unique) }
      case .held(let content):
        // Directly from the file's memory: one piece in nearly all cases.
        if let piece = unsafe content.piece(at: asked.offset, count: count) {
          unsafe send(0, piece, to: unique)
        } else {
          send(content, asked.offset, count, to: unique)
        }
      }
    }
  }

  /// Rejects a misaligned direct call before any rule sees it, as disk file systems do.
  @inline(never)
  private func checkAlignment(_ offset: UInt64, _ count: UInt32) throws(ErrorNumber) {
    if let alignment = options.directAlignment,
      !alignment.allows(offset: offset, count: UInt64(count))
    {
      throw ErrorNumber(EINVAL)
    }
  }

  // MARK: Names and attributes

  private func getAttributes(_ request: RawRequest) throws(ErrorNumber) {
    let inode = try inode(request.inode)
    try fileSystem.observe(.getAttributes, inode, by: caller(thread: request.thread))
    reply(request, fuse_attr_out(inode, validSeconds: timeoutSeconds))
  }

  /// FUSE_STATX, sent when a process asks for a file's birth time; newer than linux/fuse.h.
  private static let extendedStatus = fuse_opcode(52)

  private func getStatus(_ request: RawRequest) throws(ErrorNumber) {
    let inode = try inode(request.inode)
    try fileSystem.observe(.getAttributes, inode, by: caller(thread: request.thread))
    reply(request, cfuse_statx_out(inode, validSeconds: timeoutSeconds))
  }

  private func lookUp(_ request: RawRequest) throws(ErrorNumber) {
    let folder = try inode(request.inode)
    let name = try request.name()
    try fileSystem.observe(
      .lookUp, nil, at: [InodeName(parent: folder, name: name)],
      by: caller(thread: request.thread))
    let inode: Inode
    if let known = try fileSystem.tree.lookUpDots(name, from: folder) {
      inode = known
    } else {
      inode = try fileSystem.tree.lookUp(name, in: folder)
    }
    inode.lookupCount += 1
    let isTaken = reply(request, fuse_entry_out(inode, validSeconds: timeoutSeconds))
    if !isTaken { fileSystem.tree.forget(inode.number, count: 1) }
  }

  private func create(_ request: RawRequest) throws(ErrorNumber) {
    let asked = try request.record(fuse_create_in.self)
    let name = try request.name(behind: MemoryLayout<fuse_create_in>.size)
    let file = try fileSystem.create(
      name, in: try inode(request.inode), flags: Int32(bitPattern: asked.flags),
      ownership: Ownership(
        mode: asked.mode & 0o7777, user: request.header.uid, group: request.header.gid),
      umask: asked.umask,
      killsPrivileges: asked.open_flags & UInt32(FUSE_OPEN_KILL_SUIDGID) != 0,
      by: caller(thread: request.thread))
    reply(request, created: file)
  }

  /// FUSE_TMPFILE (Linux 6.1): libfuse 3.14 has no callback for it, old headers have no name.
  private static let temporaryFile = fuse_opcode(51)

  /// The kernel sends a name, which has no meaning.
  private func createNameless(_ request: RawRequest) throws(ErrorNumber) {
    let asked = try request.record(fuse_create_in.self)
    let file = try fileSystem.createNameless(
      in: try inode(request.inode), flags: Int32(bitPattern: asked.flags),
      ownership: Ownership(
        mode: asked.mode & 0o7777, user: request.header.uid, group: request.header.gid),
      umask: asked.umask, by: caller(thread: request.thread))
    reply(request, created: file)
  }

  private func reply(_ request: RawRequest, created file: OpenFile) {
    let inode = file.inode
    inode.lookupCount += 1
    let opened = fuse_open_out(
      fh: file.handOut(), open_flags: file.kernelFlags, padding: 0)
    let isTaken = reply(
      request, (fuse_entry_out(inode, validSeconds: timeoutSeconds), opened))
    if !isTaken {
      fileSystem.abandon(file)
      OpenFile.takeBack(opened.fh)
      fileSystem.tree.forget(inode.number, count: 1)
    }
  }

  private func unlink(_ request: RawRequest) throws(ErrorNumber) {
    try fileSystem.remove(
      try request.name(), in: try inode(request.inode), isDirectory: false,
      by: caller(thread: request.thread))
    finish(request, 0)
  }

  private func release(_ request: RawRequest) throws(ErrorNumber) {
    let asked = try request.record(fuse_release_in.self)
    try request.withFile(asked.fh) { file in
      fileSystem.close(file, by: caller(thread: request.thread))
    }
    OpenFile.takeBack(asked.fh)
    finish(request, 0)
  }

  /// libfuse 3.14 does not support the longer record, without which the kernel does not report that
  /// an access list must clear set-gid.
  private func setExtendedAttribute(_ request: RawRequest) throws(ErrorNumber) {
    let asked: fuse_setxattr_in
    let recordBytes: Int
    if hasLongAttributeRequests {
      asked = try request.record(fuse_setxattr_in.self)
      recordBytes = MemoryLayout<fuse_setxattr_in>.size
    } else {
      let short = try request.record((size: UInt32, flags: UInt32).self)
      asked = fuse_setxattr_in(
        size: short.size, flags: short.flags, setxattr_flags: 0, padding: 0)
      recordBytes = 8
    }
    let name = try request.name(behind: recordBytes)
    let value = try request.bytes(
      behind: recordBytes + name.bytes.count + 1, count: Int(asked.size))
    let inode = try inode(request.inode)
    let caller = caller(thread: request.thread)
    if inode.number == .root, name == FileName(PhaseLog.attribute) {
      fileSystem.notePhase(value, by: caller)
      throw ErrorNumber(ENODATA)
    }
    try fileSystem.setExtendedAttribute(
      name, value, of: inode, flags: Int32(bitPattern: asked.flags),
      clearsSetGroup: asked.setxattr_flags & UInt32(FUSE_SETXATTR_ACL_KILL_SGID) != 0, by: caller)
    finish(request, 0)
  }

  /// The one request without an answer.
  private func forget(_ request: RawRequest) throws(ErrorNumber) {
    let asked = try request.record(fuse_forget_in.self)
    fileSystem.tree.forget(request.inode, count: asked.nlookup)
  }

  func inode(_ number: InodeNumber) throws(ErrorNumber) -> Inode {
    guard let inode = fileSystem.tree.inodes[number] else { throw ErrorNumber(ESTALE) }
    return inode
  }

  /// How long the kernel may cache names and attributes: only this mount changes the tree.
  ///
  /// Nothing is cached while a rule applies to lookups or attributes.
  var timeoutSeconds: UInt64 { fileSystem.plan.watchesAttributes ? 0 : 86400 * 365 }

  // MARK: Answers

  /// Answers after the kernel has dropped the pages that a fault made stale.
  private func finish(_ request: RawRequest, _ number: Int32) {
    if fileSystem.staleInodes.isEmpty {
      unsafe send(number, nil, to: request.header.unique)
    } else {
      unsafe drops.add(
        PageDrops.Job(
          inodes: fileSystem.staleInodes, unique: request.header.unique, number: number))
    }
  }

  /// Answers with a record of linux/fuse.h.
  /// - Returns: Whether the kernel accepted it.
  @discardableResult
  private func reply<Record: BitwiseCopyable>(_ request: RawRequest, _ record: Record) -> Bool {
    unsafe withUnsafeBytes(of: record) { unsafe send(0, $0, to: request.header.unique) }
  }

  /// Answers with bytes in several pieces of a file's memory, or after its end.
  @inline(never)
  private func send(_ content: FileContent, _ offset: UInt64, _ count: Int, to unique: UInt64) {
    var pieces = unsafe [iovec()]
    var header = fuse_out_header()
    var bytes = MemoryLayout<fuse_out_header>.size
    unsafe content.forEachPiece(at: offset, count: UInt64(count)) { piece in
      bytes += piece.count
      unsafe pieces.append(
        iovec(
          iov_base: UnsafeMutableRawPointer(mutating: piece.baseAddress), iov_len: piece.count))
    }
    header.len = UInt32(bytes)
    header.unique = unique
    unsafe withUnsafeMutableBytes(of: &header) { header in
      unsafe pieces[0] = iovec(iov_base: header.baseAddress, iov_len: header.count)
      unsafe _ = Glibc.writev(fuse_session_fd(session), pieces, Int32(pieces.count))
    }
  }

  /// Answers the request with a given number.
  ///
  /// A short answer is sent from one buffer, because the kernel pins the pages of each part.
  @discardableResult
  func send(_ number: Int32, _ body: UnsafeRawBufferPointer?, to unique: UInt64) -> Bool {
    let shortBytes = 192
    let headerBytes = MemoryLayout<fuse_out_header>.size
    return unsafe withUnsafeTemporaryAllocation(byteCount: shortBytes, alignment: 8) { answer in
      let bodyBytes = unsafe body?.count ?? 0
      let header = fuse_out_header(
        len: UInt32(headerBytes + bodyBytes), error: -number, unique: unique)
      unsafe answer.storeBytes(of: header, as: fuse_out_header.self)
      let isShort = headerBytes + bodyBytes <= shortBytes
      if isShort, let body = unsafe body {
        unsafe UnsafeMutableRawBufferPointer(rebasing: answer[headerBytes...])
          .copyMemory(from: body)
      }
      // A caller that no longer exists is not an error.
      return unsafe cfuse_write(
        fuse_session_fd(session), answer.baseAddress, headerBytes + (isShort ? bodyBytes : 0),
        body?.baseAddress, isShort ? 0 : bodyBytes) >= 0
    }
  }
}
