// OperationPlace.swift: an operation as its kind and the file it is for, so that what one line of a
// program does each time reads the same: counters and random parts of names are left out, and a
// temporary file goes by the name that it gets.

import LabCore
import Recording

extension Operation {
  /// The kind of the operation and its file, numbers and random parts aside.
  /// - Parameters:
  ///   - event: Index of its event.
  ///   - paths: Paths of the trace.
  ///   - end: The trace's last crash point.
  /// - Returns: A phrase, for example `naming of 'page-N'`.
  func place(at event: Int, paths: PathIndex, end: Int) -> String {
    func entry(_ parent: InodeNumber, _ name: FileName) -> String {
      let folder = paths.path(of: parent, at: event)
      return "'\((parent == .root ? "\(name)" : "\(folder)/\(name)").withRandomPartsReplaced)'"
    }
    func lasting(_ inode: InodeNumber) -> String {
      "'\(paths.lastingPath(of: inode, at: event, end: end).withRandomPartsReplaced)'"
    }
    switch self {
    case .create(let inode, _, _, _, _, _, _): return "naming of \(lasting(inode))"
    case .link(_, let parent, let name): return "naming of \(entry(parent, name))"
    case .rename(_, _, _, let to, let newName, _),
      .renameWithWhiteout(_, _, _, let to, let newName, _, _, _):
      return "naming of \(entry(to, newName))"
    case .exchange(_, _, _, _, let otherParent, let otherName):
      return "naming of \(entry(otherParent, otherName))"
    case .remove(_, let parent, let name, _): return "removal of \(entry(parent, name))"
    case .write, .truncate, .allocate, .createNameless: return "writing of \(lasting(inode))"
    case .setOwnership, .setExtendedAttribute, .setTimes: return "attributes of \(lasting(inode))"
    case .sync, .syncDirectory, .close: return "sync of \(lasting(inode))"
    case .syncAll: return "sync of everything"
    }
  }
}

extension PathIndex {
  /// The name that stands for a file: the one that it has at an event, if some file has that at the
  /// end, too; of a temporary name the one that the file got, also where another file got it since.
  fileprivate func lastingPath(of inode: InodeNumber, at event: Int, end: Int) -> String {
    for point in [event, event + 1] {
      if let path = paths(of: inode, at: point).first, isAtEnd(path) { return path }
    }
    if let path = paths(of: inode, at: end).first { return path.isEmpty ? "/" : path }
    return lastPath(of: inode) ?? path(of: inode, at: event)
  }
}

extension String {
  /// A path without its counters and random parts: `tmpk3x_9qab` and `save.Qw3RtY` read as any
  /// other of their kind.
  package var withRandomPartsReplaced: String {
    var result = ""
    var word = ""
    func isRandom(_ word: String) -> Bool {
      if word.hasPrefix("tmp"), (10...12).contains(word.count) { return true }
      guard (6...64).contains(word.count) else { return false }
      let digits = word.count { $0.isNumber }
      let uppers = word.count { $0.isUppercase }
      let lowers = word.count { $0.isLowercase }
      if word.count >= 8, digits > 0, word.allSatisfy(\.isHexDigit) { return true }
      // mkstemp mixes both cases; camel case begins words with single capitals.
      let capitals = zip(word, word.dropFirst()).count { $0.isUppercase && $1.isUppercase }
      return word.count == 6
        && (digits > 0 && uppers > 0 && lowers > 0 || capitals > 0 && lowers > 0)
    }
    func end() {
      result += isRandom(word) ? "X" : word.withNumbersReplaced
      word = ""
    }
    for character in self {
      if character.isLetter || character.isNumber || character == "_" {
        word.append(character)
      } else {
        end()
        result.append(character)
      }
    }
    end()
    return result
  }
}
