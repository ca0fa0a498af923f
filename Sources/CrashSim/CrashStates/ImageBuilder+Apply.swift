// ImageBuilder+Apply.swift: applies and reverts the effects of units.
// Invariant: code that changes a node marks it stale, also when it reverts the change.

import LabCore
import Recording

extension ImageBuilder {
  func apply(_ unit: Int) throws(LabError) {
    for effect in table.units[unit].effects { try apply(effect, of: unit) }
  }

  private func apply(_ effect: Effect, of unit: Int) throws(LabError) {
    switch effect {
    case .data(let inode, let offset, let payload, let slice):
      let isAlone = table.units[unit].kind == .data
      try write(
        payload.bytes, slice, at: offset, into: node(inode), unit: isAlone ? unit : nil)
    case .size(let inode, let newSize): try resize(node(inode), to: newSize)
    case .zero(let inode, let offset, let count):
      let end = offset.addingReportingOverflow(count)
      try discard(from: offset, to: end.overflow ? .max : end.partialValue, of: node(inode))
    case .setEntry(let parent, let name, let inode):
      setEntry(name, of: try node(parent), to: try node(inode))
    case .removeEntry(let parent, let name): setEntry(name, of: try node(parent), to: nil)
    case .ownership(let inode, let ownership):
      let node = try node(inode)
      undo.append(.ownership(node, node.ownership))
      node.ownership = ownership
      markStale(node)
    case .extendedAttribute(let inode, let name, let value):
      let node = try node(inode)
      undo.append(.attribute(node, name, node.extendedAttributes[name]))
      setAttribute(name, of: node, to: value)
    case .modificationTime(let inode, let time):
      let node = try node(inode)
      undo.append(.time(node, node.modificationTime))
      node.modificationTime = time
      markStale(node)
    }
  }

  func node(_ inode: InodeNumber) throws(LabError) -> ImageNode {
    guard let node = nodes[inode] else { throw .lab("broken trace: no inode \(inode)") }
    return node
  }

  /// Applies the sectors of a torn write that arrived.
  func apply(_ torn: TornWrite) throws(LabError) {
    for case .data(let inode, let offset, let payload, let slice) in table.units[torn.unit].effects
    {
      let node = try node(inode)
      let sector = UInt64(TornWrite.sectorBytes)
      // Below this, every sector that did not arrive holds its old content.
      let unit = table.units[torn.unit]
      let held = table.model.canExpose(unit) ? unit.sizeBeforeBytes : .max
      let inPlace = table.model.sectorOverwriteIsAtomic ? held : 0
      let first = offset / sector
      let end = offset + UInt64(slice.count)
      let count = TornWrite.sectorCount(offsetBytes: offset, countBytes: slice.count)
      for index in 0..<count {
        let start = (first + UInt64(index)) * sector
        if torn.keptSectors.contains(index) {
          let from = max(start, offset)
          let to = min(start + sector, end)
          let part =
            slice.lowerBound + Int(from - offset)..<slice.lowerBound + Int(to - offset)
          try write(payload.bytes, part, at: from, into: node, unit: nil)
        } else if start >= inPlace {
          let isConfined = table.model.powersafeOverwrite
          let from = isConfined ? max(start, offset) : start
          // Beyond the end of the file the damage is invisible, now and later.
          let stop = min(start + sector, isConfined ? end : max(end, node.sizeBytes))
          let damage = torn.rest.bytes(unit: torn.unit, sector: index, count: Int(stop - from))
          if let damage { try write(damage, 0..<damage.count, at: from, into: node, unit: nil) }
        }
      }
    }
  }

  // MARK: Content

  /// Writes bytes; `unit` is the unit when the bytes are one of its effects.
  func write(
    _ bytes: [UInt8], _ slice: Range<Int>, at offset: UInt64, into node: ImageNode, unit: Int?
  ) throws(LabError) {
    let file = node.file
    try file.reserve((offset + UInt64(slice.count) + 4095) / 4096 * 4096)
    let range = Int(offset)..<Int(offset) + slice.count
    let pages = ImageContent.pages(of: range)
    let before = file[pages.lowerBound]
    try undo.save(range, of: node, hash: pages.count == 1 && !before.isDirty ? before.hash : nil)
    try put(bytes, slice, at: range, into: node, unit: unit)
  }

  /// Writes bytes whose old content the caller has saved; the buffer is large enough.
  func put(
    _ bytes: [UInt8], _ slice: Range<Int>, at range: Range<Int>, into node: ImageNode, unit: Int?
  ) throws(LabError) {
    let file = node.file
    let pages = ImageContent.pages(of: range)
    file.buffer.write(bytes, slice, at: range.lowerBound)
    for page in pages where file.markDirty(page) { try countTouchedPage() }
    if pages.count == 1, slice.count == ImageContent.pageBytes, let unit {
      file.setHash(
        steps.wholePageHash(of: unit, range, in: file), ofPage: pages.lowerBound)
    }
    markStale(node)
  }

