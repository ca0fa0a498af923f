// UnitTableBuilder+Content.swift: units of writes, truncates and fallocates.
// Data is split at block boundaries of the file; the page (4096 bytes) is what ext4 allocates.

import LabCore
import Recording

extension UnitTableBuilder {
  /// Bytes of a page, whatever the model's data unit.
  static let pageBytes: UInt64 = 4096

  private var blockBytes: UInt64 { UInt64(model.dataUnitBytes) }

  mutating func write(
    _ inode: InodeNumber, offsetBytes: UInt64, payload: Payload
  ) throws(LabError) {
    let record = try progress(of: inode)
    guard record.type == .regular else {
      throw .lab("broken trace: event \(event) writes to inode \(inode), no regular file")
    }
    guard payload.countBytes > 0 else { return }
    let (end, overflow) = offsetBytes.addingReportingOverflow(UInt64(payload.countBytes))
    guard !overflow, end <= UInt64(Int64.max) else {
      throw .lab("broken trace: event \(event) writes beyond the largest file offset")
    }
    let journal = lastJournal
    let oldSize = record.sizeBytes
    var beforeGrowth: [Int?] = []
    var start = offsetBytes
    while start < end {
      let stop = min(end, (start / blockBytes + 1) * blockBytes)
      let slice = Int(start - offsetBytes)..<Int(stop - offsetBytes)
      let isStep = stop == end || (!model.appendIsAtomic && stop.isMultiple(of: Self.pageBytes))
      let grows = isStep && stop > oldSize
      let unit = writeBlock(
        inode, start: start, payload: payload, slice: slice, isGrowing: end > oldSize,
        newSize: grows ? stop : nil)
      let isNew = isNewlyAllocated(page: start / Self.pageBytes, in: record)
      if model.dataBeforeGrowth == .wholeWrite || (model.dataBeforeGrowth == .newPages && isNew) {
        beforeGrowth.append(unit)
      }
      if grows, model.dataOrder != .journal { grow(inode, to: stop, after: beforeGrowth) }
      start = stop
    }
    guard end > oldSize else { return }
    update(inode) {
      $0.sizeBytes = end
      $0.journalAtGrowth = journal
    }
  }

  /// Adds the unit of a size increased by a write; does not change the inode's size in memory.
  private mutating func grow(_ inode: InodeNumber, to newSize: UInt64, after data: [Int?]) {
    guard let record = inodes[inode] else { preconditionFailure("checked by the caller") }
    let effects = [Effect.size(inode: inode, newSizeBytes: newSize)]
    // The inode is written as a whole: a new size never comes with the time before (R10).
    var dependencies = [record.lastSize, record.lastTime] + data
    let unit: Int
    if model.metadataOrder == .journal {
      dependencies.append(record.creation)
      if !model.delayedAllocation {
        unit = emitMetadata(.growth, effects, after: dependencies)
        touch([inode], by: unit, dataToo: true)
      } else if model.dataOrder == .afterMetadata {
        unit = emitAfterJournal(.growth, effects, after: dependencies)
      } else {
        unit = emit(.growth, effects, after: dependencies)
      }
    } else {
      unit = emit(.growth, effects, after: dependencies)
    }
    update(inode) {
      $0.lastSize = unit
      $0.pendingSize.append(unit)
    }
  }

  /// True when a page had no block on the disk before the current write.
  private func isNewlyAllocated(page: UInt64, in before: InodeProgress) -> Bool {
    let allocatedPages = (before.sizeBytes + Self.pageBytes - 1) / Self.pageBytes
    return page >= allocatedPages && !before.preallocated.contains { $0.contains(page) }
  }

