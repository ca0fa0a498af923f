// ImageContent.swift: one regular file's bytes with a hash per page and a sum over the pages.
// Invariants: `sum` has the recorded hashes of all touched pages that lie completely below
// `fullPages`; a dirty page's recorded hash is stale until the next `hash`; bytes of untouched
// pages are zero.

import LabCore
import Recording

/// The state of one page.
struct PageRecord {
  var hash: UInt64 = 0
  var isTouched = false
  var isDirty = false
}

/// One regular file's bytes with their hash.
package final class ImageContent {
  package static let pageBytes = FlatBuffer.pageBytes
  /// Pages below this index are kept in an array, the few above in a dictionary.
  private static let nearLimit = 1 << 20

  let buffer = FlatBuffer()
  private var near: [PageRecord] = []
  /// Pages of `near` from here on are all zeros, not dirty, and have hash 0: for a growing file
  /// they are looked up often.
  private(set) var contentEnd = 0
  /// End of the pages of `near` that became dirty since the last `hash`.
  private var dirtyEnd = 0
  private var far: [Int: PageRecord] = [:]
  private var dirtyPages: [Int] = []
  private(set) var touchedCount = 0
  /// Number of pages that lie completely inside the file.
  private(set) var fullPages = 0
  private var sum = ContentHash()
  /// Whole blocks that are unchanged since they were loaded, by their number.
  private var shared: [Payload?] = []
  private static let blockPages = Int(Extent.blockBytes) / pageBytes

  subscript(page: Int) -> PageRecord {
    get {
      if page < near.count { return near[page] }
      return page < Self.nearLimit ? PageRecord() : far[page] ?? PageRecord()
    }
    set {
      guard page < Self.nearLimit else {
        far[page] = newValue
        return
      }
      while near.count <= page {
        near.append(contentsOf: repeatElement(PageRecord(), count: max(16, near.count)))
      }
      near[page] = newValue
    }
  }

  /// Calls a closure for each of the first pages with a number that differs if the page's bytes do;
  /// 0 when its hash is currently unknown.
  @inline(__always)
  package func forEachIdentity(
    ofPagesBelow end: Int, _ body: (_ page: Int, _ identity: UInt64) -> Void
  ) {
    // Read through a local array: this runs over all pages for every state.
    let records = near
    for page in 0..<end {
      let record = page < records.count ? records[page] : self[page]
      if record.isDirty { body(page, 0) } else { body(page, record.hash == 0 ? .max : record.hash) }
    }
  }

  /// Touched pages of a range, in no particular order beyond the first 4 GiB; below that, without
  /// pages whose changes were all reverted.
  func touchedPages(in range: Range<Int>) -> [Int] {
    var found: [Int] = []
    let end = min(range.upperBound, contentEnd)
    if range.lowerBound < end {
      for page in range.lowerBound..<end where near[page].isTouched { found.append(page) }
    }
    if !far.isEmpty { found += far.keys.filter { range.contains($0) }.sorted() }
    return found
  }

  /// Reserves space for a file of a given size.
  func reserve(_ sizeBytes: UInt64) throws(LabError) {
    guard sizeBytes <= UInt64(1 << 46) else {
      throw .lab("a file of \(sizeBytes) bytes does not fit a crash image")
    }
    guard Int(sizeBytes) > buffer.capacityBytes else { return }
    try buffer.reserve(Int(sizeBytes))
  }

  /// Pages that cover a byte range.
  package static func pages(of range: Range<Int>) -> Range<Int> {
    range.lowerBound / pageBytes..<(range.upperBound + pageBytes - 1) / pageBytes
  }

  /// Notes the origin of the content, so that trees need no copies of it.
  func share(_ extents: [Extent]) {
    for extent in extents where extent.countBytes == Int(Extent.blockBytes) {
      let block = Int(extent.offsetBytes / Extent.blockBytes)
      guard block < Self.nearLimit / Self.blockPages else { break }
      shared += repeatElement(nil, count: max(0, block + 1 - shared.count))
      shared[block] = extent.payload
    }
  }

  /// The bytes of a run of pages inside one block, which trees may share.
  func payload(of range: Range<Int>, in store: PayloadStore) -> Payload {
    let block = range.lowerBound / Int(Extent.blockBytes)
    if range.count == Int(Extent.blockBytes), block < shared.count, let known = shared[block] {
      return known
    }
    return store.payload(buffer.bytes(range))
  }

  /// Notes that bytes of a page changed; returns true when the page was untouched before.
  @discardableResult
  func markDirty(_ page: Int) -> Bool {
    let isNear = page < Self.nearLimit
    if page / Self.blockPages < shared.count { shared[page / Self.blockPages] = nil }
    if isNear { contentEnd = max(contentEnd, page + 1) }
    var record = self[page]
    if record.isDirty { return false }
    let isNew = !record.isTouched
    record.isDirty = true
    record.isTouched = true
    self[page] = record
    dirtyPages.append(page)
    if isNear { dirtyEnd = max(dirtyEnd, page + 1) }
    if isNew { touchedCount += 1 }
    return isNew
  }

  /// Restores an earlier end of the content, after all later writes are reverted.
  func lowerContentEnd(to end: Int) { contentEnd = min(contentEnd, max(end, dirtyEnd)) }

  /// Sets a page's hash when it is known without reading the page.
  func setHash(_ hash: UInt64, ofPage page: Int) {
    var record = self[page]
    record.isDirty = false
    replaceHash(of: page, &record, by: hash)
    self[page] = record
  }

  private func replaceHash(of page: Int, _ record: inout PageRecord, by hash: UInt64) {
    guard hash != record.hash else { return }
    if page < fullPages {
      sum -= .contribution(ofPage: page, hash: record.hash)
      sum += .contribution(ofPage: page, hash: hash)
    }
    record.hash = hash
  }

  /// Updates the sum for a new end of the file.
  func setSize(_ sizeBytes: UInt64) {
    let pages = Int(sizeBytes / UInt64(Self.pageBytes))
    guard pages != fullPages else { return }
    for page in touchedPages(in: min(pages, fullPages)..<max(pages, fullPages)) {
      let contribution = ContentHash.contribution(ofPage: page, hash: self[page].hash)
      if pages > fullPages { sum += contribution } else { sum -= contribution }
    }
    fullPages = pages
  }

  /// Hash of the bytes below the size.
  /// - Complexity: O(dirty pages + 1).
  func hash(sizeBytes: UInt64) -> ContentHash {
    for page in dirtyPages where self[page].isDirty {
      let start = page * Self.pageBytes
      setHash(buffer.hash(start..<start + Self.pageBytes), ofPage: page)
    }
    dirtyPages.removeAll(keepingCapacity: true)
    dirtyEnd = 0
    let tail = Int(sizeBytes % UInt64(Self.pageBytes))
    guard tail > 0, self[fullPages].isTouched else { return sum }
    let start = fullPages * Self.pageBytes
    var result = sum
    result += .contribution(ofPage: fullPages, hash: buffer.hash(start..<start + tail))
    return result
  }
}
