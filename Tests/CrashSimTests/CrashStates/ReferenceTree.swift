// ReferenceTree.swift: a second, naive reading of what units do: byte arrays and dictionaries,
// every unit applied in order of its id from the initial tree on. Shares nothing with ImageBuilder.

import CrashStates
import LabCore
import Recording

/// What can be seen of a tree: by path, without inode numbers.
struct VisibleTree: Hashable {
  struct File: Hashable {
    var type: FileType
    var ownership: Ownership
    var attributes: [FileName: [UInt8]]
    var modificationTime: Timestamp?
    var target: [UInt8]
    var sizeBytes: UInt64
    var bytes: [UInt8]
  }

  var files: [[UInt8]: File] = [:]
  /// Sets of paths that are one inode.
  var linkGroups: Set<Set<[UInt8]>> = []
}

struct ReferenceTree {
  var inodes: [InodeNumber: InodeImage]
  var bytes: [InodeNumber: [UInt8]] = [:]

  /// The tree after the given units, in order of ids.
  init(_ table: UnitTable, applying units: [Int]) {
    inodes = table.trace.initial.inodes
    for (number, image) in inodes {
      var content = [UInt8](repeating: 0, count: Int(image.sizeBytes))
      for extent in image.extents {
        let start = Int(extent.offsetBytes)
        content.replaceSubrange(start..<start + extent.bytes.count, with: extent.bytes)
      }
      bytes[number] = content
    }
    for event in table.trace.events {
      if case .operation(.renameWithWhiteout(_, _, _, _, _, _, let device, let ownership)) =
        event.body
      {
        inodes[device] = InodeImage(type: .characterDevice, ownership: ownership)
        continue
      }
      if case .operation(.createNameless(let inode, let ownership)) = event.body {
        inodes[inode] = InodeImage(type: .regular, ownership: ownership)
        bytes[inode] = []
        continue
      }
      guard
        case .operation(.create(let inode, _, _, let type, let ownership, let target, let device)) =
          event.body
      else { continue }
      var image = InodeImage(type: type, ownership: ownership)
      image.target = target
      image.device = device
      inodes[inode] = image
      bytes[inode] = []
    }
    for unit in units {
      for effect in table.units[unit].effects { apply(effect) }
    }
  }

  private mutating func apply(_ effect: Effect) {
    switch effect {
    case .data(let inode, let offset, let payload, let slice):
      var content = bytes[inode] ?? []
      let end = Int(offset) + slice.count
      while content.count < end { content.append(0) }
      content.replaceSubrange(Int(offset)..<end, with: payload.bytes[slice])
      bytes[inode] = content
    case .size(let inode, let newSize):
      inodes[inode]?.sizeBytes = newSize
      if let content = bytes[inode] { bytes[inode] = Array(content.prefix(Int(newSize))) }
    case .zero(let inode, let offset, let count):
      guard var content = bytes[inode] else { return }
      for at in content.indices where at >= Int(offset) && at < Int(offset + count) {
        content[at] = 0
      }
      bytes[inode] = content
    case .setEntry(let parent, let name, let inode): inodes[parent]?.entries[name] = inode
    case .removeEntry(let parent, let name): inodes[parent]?.entries[name] = nil
    case .ownership(let inode, let ownership): inodes[inode]?.ownership = ownership
    case .extendedAttribute(let inode, let name, let value):
      inodes[inode]?.extendedAttributes[name] = value
    case .modificationTime(let inode, let time): inodes[inode]?.modificationTime = time
    }
  }

  var visible: VisibleTree {
    var result = VisibleTree()
    var pathsOf: [InodeNumber: Set<[UInt8]>] = [:]
    var open: [([UInt8], InodeNumber)] = [([], .root)]
    while let (path, number) = open.popLast() {
      guard let inode = inodes[number] else { continue }
      var content = Array((bytes[number] ?? []).prefix(Int(inode.sizeBytes)))
      if inode.type == .regular {
        while content.count < Int(inode.sizeBytes) { content.append(0) }
      }
      result.files[path] = VisibleTree.File(
        type: inode.type, ownership: inode.ownership, attributes: inode.extendedAttributes,
        modificationTime: inode.modificationTime,
        target: inode.target, sizeBytes: inode.type == .regular ? inode.sizeBytes : 0,
        bytes: inode.type == .regular ? content : [])
      pathsOf[number, default: []].insert(path)
      for (name, child) in inode.entries { open.append((path + [47] + name.bytes, child)) }
    }
    result.linkGroups = Set(pathsOf.values.filter { $0.count > 1 })
    return result
  }
}

extension CrashImage {
  /// What can be seen of the image, through its public face only.
  func visible() throws -> VisibleTree {
    var result = VisibleTree()
    var groups: [Int: Set<[UInt8]>] = [:]
    try forEachEntry { (entry) throws(LabError) in
      let path = entry.path.isEmpty ? [] : [47] + entry.path
      let isRegular = entry.type == .regular
      result.files[path] = VisibleTree.File(
        type: entry.type, ownership: entry.ownership, attributes: entry.extendedAttributes,
        modificationTime: entry.modificationTime,
        target: entry.target, sizeBytes: isRegular ? entry.sizeBytes : 0,
        bytes: isRegular ? content(at: String(decoding: entry.path, as: UTF8.self)) ?? [] : [])
      if let group = entry.hardLinkGroup { groups[group, default: []].insert(path) }
    }
    result.linkGroups = Set(groups.values)
    return result
  }
}

extension UnitTable {
  /// What a crash state must look like, by the naive reading.
  ///
  /// No torn states.
  func expected(_ state: CrashState) -> VisibleTree {
    let durable = (0..<issuedCount(at: state.crashPoint)).filter {
      isDurable($0, at: state.crashPoint)
    }
    return ReferenceTree(self, applying: (durable + state.kept).sorted()).visible
  }

  /// All down-closed sets of a crash point, by trying every subset.
  func allDownSets(at crashPoint: Int) -> [[Int]] {
    let pending = pendingUnits(at: crashPoint)
    precondition(pending.count <= 14, "too many subsets")
    return (0..<1 << pending.count).compactMap { bits in
      let kept = pending.indices.filter { bits >> $0 & 1 == 1 }.map { pending[$0] }
      let isClosed = kept.allSatisfy { unit in
        pendingDependencies(of: unit, at: crashPoint).allSatisfy { kept.contains($0) }
      }
      return isClosed ? kept : nil
    }
  }
}
