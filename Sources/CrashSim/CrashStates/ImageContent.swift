// ImageContent.swift: [U] one regular file's bytes, with what is known of its pages.
// Invariant: bytes of untouched pages are zero.
// Safety: the table is allocated with the object and freed with it, and no pointer leaves it.

import LabCore
import Recording

/// One regular file's bytes with their hash.
@safe
package final class ImageContent {
  package static let pageBytes = FlatBuffer.pageBytes

  let buffer = FlatBuffer()
  /// Behind a pointer: it changes with every unit of every state, and each access to an object's
  /// own variables would be checked for others at the same time.
  private let pages: UnsafeMutablePointer<PageTable>

  init() {
    unsafe pages = .allocate(capacity: 1)
    unsafe pages.initialize(to: PageTable())
  }

  deinit {
    unsafe pages.deinitialize(count: 1)
    unsafe pages.deallocate()
  }

  /// End of the pages that may have bytes, of those that are looked up often.
  var contentEnd: Int { unsafe pages.pointee.contentEnd }

  /// Number of pages that were ever written.
  var touchedCount: Int { unsafe pages.pointee.touchedCount }

  /// What is known of a page.
  subscript(page: Int) -> PageRecord { unsafe pages.pointee[page] }

  /// Calls a closure for each of the first pages with a number that differs if the page's bytes do;
  /// 0 when its hash is currently unknown.
  @inline(__always)
  package func forEachIdentity(
    ofPagesBelow end: Int, _ body: (_ page: Int, _ identity: UInt64) -> Void
  ) {
    unsafe pages.pointee.forEachIdentity(ofPagesBelow: end, body)
  }

  /// Touched pages of a range, in no particular order beyond the first 4 GiB; below that, without
  /// pages whose changes were all reverted.
  func touchedPages(in range: Range<Int>) -> [Int] {
    unsafe pages.pointee.touchedPages(in: range)
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

  /// Whether a page, or its part below the size, is all zeros.
  func isZero(_ range: Range<Int>) -> Bool {
    let known = self[range.lowerBound / Self.pageBytes]
    if range.count == Self.pageBytes, !known.isDirty { return known.hash == 0 }
    return buffer.hash(range) == 0
  }

  /// Notes the origin of the content, so that trees need no copies of it.
  func share(_ extents: [Extent]) { unsafe pages.pointee.share(extents) }

  /// The bytes of a run of pages inside one block, which trees may share.
  func payload(of range: Range<Int>, in store: PayloadStore) -> Payload {
    unsafe pages.pointee.sharedBlock(range) ?? store.payload(buffer.bytes(range))
  }

  /// Notes that bytes of a page changed; returns true when the page was untouched before.
  @discardableResult
  func markDirty(_ page: Int) -> Bool { unsafe pages.pointee.markDirty(page) }

  /// Restores an earlier end of the content, after all later writes are reverted.
  func lowerContentEnd(to end: Int) { unsafe pages.pointee.lowerContentEnd(to: end) }

  /// Sets a page's hash when it is known without reading the page.
  func setHash(_ hash: UInt64, ofPage page: Int) {
    unsafe pages.pointee.setHash(hash, ofPage: page)
  }

  /// Updates the sum for a new end of the file.
  func setSize(_ sizeBytes: UInt64) { unsafe pages.pointee.setSize(sizeBytes) }

  /// Hash of the bytes below the size.
  /// - Complexity: O(dirty pages + 1).
  func hash(sizeBytes: UInt64) -> ContentHash {
    unsafe pages.pointee.refresh(from: buffer)
    var result = unsafe pages.pointee.sum
    let fullPages = unsafe pages.pointee.fullPages
    let tail = Int(sizeBytes % UInt64(Self.pageBytes))
    guard tail > 0, self[fullPages].isTouched else { return result }
    let start = fullPages * Self.pageBytes
    result += .contribution(ofPage: fullPages, hash: buffer.hash(start..<start + tail))
    return result
  }
}
