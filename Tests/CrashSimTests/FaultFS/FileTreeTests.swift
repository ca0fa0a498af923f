// FileTreeTests.swift: what no client can show: quotas, hostile numbers, images, forgotten inodes.

import Glibc
import Testing

@testable import LabCore
@testable import Recording

@Suite("FileTree")
struct FileTreeTests {
  private func tree(_ quotaBytes: UInt64 = 1 << 20) throws -> FileTree {
    try FileTree(quotaBytes: quotaBytes, now: { Timestamp(seconds: 1) })
  }

  private func file(in tree: FileTree, _ name: String = "f") throws -> Inode {
    try tree.create(
      FileName(name), in: tree.root, type: .regular, ownership: Ownership(mode: 0o644))
  }

  private func error(_ body: () throws -> Void) -> Int32? {
    do {
      try body()
      return nil
    } catch {
      return (error as? ErrorNumber)?.rawValue
    }
  }

  @Test("offsets and sizes at the edges of UInt64 are errors")
  func hostileNumbers() throws {
    let tree = try tree()
    let inode = try file(in: tree)
    let content = try tree.content(of: inode)
    #expect(error { try content.write([1], at: .max) } == EFBIG)
    #expect(error { try content.write([1], at: FileContent.limitBytes) } == EFBIG)
    #expect(error { _ = try tree.truncate(inode, to: .max) } == EFBIG)
    for mode: Int32 in [0, 1, 3, 16, 17] {
      let failure = error {
        _ = try tree.allocate(
          inode, at: .max - 1, count: .max, mode: FileTree.AllocationMode(rawValue: mode))
      }
      #expect(failure == EFBIG)
    }
    for mode: Int32 in [2, 8, 32, 64, -1] {
      let failure = error {
        _ = try tree.allocate(inode, at: 0, count: 1, mode: .init(rawValue: mode))
      }
      #expect(failure == EOPNOTSUPP)
    }
    #expect(error { _ = try tree.allocate(inode, at: 0, count: 1 << 43, mode: []) } == ENOSPC)
    content.punch(.max, .max)
    #expect(content.read(at: .max, count: .max) == [])
    #expect(error { _ = try content.seek(from: .max, isData: true) } == ENXIO)
    #expect(content.sizeBytes == 0)
  }

  @Test("a full quota is ENOSPC, and deleting gives everything back")
  func quota() throws {
    let tree = try tree(300_000)
    let before = tree.quota.usedBytes
    let keeper = try file(in: tree, "keeper")
    let inode = try file(in: tree)
    let bytes = [UInt8](repeating: 1, count: 65536)
    var offset: UInt64 = 0
    while error({ try tree.content(of: inode).write(bytes, at: offset) }) == nil { offset += 65536 }
    #expect(inode.sizeBytes == offset && offset == 4 * 65536)
    #expect(error { try tree.content(of: inode).write(bytes, at: 1 << 41) } == ENOSPC)
    try tree.content(of: inode).truncate(to: 0)
    #expect(error { _ = try tree.allocate(inode, at: 0, count: 100_000, mode: []) } == nil)
    try tree.setExtendedAttribute(FileName("user.a"), [1, 2], of: inode, flags: 0)
    _ = try tree.remove(FileName("f"), in: tree.root, isDirectory: false)
    #expect(keeper.number.rawValue == 2)
    #expect(tree.quota.usedBytes >= before + UInt64(FileTree.inodeCostBytes))
  }

  @Test("empty files are not free: a loop of creates ends in ENOSPC")
  func manyFiles() throws {
    let tree = try tree(100_000)
    var count = 0
    while error({ _ = try file(in: tree, "f\(count)") }) == nil { count += 1 }
    #expect(count == 100_000 / FileTree.inodeCostBytes)
  }

  @Test("an image goes in and comes out; broken images are refused")
  func images() throws {
    let image = TraceFileTests.sample().initial
    let tree = try FileTree(image: image, quotaBytes: 1 << 20, now: { Timestamp() })
    #expect(tree.image() == image.normalized())
    var cyclic = image
    cyclic.inodes[InodeNumber(rawValue: 3)]?.entries[FileName("loop")] = .root
    #expect(
      error { _ = try FileTree(image: cyclic, quotaBytes: 1 << 20, now: { Timestamp() }) } == EINVAL
    )
    var dangling = image
    dangling.inodes[.root]?.entries[FileName("x")] = InodeNumber(rawValue: 99)
    #expect(
      error { _ = try FileTree(image: dangling, quotaBytes: 1 << 20, now: { Timestamp() }) }
        == EINVAL)
    #expect(
      error { _ = try FileTree(image: image, quotaBytes: 600, now: { Timestamp() }) } == ENOSPC)
  }

  @Test("an inode lives while the kernel remembers it or it is open")
  func lifetimes() throws {
    let tree = try tree()
    let inode = try file(in: tree)
    inode.lookupCount = 2
    inode.openCount = 1
    _ = try tree.remove(FileName("f"), in: tree.root, isDirectory: false)
    tree.forget(inode.number, count: 1)
    #expect(tree.inodes[inode.number] != nil)
    tree.forget(inode.number, count: 5)
    #expect(tree.inodes[inode.number] != nil)
    tree.close(inode)
    #expect(tree.inodes[inode.number] == nil)
    tree.forget(.root, count: 99)
    #expect(tree.inodes[.root] != nil)
  }
}