  /// Adds the unit of a write's data in one block; with the resulting size of the file, if data is
  /// journaled.
  private mutating func writeBlock(
    _ inode: InodeNumber, start: UInt64, payload: Payload, slice: Range<Int>, isGrowing: Bool,
    newSize: UInt64?
  ) -> Int {
    let block = start / blockBytes
    let page = start / Self.pageBytes
    guard let record = inodes[inode] else { preconditionFailure("checked by the caller") }
    let isFresh = isNewlyAllocated(page: page, in: record)
    let isDelayed = isFresh || record.delayedPages.contains(page)
    var effects = [Effect.data(inode: inode, offsetBytes: start, payload: payload, slice: slice)]
    let last = lastUnit(ofBlock: block, in: record)
    let unit: Int
    switch model.dataOrder {
    case .unordered, .perFile: unit = emit(.data, effects, after: [last])
    case .afterMetadata: unit = emitAfterJournal(.data, effects, after: [last])
    case .journal:
      if let newSize { effects.append(.size(inode: inode, newSizeBytes: newSize)) }
      unit = emitMetadata(.data, effects, after: [last])
      touch([inode], by: unit, dataToo: true)
    }
    units[unit].sizeBeforeBytes = record.sizeBytes
    units[unit].page = isFresh ? .fresh : isDelayed ? .unsynced : .old
    update(inode) {
      $0.blocks[block] = unit
      $0.pendingData.append(unit)
      if isDelayed {
        $0.delayedPages.insert(page)
        $0.delayedData.append(unit)
      }
      if effects.count > 1 {
        $0.lastSize = unit
        $0.pendingSize.append(unit)
      }
    }
    // Without delayed allocation, every commit of the journal waits for new data.
    let isOnOrderedList = isDelayed || (isGrowing && model.dataBeforeGrowth == .wholeWrite)
    if !model.delayedAllocation, model.dataOrder == .unordered, model.dataBeforeGrowth != .none,
      isOnOrderedList
    {
      journalBarrier.append(unit)
    }
    return unit
  }

  /// The latest unit that changed a block, alone or in a range.
  private func lastUnit(ofBlock block: UInt64, in record: InodeProgress) -> Int? {
    var last = record.blocks[block]
    for range in record.ranges where range.blocks.contains(block) {
      last = max(last ?? range.unit, range.unit)
    }
    return last
  }

  mutating func truncate(_ inode: InodeNumber, to newSize: UInt64) throws(LabError) {
    let record = try progress(of: inode)
    let oldSize = record.sizeBytes
    guard newSize != oldSize else { return }
    if !model.shrinkIsAtomic { zeroRestOfPage(inode, from: newSize, to: oldSize) }
    let unit = emitMetadata(
      .explicitSize, [.size(inode: inode, newSizeBytes: newSize)],
      after: [record.lastExplicitSize, record.lastTime])
    noteExplicitSize(inode, newSize, unit)
    touch([inode], by: unit, dataToo: true)
    guard newSize < oldSize else { return }
    if model.metadataOrder != .total {
      record.pendingData.removeAll { !isPending($0) }
      let cut = record.pendingData.filter { isCut(units[$0], at: newSize) }
      if !cut.isEmpty { straddled[unit] = cut }
    }
    // With a journal, a page beyond the cut gets new blocks, to which nothing refers before the cut
    // persists.
    let firstFreed = (newSize + blockBytes - 1) / blockBytes
    let isJournal = model.metadataOrder == .journal
    let firstFreedPage = (newSize + Self.pageBytes - 1) / Self.pageBytes
    update(inode) {
      if isJournal { $0.ranges.append((firstFreed..<UInt64.max, unit)) }
      $0.preallocated.removeAll { $0.upperBound > firstFreedPage }
      $0.delayedPages = $0.delayedPages.filter { $0 < firstFreedPage }
      if newSize == 0 { $0.wasEmptied = true }
    }
  }

