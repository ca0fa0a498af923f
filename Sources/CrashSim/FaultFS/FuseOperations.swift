// FuseOperations.swift [U]: the table of libfuse's callbacks, and what all of them need.
// Each callback decodes its arguments, calls the file system, and answers exactly once. Nothing in
// here traps on what a client sends: sizes and offsets are checked before they are converted.
// Not in the table because they are answered before libfuse: FuseMount+Direct.swift has them.
// Not in the table on purpose: flush (closing is not a sync, and without it the kernel saves a
// request per close), locks (the kernel's own work), access (default_permissions).

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

/// A request under way, with the mount it belongs to.
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

  /// Who asks, in process, thread, user and group.
  var caller: Caller {
    guard let context = unsafe fuse_req_ctx(handle) else { return Caller() }
    return unsafe mount.caller(thread: Int32(truncatingIfNeeded: context.pointee.pid))
  }

  /// True for the user 0, which has CAP_FSETID and CAP_SYS_ADMIN as a rule.
  var isRoot: Bool { unsafe fuse_req_ctx(handle)?.pointee.uid == 0 }

  /// What the caller takes from the modes of what it makes, unless a default list says more.
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

  /// A name as the kernel gives it.
  static func name(_ text: UnsafePointer<CChar>?) -> FileName {
    guard let text = unsafe text else { return FileName(bytes: []) }
    let count = unsafe strlen(text)
    return FileName(bytes: unsafe Array(UnsafeRawBufferPointer(start: text, count: count)))
  }

  // MARK: Answers

  func fail(_ error: ErrorNumber) { unsafe reply(number: error.rawValue) }
  func succeed() { unsafe reply(number: 0) }

  /// Answers, but not before the kernel has dropped the pages that a fault made stale.
  private func reply(number: Int32) {
    let stale = unsafe fileSystem.staleInodes
    if stale.isEmpty {
      unsafe _ = fuse_reply_err(handle, number)
    } else {
      unsafe mount.dropPages(of: stale, thenAnswer: handle, number)
    }
  }

  /// Runs a callback's work; what it throws is the answer.
  func answer(_ work: () throws(ErrorNumber) -> Void) {
    do throws(ErrorNumber) {
      try work()
    } catch {
      if error == .waits {
        // The mount keeps the request's bytes and begins it again; libfuse forgets it until then.
        unsafe fuse_reply_none(handle)
      } else {
        unsafe fail(error)
      }
    }
  }

  /// Lets the rules see an operation that changes nothing.
  func observe(
    _ kind: OperationKind, _ inode: Inode?, through file: OpenFile? = nil
  ) throws(ErrorNumber) {
    try unsafe fileSystem.observe(kind, inode, through: file, by: caller)
  }

  /// Answers with a name's inode, which the kernel then remembers once more.
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
  /// The bits that stand for the kind in `st_mode`.
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

  /// The kind of a node that mknod makes; nil for what it cannot make.
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