  func countTouchedPage() throws(LabError) {
    touchedPages += 1
    guard touchedPages * ImageContent.pageBytes <= limits.touchedBytes else {
      throw .lab(
        "crash image too large: touched_bytes=\(touchedPages * ImageContent.pageBytes) > "
          + "limit_bytes=\(limits.touchedBytes): trace a smaller workload")
    }
  }

  private func resize(_ node: ImageNode, to newSize: UInt64) throws(LabError) {
    undo.append(.size(node, node.sizeBytes))
    if newSize == 0, node.file.touchedCount > 0 {
      // Truncation to 0 swaps the content instead of saving all of its bytes.
      undo.append(.content(node, node.file))
      touchedPages -= node.file.touchedCount
      node.file = ImageContent()
    } else {
      try discard(from: newSize, to: .max, of: node)
    }
    setSize(newSize, of: node)
  }

  func setSize(_ size: UInt64, of node: ImageNode) {
    node.sizeBytes = size
    node.file.setSize(size)
    markStale(node)
  }

  /// Makes a range read as zeros.
  private func discard(
    from start: UInt64, to end: UInt64, of node: ImageNode
  ) throws(LabError) {
    let file = node.file
    let capacity = UInt64(file.buffer.capacityBytes)
    guard start < min(end, capacity) else { return }
    let range = Int(start)..<Int(min(end, capacity))
    for page in file.touchedPages(in: ImageContent.pages(of: range)) {
      let record = file[page]
      let pageStart = page * ImageContent.pageBytes
      let part = range.clamped(to: pageStart..<pageStart + ImageContent.pageBytes)
      if !record.isDirty && record.hash == 0 { continue }
      try undo.save(part, of: node, hash: record.isDirty ? nil : record.hash)
      file.buffer.zero(part)
      file.markDirty(page)
    }
    markStale(node)
  }

  // MARK: Names and attributes

  func setEntry(_ name: FileName, of parent: ImageNode, to child: ImageNode?) {
    let old = parent.entries[name]
    undo.append(.entry(parent, name, old?.node))
    if let old {
      parent.entriesSum -= old.contribution
      removeLink(of: old.node, parent: parent, name: name)
    }
    if let child {
      let nameHash = old?.nameHash ?? ContentHash.of(name.bytes)
      let contribution = nameHash.mixed(with: child.hash)
      parent.entries[name] = ImageNode.Entry(
        node: child, nameHash: nameHash, contribution: contribution)
      parent.entriesSum += contribution
      child.links.append(ImageNode.Link(parent: parent, name: name, nameHash: nameHash))
      if child.links.count == 2 { multiplyLinked.append(child) }
    } else {
      parent.entries[name] = nil
    }
    markStale(parent)
  }

  private func removeLink(of child: ImageNode, parent: ImageNode, name: FileName) {
    guard let index = child.links.firstIndex(where: { $0.parent === parent && $0.name == name })
    else { preconditionFailure("an entry without a link") }
    child.links.swapAt(index, child.links.count - 1)
    child.links.removeLast()
    if child.links.count == 1 { multiplyLinked.removeAll { $0 === child } }
  }

  private func setAttribute(_ name: FileName, of node: ImageNode, to value: [UInt8]?) {
    if let old = node.extendedAttributes[name] {
      node.attributesSum -= ImageNode.contribution(ofAttribute: name, old)
    }
    node.extendedAttributes[name] = value
    if let value { node.attributesSum += ImageNode.contribution(ofAttribute: name, value) }
    markStale(node)
  }

  // MARK: Undo

  /// Reverts the last change.
  func revertLast() {
    let count = undo.count
    switch undo.popLast() {
    case .bytes(let node, let offset, let byteCount, let saved, let hash, let end):
      undo.buffer.copy(saved..<saved + byteCount, to: node.file.buffer, at: offset)
      let pages = ImageContent.pages(of: offset..<offset + byteCount)
      if let hash {
        node.file.setHash(hash, ofPage: pages.lowerBound)
      } else {
        for page in pages { node.file.markDirty(page) }
      }
      node.file.lowerContentEnd(to: end)
      markStale(node)
    case .size(let node, let size): setSize(size, of: node)
    case .content(let node, let content):
      touchedPages += content.touchedCount - node.file.touchedCount
      node.file = content
      markStale(node)
    case .entry(let parent, let name, let child):
      setEntry(name, of: parent, to: child)
      _ = undo.popLast()
    case .ownership(let node, let ownership):
      node.ownership = ownership
      markStale(node)
    case .attribute(let node, let name, let value): setAttribute(name, of: node, to: value)
    case .time(let node, let time):
      node.modificationTime = time
      markStale(node)
    case nil: break
    }
    precondition(undo.count == count - 1, "undo must shrink the log by one record")
  }
}

extension TornWrite.Rest {
  /// The content of a damaged sector; nil where it keeps its old bytes.
  func bytes(unit: Int, sector: Int, count: Int) -> [UInt8]? {
    switch self {
    case .old: return nil
    case .zeros: return [UInt8](repeating: 0, count: count)
    case .garbage(let seed):
      var random = PRNG(seed.derived(UInt64(unit)).derived(UInt64(sector)))
      return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next() >> 24) }
    }
  }
}
