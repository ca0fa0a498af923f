// Recording.swift: hand-made traces, written with paths the way a program would.
// Keeps just enough of a live tree to fill in what the trace's operations carry.

import LabCore
import Recording

struct Recording {
  private(set) var trace: Trace
  private var entries: [String: InodeNumber] = [:]
  private var sizes: [InodeNumber: UInt64] = [:]
  private var types: [InodeNumber: FileType] = [.root: .directory]
  private var next: UInt64

  /// Begins with files of the given text, in directories of the root, and with more names of some
  /// of them; all durable.
  init(
    files: [String: String] = [:], directories: [String] = [], links: [String: String] = [:]
  ) {
    var tree = TreeImage()
    for path in directories.sorted() {
      let inode = tree.nextInode
      tree.inodes[inode] = InodeImage(type: .directory, ownership: Ownership(mode: 0o755))
      tree.inodes[.root]?.entries[FileName(path)] = inode
      entries[path] = inode
      types[inode] = .directory
    }
    trace = Trace(initial: tree)
    next = tree.nextInode.rawValue
    for (path, text) in files.sorted(by: { $0.key < $1.key }) {
      let inode = tree.nextInode
      var image = InodeImage(type: .regular, ownership: Ownership(mode: 0o644))
      image.sizeBytes = UInt64(text.utf8.count)
      image.extents = Extent.pieces(of: Array(text.utf8), at: 0)
      tree.inodes[inode] = image
      for name in [path] + links.filter({ $0.value == path }).map(\.key).sorted() {
        let (parent, last) = split(name)
        tree.inodes[parent]?.entries[last] = inode
        entries[name] = inode
      }
      sizes[inode] = image.sizeBytes
      types[inode] = .regular
    }
    next = tree.nextInode.rawValue
    trace = Trace(initial: tree)
  }

  subscript(path: String) -> InodeNumber {
    if path.isEmpty { return .root }
    guard let inode = entries[path] else { preconditionFailure("no \(path) in the recording") }
    return inode
  }

  func exists(_ path: String) -> Bool { path.isEmpty || entries[path] != nil }
  func size(_ inode: InodeNumber) -> UInt64 { sizes[inode] ?? 0 }
  func type(_ inode: InodeNumber) -> FileType { types[inode] ?? .regular }
  var paths: [String] { entries.keys.sorted() }

  private func split(_ path: String) -> (InodeNumber, FileName) {
    guard let slash = path.lastIndex(of: "/") else { return (.root, FileName(path)) }
    return (self[String(path[..<slash])], FileName(String(path[path.index(after: slash)...])))
  }

  /// Who asks for what is added from now on.
  var thread: Int32 = 1

  mutating func add(_ operation: Operation, flags: OperationFlags = []) {
    trace.events.append(
      TraceEvent(.operation(operation), flags: flags, process: 1, thread: thread))
  }

  mutating func mark(_ text: String) { trace.events.append(TraceEvent(.mark(Mark(text)))) }

  @discardableResult
  mutating func create(_ path: String, _ type: FileType = .regular) -> InodeNumber {
    let (parent, name) = split(path)
    let inode = InodeNumber(rawValue: next)
    next += 1
    add(
      .create(
        inode: inode, parent: parent, name: name, type: type,
        ownership: Ownership(mode: type == .directory ? 0o755 : 0o644)))
    entries[path] = inode
    types[inode] = type
    return inode
  }

  @discardableResult
  mutating func createNameless() -> InodeNumber {
    let inode = InodeNumber(rawValue: next)
    next += 1
    add(.createNameless(inode: inode, ownership: Ownership(mode: 0o644)))
    types[inode] = .regular
    return inode
  }

  mutating func link(_ inode: InodeNumber, to newPath: String) {
    let (parent, name) = split(newPath)
    add(.link(inode: inode, parent: parent, name: name))
    entries[newPath] = inode
  }

  mutating func makeDirectory(_ path: String) { create(path, .directory) }

  mutating func link(_ path: String, to newPath: String) {
    let (parent, name) = split(newPath)
    add(.link(inode: self[path], parent: parent, name: name))
    entries[newPath] = self[path]
  }

