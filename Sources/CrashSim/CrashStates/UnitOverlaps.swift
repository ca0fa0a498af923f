// UnitOverlaps.swift: the units of a table that change the same bytes or sizes, so that an image
// can remove one of them and restore only those on top of it.
// Invariant: `next` is greater than the unit; two free units that change the same page, or the size
// of the same file, are on one chain of `next`.

import Recording

/// The units of a table that change the same bytes or sizes.
struct UnitOverlaps {
  /// In which order a unit may be applied to an image and removed again.
  enum Freedom: UInt8 {
    /// Bytes of one page: in any order, except relative to those of its page and the ordered ones.
    case page
    /// A size after all bytes and sizes written before: in any order, except relative to other such
    /// sizes of its file and the ordered ones.
    case growth
    /// All others: in the order of units with other ordered ones, and those that change content
    /// also with every unit of their files.
    case ordered
  }

  /// By unit.
  private let freedoms: [Freedom]
  /// The next free unit of the same page, or with the size of the same file; -1 is none.
  private let nexts: [Int32]
  /// Files whose bytes or sizes an ordered unit changes.
  private let contents: [Int: [InodeNumber]]

  private struct Page: Hashable {
    let inode: InodeNumber
    let page: UInt64
  }

  /// - Complexity: O(units).
  init(_ units: [PendingUnit], of trace: Trace) {
    var freedoms: [Freedom] = []
    var nexts = [Int32](repeating: -1, count: units.count)
    var contents: [Int: [InodeNumber]] = [:]
    var lastOfPage: [Page: Int] = [:]
    var lastSize: [InodeNumber: Int] = [:]
    // After the last byte that any unit so far may have written, and at least as large as any size.
    var ends = trace.initial.inodes.mapValues { image in
      image.extents.reduce(image.sizeBytes) { max($0, $1.endBytes) }
    }
    freedoms.reserveCapacity(units.count)
    for unit in units {
      let freedom = Self.freedom(of: unit, ends: ends)
      freedoms.append(freedom)
      switch (freedom, unit.effects.first) {
      case (.page, .data(let inode, let offset, _, _)?):
        let page = Page(inode: inode, page: offset / UInt64(ImageContent.pageBytes))
        if let last = lastOfPage.updateValue(unit.id, forKey: page) { nexts[last] = Int32(unit.id) }
      case (.growth, .size(let inode, _)?):
        if let last = lastSize.updateValue(unit.id, forKey: inode) { nexts[last] = Int32(unit.id) }
      default:
        let inodes = unit.effects.compactMap(\.contentInode)
        if !inodes.isEmpty { contents[unit.id] = inodes }
      }
      for effect in unit.effects {
        let (inode, end): (InodeNumber, UInt64)
        switch effect {
        case .data(let file, let offset, _, let slice):
          (inode, end) = (file, offset + UInt64(slice.count))
        case .size(let file, let newSize): (inode, end) = (file, newSize)
        default: continue
        }
        ends[inode] = max(ends[inode] ?? 0, end)
      }
    }
    self.freedoms = freedoms
    self.nexts = nexts
    self.contents = contents
  }

  private static func freedom(of unit: PendingUnit, ends: [InodeNumber: UInt64]) -> Freedom {
    guard unit.effects.count == 1 else { return .ordered }
    switch unit.effects[0] {
    case .data(_, let offset, _, let slice):
      let pageBytes = UInt64(ImageContent.pageBytes)
      let isOnePage = offset % pageBytes + UInt64(slice.count) <= pageBytes
      return unit.kind == .data && isOnePage ? .page : .ordered
    case .size(let inode, let newSize):
      return unit.kind == .growth && newSize >= ends[inode] ?? 0 ? .growth : .ordered
    default: return .ordered
    }
  }

  /// In which order a unit may be applied and removed.
  func freedom(of unit: Int) -> Freedom { freedoms[unit] }

  /// The next free unit that overlaps a free one.
  func next(after unit: Int) -> Int? { nexts[unit] < 0 ? nil : Int(nexts[unit]) }

  /// Files whose content an ordered unit changes; for a torn unit, its file.
  func contentInodes(of unit: Int) -> [InodeNumber] { contents[unit] ?? [] }
}

extension Effect {
  /// The file whose bytes or size it changes.
  var contentInode: InodeNumber? {
    switch self {
    case .data(let inode, _, _, _), .size(let inode, _), .zero(let inode, _, _): inode
    case .setEntry, .removeEntry, .ownership, .extendedAttribute, .modificationTime: nil
    }
  }
}
