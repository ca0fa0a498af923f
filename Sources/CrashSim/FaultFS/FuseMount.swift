// FuseMount.swift [U]: serves a FaultFileSystem to the kernel through libfuse's low-level API.
// Two threads work here: one serves requests (`serve`), one serves the control socket. Both hold
// `lock` while they use the file system, and the server answers a request while it holds it.
// Invariant: before a request is handled, every mark written before it is in the trace.

import CFuse
import CSystem
import Glibc
import LabCore
import Recording
import Synchronization

/// How a mount behaves.
public struct FaultFSOptions: Codable, Hashable, Sendable {
  /// True: the kernel sends writes of at most 4 KiB, aligned to pages.
  public var isPageGranular = false
  /// Memory that files may use; beyond it, calls get `ENOSPC`.
  public var quotaBytes: UInt64 = 4 << 30
  /// Size limit of a recording, with 256 bytes for each operation; at the limit the recording ends,
  /// and programs continue.
  public var recordingBytesMax = Self.recordingBytesMaxByDefault
  /// The limit unless an option or the variable `FAULTLINE_RECORDING_LIMIT` sets another one.
  public static let recordingBytesMaxByDefault: UInt64 = 4 << 30
  /// Where a socket for `faultline fault` listens; nil is nowhere.
  public var controlPath: String?
  /// When the kernel has to write dirty mapped pages back; nil leaves that to the kernel.
  public var writeBack: PageWriteBack?
  /// Required alignment of direct reads and writes; nil accepts all of them.
  public var directAlignment: DirectAlignment?
  /// What programs write to `FaultFSClient.marksWriteDescriptor` to make one mark.
  public var marks = MarkUnit.writes
  /// True: set-uid and set-gid of programs on the mount count.
  ///
  /// For root only.
  public var allowsSetUser = false
  /// True: device files on the mount can be opened.
  ///
  /// For root only.
  public var allowsDevices = false
  /// Where programs under test record their call stacks; nil is nowhere.
  public var callStackPath: String?

  /// Makes options.
  public init(
    isPageGranular: Bool = false, quotaBytes: UInt64 = 4 << 30, controlPath: String? = nil
  ) {
    self.isPageGranular = isPageGranular
    self.quotaBytes = quotaBytes
    self.controlPath = controlPath
  }
}

// @unchecked: `session` is libfuse's, which does its own locking; all else is under `lock`.
/// A mounted file system.
@safe final class FuseMount: @unchecked Sendable {
  let mountPoint: String
  let options: FaultFSOptions
  let lock = Mutex<Void>(())
  let fileSystem: FaultFileSystem
  private(set) var session: OpaquePointer?
  /// Waiting requests in order of arrival.
  var postponed: [PostponedRequest] = unsafe []
  /// Wakes the thread that restarts them.
  let late = LatePipe()
  let drops = PageDrops()
  /// When requests are held until dirty mapped pages are written back; nil is never.
  var harvest: HarvestClock?
  /// How many write-backs are running or due; unless 0, no further request is held for one.
  var harvestsUnderWay = 0
  /// True when a rule has ended the service.
  private(set) var isDead = false
  /// True when another process has ended it, by umount(8) for example.
  private(set) var isEndedFromOutside = false
  /// The mount's entry in the mount table.
  private var entry: String?
  private(set) var operationsServed: UInt64 = 0
  /// The current request, for the few bits that libfuse does not pass on; valid in handlers.
  private var request: UnsafeRawPointer?
  /// What programs under test print; touched under `lock`.
  let output: ProgramOutput
  /// Who serves, while it does.
  private var server: pthread_t?
  /// True when the serving thread is notified of marks and need not poll for them.
  private var isToldOfMarks = false
  private var callers = CallerTable()
  /// Set once the kernel has our answer to INIT; until then answers are inspected.
  private var isInitialized = false
  private var clearsPrivileges = false
  /// The flag of open files whose requests are checked for alignment; 0 for none.
  let alignedFlag: UInt32
  /// True when the kernel sends the longer record of SETXATTR.
  private(set) var hasLongAttributeRequests = false

