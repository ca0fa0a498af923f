// ErrnoTable.swift: the errors that a call may return, from the ERRORS sections of Linux man-pages
// 6.03 (open, read, write, truncate, fallocate, posix_fallocate, mkdir, mknod, symlink, link,
// unlink, rmdir, rename, chmod, chown, setxattr, removexattr, fsync, msync, lookups by stat,
// utimensat, readlink, getdents, opendir, getxattr, listxattr, statfs, lseek).
// A kind of operation stands for several calls and has the errors of all of them. Every call that
// reaches the medium may return EIO, even if its page does not list it. No call may return ENOSYS:
// the kernel would take it for "never ask again", and answer by itself from then on.

import Glibc

/// Errors by call.
public enum ErrnoTable {
  /// Every name that rules may use, with its number.
  public static let numbers: [String: Int32] = [
    "E2BIG": E2BIG, "EACCES": EACCES, "EAGAIN": EAGAIN, "EBADF": EBADF, "EBUSY": EBUSY,
    "EDESTADDRREQ": EDESTADDRREQ, "EDQUOT": EDQUOT, "EEXIST": EEXIST, "EFAULT": EFAULT,
    "EFBIG": EFBIG, "EINTR": EINTR, "EINVAL": EINVAL, "EIO": EIO, "EISDIR": EISDIR,
    "ELOOP": ELOOP, "EMFILE": EMFILE, "EMLINK": EMLINK, "ENAMETOOLONG": ENAMETOOLONG,
    "ENFILE": ENFILE, "ENODATA": ENODATA, "ENODEV": ENODEV, "ENOENT": ENOENT, "ENOMEM": ENOMEM,
    "ENOSPC": ENOSPC, "ENOTDIR": ENOTDIR, "ENOTEMPTY": ENOTEMPTY, "ENXIO": ENXIO,
    "EOPNOTSUPP": EOPNOTSUPP, "EOVERFLOW": EOVERFLOW, "EPERM": EPERM, "EPIPE": EPIPE,
    "ERANGE": ERANGE, "EROFS": EROFS, "ESPIPE": ESPIPE, "ESRCH": ESRCH, "ESTALE": ESTALE,
    "ETIMEDOUT": ETIMEDOUT, "ETXTBSY": ETXTBSY, "EXDEV": EXDEV, "EUCLEAN": EUCLEAN,
    "EREMOTEIO": EREMOTEIO, "ENOLINK": ENOLINK, "EBADMSG": EBADMSG, "ESHUTDOWN": ESHUTDOWN,
    "ENOTCONN": ENOTCONN, "EILSEQ": EILSEQ, "ENOBUFS": ENOBUFS, "ENOLCK": ENOLCK,
  ]

  /// The name of a number, or the number itself.
  public static func name(of number: Int32) -> String {
    names[number] ?? "\(number)"
  }

  private static let names = Dictionary(
    numbers.map { ($0.value, $0.key) }, uniquingKeysWith: { min($0, $1) })

  /// Errors of any call that follows a path.
  private static let path: Set<Int32> = [
    EACCES, EBADF, EFAULT, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOTDIR, EIO,
  ]
  /// Errors of any call that creates a name.
  private static let name: Set<Int32> = path.union([
    EDQUOT, EEXIST, EINVAL, ENOSPC, EPERM, EROFS,
  ])

  /// The errors that an operation of a kind may return.
  public static func errors(of kind: OperationKind) -> Set<Int32> {
    switch kind {
    case .open:
      path.union([
        EBUSY, EDQUOT, EEXIST, EFBIG, EINTR, EINVAL, EISDIR, EMFILE, ENFILE, ENODEV, ENOSPC, ENXIO,
        EOPNOTSUPP, EOVERFLOW, EPERM, EROFS, ETXTBSY, EAGAIN,
      ])
    case .create:
      name.union([
        EBUSY, EFBIG, EINTR, EISDIR, EMFILE, ENFILE, ENODEV, ENXIO, EOPNOTSUPP, EOVERFLOW,
        ETXTBSY, EAGAIN, EMLINK,
      ])
    case .read: [EAGAIN, EBADF, EFAULT, EINTR, EINVAL, EIO, EISDIR]
    case .write:
      [
        EAGAIN, EBADF, EDESTADDRREQ, EDQUOT, EFAULT, EFBIG, EINTR, EINVAL, EIO, ENOSPC, EPERM,
        EPIPE,
      ]
    case .truncate:
      path.subtracting([ENOMEM]).union([EFBIG, EINTR, EINVAL, EISDIR, EPERM, EROFS, ETXTBSY])
    case .allocate:
      [
        EBADF, EFBIG, EINTR, EINVAL, EIO, ENODEV, ENOSPC, EOPNOTSUPP, EPERM, ESPIPE, ETXTBSY,
      ]
    case .link: name.union([EMLINK, EXDEV])
    case .remove: path.union([EBUSY, EINVAL, EISDIR, ENOTEMPTY, EPERM, EROFS])
    case .rename: name.union([EBUSY, EISDIR, EMLINK, ENOTEMPTY, EXDEV])
    case .setOwnership: path.union([EINVAL, EOPNOTSUPP, EPERM, EROFS])
    case .setTimes: path.subtracting([ENOMEM]).union([EINVAL, EPERM, EROFS, ESRCH])
    case .setExtendedAttribute:
      path.union([EDQUOT, EEXIST, ENODATA, ENOSPC, EOPNOTSUPP, EPERM, ERANGE])
    case .getExtendedAttribute: path.union([E2BIG, ENODATA, EOPNOTSUPP, ERANGE])
    case .sync, .syncDirectory: [EBADF, EDQUOT, EINTR, EINVAL, EIO, ENOSPC, EROFS]
    case .lookUp, .getAttributes: path.union([EINVAL, EOVERFLOW])
    case .readLink: path.union([EINVAL])
    case .readDirectory: [EBADF, EFAULT, EINVAL, EIO, ENOENT, ENOTDIR]
    case .status: path.union([EINTR, EOVERFLOW])
    case .seek: [EBADF, EINVAL, EIO, ENXIO, EOVERFLOW, ESPIPE]
    case .close: []
    }
  }

  /// Rejects an error that an operation of these kinds cannot return.
  /// - Throws: `LabError` with code `.usage`, listing the possible errors.
  package static func check(
    _ number: Int32, for kinds: Set<OperationKind>, allowsAny: Bool
  ) throws(LabError) {
    guard (1...133).contains(number) else {
      throw .usage("fault rule: errno \(number) is not in 1...133")
    }
    if number == ENOSYS {
      throw .usage(
        "fault rule: ENOSYS makes the kernel answer in our place for ever; give another error")
    }
    if allowsAny { return }
    for kind in kinds.sorted() where !errors(of: kind).contains(number) {
      let list = errors(of: kind).map { name(of: $0) }.sorted().joined(separator: ", ")
      throw .usage(
        "fault rule: errno \(name(of: number)): \(kind.rawValue) cannot return it; it may return "
          + "\(list.isEmpty ? "nothing that a caller sees" : list); anyErrno: true overrides")
    }
  }
}
