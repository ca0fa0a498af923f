// LockFileTests.swift [U]: the lock file is never trusted, and its map is what the source says.
// Safety: buffers are used during the calls they are passed to.

import CSystem
import Glibc
import Testing

@testable import Engine

@Suite("Lock file")
struct LockFileTests {
  private static func write(_ path: String, _ bytes: [UInt8], at offset: Int = 0) {
    let file = unsafe csystem_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    _ = unsafe pwrite(file, bytes, bytes.count, off_t(offset))
    close(file)
  }

  private static func number(_ path: String, _ offset: Int, _ count: Int) -> UInt64 {
    let file = unsafe csystem_open(path, O_RDONLY | O_CLOEXEC, 0)
    defer { close(file) }
    var value: UInt64 = 0
    _ = unsafe pread(file, &value, count, off_t(offset))
    return value
  }

  /// A handle that stands for one of another process.
  private static func elsewhere() -> Database.Options {
    var options = Database.Options()
    options.coordination.registry = CoordinationRegistry()
    return options
  }

  @Test("the file has the map of RegionLayout")
  func map() throws {
    try withAccounts { path in
      let database = try Database.open(path: path)
      let snapshot = try database.snapshot()
      let lock = path + ".lock"
      #expect(Self.number(lock, 0, 8) == RegionLayout.magic)
      #expect(Self.number(lock, 8, 4) == 1)
      #expect(Self.number(lock, 12, 4) == 64)
      #expect(Self.number(lock, 24, 8) == (try? FileIdentity.at(path))?.inode)
      #expect(Self.number(lock, 64, 8) == 2)
      #expect(Self.number(lock, 128 + 16, 8) == 2, "the record of the even version")
      #expect(Self.number(lock, 448, 4) == 64)
      #expect(Self.number(lock, 4096 + 4, 4) == UInt64(getpid()))
      #expect(Self.number(lock, 4096 + 8, 8) == 2)
      snapshot.release()
      #expect(Self.number(lock, 4096, 8) == 0)
      try database.close()
    }
  }

  @Test("the first opener writes the file anew whatever it holds", arguments: 0..<8)
  func garbage(kind: Int) throws {
    try withAccounts { path in
      let lock = path + ".lock"
      let stale = try Database.open(path: path)
      try Accounts.mark(1, in: stale)
      try stale.close()
      var random = TestRandom(UInt64(kind))
      let noise = (0..<(64 << 10)).map { _ in UInt8.random(in: 0...255, using: &random) }
      switch kind {
      case 0: truncate(lock, 0)
      case 1: truncate(lock, 100)
      case 2: Self.write(lock, noise)
      case 3: Self.write(lock, [UInt8](repeating: 0, count: 64 << 10))
      case 4: Self.write(lock, [9, 0, 0, 0], at: 8)
      case 5: Self.write(lock, [255, 255, 255, 255], at: 448)
      // A whole file of an older time: it publishes version 2, poison, and a writer that died.
      case 6:
        Self.write(lock, [2, 0, 0, 0, 0, 0, 0, 0], at: 64)
        Self.write(lock, [5, 0, 0, 0, 0, 0, 0, 128], at: 80)
        Self.write(lock, [1, 0, 0, 0, 1, 0, 0, 0], at: 88)
      default: truncate(lock, 32 << 20)
      }
      let database = try Database.open(path: path)
      #expect(database.version.rawValue == 3)
      #expect(database.publication.takeoverCount == 0)
      #expect(database.session.slots.count == 64)
      try Accounts.mark(2, in: database)
      #expect(try Accounts.marks(in: database) == 2)
      let other = try Database.open(path: path, options: Self.elsewhere())
      #expect(try Accounts.marks(in: other) == 2)
      try other.close()
      try database.verify()
      try database.close()
    }
  }

  private func truncate(_ path: String, _ size: Int) {
    _ = unsafe Glibc.truncate(path, off_t(size))
  }

  @Test("members of another layout, slot size, file size or namespace are refused")
  func incompatible() throws {
    for (offset, bytes) in [(8, [2]), (12, [128]), (0, [1]), (32, [7, 7, 7, 7])] as [(Int, [UInt8])]
    {
      try withAccounts { path in
        let database = try Database.open(path: path)
        Self.write(path + ".lock", bytes, at: offset)
        let code = errorCode { try Database.open(path: path, options: Self.elsewhere()) }
        #expect(code == .incompatible)
        // Those who are inside go on.
        try Accounts.mark(1, in: database)
        try database.close()
        #expect(try Database.open(path: path).version.rawValue == 3)
      }
    }
  }