  mutating func remove(_ path: String) {
    let (parent, name) = split(path)
    let inode = self[path]
    add(.remove(inode: inode, parent: parent, name: name, isDirectory: type(inode) == .directory))
    entries[path] = nil
  }

  mutating func rename(_ path: String, to newPath: String) {
    let (from, name) = split(path)
    let (to, newName) = split(newPath)
    let inode = self[path]
    add(
      .rename(
        inode: inode, from: from, name: name, to: to, newName: newName,
        replaced: entries[newPath]))
    move(path, newPath)
  }

  mutating func renameWithWhiteout(_ path: String, to newPath: String) {
    let (from, name) = split(path)
    let (to, newName) = split(newPath)
    let device = InodeNumber(rawValue: next)
    next += 1
    add(
      .renameWithWhiteout(
        inode: self[path], from: from, name: name, to: to, newName: newName,
        replaced: entries[newPath], whiteout: device, ownership: Ownership(mode: 0)))
    move(path, newPath)
    entries[path] = device
    types[device] = .characterDevice
  }

  private mutating func move(_ path: String, _ newPath: String) {
    for (old, inode) in entries where old == path || old.hasPrefix(path + "/") {
      entries[old] = nil
      entries[newPath + old.dropFirst(path.count)] = inode
    }
  }

  mutating func exchange(_ path: String, _ other: String) {
    let (parent, name) = split(path)
    let (otherParent, otherName) = split(other)
    add(
      .exchange(
        inode: self[path], parent: parent, name: name, otherInode: self[other],
        otherParent: otherParent, otherName: otherName))
    move(path, "\u{1}")
    move(other, path)
    move("\u{1}", other)
  }

  mutating func write(_ path: String, _ text: String, at offset: UInt64 = 0) {
    write(self[path], Array(text.utf8), at: offset)
  }

  mutating func write(_ inode: InodeNumber, _ bytes: [UInt8], at offset: UInt64) {
    add(.write(inode: inode, offsetBytes: offset, payload: Payload(bytes)))
    if !bytes.isEmpty { sizes[inode] = max(size(inode), offset + UInt64(bytes.count)) }
  }

  mutating func truncate(_ path: String, to newSize: UInt64) {
    let inode = self[path]
    add(.truncate(inode: inode, oldSizeBytes: size(inode), newSizeBytes: newSize))
    sizes[inode] = newSize
  }

  mutating func allocate(
    _ path: String, _ offset: UInt64, _ count: UInt64, zeroes: Bool = false, keepsSize: Bool = false
  ) {
    let inode = self[path]
    let newSize = keepsSize ? size(inode) : max(size(inode), offset + count)
    add(
      .allocate(
        inode: inode, offsetBytes: offset, countBytes: count, zeroes: zeroes,
        oldSizeBytes: size(inode), newSizeBytes: newSize))
    sizes[inode] = newSize
  }

  mutating func setMode(_ path: String, _ mode: UInt32) {
    add(.setOwnership(inode: self[path], ownership: Ownership(mode: mode)))
  }

  mutating func setTime(_ path: String, _ seconds: Int64?) {
    let time = seconds.map { Timestamp(seconds: $0) }
    add(.setTimes(inode: self[path], modification: time, access: nil))
  }

  mutating func setAttribute(_ path: String, _ name: String, _ value: String?) {
    add(
      .setExtendedAttribute(
        inode: self[path], name: FileName(name), value: value.map { Array($0.utf8) }))
  }

  mutating func sync(_ path: String, dataOnly: Bool = false, flags: OperationFlags = []) {
    add(.sync(inode: self[path], dataOnly: dataOnly), flags: flags)
  }

  mutating func syncDirectory(_ path: String = "", flags: OperationFlags = []) {
    add(.syncDirectory(inode: self[path]), flags: flags)
  }

  mutating func syncAll(late: Int = 0, flags: OperationFlags = []) {
    add(.syncAll(late: late), flags: flags)
  }

  mutating func close(_ path: String) { add(.close(inode: self[path])) }
}
