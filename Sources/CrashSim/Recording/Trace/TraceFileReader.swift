// TraceFileReader.swift: reads a trace file's rows into a trace and trusts none of them.
// Every number is checked for its range, every inode for its existence and type at that moment, and
// every length against its bytes; an error names the table, the row and both numbers.

import Foundation
import GRDB
import LabCore

/// Reads the rows of one trace file.
struct TraceFileReader {
  /// Maximum size of a file in the faulty file system.
  private static let sizeBytesMax = FileContent.limitBytes
  private let database: Database
  private let payloads = PayloadStore(wrappingUpTo: PayloadStore.memoryBytesMax)

  init(_ database: Database) { self.database = database }

  func read(_ extras: TraceFile.Extras) throws -> Trace {
    var image = try readInodes()
    try readEntries(into: &image)
    try readAttributes(into: &image)
    try readExtents(into: &image)
    if extras.times { try readTimes(into: &image) }
    try Self.checkReachability(of: image)
    var trace = Trace(initial: image)
    var types = image.inodes.mapValues(\.type)
    let cursor = try Row.fetchCursor(database, sql: "SELECT * FROM events ORDER BY seq")
    while let row = try cursor.next() {
      let fields = TraceRow(row, table: "events", index: trace.events.count)
      guard try fields.number(0) == UInt64(trace.events.count) else {
        throw fields.wrong("seq is not the row's number, counted from 0")
      }
      trace.events.append(try event(fields, &types))
    }
    trace.markUnit = extras.markUnit
    if extras.faults { trace.faults = try readFaults(eventCount: trace.events.count) }
    if extras.phases { trace.phases = try readPhases(eventCount: trace.events.count) }
    if extras.callStacks { try readCallStacks(into: &trace) }
    return trace
  }

  private func readFaults(eventCount: Int) throws -> [InjectedFault] {
    var faults: [InjectedFault] = []
    let process: ClosedRange<UInt64> = 0...0x7fff_ffff
    try each("faults", orderedBy: "number") { fields in
      guard try fields.number(0) == UInt64(faults.count) else {
        throw fields.wrong("number is not the row's number, counted from 0")
      }
      let isOfEvent = try fields.number(2, in: 0...1) == 1
      let last = UInt64(isOfEvent ? max(0, eventCount - 1) : eventCount)
      var fault = InjectedFault(
        position: Int(try fields.number(1, in: 0...last)), isOfEvent: isOfEvent,
        rule: Int(try fields.number(3)), kind: try fields.text(4), effect: try fields.text(5))
      fault.errno = Int32(try fields.number(6, in: 0...4095))
      fault.path = try fields.text(7)
      if !fields.isNull(8) {
        let offset = try fields.number(8, in: 0...1 << 62)
        fault.bytes = offset..<offset + (try fields.number(9, in: 0...1 << 62))
      }
      fault.process = Int32(try fields.number(10, in: process))
      fault.thread = Int32(try fields.number(11, in: process))
      faults.append(fault)
    }
    return faults
  }

  private func readPhases(eventCount: Int) throws -> [TracePhase] {
    var phases: [TracePhase] = []
    try each("phases", orderedBy: "number") { fields in
      guard try fields.number(0) == UInt64(phases.count) else {
        throw fields.wrong("number is not the row's number, counted from 0")
      }
      let first = phases.last?.position ?? 0
      let position = try fields.number(1, in: UInt64(first)...UInt64(max(first, eventCount)))
      let process = try fields.number(2, in: 1...0x7fff_ffff)
      var entry = TracePhase(position: Int(position), process: Int32(process), phase: nil)
      if !fields.isNull(3) {
        let name = try fields.text(3)
        guard PhaseLog.name(Array(name.utf8)) != nil else {
          throw fields.wrong("phase is not a name of 1 to \(PhaseLog.nameBytesMax) bytes")
        }
        entry.phase = name
      }
      phases.append(entry)
    }
    return phases
  }

  // MARK: The tree

  private func readInodes() throws -> TreeImage {
    var image = TreeImage()
    image.inodes = [:]
    try each("inodes", orderedBy: "inode") { fields in
      let number = InodeNumber(rawValue: try fields.number(0, in: 1...UInt64.max / 4))
      var inode = InodeImage(type: try fields.type(1), ownership: try fields.ownership(2))
      inode.sizeBytes = try fields.number(5, in: 0...Self.sizeBytesMax)
      inode.target = try fields.bytes(6) ?? []
      inode.device = try fields.bits(7)
      if inode.type != .regular, inode.sizeBytes != 0 {
        throw fields.wrong("size=\(inode.sizeBytes) of a \(inode.type.word)")
      }
      image.inodes[number] = inode
    }
    guard image.inodes[.root]?.type == .directory else {
      throw LabError.usage("table inodes: inode 1 is missing or no directory")
    }
    return image
  }