  /// Adds the zeros that a truncate leaves in the page that it cuts: an ordinary write of that
  /// page, independent of the new size.
  private mutating func zeroRestOfPage(
    _ inode: InodeNumber, from newSize: UInt64, to oldSize: UInt64
  ) {
    let pageEnd = (newSize + Self.pageBytes - 1) / Self.pageBytes * Self.pageBytes
    let end = min(oldSize, pageEnd)
    guard let record = inodes[inode], newSize < end else { return }
    let blocks = newSize / blockBytes..<(end + blockBytes - 1) / blockBytes
    let effects = [
      Effect.zero(inode: inode, offsetBytes: newSize, countBytes: end - newSize)
    ]
    let written = pendingUnits(of: record, inBlocks: blocks)
    let unit =
      model.dataOrder == .afterMetadata
      ? emitAfterJournal(.zero, effects, after: written) : emit(.zero, effects, after: written)
    noteZeroes(inode, blocks, unit)
  }

  private func isCut(_ unit: PendingUnit, at size: UInt64) -> Bool {
    for case .data(_, let offset, _, let slice) in unit.effects
    where offset < size && offset + UInt64(slice.count) > size {
      return true
    }
    return false
  }

  private mutating func noteExplicitSize(_ inode: InodeNumber, _ newSize: UInt64, _ unit: Int) {
    update(inode) {
      $0.sizeBytes = newSize
      $0.lastSize = unit
      $0.lastExplicitSize = unit
      $0.pendingSize.append(unit)
    }
  }

  mutating func allocate(
    _ inode: InodeNumber, offset: UInt64, count: UInt64, zeroes: Bool, newSize: UInt64
  ) throws(LabError) {
    let record = try progress(of: inode)
    let grows = newSize > record.sizeBytes
    let zero = Effect.zero(inode: inode, offsetBytes: offset, countBytes: count)
    let size = Effect.size(inode: inode, newSizeBytes: newSize)
    let blocks = offset / blockBytes..<(offset + count + blockBytes - 1) / blockBytes
    let written = zeroes ? pendingUnits(of: record, inBlocks: blocks) : []
    if model.metadataOrder == .journal {
      let effects = (zeroes ? [zero] : []) + (grows ? [size] : [])
      guard !effects.isEmpty else { return notePreallocated(inode, offset, count) }
      let unit = emitMetadata(
        grows ? .explicitSize : .zero, effects,
        after: written + [record.lastExplicitSize, record.lastTime])
      if grows { noteExplicitSize(inode, newSize, unit) }
      if zeroes { noteZeroes(inode, blocks, unit) }
      touch([inode], by: unit, dataToo: true)
    } else {
      if zeroes { noteZeroes(inode, blocks, emitMetadata(.zero, [zero], after: written)) }
      if grows {
        let unit = emitMetadata(
          .explicitSize, [size], after: [record.lastExplicitSize, record.lastTime])
        noteExplicitSize(inode, newSize, unit)
      }
    }
    if !zeroes { notePreallocated(inode, offset, count) }
  }

  private mutating func noteZeroes(_ inode: InodeNumber, _ blocks: Range<UInt64>, _ unit: Int) {
    update(inode) {
      $0.ranges.append((blocks, unit))
      $0.pendingData.append(unit)
    }
  }

  private mutating func notePreallocated(_ inode: InodeNumber, _ offset: UInt64, _ count: UInt64) {
    let pages = offset / Self.pageBytes..<(offset + count + Self.pageBytes - 1) / Self.pageBytes
    update(inode) { $0.preallocated.append(pages) }
  }

  private func pendingUnits(
    of record: InodeProgress, inBlocks blocks: Range<UInt64>
  ) -> [Int?] {
    var found: Set<Int> = []
    if blocks.count < record.blocks.count {
      for block in blocks {
        if let unit = record.blocks[block] { found.insert(unit) }
      }
    } else {
      for (block, unit) in record.blocks where blocks.contains(block) { found.insert(unit) }
    }
    for range in record.ranges where range.blocks.overlaps(blocks) { found.insert(range.unit) }
    return found.filter { isPending($0) || superseded.contains($0) }.sorted()
  }
}
