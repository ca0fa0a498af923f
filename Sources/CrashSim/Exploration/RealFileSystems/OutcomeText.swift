// OutcomeText.swift: the result of a crash as one line for comparison: names, types, modes, owners
// other than root, sizes, bytes, and modification times that a probe chose. Other times and link
// counts are not included.

import CrashStates
import Foundation
import LabCore
import Recording

/// The result of a crash, in one line.
enum OutcomeText {
  /// Bytes after this many runs are summarized by their hash.
  private static let runsMax = 8

  /// The outcome in a crash image.
  static func line(of tree: TreeImage) -> String {
    var words: [String] = []
    var open: [(path: String, number: InodeNumber)] = [("", .root)]
    while let (path, number) = open.popLast() {
      guard let inode = tree.inodes[number] else { continue }
      if !path.isEmpty { words.append(word(path, inode)) }
      for (name, child) in inode.entries.sorted(by: { $0.key > $1.key }) {
        open.append((path.isEmpty ? "\(name)" : "\(path)/\(name)", child))
      }
    }
    return words.isEmpty ? "nothing" : words.joined(separator: " ")
  }

  private static func word(_ path: String, _ inode: InodeImage) -> String {
    let mode = inode.ownership.mode & 0o7777
    let usual: UInt32 = inode.type == .directory ? 0o755 : 0o644
    let owner = inode.ownership
    let owned = owner.user == 0 && owner.group == 0 ? "" : "(\(owner.user):\(owner.group))"
    let suffix =
      (mode == usual || inode.type == .symbolicLink ? "" : "(0\(String(mode, radix: 8)))") + owned
      + (inode.modificationTime.map { "@\($0.seconds)" } ?? "")
    switch inode.type {
    case .regular: return "\(path)\(suffix)=\(content(inode))"
    case .directory: return "\(path)/\(suffix)"
    case .symbolicLink: return "\(path)->\(String(decoding: inode.target, as: UTF8.self))"
    default: return "\(path)\(suffix):\(inode.type.word)"
    }
  }

  /// Runs of equal bytes, for example `a*4096`; zeros are dots.
  private static func content(_ inode: InodeImage) -> String {
    var runs: [(byte: UInt8, count: UInt64)] = []
    var hash = ContentHash()
    func add(_ byte: UInt8, _ count: UInt64) {
      guard count > 0 else { return }
      if let last = runs.last, last.byte == byte {
        runs[runs.count - 1].count += count
      } else {
        runs.append((byte, count))
      }
    }
    var end: UInt64 = 0
    for extent in inode.extents {
      add(0, extent.offsetBytes - end)
      let bytes = extent.bytes
      for byte in bytes { add(byte, 1) }
      hash = hash.mixed(with: ContentHash.of(bytes)).mixed(with: extent.offsetBytes)
      end = extent.endBytes
    }
    add(0, inode.sizeBytes - min(end, inode.sizeBytes))
    guard runs.count <= runsMax else { return "\(inode.sizeBytes)#\(hash)" }
    return runs.map { run in
      let isPlain = (33...126).contains(run.byte)
      let letter =
        run.byte == 0 ? "." : isPlain ? String(UnicodeScalar(run.byte)) : "\\\(run.byte)"
      return run.count == 1 ? letter : "\(letter)*\(run.count)"
    }.joined(separator: "+")
  }
}

/// Reads a directory that is not on FaultFS as a file tree.
enum DirectoryReader {
  /// The files, directories and symbolic links below a directory.
  /// - Throws: `LabError` when something cannot be read.
  static func read(_ path: String) throws(LabError) -> TreeImage {
    var tree = TreeImage()
    var open: [(path: String, number: InodeNumber)] = [(path, .root)]
    var next: UInt64 = 2
    do {
      while let (directory, number) = open.popLast() {
        for name in try FileManager.default.contentsOfDirectory(atPath: directory).sorted() {
          let entry = "\(directory)/\(name)"
          let inode = try image(of: entry)
          let child = InodeNumber(rawValue: next)
          next += 1
          tree.inodes[number]?.entries[FileName(name)] = child
          tree.inodes[child] = inode
          if inode.type == .directory { open.append((entry, child)) }
        }
      }
    } catch {
      throw .lab("cannot read \(path): \(error.localizedDescription)")
    }
    return tree
  }

  /// Modification times before this one, in seconds, are those that probes choose.
  private static let chosenTimesEnd = 1_000_000.0

  private static func image(of path: String) throws -> InodeImage {
    let manager = FileManager.default
    let attributes = try manager.attributesOfItem(atPath: path)
    let mode = (attributes[.posixPermissions] as? NSNumber)?.uint32Value ?? 0
    let ownership = Ownership(
      mode: mode, user: (attributes[.ownerAccountID] as? NSNumber)?.uint32Value ?? 0,
      group: (attributes[.groupOwnerAccountID] as? NSNumber)?.uint32Value ?? 0)
    // No clock of a machine that runs this is at a time that a probe chooses.
    let modified = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
    let chosen =
      modified < chosenTimesEnd ? Timestamp(seconds: Int64(modified.rounded(.down))) : nil
    switch attributes[.type] as? FileAttributeType {
    case FileAttributeType.typeDirectory:
      var directory = InodeImage(type: .directory, ownership: ownership)
      directory.modificationTime = chosen
      return directory
    case FileAttributeType.typeCharacterSpecial:
      return InodeImage(type: .characterDevice, ownership: ownership)
    case FileAttributeType.typeSymbolicLink:
      var link = InodeImage(type: .symbolicLink, ownership: ownership)
      link.target = Array(try manager.destinationOfSymbolicLink(atPath: path).utf8)
      return link
    default:
      var file = InodeImage(type: .regular, ownership: ownership)
      let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
      file.sizeBytes = UInt64(bytes.count)
      file.extents = Extent.pieces(of: bytes, at: 0)
      file.modificationTime = chosen
      return file
    }
  }
}
