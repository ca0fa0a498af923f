// DirectoryUpdaterTests.swift: [U] a directory that is made to hold another image is as one written
// anew, whatever somebody did to it, and little is written for it.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import CrashStates
@testable import LabCore
@testable import Recording

@Suite("directory updater")
struct DirectoryUpdaterTests {
  private let folder: TemporaryDirectory

  init() throws {
    folder = try TemporaryDirectory()
    for name in ["updated", "written"] {
      try FileManager.default.createDirectory(
        atPath: folder.file(name), withIntermediateDirectories: false)
    }
  }

  /// A tree with files, some with two names, holes, links, fifos and directories.
  private func tree(_ random: inout PRNG) -> TreeImage {
    var tree = TreeImage()
    var directories = [InodeNumber.root]
    var files: [InodeNumber] = []
    for raw in 2..<UInt64(4 + random.below(9)) {
      let number = InodeNumber(rawValue: raw)
      let parent = directories[random.below(directories.count)]
      let name = FileName("n\(random.below(5))")
      guard tree.inodes[parent]?.entries[name] == nil else { continue }
      let mode = [0o644, 0o600, 0o4755, 0o000][random.below(4)]
      var inode = InodeImage(
        type: .regular, ownership: Ownership(mode: UInt32(mode), user: getuid(), group: getgid()))
      switch random.below(8) {
      case 0:
        inode.type = .directory
        inode.ownership.mode = [0o755, 0o700, 0o1777][random.below(3)]
        directories.append(number)
      case 1:
        inode.type = .symbolicLink
        inode.target = Array("to-\(random.below(3))".utf8)
      case 2: inode.type = .fifo
      case 3 where !files.isEmpty:
        let file = files[random.below(files.count)]
        tree.inodes[parent]?.entries[name] = file
        continue
      default:
        var end: UInt64 = 0
        for _ in 0..<random.below(3) {
          let offset = end + UInt64(random.below(3) * 5000)
          let bytes = [UInt8](repeating: UInt8(1 + random.below(3)), count: 1 + random.below(9000))
          inode.extents.append(Extent(offsetBytes: offset, bytes: bytes))
          end = offset + UInt64(bytes.count)
        }
        inode.sizeBytes = end + UInt64(random.below(2) * 7000)
        if random.below(4) == 0 {
          inode.extendedAttributes[FileName("user.x")] = [UInt8(random.below(3))]
        }
        files.append(number)
      }
      tree.inodes[number] = inode
      tree.inodes[parent]?.entries[name] = number
    }
    return tree
  }

  /// All that can be seen of a directory but times.
  private func description(of name: String) throws -> String {
    try runShell(
      """
      cd '\(folder.file(name))' && python3 - <<'END'
      import os, stat, hashlib
      names, first = [], {}
      for top, folders, files in os.walk('.'):
        names += [os.path.join(top, n) for n in folders + files]
      for n in sorted(names) + ['.']:
        s = os.lstat(n)
        kind = stat.S_IFMT(s.st_mode)
        said = [n, oct(s.st_mode), s.st_uid, s.st_gid, first.setdefault(s.st_ino, n)]
        if kind == stat.S_IFLNK: said += [os.readlink(n)]
        else: said += [(a, os.getxattr(n, a)) for a in sorted(os.listxattr(n))]
        if kind == stat.S_IFREG: said += [hashlib.sha256(open(n, 'rb').read()).hexdigest()]
        print(said)
      END
      """, in: folder.path
    ).output
  }

  private func damage(_ random: inout PRNG) throws {
    let commands = [
      "f=$(find . -type f | head -n 1); [ ! \"$f\" ] || printf zz | dd of=\"$f\" conv=notrunc 2>&1",
      "rm -rf n0 n1", "mkdir -p n0/junk n2", "chmod -R 700 .", "ln -sfn away n3",
      "for f in *; do [ ! -f \"$f\" ] || ln \"$f\" linked-$$; done", "rm -rf n4; echo new > n4",
      "true",
    ]
    _ = try runShell(commands[random.below(commands.count)], in: folder.file("updated"))
  }