  private func readEntries(into image: inout TreeImage) throws {
    try each("entries", orderedBy: "parent, name") { fields in
      let parent = InodeNumber(rawValue: try fields.number(0))
      guard image.inodes[parent]?.type == .directory else {
        throw fields.wrong("parent \(parent) is not a directory of the tree")
      }
      let child = InodeNumber(rawValue: try fields.number(2))
      guard image.inodes[child] != nil, child != .root else {
        throw fields.wrong("inode \(child) is not in the tree")
      }
      image.inodes[parent]?.entries[try fields.name(1)] = child
    }
  }

  private func readAttributes(into image: inout TreeImage) throws {
    try each("xattrs", orderedBy: "inode, name") { fields in
      let number = InodeNumber(rawValue: try fields.number(0))
      guard image.inodes[number] != nil, let value = try fields.bytes(2) else {
        throw fields.wrong("inode \(number) is not in the tree, or the value is null")
      }
      image.inodes[number]?.extendedAttributes[try fields.name(1)] = value
    }
  }

  private func readTimes(into image: inout TreeImage) throws {
    try each("times", orderedBy: "inode") { fields in
      let number = InodeNumber(rawValue: try fields.number(0))
      guard image.inodes[number] != nil else {
        throw fields.wrong("inode \(number) is not in the tree")
      }
      guard let time = Timestamp(seconds: try fields.text(1)) else {
        throw fields.wrong("modification is not a time in seconds")
      }
      image.inodes[number]?.modificationTime = time
    }
  }

  private func readExtents(into image: inout TreeImage) throws {
    var owner: InodeNumber?
    var builder = ExtentBuilder(in: payloads)
    func endFile() { if let owner { image.inodes[owner]?.extents = builder.finish() } }
    try each("extents", orderedBy: "inode, offset") { fields in
      let number = InodeNumber(rawValue: try fields.number(0))
      guard let inode = image.inodes[number], inode.type == .regular else {
        throw fields.wrong("inode \(number) is not a regular file of the tree")
      }
      if number != owner {
        endFile()
        owner = number
      }
      let offset = try fields.number(1, in: 0...Self.sizeBytesMax)
      guard let bytes = try fields.bytes(2), !bytes.isEmpty else {
        throw fields.wrong("an extent without bytes")
      }
      guard builder.endBytes <= offset else {
        throw fields.wrong("offset=\(offset) < end=\(builder.endBytes) of the extent before")
      }
      let end = offset + UInt64(bytes.count)
      guard end <= inode.sizeBytes else {
        throw fields.wrong("end=\(end) > size=\(inode.sizeBytes)")
      }
      builder.append(bytes, at: offset)
    }
    endFile()
  }

  /// A directory has exactly one name, so that paths cannot form a cycle.
  private static func checkReachability(of image: TreeImage) throws {
    var named: Set<InodeNumber> = [.root]
    for inode in image.inodes.values {
      for child in inode.entries.values where image.inodes[child]?.type == .directory {
        guard named.insert(child).inserted else {
          throw LabError.usage("table entries: directory \(child) has two names")
        }
      }
    }
    var copy = image
    copy.removeUnreachable()
    guard copy.inodes.count == image.inodes.count else {
      throw LabError.usage(
        "table inodes: \(image.inodes.count) inodes, \(copy.inodes.count) have a path")
    }
  }

  func each(
    _ table: String, orderedBy order: String, _ body: (TraceRow) throws -> Void
  ) throws {
    var index = 0
    let cursor = try Row.fetchCursor(
      database, sql: "SELECT * FROM \(table) ORDER BY \(order)")
    while let row = try cursor.next() {
      try body(TraceRow(row, table: table, index: index))
      index += 1
    }
  }

  // MARK: Events

  private typealias Types = [InodeNumber: FileType]

  private func event(_ row: TraceRow, _ types: inout Types) throws -> TraceEvent {
    let kind = try row.text(1)
    let body: TraceEvent.Body
    if kind == "mark" {
      body = .mark(Mark(bytes: try row.bytes(18) ?? []))
    } else {
      body = .operation(try operation(kind, row, &types))
    }
    return TraceEvent(
      body, flags: OperationFlags(rawValue: UInt32(try row.number(19, in: 0...0xffff_ffff))),
      process: Int32(try row.number(20, in: 0...0x7fff_ffff)),
      thread: Int32(try row.number(21, in: 0...0x7fff_ffff)),
      timeNanoseconds: try row.number(22))
  }

