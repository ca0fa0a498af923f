// FilePointer.swift: files and symbolic links that hold nothing but the name of a file or a
// directory: `CURRENT` of a database, `current` of an installation.
// Invariant: a pointer counts only when what it names was there whenever the run looked at it.

import Recording

/// One content of a pointer, and what was there as long as it was the content.
struct FilePointer: Sendable, Hashable {
  /// The file or symbolic link.
  let path: String
  let content: [UInt8]
  /// What it names, and what was in it.
  private(set) var targets: [String]

  private static let contentBytesMax = 256
  private static let targetsMax = 200

  /// Reads a pointer; nil when the content is no name of anything that is there.
  init?(_ path: String, in tree: TreeImage) {
    guard let inode = tree.inode(at: path), let image = tree.inodes[inode],
      image.type == .symbolicLink || image.sizeBytes <= UInt64(Self.contentBytesMax),
      let content = image.visibleBytes, !content.isEmpty,
      let line = Self.line(content)
    else { return nil }
    let directory = FileHistoryBuilder.directory(of: path)
    guard
      let target = Self.joined(directory, line), target != path, !path.hasPrefix(target + "/"),
      let number = tree.inode(at: target), number != .root
    else { return nil }
    self.path = path
    self.content = content
    targets = [target]
    var open = [(target, number)]
    while let (path, number) = open.popLast(), targets.count < Self.targetsMax {
      let entries = tree.inodes[number]?.entries ?? [:]
      for (name, child) in entries.sorted(by: { $0.key < $1.key }) {
        targets.append("\(path)/\(name)")
        open.append(("\(path)/\(name)", child))
      }
    }
  }

  /// The one line of a content, if it may be a name.
  private static func line(_ content: [UInt8]) -> String? {
    guard let text = String(validating: content, as: UTF8.self) else { return nil }
    let line = text.hasSuffix("\n") ? String(text.dropLast()) : text
    let isName = !line.isEmpty && line.unicodeScalars.allSatisfy { $0.value > 0x20 }
    return isName && !line.hasPrefix("/") ? line : nil
  }

  /// A relative path from a directory on; nil when it leads out.
  private static func joined(_ directory: String, _ line: String) -> String? {
    var parts = directory.split(separator: "/")
    for part in line.split(separator: "/") {
      if part == "." { continue }
      if part == ".." {
        guard parts.popLast() != nil else { return nil }
      } else {
        parts.append(part)
      }
    }
    return parts.isEmpty ? nil : parts.joined(separator: "/")
  }

  /// Keeps what is there still.
  mutating func keep(_ tree: TreeImage) {
    guard let first = targets.first, tree.inode(at: first) != nil else {
      targets = []
      return
    }
    targets.removeAll { tree.inode(at: $0) == nil }
  }

  /// Keeps what is there in another run of the same content, too.
  mutating func keep(_ other: FilePointer) {
    let there = Set(other.targets)
    targets.removeAll { !there.contains($0) }
  }

  /// What is not there in a state that has this content of the pointer.
  func lost(in tree: TreeImage) -> String? {
    guard let inode = tree.inode(at: path), tree.inodes[inode]?.visibleBytes == content else {
      return nil
    }
    return targets.first {
      tree.inode(at: $0) == nil && !FileNames.isLock($0) && !FileNames.isDiagnostic($0)
    }
  }
}
