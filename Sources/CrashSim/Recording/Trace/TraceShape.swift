// TraceShape.swift: the properties that two recordings must share for their crash states to have
// the same numbers.

extension Trace {
  /// Shape of the trace: two recordings with the same shape have the same crash states by number.
  ///
  /// It depends on kinds, inodes, positions and sizes of all events, but not on bytes, names, times
  /// or processes.
  public var shape: String { shape(ofFirst: events.count) }

  /// Shape of the trace up to a crash point, the only part that a state there depends on.
  package func shape(ofFirst count: Int) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ value: UInt64) {
      hash = (hash ^ value) &* 0x0000_0100_0000_01b3
      hash ^= hash >> 29
    }
    for event in events.prefix(count) {
      add(UInt64(event.flags.rawValue))
      switch event.body {
      case .mark(let mark): add(1000 + UInt64(mark.bytes.count))
      case .operation(let operation): operation.shapeWords.forEach(add)
      }
    }
    return String(hash, radix: 36)
  }
}

extension Operation {
  fileprivate var shapeWords: [UInt64] {
    switch self {
    case .create(let inode, let parent, _, let type, _, let target, _):
      [1, inode.rawValue, parent.rawValue, UInt64(type.rawValue), UInt64(target.count)]
    case .createNameless(let inode, _): [16, inode.rawValue]
    case .link(let inode, let parent, _): [2, inode.rawValue, parent.rawValue]
    case .remove(let inode, let parent, _, let isDirectory):
      [3, inode.rawValue, parent.rawValue, isDirectory ? 1 : 0]
    case .rename(let inode, let from, _, let to, _, let replaced):
      [4, inode.rawValue, from.rawValue, to.rawValue, replaced?.rawValue ?? 0]
    case .renameWithWhiteout(let inode, let from, _, let to, _, let replaced, let device, _):
      [15, inode.rawValue, from.rawValue, to.rawValue, replaced?.rawValue ?? 0, device.rawValue]
    case .exchange(let inode, let parent, _, let otherInode, let otherParent, _):
      [5, inode.rawValue, parent.rawValue, otherInode.rawValue, otherParent.rawValue]
    case .write(let inode, let offsetBytes, let payload):
      [6, inode.rawValue, offsetBytes, UInt64(payload.countBytes)]
    case .truncate(let inode, let oldSizeBytes, let newSizeBytes):
      [7, inode.rawValue, oldSizeBytes, newSizeBytes]
    case .allocate(let inode, let offsetBytes, let countBytes, let zeroes, _, let newSizeBytes):
      [8, inode.rawValue, offsetBytes, countBytes, zeroes ? 1 : 0, newSizeBytes]
    case .setOwnership(let inode, _): [9, inode.rawValue]
    case .setExtendedAttribute(let inode, _, let value):
      [10, inode.rawValue, UInt64(value?.count ?? 0)]
    case .setTimes(let inode, let time, _): [17, inode.rawValue, time == nil ? 0 : 1]
    case .sync(let inode, let dataOnly): [11, inode.rawValue, dataOnly ? 1 : 0]
    case .syncDirectory(let inode): [12, inode.rawValue]
    case .close(let inode): [13, inode.rawValue]
    case .syncAll(let late): [14, UInt64(late)]
    }
  }
}