  init(
    at mountPoint: String, marksDescriptor: Int32, options: FaultFSOptions,
    pieces: PayloadPieces
  ) throws(LabError) {
    self.mountPoint = mountPoint
    output = ProgramOutput(marksDescriptor, options.marks)
    self.options = options
    alignedFlag =
      options.directAlignment == nil ? 0 : UInt32(bitPattern: csystem_open_direct())
    harvest = options.writeBack.map { HarvestClock($0) }
    let quotaBytes = options.quotaBytes
    do {
      let tree = try FileTree(image: Self.emptyTree, quotaBytes: quotaBytes, now: wallClock)
      let recorder = TraceRecorder(
        limitBytes: options.recordingBytesMax, pieces: pieces,
        clockNanoseconds: monotonicNanoseconds)
      fileSystem = FaultFileSystem(tree: tree, recorder: recorder)
    } catch {
      throw .lab("an empty tree does not fit in quota_bytes=\(quotaBytes): \(error)")
    }
    if let path = options.callStackPath {
      fileSystem.recorder.callStacks = try CallStackArea(directory: path)
    }
    // The file system lives as long as this object, which the daemon keeps until it exits.
    fileSystem.sideEffects = FaultSideEffects(
      kill: Self.kill,
      killOthers: { [unowned self] in killOthers($0, $1) }, die: { [unowned self] in die() },
      forgetAttributes: { [unowned self] in forgetAttributes(of: $0) })
    try mount()
  }

  /// A tree whose root belongs to the user who mounts it.
  static var emptyTree: TreeImage {
    var tree = TreeImage()
    tree.inodes[.root]?.ownership = Ownership(mode: 0o755, user: geteuid(), group: getegid())
    return tree
  }

  private func mount() throws(LabError) {
    // `faultline fault` finds the control socket through the mount's source.
    let source = options.controlPath ?? "faultline"
    var text = "default_permissions,fsname=\(source),subtype=faultfs"
    // A user's program may run under a group of its own, say; fusermount3 allows that to nobody.
    if MountRight.mayMount { text += ",allow_other" }
    // Without these words libfuse mounts with nosuid and nodev, also for root.
    if options.allowsSetUser { text += ",suid" }
    if options.allowsDevices { text += ",dev" }
    var operations = FuseOperations.table
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [
      strdup("faultline-fs"), strdup("-o"), strdup(text),
    ]
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    // Safety: the session keeps `self` unretained; the daemon keeps it alive until it exits.
    unsafe session = arguments.withUnsafeMutableBufferPointer { buffer in
      var list = unsafe fuse_args(
        argc: Int32(buffer.count), argv: buffer.baseAddress, allocated: 0)
      let session = unsafe fuse_session_new(
        &list, &operations, MemoryLayout<fuse_lowlevel_ops>.size,
        Unmanaged.passUnretained(self).toOpaque())
      unsafe fuse_opt_free_args(&list)
      return unsafe session
    }
    guard unsafe session != nil else {
      throw .lab("cannot mount on \(mountPoint): libfuse made no session (see its message above)")
    }
    if unsafe fuse_session_mount(session, mountPoint) != 0 {
      throw .lab(
        "cannot mount on \(mountPoint): libfuse refused (see its message above); "
          + FaultFSDaemon.mountRemedy)
    }
    var io = fuse_custom_io()
    unsafe io.read = { descriptor, buffer, count, _ in
      unsafe cfuse_read(descriptor, buffer, count)
    }
    unsafe io.writev = { descriptor, pieces, count, context in
      if let context = unsafe context {
        let mount = unsafe Unmanaged<FuseMount>.fromOpaque(context).takeUnretainedValue()
        unsafe mount.amendInitReply(pieces, count)
        if count == 2, let pieces = unsafe pieces,
          unsafe pieces[0].iov_len + pieces[1].iov_len <= CFUSE_JOINED_BYTES
        {
          return unsafe cfuse_write_joined(descriptor, pieces)
        }
      }
      return unsafe Glibc.writev(descriptor, pieces, count)
    }
    unsafe fuse_session_custom_io(session, &io, fuse_session_fd(session))
    entry = MountTable.mount(at: mountPoint)
  }

  /// False when something else shows at the mount point, or nothing.
  var isInTable: Bool {
    entry == nil || MountTable.mount(at: mountPoint) == entry
  }

  /// libfuse 3.14 does not support FUSE_HANDLE_KILLPRIV_V2, without which the kernel asks for
  /// `security.capability` before every write, nor FUSE_SETXATTR_EXT; so both are set in our answer
  /// to INIT.
  private func amendInitReply(_ pieces: UnsafeMutablePointer<iovec>?, _ count: Int32) {
    if isInitialized { return }
    isInitialized = true
    let headerBytes = 40
    let flagsOffset = 12
    guard clearsPrivileges, count >= 2, let reply = unsafe pieces?[1].iov_base,
      unsafe (pieces?[1].iov_len ?? 0) >= flagsOffset + 4, let request = unsafe request
    else { return }
    let offered = unsafe request.loadUnaligned(
      fromByteOffset: headerBytes + flagsOffset, as: UInt32.self)
    let flags = unsafe reply.loadUnaligned(fromByteOffset: flagsOffset, as: UInt32.self)
    let killPrivileges: UInt32 = 1 << 28
    // FUSE_INIT_EXT, then FUSE_DIRECT_IO_ALLOW_MMAP in the second word: files that rules on reads
    // exclude from the cache can still be mapped.
    let extended: UInt32 = 1 << 30
    let directMapping: UInt32 = 1 << 4
    let longAttributes: UInt32 = 1 << 29
    hasLongAttributeRequests = offered & longAttributes != 0
    unsafe reply.storeBytes(
      of: flags | (offered & (killPrivileges | extended | longAttributes)),
      toByteOffset: flagsOffset, as: UInt32.self)
    guard offered & extended != 0, unsafe (pieces?[1].iov_len ?? 0) >= 36 else { return }
    let offeredMore = unsafe request.loadUnaligned(
      fromByteOffset: headerBytes + 16, as: UInt32.self)
    let more = unsafe reply.loadUnaligned(fromByteOffset: 32, as: UInt32.self)
    unsafe reply.storeBytes(
      of: more | (offeredMore & directMapping), toByteOffset: 32, as: UInt32.self)
  }

