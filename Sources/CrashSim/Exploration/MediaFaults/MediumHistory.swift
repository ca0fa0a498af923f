// MediumHistory.swift: the files of a recorded run as bytes, event by event, and the previous
// contents of their sectors, which a stale sector can show.
// Invariants: everything before the current event is on the medium; the last `staleMax` contents of
// each sector are kept, so memory does not grow with the number of writes.

import CrashStates
import Recording

/// Moves forward through a trace.
package struct MediumHistory {
  /// A sector's content before an event; zeros after the end of the file.
  struct Earlier {
    let event: Int
    let bytes: [UInt8]
  }

  /// Number of earlier contents that are kept of each sector.
  static let staleMax = 8

  let trace: Trace
  let sectorBytes: Int
  /// Names and attributes; sizes and contents of files are in `contents`.
  private var names: TreeImage
  private var contents: [InodeNumber: [UInt8]] = [:]
  private var earlier: [InodeNumber: [Int: [Earlier]]] = [:]
  /// The next event.
  package private(set) var eventCount = 0
  /// Number of marks seen.
  package private(set) var marksSeen = 0

  /// Starts before the first event.
  package init(_ trace: Trace, sectorBytes: Int) {
    self.trace = trace
    self.sectorBytes = sectorBytes
    names = trace.initial
    for (number, inode) in trace.initial.inodes where inode.type == .regular {
      var bytes = [UInt8](repeating: 0, count: Int(clamping: inode.sizeBytes))
      for extent in inode.extents {
        let start = Int(clamping: extent.offsetBytes)
        bytes.replaceSubrange(start..<start + extent.countBytes, with: extent.bytes)
      }
      contents[number] = bytes
      names.inodes[number]?.extents = []
    }
  }

  /// Advances until this many events have happened.
  package mutating func advance(to count: Int) {
    while eventCount < min(count, trace.events.count) {
      switch trace.events[eventCount].body {
      case .mark: marksSeen += 1
      case .operation(let operation): apply(operation)
      }
      eventCount += 1
    }
  }

  private mutating func apply(_ operation: Operation) {
    switch operation {
    case .write(let inode, let offset, let payload):
      let start = Int(clamping: offset)
      note(inode, start..<start + payload.countBytes)
      let missing = start + payload.countBytes - (contents[inode]?.count ?? 0)
      if missing > 0 { contents[inode, default: []] += [UInt8](repeating: 0, count: missing) }
      contents[inode]?.replaceSubrange(start..<start + payload.countBytes, with: payload.bytes)
    case .truncate(let inode, oldSizeBytes: _, let size): resize(inode, to: Int(clamping: size))
    case .allocate(let inode, let offset, let count, let zeroes, oldSizeBytes: _, let size):
      if zeroes {
        let end = min(Int(clamping: offset + count), contents[inode]?.count ?? 0)
        let range = min(Int(clamping: offset), end)..<end
        note(inode, range)
        contents[inode]?.replaceSubrange(
          range, with: [UInt8](repeating: 0, count: range.count))
      }
      resize(inode, to: Int(clamping: size))
    case .create(let inode, _, _, let type, _, _, _):
      if type == .regular { contents[inode] = [] }
      names.apply(operation)
    case .createNameless(let inode, _):
      contents[inode] = []
      names.apply(operation)
    default: names.apply(operation)
    }
  }

  private mutating func resize(_ inode: InodeNumber, to size: Int) {
    let old = contents[inode]?.count ?? 0
    if size < old {
      note(inode, size..<old)
      contents[inode]?.removeSubrange(size...)
    } else {
      contents[inode, default: []] += [UInt8](repeating: 0, count: size - old)
    }
  }

  /// Saves the content of the sectors of a range before they change.
  private mutating func note(_ inode: InodeNumber, _ range: Range<Int>) {
    guard let bytes = contents[inode], !range.isEmpty else { return }
    let sectors = range.lowerBound / sectorBytes...(range.upperBound - 1) / sectorBytes
    for sector in sectors where sector * sectorBytes < bytes.count {
      let content = whole(sector, of: bytes)
      var known = earlier[inode]?[sector] ?? []
      guard known.last?.bytes != content else { continue }
      known.append(Earlier(event: eventCount, bytes: content))
      earlier[inode, default: [:]][sector] = known.suffix(Self.staleMax)
    }
  }

  /// A sector on the medium.
  private func whole(_ sector: Int, of bytes: [UInt8]) -> [UInt8] {
    let end = min((sector + 1) * sectorBytes, bytes.count)
    let content = bytes[sector * sectorBytes..<end]
    return content + [UInt8](repeating: 0, count: sectorBytes - content.count)
  }

  // MARK: - What is there

  private func inode(at path: String) -> InodeNumber? {
    var number = InodeNumber.root
    for name in path.utf8.split(separator: UInt8(ascii: "/")) {
      guard let next = names.inodes[number]?.entries[FileName(bytes: Array(name))] else {
        return nil
      }
      number = next
    }
    return number
  }

  /// Paths of all regular files, sorted.
  func filePaths() -> [String] {
    var paths: [String] = []
    var open = [(InodeNumber.root, "")]
    while let (number, prefix) = open.popLast() {
      for (name, child) in names.inodes[number]?.entries ?? [:] {
        // A path that is not text cannot be part of a token.
        guard let text = String(validating: name.bytes, as: UTF8.self) else { continue }
        if contents[child] != nil { paths.append(prefix + text) }
        if names.inodes[child]?.type == .directory { open.append((child, prefix + text + "/")) }
      }
    }
    return paths.sorted()
  }

  /// The bytes of a regular file; nil if there is none at this path.
  package func bytes(at path: String) -> [UInt8]? { inode(at: path).flatMap { contents[$0] } }

  /// The previous contents of a file's sector, the latest first, each once, without its current
  /// content.
  func earlierContents(at path: String, sector: Int) -> [Earlier] {
    guard let inode = inode(at: path), let bytes = contents[inode] else { return [] }
    guard sector * sectorBytes < bytes.count else { return [] }
    var seen: Set<[UInt8]> = [whole(sector, of: bytes)]
    return (earlier[inode]?[sector] ?? []).reversed().filter { seen.insert($0.bytes).inserted }
  }

  /// The content of a fault's sector before the fault's event.
  func staleContent(of fault: MediumFault) -> [UInt8]? {
    guard let inode = inode(at: fault.file) else { return nil }
    let sector = Int(clamping: fault.offsetBytes) / sectorBytes
    return earlier[inode]?[sector]?.first { UInt64($0.event) == fault.source }?.bytes
  }

  /// A file's bytes after faults of the medium.
  package func bytes(at path: String, with faults: [MediumFault]) -> [UInt8]? {
    guard var bytes = bytes(at: path) else { return nil }
    for fault in faults where fault.file == path {
      fault.apply(to: &bytes, stale: { staleContent(of: $0) })
    }
    return bytes
  }

  /// The whole tree after faults of the medium.
  package func tree(with faults: [MediumFault]) -> TreeImage {
    var tree = names
    for (number, content) in contents {
      tree.inodes[number]?.sizeBytes = UInt64(content.count)
      tree.inodes[number]?.extents = Extent.pieces(of: content, at: 0)
    }
    for path in Set(faults.map(\.file)).sorted() {
      guard let number = inode(at: path), let bytes = bytes(at: path, with: faults) else {
        continue
      }
      tree.inodes[number]?.sizeBytes = UInt64(bytes.count)
      tree.inodes[number]?.extents = Extent.pieces(of: bytes, at: 0)
    }
    tree.removeUnreachable()
    return tree
  }
}
