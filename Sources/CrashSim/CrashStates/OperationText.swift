// OperationText.swift: describes operations in words, with the paths valid at the time.

import Recording

extension Operation {
  /// The operation in words.
  /// - Parameters:
  ///   - event: Index of its event.
  ///   - paths: Paths of the trace.
  /// - Returns: A phrase without a full stop, for example `write of 12 bytes at 0 to 'db'`.
  public func sentence(at event: Int, paths: PathIndex) -> String {
    func before(_ inode: InodeNumber) -> String { "'\(paths.path(of: inode, at: event))'" }
    func entry(_ parent: InodeNumber, _ name: FileName) -> String {
      parent == .root ? "'\(name)'" : "'\(paths.path(of: parent, at: event))/\(name)'"
    }
    switch self {
    case .create(_, let parent, let name, let type, _, _, _):
      return "creation of the \(type.phrase) \(entry(parent, name))"
    case .createNameless: return "creation of a file without a name"
    case .link(let inode, let parent, let name):
      return "link of \(before(inode)) as \(entry(parent, name))"
    case .remove(_, let parent, let name, let isDirectory):
      return "removal of the \(isDirectory ? "directory" : "name") \(entry(parent, name))"
    case .rename(_, let from, let name, let to, let newName, let replaced):
      let over = replaced == nil ? "to" : "over"
      return "rename of \(entry(from, name)) \(over) \(entry(to, newName))"
    case .renameWithWhiteout(_, let from, let name, let to, let newName, let replaced, _, _):
      let over = replaced == nil ? "to" : "over"
      return "rename of \(entry(from, name)) \(over) \(entry(to, newName)), leaving a whiteout"
    case .exchange(_, let parent, let name, _, let otherParent, let otherName):
      return "exchange of \(entry(parent, name)) and \(entry(otherParent, otherName))"
    case .write(let inode, let offset, let payload):
      return "write of \(payload.countBytes) bytes at \(offset) to \(before(inode))"
    case .truncate(let inode, let old, let new):
      return "truncate of \(before(inode)) from \(old) to \(new) bytes"
    case .allocate(let inode, let offset, let count, let zeroes, _, _):
      let what = zeroes ? "zeroing" : "allocation"
      return "\(what) of \(count) bytes at \(offset) of \(before(inode))"
    case .setOwnership(let inode, let ownership):
      return "change of owner or mode of \(before(inode)) to 0\(String(ownership.mode, radix: 8))"
    case .setExtendedAttribute(let inode, let name, let value):
      return "\(value == nil ? "removal" : "change") of attribute '\(name)' of \(before(inode))"
    case .setTimes(let inode, _, _): return "change of times of \(before(inode))"
    case .sync(let inode, let dataOnly):
      return "\(dataOnly ? "fdatasync" : "fsync") of \(before(inode))"
    case .syncDirectory(let inode): return "fsync of the directory \(before(inode))"
    case .syncAll(late: 0): return "sync of everything"
    case .syncAll(let late): return "sync of everything before #\(event - late)"
    case .close(let inode): return "close of \(before(inode))"
    }
  }
}

extension FileType {
  /// The type in words.
  fileprivate var phrase: String {
    switch self {
    case .regular: "file"
    case .directory: "directory"
    case .symbolicLink: "symbolic link"
    case .fifo: "FIFO"
    case .socket: "socket"
    case .characterDevice: "character device"
    case .blockDevice: "block device"
    }
  }
}