  private func operation(
    _ kind: String, _ row: TraceRow, _ types: inout Types
  ) throws -> Operation {
    if kind == "create" { return try creation(row, &types) }
    if kind == "createNameless" {
      let inode = try newInode(2, row, types)
      types[inode] = .regular
      return .createNameless(inode: inode, ownership: try row.ownership(10))
    }
    if kind == "renameWithWhiteout" { return try whiteout(row, &types) }
    let inode = try row.inode(2, types)
    switch kind {
    case "link", "unlink", "rmdir", "rename", "exchange":
      return try naming(kind, inode, row, types)
    case "write", "truncate", "allocate", "zero":
      guard types[inode] == .regular else { throw row.wrong("\(inode) is not a regular file") }
      return try change(kind, inode, row)
    case "setOwnership": return .setOwnership(inode: inode, ownership: try row.ownership(10))
    case "setExtendedAttribute":
      return .setExtendedAttribute(
        inode: inode, name: try row.name(5), value: try row.bytes(18) ?? [])
    case "removeExtendedAttribute":
      return .setExtendedAttribute(inode: inode, name: try row.name(5), value: nil)
    case "setTimes":
      let times = try row.times(18)
      return .setTimes(inode: inode, modification: times[0], access: times[1])
    case "sync", "datasync": return .sync(inode: inode, dataOnly: kind == "datasync")
    case "syncDirectory":
      guard types[inode] == .directory else { throw row.wrong("\(inode) is not a directory") }
      return .syncDirectory(inode: inode)
    case "syncAll":
      guard inode == .root else { throw row.wrong("\(inode) is not the root") }
      let late = try row.isNull(15) ? 0 : row.number(15, in: 1...max(1, row.number(0)))
      return .syncAll(late: Int(late))
    case "close": return .close(inode: inode)
    default: throw row.wrong("unknown kind \(kind.prefix(40))")
    }
  }

  /// The number of an inode that an operation creates.
  private func newInode(
    _ column: Int, _ row: TraceRow, _ types: Types
  ) throws -> InodeNumber {
    let inode = InodeNumber(rawValue: try row.number(column, in: 2...UInt64.max / 4))
    guard types[inode] == nil else { throw row.wrong("\(inode) exists already") }
    return inode
  }

  private func whiteout(_ row: TraceRow, _ types: inout Types) throws -> Operation {
    let inode = try row.inode(2, types)
    let device = try newInode(13, row, types)
    types[device] = .characterDevice
    return .renameWithWhiteout(
      inode: inode, from: try row.directory(4, types), name: try row.name(5),
      to: try row.directory(7, types), newName: try row.name(8),
      replaced: try row.isNull(6) ? nil : row.inode(6, types), whiteout: device,
      ownership: try row.ownership(10))
  }

  private func creation(_ row: TraceRow, _ types: inout Types) throws -> Operation {
    let inode = try newInode(2, row, types)
    let type = try row.type(9)
    let parent = try row.directory(4, types)
    types[inode] = type
    return .create(
      inode: inode, parent: parent, name: try row.name(5), type: type,
      ownership: try row.ownership(10), target: try row.bytes(18) ?? [],
      device: try row.bits(13))
  }

  private func naming(
    _ kind: String, _ inode: InodeNumber, _ row: TraceRow, _ types: Types
  ) throws -> Operation {
    let parent = try row.directory(4, types)
    let name = try row.name(5)
    switch kind {
    case "link":
      guard types[inode] != .directory else { throw row.wrong("\(inode) is a directory") }
      return .link(inode: inode, parent: parent, name: name)
    case "unlink", "rmdir":
      return .remove(inode: inode, parent: parent, name: name, isDirectory: kind == "rmdir")
    case "rename":
      return .rename(
        inode: inode, from: parent, name: name, to: try row.directory(7, types),
        newName: try row.name(8),
        replaced: try row.isNull(6) ? nil : row.inode(6, types))
    default:
      return .exchange(
        inode: inode, parent: parent, name: name, otherInode: try row.inode(6, types),
        otherParent: try row.directory(7, types), otherName: try row.name(8))
    }
  }

  private func change(
    _ kind: String, _ inode: InodeNumber, _ row: TraceRow
  ) throws -> Operation {
    let sizes = 0...Self.sizeBytesMax
    switch kind {
    case "write":
      let offset = try row.number(14, in: sizes)
      let bytes = try row.bytes(18) ?? []
      let length = try row.number(15, in: sizes)
      guard length == UInt64(bytes.count), offset + length <= Self.sizeBytesMax else {
        throw row.wrong("length=\(length) payload_bytes=\(bytes.count) offset=\(offset)")
      }
      return .write(inode: inode, offsetBytes: offset, payload: payloads.payload(bytes))
    case "truncate":
      return .truncate(
        inode: inode, oldSizeBytes: try row.number(16, in: sizes),
        newSizeBytes: try row.number(17, in: sizes))
    default:
      return .allocate(
        inode: inode, offsetBytes: try row.number(14, in: sizes),
        countBytes: try row.number(15, in: 0...UInt64(Int64.max) / 2), zeroes: kind == "zero",
        oldSizeBytes: try row.number(16, in: sizes), newSizeBytes: try row.number(17, in: sizes))
    }
  }
}