  @Test("garbage in the shared memory ends in an error or a repair, never in a trap or a loop")
  func scribbled() throws {
    var random = TestRandom(99)
    for round in 0..<60 {
      try withAccounts { path in
        let database = try Database.open(path: path)
        let region = database.session.region
        let fields = [64, 72, 88, 128, 136, 152, 168, 256, 384, 388, 392, 448, 4096, 4104]
        for offset in fields where round == 0 || random.below(3) == 0 {
          region.store(round % 2 == 0 ? .max : random.next(), at: offset / 8 * 8)
        }
        _ = try? database.snapshot().count(of: "Mark")
        _ = database.version
        _ = database.statistics()
        _ = try? database.waitForChange(after: .first, timeoutMilliseconds: 0)
        // The next writer reads the slots of the file again, and publishes what is true.
        region.store(0, at: RegionLayout.publishedOffset)
        try Accounts.mark(1, in: database)
        #expect(try Accounts.marks(in: database) == 1)
        #expect(try Accounts.sum(in: database) == Accounts.sumWanted)
        try database.verify()
      }
    }
  }

  @Test("a published version that goes back costs no acked commit", arguments: [false, true])
  func goesBack(isElsewhere: Bool) throws {
    try withAccounts { path in
      let database = try Database.open(path: path)
      let stale = try Database.open(path: path, options: Self.elsewhere())
      try Accounts.mark(1, in: database)
      try Accounts.mark(2, in: database)
      #expect(database.version.rawValue == 4)
      // The record of version 3 still stands in its place.
      database.session.region.store(3, at: RegionLayout.publishedOffset)
      #expect(database.version.rawValue == 4, "what was read stays read")
      #expect(errorCode { try database.snapshot() } == .corrupted)
      // Who knew no version since 2 has the slots of the file to tell.
      try Accounts.mark(3, in: isElsewhere ? stale : database)
      for handle in [database, stale] {
        #expect(handle.version.rawValue == 5)
        #expect(try Accounts.marks(in: handle) == 3)
      }
      #expect(database.publication.takeoverCount == 1)
      try stale.close()
      try database.close()
      let next = try Database.open(path: path)
      #expect(try Accounts.marks(in: next) == 3)
      try next.verify()
    }
  }

  @Test("a data file that was replaced under its users is noticed")
  func replaced() throws {
    try withAccounts { path in
      let database = try Database.open(path: path)
      _ = unsafe rename(path, path + ".old")
      #expect(errorCode { try Database.open(path: path) } == .locked)
      #expect(errorCode { try Database.open(path: path, options: Self.elsewhere()) } == .locked)
      var alone = Database.Options()
      alone.isShared = false
      try Database.open(path: path, options: alone).close()
      #expect(errorCode { try Database.open(path: path) } == .locked)
      try Accounts.mark(1, in: database)
      try database.close()
      #expect(try Database.open(path: path).version == .first)
    }
  }

  @Test("a lock file that was removed under its users lets nobody in beside them")
  func removed() throws {
    try withAccounts { path in
      let database = try Database.open(path: path)
      _ = unsafe unlink(path + ".lock")
      #expect(errorCode { try Database.open(path: path, options: Self.elsewhere()) } == .locked)
      try Accounts.mark(1, in: database)
      try database.close()
      #expect(try Accounts.marks(in: try Database.open(path: path)) == 1)
    }
  }

  @Test("handles of this process share what is left when their lock file is removed")
  func removedLockFile() throws {
    try withAccounts { path in
      let first = try Database.open(path: path)
      _ = unsafe unlink(path + ".lock")
      let second = try Database.open(path: path)
      try Accounts.mark(1, in: first)
      #expect(try Accounts.marks(in: second) == 1)
      try first.close()
      try second.close()
    }
  }

  @Test("a path whose files were removed leads to new ones, beside whoever has the old ones open")
  func removedFiles() throws {
    try withAccounts { path in
      let old = try Database.open(path: path)
      try Accounts.mark(1, in: old)
      _ = unsafe unlink(path)
      #expect(errorCode { try Database.open(path: path) } == .locked)
      _ = unsafe unlink(path + ".lock")
      try Accounts.create(path)
      let new = try Database.open(path: path)
      try Accounts.mark(2, in: old)
      #expect(try Accounts.marks(in: old) == 2)
      #expect(try Accounts.marks(in: new) == 0)
      // The old handle takes only itself away.
      try old.close()
      let third = try Database.open(path: path)
      #expect(third.session === new.session && !new.tryExclusive())
      try Accounts.mark(1, in: third)
      #expect(try Accounts.marks(in: new) == 1)
      try new.verify()
      try third.close()
      #expect(new.tryExclusive())
      new.endExclusive()
      try new.close()
    }
  }

