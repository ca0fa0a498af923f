// FuseOperations.swift [U]: the table of libfuse's callbacks, and what all of them need.
// Each callback decodes its arguments, calls the file system, and answers exactly once. No input
// from a client can trap: sizes and offsets are checked before they are converted.
// Not in the table because they are answered before libfuse: those in FuseMount+Direct.swift.
// Not in the table on purpose: flush (closing is not a sync, and without it the kernel saves a
// request per close), locks (done by the kernel), access (default_permissions).

import CFuse
import Glibc
import LabCore
import Recording

/// libfuse's callbacks.
enum FuseOperations {
  static var table: fuse_lowlevel_ops {
    var table = fuse_lowlevel_ops()
    unsafe table.`init` = { context, connection in
      guard let context = unsafe context, let connection = unsafe connection else { return }
      unsafe Unmanaged<FuseMount>.fromOpaque(context).takeUnretainedValue()
        .negotiate(connection)
    }
    addNames(to: &table)
    addFiles(to: &table)
    addDirectories(to: &table)
    addAttributes(to: &table)
    return table
  }
}

/// A request in progress, with its mount.
///
/// Safety: lives on the stack of one callback, during which libfuse keeps the request.
@unsafe struct FuseRequest {
  let handle: fuse_req_t
  let mount: FuseMount

  init?(_ handle: fuse_req_t?) {
    guard let handle = unsafe handle else { return nil }
    unsafe self.handle = handle
    unsafe mount = Unmanaged<FuseMount>.fromOpaque(fuse_req_userdata(handle))
      .takeUnretainedValue()
  }

  var fileSystem: FaultFileSystem { unsafe mount.fileSystem }
  var tree: FileTree { unsafe mount.fileSystem.tree }

  /// The caller: process, thread, user and group.
  var caller: Caller {
    guard let context = unsafe fuse_req_ctx(handle) else { return Caller() }
    return unsafe mount.caller(thread: Int32(truncatingIfNeeded: context.pointee.pid))
  }

  /// True for user 0, which normally has CAP_FSETID and CAP_SYS_ADMIN.
  var isRoot: Bool { unsafe fuse_req_ctx(handle)?.pointee.uid == 0 }

  /// The caller's umask; a default access list overrides it.
  var umask: UInt32 { unsafe UInt32(fuse_req_ctx(handle)?.pointee.umask ?? 0) }

  func ownership(mode: mode_t) -> Ownership {
    let context = unsafe fuse_req_ctx(handle)
    return unsafe Ownership(
      mode: UInt32(mode) & 0o7777, user: context?.pointee.uid ?? 0,
      group: context?.pointee.gid ?? 0)
  }

  func inode(_ number: fuse_ino_t) throws(ErrorNumber) -> Inode {
    try unsafe mount.inode(InodeNumber(rawValue: UInt64(number)))
  }

  /// A name as passed by the kernel.
  static func name(_ text: UnsafePointer<CChar>?) -> FileName {
    guard let text = unsafe text else { return FileName(bytes: []) }
    let count = unsafe strlen(text)
    return FileName(bytes: unsafe Array(UnsafeRawBufferPointer(start: text, count: count)))
  }

  // MARK: Answers

  func fail(_ error: ErrorNumber) { unsafe reply(number: error.rawValue) }
  func succeed() { unsafe reply(number: 0) }

  /// Answers after the kernel has dropped the pages that a fault made stale.
  private func reply(number: Int32) {
    let stale = unsafe fileSystem.staleInodes
    if stale.isEmpty {
      unsafe _ = fuse_reply_err(handle, number)
    } else {
      unsafe mount.dropPages(of: stale, thenAnswer: handle, number)
    }
  }

  /// Runs a callback's work; an error that it throws becomes the answer.
  func answer(_ work: () throws(ErrorNumber) -> Void) {
    do throws(ErrorNumber) {
      try work()
    } catch {
      if error == .waits {
        // The mount keeps the request's bytes and restarts it; libfuse forgets it until then.
        unsafe fuse_reply_none(handle)
      } else {
        unsafe fail(error)
      }
    }
  }

  /// Shows the rules an operation that changes nothing.
  func observe(
    _ kind: OperationKind, _ inode: Inode?, through file: OpenFile? = nil
  ) throws(ErrorNumber) {
    try unsafe fileSystem.observe(kind, inode, through: file, by: caller)
  }

  /// Answers with a name's inode, which adds one to the kernel's lookup count.
  func reply(entry inode: Inode) {
    var entry = unsafe entry(inode)
    inode.lookupCount += 1
    if unsafe fuse_reply_entry(handle, &entry) != 0 { unsafe tree.forget(inode.number, count: 1) }
  }

  func entry(_ inode: Inode) -> fuse_entry_param {
    var entry = fuse_entry_param()
    entry.ino = fuse_ino_t(inode.number.rawValue)
    entry.attr = inode.attributes
    entry.attr_timeout = unsafe Double(mount.timeoutSeconds)
    entry.entry_timeout = unsafe Double(mount.timeoutSeconds)
    return entry
  }

  func reply(attributesOf inode: Inode) {
    var attributes = inode.attributes
    unsafe _ = fuse_reply_attr(handle, &attributes, Double(mount.timeoutSeconds))
  }

  func reply(bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe _ = fuse_reply_buf(
        handle, buffer.assumingMemoryBound(to: CChar.self).baseAddress, buffer.count)
    }
  }
}

extension FileType {
  /// The file type bits in `st_mode`.
  var modeBits: UInt32 {
    switch self {
    case .regular: 0o100000
    case .directory: 0o040000
    case .symbolicLink: 0o120000
    case .fifo: 0o010000
    case .socket: 0o140000
    case .characterDevice: 0o020000
    case .blockDevice: 0o060000
    }
  }

  /// The type of a node made by mknod; nil for types that mknod cannot make.
  init?(nodeMode mode: UInt32) {
    switch mode & 0o170000 {
    case 0, 0o100000: self = .regular
    case 0o010000: self = .fifo
    case 0o140000: self = .socket
    case 0o020000: self = .characterDevice
    case 0o060000: self = .blockDevice
    default: return nil
    }
  }
}

extension Timestamp {
  var specification: timespec { timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds)) }

  init(_ specification: timespec) {
    self.init(
      seconds: Int64(specification.tv_sec), nanoseconds: Int64(specification.tv_nsec))
  }
}
