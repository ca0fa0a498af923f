// SimulatedStorage.swift [U]: the engine's storage over one file of a SimulatedFileSystem, and the
// steps by which the engine creates and opens a file, applied to the tree instead of the system.
// Invariants: `memory` holds the file's bytes, followed by zeros; an operation that the tree
// rejected changed neither; only one storage at a time has a file open, as the engine's lock
// requires.
// refused changed neither; one storage at a time has a file open, as the engine's lock demands.

import Engine
import FaultFS
import Glibc
import LabCore
import Recording
import Synchronization

/// One file of the faulty tree as the engine's storage.
///
/// Writes are visible in mappings until the next growth, which may move the file to new memory;
/// mappings of the old memory keep it alive with its content at that time, which the contract
/// allows.
// @unchecked: the engine uses a backend from one thread at a time, and the inode is used only under
// the file system's lock.
@safe final class SimulatedStorage: StorageBackend, @unchecked Sendable {
  let path: String
  private let fileSystem: SimulatedFileSystem
  private let inode: Inode
  private var memory: SimulatedMemory
  private let isOpen = Atomic<Bool>(true)

  /// Takes over an inode that the caller has counted as open.
  fileprivate init(_ inode: Inode, path: String, in fileSystem: SimulatedFileSystem) {
    self.inode = inode
    self.path = path
    self.fileSystem = fileSystem
    let content = fileSystem.withFileSystem { _ in
      inode.content?.read(at: 0, count: Int(clamping: inode.sizeBytes)) ?? []
    }
    memory = SimulatedMemory(capacity: content.count)
    unsafe content.withUnsafeBytes { unsafe memory.bytes.copyMemory(from: $0) }
  }

  deinit { close() }

  /// Performs a call like the engine's system calls, which are restarted when interrupted.
  private func perform(
    _ name: String, _ body: (FaultFileSystem) throws(ErrorNumber) -> Void
  ) throws(EngineError) {
    while true {
      do throws(ErrorNumber) {
        return try fileSystem.withFileSystem(body)
      } catch {
        if error.rawValue != EINTR { throw .syscall(name, path, errno: error.rawValue) }
      }
    }
  }

  func sizeBytes() -> UInt64 { fileSystem.withFileSystem { _ in inode.sizeBytes } }

