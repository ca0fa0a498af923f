// TraceFileTests.swift: traces survive being saved, and no file makes the loader trap.

import Foundation
import TestSupport
import Testing

@testable import LabCore
@testable import Recording

@Suite("TraceFile")
struct TraceFileTests {
  /// A trace with every kind of operation and every field in use.
  static func sample() -> Trace {
    var image = TreeImage()
    let file = InodeNumber(rawValue: 2)
    let folder = InodeNumber(rawValue: 3)
    image.inodes[file] = InodeImage(
      type: .regular, ownership: Ownership(mode: 0o4755, user: 1, group: 0xffff_fffe))
    image.inodes[file]?.sizeBytes = 1 << 40
    image.inodes[file]?.extents = [
      Extent(offsetBytes: 0, bytes: [1, 2, 3]), Extent(offsetBytes: 1 << 30, bytes: [4]),
    ]
    image.inodes[file]?.extendedAttributes = [
      FileName("user.a"): [0, 255], FileName("user.b"): [],
    ]
    image.inodes[folder] = InodeImage(type: .directory, ownership: Ownership(mode: 0o755))
    image.inodes[folder]?.entries = [FileName(bytes: [0xff, 0xfe]): file]
    image.inodes[.root]?.entries = [FileName("f"): file, FileName("d"): folder]
    let new = InodeNumber(rawValue: 4)
    let link = InodeNumber(rawValue: 5)
    let name = FileName("new")
    let operations: [TraceOperation] = [
      .create(
        inode: new, parent: folder, name: name, type: .regular,
        ownership: Ownership(mode: 0o600, user: 7, group: 8)),
      .create(
        inode: link, parent: .root, name: FileName("l"), type: .symbolicLink,
        ownership: Ownership(mode: 0o777), target: Array("../x".utf8)),
      .create(
        inode: InodeNumber(rawValue: 6), parent: .root, name: FileName("c"),
        type: .characterDevice, ownership: Ownership(mode: 0o600), device: .max),
      .write(inode: new, offsetBytes: 1 << 43, payload: Payload([9, 8, 7])),
      .truncate(inode: new, oldSizeBytes: 3, newSizeBytes: 1),
      .allocate(
        inode: new, offsetBytes: 1, countBytes: 2, zeroes: false, oldSizeBytes: 1, newSizeBytes: 3),
      .allocate(
        inode: new, offsetBytes: 1, countBytes: 2, zeroes: true, oldSizeBytes: 3, newSizeBytes: 3),
      .link(inode: new, parent: .root, name: FileName("second")),
      .createNameless(inode: InodeNumber(rawValue: 8), ownership: Ownership(mode: 0o640)),
      .link(inode: InodeNumber(rawValue: 8), parent: .root, name: FileName("nameless")),
      .rename(
        inode: new, from: folder, name: name, to: .root, newName: FileName("f"), replaced: file),
      .rename(
        inode: link, from: .root, name: FileName("l"), to: folder, newName: name, replaced: nil),
      .renameWithWhiteout(
        inode: link, from: folder, name: name, to: folder, newName: FileName("m"), replaced: new,
        whiteout: InodeNumber(rawValue: 7), ownership: Ownership(mode: 0, user: 5, group: 6)),
      .rename(
        inode: link, from: folder, name: FileName("m"), to: folder, newName: name, replaced: nil),
      .exchange(
        inode: link, parent: folder, name: name, otherInode: new, otherParent: .root,
        otherName: FileName("f")),
      .setOwnership(inode: new, ownership: Ownership(mode: 0o644, user: 3, group: 4)),
      .setExtendedAttribute(inode: new, name: FileName("user.x"), value: [1]),
      .setExtendedAttribute(inode: new, name: FileName("user.y"), value: []),
      .setExtendedAttribute(inode: new, name: FileName("user.x"), value: nil),
      .sync(inode: new, dataOnly: true), .sync(inode: new, dataOnly: false),
      .syncDirectory(inode: folder), .syncAll(late: 0), .syncAll(late: 2), .close(inode: new),
      .remove(inode: new, parent: .root, name: FileName("second"), isDirectory: false),
      .remove(inode: folder, parent: .root, name: FileName("d"), isDirectory: true),
    ]
    var trace = Trace(initial: image)
    for (index, operation) in operations.enumerated() {
      trace.events.append(
        TraceEvent(
          .operation(operation), flags: OperationFlags(rawValue: UInt32(index)),
          process: Int32(index), thread: .max, timeNanoseconds: UInt64(index) << 40))
    }
    trace.events.append(TraceEvent(.mark(Mark(bytes: [0, 255, 10]))))
    trace.events.append(TraceEvent(.mark(Mark(bytes: []))))
    return trace
  }

