// FileIdentity.swift: which file a descriptor or a path leads to.
// Invariant: a system that does not say is an error of its own, and never taken for another file or
// for none.

/// Tells files apart for as long as they are open.
struct FileIdentity: Equatable {
  let device: UInt64
  let inode: UInt64

  /// The file behind a descriptor.
  /// - Throws: `EngineError` with code `.io` when the system does not say.
  static func of(_ descriptor: Int32, _ path: String) throws(EngineError) -> FileIdentity {
    switch Syscalls.identity(descriptor) {
    case .success(let identity): return identity
    case .failure(let failure): throw .syscall("fstat", path, errno: failure.number)
    }
  }

  /// The file at a path; nil when nothing has that name.
  /// - Throws: `EngineError` with code `.io` when the system does not say.
  static func at(_ path: String) throws(EngineError) -> FileIdentity? {
    switch Syscalls.identity(path: path) {
    case .success(let identity): return identity
    case .failure(.noSuchFile): return nil
    case .failure(let failure): throw .syscall("stat", path, errno: failure.number)
    }
  }
}