  @Test("only a handle that is alone gets exclusive access, and openers wait or are refused")
  func exclusive() throws {
    try withAccounts { path in
      let database = try Database.open(path: path)
      let second = try Database.open(path: path)
      #expect(!database.tryExclusive())
      try second.close()
      let other = try Database.open(path: path, options: Self.elsewhere())
      #expect(!database.tryExclusive())
      try other.close()
      #expect(database.tryExclusive(forLong: true))
      #expect(errorCode { try Database.open(path: path) } == .locked)
      #expect(errorCode { try Database.open(path: path, options: Self.elsewhere()) } == .locked)
      database.endExclusive()
      let again = try Database.open(path: path, options: Self.elsewhere())
      try again.close()
      try database.close()
    }
  }

  @Test("the first opener sweeps the management folder, and later ones leave it alone")
  func management() throws {
    try withAccounts { path in
      let folder = try ManagementFolder.make(for: path)
      Self.write(folder + "/left-over", [1])
      let database = try Database.open(path: path)
      #expect(fileNames(in: folder) == [])
      Self.write(folder + "/in-use", [1])
      let other = try Database.open(path: path, options: Self.elsewhere())
      #expect(fileNames(in: folder) == ["in-use"])
      try other.close()
      try database.close()
    }
  }

  @Test("a link in the place of the management folder leads nowhere")
  func managementLink() throws {
    // Found by the fuzz target `folder`: the sweep emptied whatever folder the link led to.
    try withAccounts { path in
      let other = path + "-other"
      try makeFolder(other)
      Self.write(other + "/precious", [1])
      _ = unsafe symlink(other, ManagementFolder.path(for: path))
      let database = try Database.open(path: path)
      #expect(fileNames(in: other) == ["precious"])
      try database.close()
    }
  }

  @Test("handles of one path, of a link to it and of another registry see each other's commits")
  func handles() throws {
    try withAccounts { path in
      _ = unsafe symlink(path, path + "-link")
      let databases = [
        try Database.open(path: path), try Database.open(path: path + "-link"),
        try Database.open(path: path, options: Self.elsewhere()),
      ]
      for round in 0..<30 {
        let writer = databases[round % 3]
        try Accounts.mark(Int64(round), in: writer)
        for database in databases {
          #expect(database.version.rawValue == UInt64(round) + 3)
          #expect(try Accounts.marks(in: database) == round + 1)
        }
      }
      for database in databases {
        try database.verify()
        try database.close()
      }
    }
  }

  @Test("a handle whose mapping is older than the file's growth writes and reads behind it")
  func growth() throws {
    try withAccounts { path in
      let first = try Database.open(path: path)
      let second = try Database.open(path: path, options: Self.elsewhere())
      for round in 0..<6 {
        let writer = round % 2 == 0 ? first : second
        let write = try writer.beginWrite()
        for key in 0..<Int64(3000) {
          try write.upsert(into: "Mark", key: key + Int64(round) * 3000, [.int(key &* 7919)])
        }
        try write.commit()
        for database in [first, second] {
          #expect(try Accounts.marks(in: database) == (round + 1) * 3000)
          let row = try database.snapshot().row(in: "Mark", key: Int64(round) * 3000 + 2999)
          #expect(row == [.int(2999 * 7919)])
        }
      }
      try first.verify()
      try second.verify()
      try first.close()
      try second.close()
    }
  }

  @Test("a node in a sector that another handle used again is verified, not taken for the old one")
  func reusedSectors() throws {
    try withAccounts { path in
      let writer = try Database.open(path: path, options: Self.elsewhere())
      let reader = try Database.open(path: path)
      for round in 0..<50 {
        try Accounts.mark(Int64(round % 3), in: writer)
        // The leaf moves among a few sectors, and the reader verifies it in each of them.
        #expect(try reader.snapshot().row(in: "Mark", key: Int64(round % 3)) != nil)
      }
      try Accounts.mark(99, in: writer)
      // Damage a leaf that the reader has never seen in a sector that it has.
      let snapshot = try writer.snapshot()
      let marks = try writer.load(snapshot.version)?.group.table(named: "Mark")
      // The base of the values: the leaf stays well-formed, only its checksum is wrong.
      let offset = Int(try #require(marks).root.ref.offsetBytes) + 64
      Self.write(path, [0xff, 0xfe], at: offset)
      #expect(errorCode { try reader.snapshot().row(in: "Mark", key: 99) } == .corrupted)
    }
  }
}