  @Test("updated is as written anew", .requires(.root, .python3))
  func asWritten() throws {
    var random = PRNG(Seed(rawValue: 11))
    let writer = DirectoryWriter(path: folder.file("written"))
    for round in 0..<12 {
      let tree = tree(&random)
      try damage(&random)
      try DirectoryUpdater.update(folder.file("updated"), to: tree)
      try writer.write(tree)
      let (updated, written) = (try description(of: "updated"), try description(of: "written"))
      #expect(updated == written, "round \(round)")
      if updated != written { return }
    }
  }

  @Test("names that change partners get partners of their own")
  func partners() throws {
    func tree(_ pairs: [[String]]) -> TreeImage {
      var tree = TreeImage()
      for (place, names) in pairs.enumerated() {
        let number = InodeNumber(rawValue: UInt64(place + 2))
        var file = InodeImage(
          type: .regular, ownership: Ownership(mode: 0o644, user: getuid(), group: getgid()))
        file.sizeBytes = 1
        file.extents = [Extent(offsetBytes: 0, bytes: [UInt8(65 + place)])]
        tree.inodes[number] = file
        for name in names { tree.inodes[.root]?.entries[FileName(name)] = number }
      }
      return tree
    }
    let path = folder.file("updated")
    for pairs in [
      [["f", "g"], ["h", "i"]], [["f", "h"], ["g", "i"]], [["f"], ["g", "h", "i"]],
    ] {
      try DirectoryUpdater.update(path, to: tree(pairs))
      for (place, names) in pairs.enumerated() {
        for name in names {
          let text = try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
          #expect(text == String(UnicodeScalar(UInt8(65 + place))), "\(pairs) \(name)")
        }
      }
    }
  }

  @Test("one changed byte of a megabyte is one page; nothing changed is nothing")
  func written() throws {
    var tree = TreeImage()
    let number = InodeNumber(rawValue: 2)
    var bytes = [UInt8](repeating: 7, count: 1 << 20)
    var file = InodeImage(
      type: .regular, ownership: Ownership(mode: 0o644, user: getuid(), group: getgid()))
    file.sizeBytes = 1 << 20
    file.extents = Extent.pieces(of: bytes, at: 0)
    tree.inodes[number] = file
    tree.inodes[.root]?.entries[FileName("f")] = number
    let path = folder.file("updated")
    #expect(try DirectoryUpdater.update(path, to: tree) == 1 << 20)
    #expect(try DirectoryUpdater.update(path, to: tree) == 0)
    bytes[5000] = 8
    tree.inodes[number]?.extents = Extent.pieces(of: bytes, at: 0)
    #expect(try DirectoryUpdater.update(path, to: tree) == 4096)
    #expect(FileManager.default.contents(atPath: "\(path)/f") == Data(bytes))
  }

  @Test("a store to a mapping, which changes no time in shared memory, is put right")
  func mapping() throws {
    var tree = TreeImage()
    let number = InodeNumber(rawValue: 2)
    var file = InodeImage(
      type: .regular, ownership: Ownership(mode: 0o644, user: getuid(), group: getgid()))
    file.sizeBytes = 4096
    file.extents = Extent.pieces(of: [UInt8](repeating: 7, count: 4096), at: 0)
    tree.inodes[number] = file
    tree.inodes[.root]?.entries[FileName("f")] = number
    let path = folder.file("updated")
    try DirectoryUpdater.update(path, to: tree)
    // Safety: the mapping is as long as the file, and unmapped before it changes again.
    let descriptor = unsafe open("\(path)/f", O_RDWR)
    let memory = unsafe try #require(
      mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0))
    close(descriptor)
    let isAsWritten = unsafe memory.load(as: UInt8.self) == 7
    #expect(isAsWritten)
    unsafe memory.storeBytes(of: 9, as: UInt8.self)
    unsafe _ = munmap(memory, 4096)
    #expect(try DirectoryUpdater.update(path, to: tree) == 4096)
    #expect(FileManager.default.contents(atPath: "\(path)/f")?.first == 7)
  }
}