  func write(_ bytes: UnsafeRawBufferPointer, at offsetBytes: UInt64) throws(EngineError) {
    try perform("pwrite") { fileSystem throws(ErrorNumber) in
      precondition(
        offsetBytes + UInt64(bytes.count) <= inode.sizeBytes, "writes stay inside the file")
      var taken = 0
      while taken < bytes.count {
        // A short write is continued, as by the engine's system calls.
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[taken...])
        taken += try unsafe fileSystem.write(
          rest.bytes, at: offsetBytes + UInt64(taken), to: inode, by: SimulatedFileSystem.caller)
      }
      // Safety: the memory has at least the file's size.
      unsafe UnsafeMutableRawBufferPointer(rebasing: memory.bytes[Int(offsetBytes)...])
        .copyMemory(from: bytes)
    }
  }

  func allocate(upTo sizeBytes: UInt64) throws(EngineError) {
    try perform("posix_fallocate") { fileSystem throws(ErrorNumber) in
      try fileSystem.allocate(
        inode, at: 0, count: sizeBytes, mode: [], by: SimulatedFileSystem.caller)
    }
    memory = memory.grown(to: Int(clamping: sizeBytes))
  }

  func truncate(to sizeBytes: UInt64) throws(EngineError) {
    try perform("ftruncate") { fileSystem throws(ErrorNumber) in
      try fileSystem.truncate(inode, to: sizeBytes, by: SimulatedFileSystem.caller)
    }
    memory = memory.cut(to: Int(clamping: sizeBytes))
  }

  /// Never repeated: the state after a failed sync is unknown.
  func sync() throws(EngineError) {
    do throws(ErrorNumber) {
      try fileSystem.withFileSystem { fileSystem throws(ErrorNumber) in
        fileSystem.staleInodes = []
        try fileSystem.sync(inode, dataOnly: true, by: SimulatedFileSystem.caller)
      }
    } catch {
      refreshReverted()
      throw .syscall("fdatasync", path, errno: error.rawValue)
    }
  }

  /// Drops whole pages, like posix_fadvise(2): after a failed sync, the medium's content shows.
  func forgetCache(at offsetBytes: UInt64, count: UInt64) {
    let pageBytes = PageShadow.pageBytes
    let end = offsetBytes.addingReportingOverflow(count)
    let first = (offsetBytes + pageBytes - 1) / pageBytes * pageBytes
    let last = (end.overflow ? UInt64.max : end.partialValue) / pageBytes * pageBytes
    guard first < last else { return }
    let changed = fileSystem.withFileSystem { fileSystem in
      fileSystem.evict(inode, first..<last, isCached: false)
    }
    for (offset, bytes) in changed {
      // Safety: the memory has at least the file's size, and the pages are cut at it.
      unsafe bytes.withUnsafeBytes {
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory.bytes[Int(offset)...])
          .copyMemory(from: $0)
      }
    }
  }

  /// Shows the content to which the file reverted after a failed sync as on Btrfs.
  private func refreshReverted() {
    let content = fileSystem.withFileSystem { fileSystem -> [UInt8]? in
      guard fileSystem.staleInodes.contains(inode.number) else { return nil }
      return inode.content?.read(at: 0, count: Int(clamping: inode.sizeBytes))
    }
    guard let content else { return }
    memory = memory.cut(to: 0).grown(to: content.count)
    unsafe content.withUnsafeBytes { unsafe memory.bytes.copyMemory(from: $0) }
  }

  func map() -> MappedFile {
    let size = Int(clamping: sizeBytes())
    return unsafe MappedFile(borrowing: memory.view(size), owner: memory)
  }

  func close() {
    guard isOpen.exchange(false, ordering: .relaxed) else { return }
    fileSystem.withFileSystem {
      $0.close(inode, couldWrite: true, by: SimulatedFileSystem.caller)
    }
  }

  /// Empties the file; only for the leftover of an unfinished creation.
  fileprivate func removeContent() throws(EngineError) {
    try perform("ftruncate") { fileSystem throws(ErrorNumber) in
      try fileSystem.truncate(inode, to: 0, by: SimulatedFileSystem.caller)
    }
    memory = SimulatedMemory(capacity: 0)
  }
}

/// Memory of a file, shared with the mappings of it; new memory is zero.
@safe private final class SimulatedMemory: @unchecked Sendable {
  // Safety: one thread writes; readers access only bytes that the engine has published to them.
  let bytes: UnsafeMutableRawBufferPointer

  init(capacity: Int) {
    unsafe bytes = .allocate(byteCount: max(capacity, 1), alignment: 4096)
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { unsafe bytes.deallocate() }

  /// This memory, or a larger copy.
  func grown(to count: Int) -> SimulatedMemory {
    guard unsafe count > bytes.count else { return self }
    let larger = unsafe SimulatedMemory(capacity: max(count, 2 * bytes.count))
    unsafe larger.bytes.copyMemory(from: UnsafeRawBufferPointer(bytes))
    return larger
  }

  /// A copy of the first bytes; those after them read as 0 when the file grows again.
  func cut(to count: Int) -> SimulatedMemory {
    let smaller = SimulatedMemory(capacity: count)
    unsafe smaller.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    return smaller
  }

  func view(_ count: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
  }
}

// MARK: - Opening

extension SimulatedFileSystem {
  private static let suffix = ".creating"

  /// Opens the database in a file of the root directory, and creates it if it does not exist.
  ///
  /// The tree is changed in the same steps as a mount by `Database.open(path:)`.
  /// - Throws: `EngineError` like `Database.open(path:)`.
  package func openDatabase(
    _ name: String, _ declaration: DatabaseDeclaration = .init(),
    announcing phases: PhaseAnnouncer? = nil
  ) throws(EngineError) -> Database {
    try openDatabase(name, options: declaration.options(announcing: phases))
  }

  /// The same with the engine's own options.
  package func openDatabase(
    _ name: String, options: Database.Options
  ) throws(EngineError) -> Database {
    guard let storage = try openExisting(name, options) else { return try create(name, options) }
    do throws(EngineError) {
      return try Database.open(backend: storage, options: options)
    } catch {
      storage.close()
      throw error
    }
  }

