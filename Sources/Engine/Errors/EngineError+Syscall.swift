// EngineError+Syscall.swift: maps errno to a code and a remedy, one factory for all calls. The
// numbers are Linux's; see errno(3).

extension EngineError {
  /// The error of a failed system call on a path; a lab that simulates the system also makes it.
  package static func syscall(_ call: String, _ path: String, errno number: Int32) -> EngineError {
    let code: Code
    let remedy: String
    switch number {
    case 28, 122:  // ENOSPC, EDQUOT
      code = .noSpace
      remedy = "free space on the volume and try again"
    case 2:  // ENOENT
      code = .io
      remedy = "check that the folder exists"
    case 13, 1, 30:  // EACCES, EPERM, EROFS
      code = .io
      remedy = "the engine needs to read and write the file and its folder"
    case 21:  // EISDIR
      code = .notADatabase
      remedy = "the path names a folder"
    case 23, 24:  // ENFILE, EMFILE
      code = .io
      remedy = "close files, or raise the number that may be open (ulimit -n)"
    case 27:  // EFBIG
      code = .io
      remedy = "raise the size that a file may have (ulimit -f)"
    case 12:  // ENOMEM
      code = .io
      remedy = "raise the address space that the process may have (ulimit -v)"
    default:
      code = .io
      remedy = "see errno(3)"
    }
    return EngineError(
      code: code, message: "\(call) failed on \(path): \(remedy)", errno: number)
  }
}