  @Test("what is saved is loaded, to the last field")
  func roundTrip() throws {
    let directory = try TemporaryDirectory()
    var trace = Self.sample()
    let inode = InodeNumber(rawValue: 4)
    let times: [TraceOperation] = [
      .setTimes(inode: inode, modification: Timestamp(seconds: -3, nanoseconds: 5), access: nil),
      .setTimes(inode: inode, modification: nil, access: Timestamp(seconds: 1 << 40)),
    ]
    for operation in times { trace.events.append(TraceEvent(.operation(operation))) }
    try TraceFile.save(trace, to: directory.file("t"))
    try TraceFile.save(trace, to: directory.file("t"))
    let loaded = try TraceFile.load(directory.file("t"))
    #expect(loaded.initial == trace.initial)
    #expect(loaded.events.count == trace.events.count)
    for (a, b) in zip(loaded.events, trace.events) { #expect(a == b) }
  }

  @Test("the path column is readable")
  func paths() throws {
    let directory = try TemporaryDirectory()
    try TraceFile.save(Self.sample(), to: directory.file("t"))
    let result = try runShell(
      "sqlite3 t \"SELECT kind || ' ' || path FROM events WHERE kind IN "
        + "('create','rename','unlink','rmdir','write') ORDER BY seq\"", in: directory.path)
    #expect(
      result.output.split(separator: "\n") == [
        "create d/new", "create l", "create c", "write d/new", "rename f", "rename d/new",
        "rename d/new", "unlink second", "rmdir d",
      ])
  }

  @Test(
    "every change of a value to nonsense is an error and no trap",
    arguments: [
      "UPDATE events SET inode = 999 WHERE seq = 3", "UPDATE events SET inode = -1 WHERE seq = 3",
      "UPDATE events SET inode = 'x' WHERE seq = 3", "UPDATE events SET inode = NULL WHERE seq = 4",
      "UPDATE events SET inode = 2 WHERE seq = 0", "UPDATE events SET kind = 'what' WHERE seq = 0",
      "UPDATE events SET length = 4 WHERE kind = 'write'",
      "UPDATE events SET inode = 2 WHERE kind = 'createNameless'",
      "UPDATE events SET device = 2 WHERE kind = 'renameWithWhiteout'",
      "UPDATE events SET device = NULL WHERE kind = 'renameWithWhiteout'",
      "UPDATE events SET offset = -5 WHERE kind = 'write'",
      "UPDATE events SET offset = 9223372036854775807 WHERE kind = 'write'",
      "UPDATE events SET payload = 'text' WHERE kind = 'write'",
      "UPDATE events SET payload = 7.5 WHERE kind = 'write'",
      "UPDATE events SET new_size = 1 << 50 WHERE kind = 'truncate'",
      "UPDATE events SET name = x'2f' WHERE seq = 0", "UPDATE events SET name = x'' WHERE seq = 0",
      "UPDATE events SET name = NULL WHERE seq = 0", "UPDATE events SET type = 'x' WHERE seq = 0",
      "UPDATE events SET parent = 2 WHERE seq = 0", "UPDATE events SET mode = 99999 WHERE seq = 0",
      "UPDATE events SET flags = -1 WHERE seq = 0", "UPDATE events SET process = -1 WHERE seq = 0",
      "UPDATE events SET time_ns = 'now' WHERE seq = 0", "DELETE FROM events WHERE seq = 5",
      "UPDATE events SET seq = 1000 WHERE seq = 5", "UPDATE events SET inode = 3 WHERE seq = 3",
      "DELETE FROM inodes WHERE inode = 1", "DELETE FROM inodes WHERE inode = 2",
      "UPDATE inodes SET type = 'directory' WHERE inode = 2", "UPDATE inodes SET size = -1",
      "UPDATE inodes SET size = 5 WHERE inode = 3", "UPDATE inodes SET mode = 'x'",
      "INSERT INTO inodes VALUES(77,'regular',0,0,0,0,x'',0)",
      "UPDATE entries SET inode = 55", "UPDATE entries SET parent = 2",
      "INSERT INTO entries VALUES(3, x'41', 3)", "INSERT INTO entries VALUES(3, x'41', 1)",
      "UPDATE entries SET name = 'text' WHERE inode = 3",
      "UPDATE extents SET offset = offset + (1 << 40)",
      "UPDATE extents SET bytes = x''", "UPDATE extents SET inode = 3",
      "INSERT INTO extents VALUES(2, 2, x'05')", "UPDATE xattrs SET inode = 9",
      "UPDATE meta SET value = '9' WHERE key = 'version'", "DELETE FROM meta",
      "DROP TABLE xattrs", "ALTER TABLE events ADD COLUMN more",
      "DROP TABLE meta; CREATE VIEW meta AS SELECT 'format' AS key, 'faultline trace' AS value",
      "DROP TABLE extents; CREATE TABLE extents(inode, offset, bytes AS (zeroblob(1000000000)))",
    ])
  func hostile(_ change: String) throws {
    let directory = try TemporaryDirectory()
    try TraceFile.save(Self.sample(), to: directory.file("t"))
    #expect(try runShell("sqlite3 t \"\(change)\"", in: directory.path).status == 0)
    let error = #expect(throws: LabError.self) { try TraceFile.load(directory.file("t")) }
    #expect(error?.code == .usage)
  }

