// TraceFileWriter.swift: writes a trace's tree and events to the tables of a trace file.

import Foundation
import GRDB
import LabCore

/// Writes the rows of one trace file, inside the caller's transaction.
struct TraceFileWriter {
  private let database: Database

  init(_ database: Database) { self.database = database }

  func write(_ trace: Trace) throws {
    try write(trace.initial)
    var paths = PathTracker(trace.initial)
    let marks = Array(repeating: "?", count: 23).joined(separator: ",")
    let statement = try database.makeStatement(sql: "INSERT INTO events VALUES(\(marks))")
    for (sequence, event) in trace.events.enumerated() {
      var row = EventRow(sequence)
      try row.fill(event, &paths)
      try statement.setArguments(StatementArguments(row.values))
      try statement.execute()
    }
    if !trace.faults.isEmpty { try write(trace.faults) }
    if !trace.phases.isEmpty { try write(trace.phases) }
    if !trace.callStacks.stacks.isEmpty { try write(trace.callStacks, of: trace.events) }
  }

  private func write(_ stacks: CallStacks, of events: [TraceEvent]) throws {
    let modules = try database.makeStatement(sql: "INSERT INTO modules VALUES(?,?)")
    for (number, path) in stacks.modules.enumerated() {
      try modules.execute(arguments: [number, path])
    }
    let frames = try database.makeStatement(sql: "INSERT INTO stacks VALUES(?,?,?,?)")
    for (number, stack) in stacks.stacks.enumerated() {
      for (depth, frame) in stack.enumerated() {
        try frames.execute(arguments: [
          number, depth, frame.module, try Self.integer(frame.address),
        ])
      }
    }
    let places = try database.makeStatement(sql: "INSERT INTO event_stacks VALUES(?,?)")
    for (sequence, event) in events.enumerated() {
      guard let stack = event.stack else { continue }
      try places.execute(arguments: [sequence, stack])
    }
  }

  private func write(_ phases: [TracePhase]) throws {
    let statement = try database.makeStatement(sql: "INSERT INTO phases VALUES(?,?,?,?)")
    for (number, entry) in phases.enumerated() {
      try statement.execute(arguments: [number, entry.position, entry.process, entry.phase])
    }
  }

  private func write(_ faults: [InjectedFault]) throws {
    let statement = try database.makeStatement(
      sql: "INSERT INTO faults VALUES(?,?,?,?,?,?,?,?,?,?,?,?)")
    for (number, fault) in faults.enumerated() {
      let offset = try fault.bytes.map { try Self.integer(min($0.lowerBound, 1 << 62)) }
      let length = try fault.bytes.map { try Self.integer(min(UInt64($0.count), 1 << 62)) }
      try statement.execute(arguments: [
        number, fault.position, fault.isOfEvent, fault.rule, fault.kind, fault.effect, fault.errno,
        fault.path, offset, length, fault.process, fault.thread,
      ])
    }
  }

  private func write(_ image: TreeImage) throws {
    let inodes = try database.makeStatement(sql: "INSERT INTO inodes VALUES(?,?,?,?,?,?,?,?)")
    let entries = try database.makeStatement(sql: "INSERT INTO entries VALUES(?,?,?)")
    let attributes = try database.makeStatement(sql: "INSERT INTO xattrs VALUES(?,?,?)")
    let extents = try database.makeStatement(sql: "INSERT INTO extents VALUES(?,?,?)")
    let times = image.inodes.filter { $0.value.modificationTime != nil }
    for (number, inode) in times.sorted(by: { $0.key < $1.key }) {
      try database.execute(
        sql: "INSERT INTO times VALUES(?,?)",
        arguments: [try Self.integer(number.rawValue), inode.modificationTime?.secondsText])
    }
    for (number, inode) in image.inodes.sorted(by: { $0.key < $1.key }) {
      let key = try Self.integer(number.rawValue)
      try inodes.execute(arguments: [
        key, inode.type.word, Int64(inode.ownership.mode), Int64(inode.ownership.user),
        Int64(inode.ownership.group), try Self.integer(inode.sizeBytes), Data(inode.target),
        Int64(bitPattern: inode.device),
      ])
      for (name, child) in inode.entries.sorted(by: { $0.key < $1.key }) {
        try entries.execute(arguments: [key, Data(name.bytes), try Self.integer(child.rawValue)])
      }
      for (name, value) in inode.extendedAttributes.sorted(by: { $0.key < $1.key }) {
        try attributes.execute(arguments: [key, Data(name.bytes), Data(value)])
      }
      for extent in inode.extents {
        try extents.execute(arguments: [
          key, try Self.integer(extent.offsetBytes), Data(extent.bytes),
        ])
      }
    }
  }

  /// A number as stored by SQLite.
  static func integer(_ value: UInt64) throws -> Int64 {
    guard let integer = Int64(exactly: value) else {
      throw LabError.lab("number \(value) is above \(Int64.max), the largest in a trace file")
    }
    return integer
  }
}