  /// Chooses the kernel's features in the answer to its INIT.
  func negotiate(_ connection: UnsafeMutablePointer<fuse_conn_info>) {
    // With ASYNC_DIO the kernel sends no sync after a direct write from a queue (io_submit,
    // io_uring); without it, such a write is done when its request is, and its sync follows.
    let unwanted =
      FUSE_CAP_ASYNC_DIO | FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_HANDLE_KILLPRIV
      | FUSE_CAP_WRITEBACK_CACHE
      | FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE
      | FUSE_CAP_FLOCK_LOCKS | FUSE_CAP_POSIX_LOCKS
    let wanted =
      FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_ASYNC_READ | FUSE_CAP_CACHE_SYMLINKS
      | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_EXPORT_SUPPORT
      // With access lists we apply the umask ourselves: a default list replaces it.
      | FUSE_CAP_POSIX_ACL | FUSE_CAP_DONT_MASK
    unsafe connection.pointee.want &= ~UInt32(bitPattern: unwanted)
    unsafe connection.pointee.want |=
      connection.pointee.capable & UInt32(bitPattern: wanted)
    if options.isPageGranular { unsafe connection.pointee.max_write = 4096 }
    clearsPrivileges = true
  }

  // MARK: Serving

  /// Serves requests until the mount is gone.
  func serve() {
    Self.installWaking()
    var buffer = unsafe fuse_buf()
    // A mark's writer has raised the signal by then, so it is seen before the next request.
    isToldOfMarks = lock.withLock { _ in
      server = pthread_self()
      return output.descriptor >= 0 && csystem_note_arrivals(output.descriptor) == 0
    }
    while unsafe fuse_session_exited(session) == 0 {
      let count = unsafe fuse_session_receive_buf(session, &buffer)
      if count == -EINTR { continue }
      if count <= 0 { break }
      let bytes = unsafe UnsafeMutableRawBufferPointer(start: buffer.mem, count: buffer.size)
      lock.withLock { _ in
        if fileSystem.recorder.isRecording,
          !isToldOfMarks || csystem_take_arrivals() != 0 || output.awaitsEndings
        {
          drainMarks()
        }
        operationsServed &+= 1
        fileSystem.recorder.fetchAhead()
        if unsafe !postponed.isEmpty, unsafe endsWait(UnsafeRawBufferPointer(bytes)) { return }
        if harvest != nil, unsafe harvests(before: UnsafeRawBufferPointer(bytes)) { return }
        if unsafe awaitsPages(before: UnsafeRawBufferPointer(bytes)) { return }
        unsafe process(bytes)
        fileSystem.recorder.fetchAhead()
      }
    }
    unsafe free(buffer.mem)
    lock.withLock { _ in
      server = nil
      isEndedFromOutside = !isDead
    }
  }

  /// Handles a request, or keeps a copy of it when a rule makes it wait; the caller holds the lock.
  /// - Parameters:
  ///   - bytes: The request.
  ///   - decisions: The decisions made before the request waited.
  func process(
    _ bytes: UnsafeMutableRawBufferPointer,
    resuming decisions: [(kind: OperationKind, injection: Injection?)] = []
  ) {
    fileSystem.beginRequest(resuming: decisions)
    if unsafe !answersDirectly(UnsafeRawBufferPointer(bytes)) {
      unsafe request = UnsafeRawPointer(bytes.baseAddress)
      var buffer = unsafe fuse_buf()
      unsafe buffer.mem = bytes.baseAddress
      unsafe buffer.size = bytes.count
      unsafe buffer.fd = -1
      unsafe fuse_session_process_buf(session, &buffer)
    }
    if !fileSystem.isWithoutRules, let wait = fileSystem.decisions.wait {
      unsafe postpone(UnsafeRawBufferPointer(bytes), wait, fileSystem.decisions.made)
    }
  }