  /// A storage over the file, or nil when there is none.
  private func openExisting(
    _ name: String, _ options: Database.Options
  ) throws(EngineError) -> SimulatedStorage? {
    guard let storage = try openFile(name, path: name) else { return nil }
    guard !options.readOnly else { return storage }
    // Before: its creator may have died before the name was durable. After: it is, as for a file.
    do throws(EngineError) { try syncFolder(of: name) } catch {
      storage.close()
      throw error
    }
    // The database exists, so a file with the temporary name is a leftover that can be removed.
    withFileSystem { fileSystem in
      let name = FileName(name + Self.suffix)
      guard fileSystem.tree.root.entries[name] != nil else { return }
      try? fileSystem.remove(
        name, in: fileSystem.tree.root, isDirectory: false, by: Self.caller)
    }
    // The first process to open a file drops these pages, so that they are read from the medium.
    storage.forgetCache(at: 0, count: UInt64(Layout.headerSizeBytes))
    return storage
  }

  private func openFile(
    _ name: String, path: String
  ) throws(EngineError) -> SimulatedStorage? {
    let found: OpenedInode?
    do throws(ErrorNumber) {
      found = try withFileSystem { fileSystem throws(ErrorNumber) in
        guard let inode = fileSystem.tree.root.entries[FileName(name)]?.inode else { return nil }
        _ = try fileSystem.tree.content(of: inode)
        try fileSystem.observe(.open, inode, by: Self.caller)
        return OpenedInode(inode)
      }
    } catch {
      throw .syscall("open", name, errno: error.rawValue)
    }
    guard let found else { return nil }
    guard let inode = found.inode else {
      throw EngineError(
        code: .locked, message: "\(name) is open in another handle of this process; close it first")
    }
    return SimulatedStorage(inode, path: path, in: self)
  }

  /// Makes the database under a temporary name, and renames it when it is durable.
  private func create(
    _ name: String, _ given: Database.Options
  ) throws(EngineError) -> Database {
    let temporary = name + Self.suffix
    let storage = try makeFile(temporary, path: name)
    do throws(EngineError) {
      try storage.removeContent()
      // After: the empty database is durable under its temporary name.
      var options = given
      options.createsTemporary = true
      let database = try Database.open(backend: storage, options: options)
      try step("rename", temporary) { fileSystem throws(ErrorNumber) in
        let root = fileSystem.tree.root
        try fileSystem.rename(
          FileName(temporary), from: root, to: root, FileName(name), flags: 0, by: Self.caller)
      }
      // Before: a crash leaves the temporary name or the real one. After: the real one.
      try syncFolder(of: name)
      return database
    } catch {
      storage.close()
      throw error
    }
  }

  private func makeFile(
    _ name: String, path: String
  ) throws(EngineError) -> SimulatedStorage {
    if let storage = try openFile(name, path: path) { return storage }
    let made: OpenedInode
    do throws(ErrorNumber) {
      made = try withFileSystem { fileSystem throws(ErrorNumber) in
        let ownership = Ownership(mode: 0o644, user: geteuid(), group: getegid())
        return OpenedInode(
          try fileSystem.create(
            FileName(name), in: fileSystem.tree.root, type: .regular, ownership: ownership,
            by: Self.caller))
      }
    } catch {
      throw .syscall("open", name, errno: error.rawValue)
    }
    guard let inode = made.inode else { preconditionFailure("a new file is nobody else's") }
    return SimulatedStorage(inode, path: path, in: self)
  }

  private func syncFolder(of name: String) throws(EngineError) {
    try step("fsync of the folder", name) { fileSystem throws(ErrorNumber) in
      let root = fileSystem.tree.root
      try fileSystem.observe(.open, root, by: Self.caller)
      try fileSystem.sync(root, dataOnly: false, by: Self.caller)
    }
  }

  private func step(
    _ call: String, _ name: String, _ body: (FaultFileSystem) throws(ErrorNumber) -> Void
  ) throws(EngineError) {
    do throws(ErrorNumber) {
      try withFileSystem(body)
    } catch {
      throw .syscall(call, name, errno: error.rawValue)
    }
  }
}

/// An inode passed from the lock to the storage that opens it.
// @unchecked: the inode is not accessed outside of the lock.
private struct OpenedInode: @unchecked Sendable {
  /// Nil when another storage has the file open.
  let inode: Inode?

  /// Counts another open file, unless there is one; the caller holds the lock.
  init(_ inode: Inode) {
    guard inode.openCount == 0 else {
      self.inode = nil
      return
    }
    inode.openCount += 1
    self.inode = inode
  }
}
