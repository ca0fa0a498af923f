// PageTable.swift: what is known of each page of one regular file: its hash, and their sum.
// Invariants: `sum` has the recorded hashes of all touched pages that lie completely below
// `fullPages`; a dirty page's recorded hash is stale until the next `refresh`.

import Recording

/// The state of one page.
struct PageRecord {
  var hash: UInt64 = 0
  var isTouched = false
  var isDirty = false
}

/// What is known of the pages of a file.
struct PageTable {
  /// Pages below this index are kept in an array, the few above in a dictionary.
  private static let nearLimit = 1 << 20
  private static let pageBytes = FlatBuffer.pageBytes
  private static let blockPages = Int(Extent.blockBytes) / pageBytes

  private var near: [PageRecord] = []
  /// Pages of `near` from here on are all zeros, not dirty, and have hash 0: for a growing file
  /// they are looked up often.
  private(set) var contentEnd = 0
  /// End of the pages of `near` that became dirty since the last `refresh`.
  private var dirtyEnd = 0
  private var far: [Int: PageRecord] = [:]
  private var dirtyPages: [Int] = []
  private(set) var touchedCount = 0
  /// Number of pages that lie completely inside the file.
  private(set) var fullPages = 0
  /// The hash of all pages that lie completely inside the file, once none is dirty.
  private(set) var sum = ContentHash()
  /// Whole blocks that are unchanged since they were loaded, by their number.
  private var shared: [Payload?] = []

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
  func forEachIdentity(
    ofPagesBelow end: Int, _ body: (_ page: Int, _ identity: UInt64) -> Void
  ) {
    // Read through a local array: this runs over all pages for every state.
    let near = near
    for page in 0..<end {
      let record = page < near.count ? near[page] : self[page]
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

  /// Notes that blocks of the file are those of some extents.
  mutating func share(_ extents: [Extent]) {
    for extent in extents where extent.countBytes == Int(Extent.blockBytes) {
      let block = Int(extent.offsetBytes / Extent.blockBytes)
      guard block < Self.nearLimit / Self.blockPages else { break }
      shared += repeatElement(nil, count: max(0, block + 1 - shared.count))
      shared[block] = extent.payload
    }
  }

  /// The block that a range of bytes is, if it is unchanged since it was loaded.
  func sharedBlock(_ range: Range<Int>) -> Payload? {
    let block = range.lowerBound / Int(Extent.blockBytes)
    guard range.count == Int(Extent.blockBytes), block < shared.count else { return nil }
    return shared[block]
  }

  /// Notes that bytes of a page changed; returns true when the page was untouched before.
  mutating func markDirty(_ page: Int) -> Bool {
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
  mutating func lowerContentEnd(to end: Int) {
    contentEnd = min(contentEnd, max(end, dirtyEnd))
  }

  /// Sets a page's hash when it is known without reading the page.
  mutating func setHash(_ hash: UInt64, ofPage page: Int) {
    var record = self[page]
    record.isDirty = false
    if hash != record.hash, page < fullPages {
      sum -= .contribution(ofPage: page, hash: record.hash)
      sum += .contribution(ofPage: page, hash: hash)
    }
    record.hash = hash
    self[page] = record
  }

  /// Updates the sum for a new end of the file.
  mutating func setSize(_ sizeBytes: UInt64) {
    let pages = Int(sizeBytes / UInt64(Self.pageBytes))
    guard pages != fullPages else { return }
    for page in touchedPages(in: min(pages, fullPages)..<max(pages, fullPages)) {
      let contribution = ContentHash.contribution(ofPage: page, hash: self[page].hash)
      if pages > fullPages { sum += contribution } else { sum -= contribution }
    }
    fullPages = pages
  }

  /// Hashes the pages that changed.
  /// - Complexity: O(dirty pages).
  mutating func refresh(from buffer: FlatBuffer) {
    for page in dirtyPages where self[page].isDirty {
      let start = page * Self.pageBytes
      setHash(buffer.hash(start..<start + Self.pageBytes), ofPage: page)
    }
    dirtyPages.removeAll(keepingCapacity: true)
    dirtyEnd = 0
  }
}