  /// Disconnects the mount's users: the device is closed, but the daemon stays for its client.
  ///
  /// The caller holds the lock.
  func die() {
    isDead = true
    let null = unsafe csystem_open("/dev/null", O_RDWR | O_CLOEXEC, 0)
    unsafe _ = dup2(null, fuse_session_fd(session))
    Glibc.close(null)
    // A request that waited is restarted by a thread other than the serving one, which may be
    // reading and keeps the device open while it does.
    if let server, pthread_equal(server, pthread_self()) == 0 {
      pthread_kill(server, Self.wakingSignal)
    }
  }

  private static let wakingSignal = SIGUSR2

  /// Installs a signal handler whose only effect is to end a read.
  private static func installWaking() {
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { _ in }
    unsafe _ = sigaction(wakingSignal, &action, nil)
  }

  /// Safe in a handler: without a range the kernel only marks the attributes as stale.
  private func forgetAttributes(of inode: InodeNumber) {
    unsafe _ = fuse_lowlevel_notify_inval_inode(session, fuse_ino_t(inode.rawValue), -1, 0)
  }

  /// A word of the current request, after its header.
  func requestWord(at offset: Int) -> UInt32 {
    unsafe request?.loadUnaligned(fromByteOffset: 40 + offset, as: UInt32.self) ?? 0
  }

  /// The caller of a request.
  func caller(thread: Int32) -> Caller {
    callers.caller(
      thread: thread, now: monotonicNanoseconds(), lookUp: ProcessCalls.process(ofThread:))
  }

  /// Makes callers be looked up again for new rules; the caller holds the lock.
  func expireCallers() { callers.expire() }

  /// Never kills Faultline: not this process, its group, or its parent; thread numbers are looked
  /// up again, because a number may have been reused by another process.
  private static func kill(_ caller: Caller) {
    guard caller.thread > 0, let process = ProcessCalls.process(ofThread: caller.thread),
      process > 1, process != getpid(), process != getppid(), getpgid(process) != getpgrp()
    else { return }
    Glibc.kill(process, SIGKILL)
  }

  /// The same for the mount's users, including dead ones, whose names fit.
  private func killOthers(_ glob: Glob, _ caller: Caller) {
    for other in callers.sorted where other.process != caller.process {
      let names = [ProcessCalls.name(of: other.thread), ProcessCalls.name(of: other.process)]
      guard names.contains(where: { $0.map(glob.matches) ?? false }) else { continue }
      Self.kill(other)
    }
  }

  // MARK: Marks

  /// The descriptor to watch for marks, or -1.
  var watchedMarks: Int32 { lock.withLock { _ in output.descriptor } }

  /// Puts every waiting mark into the trace; the caller holds the lock.
  func drainMarks() { output.read { fileSystem.record($0) } }

  // MARK: Control

  /// Replaces the tree; rejected while the kernel holds more of the old one than its root.
  func replaceTree(_ tree: sending FileTree) throws(LabError) {
    let isFree = lock.withLock { _ in
      let old = fileSystem.tree
      return !old.inodes.values.contains { inode in
        inode.openCount > 0 || (inode.lookupCount > 0 && inode.number != .root)
      }
    }
    guard isFree else {
      throw .usage("\(mountPoint): a tree cannot be loaded while files are in use")
    }
    let names = tree.root.listing().map(\.name)
    lock.withLock { _ in fileSystem.replaceTree(tree) }
    // The kernel may cache the old root's attributes. Not under the lock: it may send a request.
    unsafe _ = fuse_lowlevel_notify_inval_inode(session, 1, 0, 0)
    for name in names { forgetEntry(name, in: .root) }
  }

  /// Unmounts; true when the mount was in use all the time and still exists.
  func unmount(timeoutMilliseconds: Int) -> Bool {
    // A mount made there since by another process is not ours to remove.
    if lock.withLock({ _ in isEndedFromOutside }), !isInTable { return false }
    let isAllowed = MountRight.mayMount
    let end = monotonicNanoseconds() + UInt64(timeoutMilliseconds) * 1_000_000
    while true {
      if isAllowed {
        do throws(ErrorNumber) {
          try PathCalls.unmount(mountPoint)
          return false
        } catch {
          if error.rawValue != EBUSY { return false }
        }
      } else if Fusermount.unmount(mountPoint, lazily: false) || !isInTable {
        return false
      }
      if monotonicNanoseconds() > end { return true }
      usleep(isAllowed ? 2000 : 20_000)
    }
  }

  /// Aborts the mount while it is still in use.
  func abort() { try? PathCalls.abortMount(mountPoint) }
}
