// FileIdentity.swift: which file a descriptor or a path leads to. Invariant: a failed system call
// is an error, and never treated as another file or as none.

/// Identifies a file for as long as it is open.
struct FileIdentity: Equatable {
  let device: UInt64
  let inode: UInt64

  /// The file of a descriptor.
  /// - Throws: `EngineError` with code `.io` when the system call fails.
  static func of(_ descriptor: Int32, _ path: String) throws(EngineError) -> FileIdentity {
    switch Syscalls.identity(descriptor) {
    case .success(let identity): return identity
    case .failure(let failure): throw .syscall("fstat", path, errno: failure.number)
    }
  }

  /// The file at a path; nil when the path does not exist.
  /// - Throws: `EngineError` with code `.io` when the system call fails.
  static func at(_ path: String) throws(EngineError) -> FileIdentity? {
    switch Syscalls.identity(path: path) {
    case .success(let identity): return identity
    case .failure(.noSuchFile): return nil
    case .failure(let failure): throw .syscall("stat", path, errno: failure.number)
    }
  }
}