/// One row of the table `events`.
private struct EventRow {
  private enum Column: Int {
    case sequence, kind, inode, path, parent, name, otherInode, otherParent, otherName, type, mode
    case user, group, device, offset, length, oldSize, newSize, payload, flags, process, thread
    case time
  }

  private(set) var values = [DatabaseValue](repeating: .null, count: 23)

  init(_ sequence: Int) { values[0] = sequence.databaseValue }

  private mutating func set(_ column: Column, _ number: UInt64) throws {
    values[column.rawValue] = try TraceFileWriter.integer(number).databaseValue
  }

  private mutating func set(_ column: Column, _ inode: InodeNumber) throws {
    try set(column, inode.rawValue)
  }

  private mutating func set(_ column: Column, _ bytes: [UInt8]) {
    values[column.rawValue] = Data(bytes).databaseValue
  }

  private mutating func set(_ column: Column, _ text: String) {
    values[column.rawValue] = text.databaseValue
  }

  private mutating func set(_ ownership: Ownership) throws {
    try set(.mode, UInt64(ownership.mode))
    try set(.user, UInt64(ownership.user))
    try set(.group, UInt64(ownership.group))
  }

  mutating func fill(_ event: TraceEvent, _ paths: inout PathTracker) throws {
    try set(.flags, UInt64(event.flags.rawValue))
    values[Column.process.rawValue] = event.process.databaseValue
    values[Column.thread.rawValue] = event.thread.databaseValue
    try set(.time, event.timeNanoseconds)
    switch event.body {
    case .mark(let mark):
      set(.kind, "mark")
      set(.payload, mark.bytes)
    case .operation(let operation):
      try fill(operation)
      paths.follow(operation)
      if case .remove(inode: _, let parent, let name, isDirectory: _) = operation {
        set(.path, paths.path(of: name, in: parent))
      } else {
        set(.path, paths.path(of: operation.inode))
      }
    }
  }

  private mutating func fill(_ operation: Operation) throws {
    set(.kind, operation.word)
    try set(.inode, operation.inode)
    switch operation {
    case .create, .link, .remove, .rename, .renameWithWhiteout, .exchange:
      try fillNames(operation)
    case .write(inode: _, let offset, let payload):
      try set(.offset, offset)
      try set(.length, UInt64(payload.countBytes))
      set(.payload, payload.bytes)
    case .truncate(inode: _, let old, let new):
      try set(.oldSize, old)
      try set(.newSize, new)
    case .allocate(inode: _, let offset, let count, zeroes: _, let old, let new):
      try set(.offset, offset)
      try set(.length, count)
      try set(.oldSize, old)
      try set(.newSize, new)
    case .setOwnership(inode: _, let ownership), .createNameless(inode: _, let ownership):
      try set(ownership)
    case .setExtendedAttribute(inode: _, let name, let value):
      set(.name, name.bytes)
      if let value { set(.payload, value) }
    case .setTimes(inode: _, let modification, let access):
      let texts = [modification, access].map { $0?.secondsText ?? "-" }
      set(.payload, Array(texts.joined(separator: " ").utf8))
    case .syncAll(let late): if late > 0 { try set(.length, UInt64(late)) }
    case .sync, .syncDirectory, .close: break
    }
  }

  private mutating func fillRename(
    _ from: InodeNumber, _ name: FileName, to: InodeNumber, _ newName: FileName,
    _ replaced: InodeNumber?
  ) throws {
    try set(.parent, from)
    set(.name, name.bytes)
    try set(.otherParent, to)
    set(.otherName, newName.bytes)
    if let replaced { try set(.otherInode, replaced) }
  }

  private mutating func fillNames(_ operation: Operation) throws {
    switch operation {
    case .create(inode: _, let parent, let name, let type, let ownership, let target, let device):
      try set(.parent, parent)
      set(.name, name.bytes)
      set(.type, type.word)
      try set(ownership)
      set(.payload, target)
      values[Column.device.rawValue] = Int64(bitPattern: device).databaseValue
    case .link(inode: _, let parent, let name), .remove(inode: _, let parent, let name, _):
      try set(.parent, parent)
      set(.name, name.bytes)
    case .rename(inode: _, let from, let name, let to, let newName, let replaced):
      try fillRename(from, name, to: to, newName, replaced)
    case .renameWithWhiteout(
      inode: _, let from, let name, let to, let newName, let replaced, let device, let ownership):
      try fillRename(from, name, to: to, newName, replaced)
      try set(ownership)
      try set(.device, device)
    case .exchange(inode: _, let parent, let name, let other, let otherParent, let otherName):
      try set(.parent, parent)
      set(.name, name.bytes)
      try set(.otherInode, other)
      try set(.otherParent, otherParent)
      set(.otherName, otherName.bytes)
    default: break
    }
  }
}