  @Test("bytes flipped anywhere never trap", arguments: 0..<40)
  func flipped(_ seed: UInt64) throws {
    let directory = try TemporaryDirectory()
    try TraceFile.save(Self.sample(), to: directory.file("t"))
    let url = URL(fileURLWithPath: directory.file("t"))
    var bytes = try Data(contentsOf: url)
    var random = PRNG(Seed(rawValue: seed))
    for _ in 0..<8 { bytes[random.below(bytes.count)] ^= UInt8(1 + random.below(255)) }
    if seed % 5 == 0 { bytes = bytes.prefix(random.below(bytes.count)) }
    try bytes.write(to: url)
    _ = try? TraceFile.load(directory.file("t"))
  }

  @Test("extents of several blocks, and a row that an older lab wrote over several, are the same")
  func longExtent() throws {
    let directory = try TemporaryDirectory()
    var trace = Self.sample()
    let bytes = [UInt8](repeating: 1, count: 3 << 20) + [UInt8](repeating: 2, count: 5000)
    let number = InodeNumber(rawValue: 77)
    var inode = InodeImage(type: .regular, ownership: Ownership(mode: 0o644, user: 0, group: 0))
    inode.sizeBytes = UInt64(bytes.count) + 4096
    inode.extents = Extent.pieces(of: bytes, at: 4096)
    #expect(inode.extents.count == 4)
    trace.initial.inodes[number] = inode
    trace.initial.inodes[.root]?.entries[FileName("long")] = number
    try TraceFile.save(trace, to: directory.file("t"))
    let loaded = try TraceFile.load(directory.file("t"))
    #expect(loaded.initial.inodes[number] == inode)
    let rows = """
      CREATE TEMP TABLE whole AS SELECT CAST(group_concat(bytes, '') AS BLOB) AS bytes
      FROM (SELECT bytes FROM extents WHERE inode = 77 ORDER BY offset);
      DELETE FROM extents WHERE inode = 77;
      INSERT INTO extents SELECT 77, 4096, substr(bytes, 1, 5000) FROM whole;
      INSERT INTO extents SELECT 77, 9096, substr(bytes, 5001) FROM whole;
      """
    #expect(try runShell("sqlite3 t \"\(rows)\"", in: directory.path).status == 0)
    #expect(try TraceFile.load(directory.file("t")).initial.inodes[number] == inode)
  }

  @Test("a trace file grows with its events, by little more than their payloads")
  func growth() throws {
    let directory = try TemporaryDirectory()
    let payload = Payload([UInt8](repeating: 7, count: 4096))
    var trace = Trace(initial: Self.sample().initial)
    var sizes: [Int: Int] = [:]
    for count in [1_000, 4_000] {
      while trace.events.count < count {
        trace.events.append(
          TraceEvent(
            .operation(
              .write(
                inode: InodeNumber(rawValue: 2),
                offsetBytes: UInt64(trace.events.count) * 4096, payload: payload))))
      }
      let path = directory.file("\(count)")
      try TraceFile.save(trace, to: path)
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      sizes[count] = try #require(attributes[.size] as? Int)
      #expect(try TraceFile.load(path).events.count == count)
    }
    // Every payload is in the file, and events of 4 KiB leave little of a page unused.
    for (count, size) in sizes {
      #expect(size > count * 4096 && size < count * 4096 * 5 / 4, "\(count): \(size) bytes")
    }
  }
}
