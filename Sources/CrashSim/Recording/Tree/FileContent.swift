// FileContent.swift [U]: the bytes of one regular file, sparse and fast.
// Invariants: a file is a table of chunks of 64 KiB; a chunk's memory holds its first
// `capacityBytes` bytes and all after them reads as zeros; memory beyond the file's size is zero;
// `pages` has a bit for each 4 KiB page that counts as allocated, `written` for each of them that
// was written and not only reserved; `chargedBytes` of every chunk is reserved in the quota, and is
// at least its capacity. Whole pages that a recording keeps anyway are not copied: they are loans,
// and absent from the chunk's memory. Any change of a chunk other than writing whole pages first
// ends its loans (`settle`) by copying them.

import Glibc
import LabCore

/// The bytes of one regular file.
@safe package final class FileContent {
  package static let pageBytes = 4096
  static let chunkBytes = 65536
  /// Maximum file size; a write or truncate beyond it gets `EFBIG`.
  package static let limitBytes: UInt64 = 16 << 40
  /// Chunks below this index are in an array, the others of a sparse file in a dictionary.
  private static let denseCount: UInt64 = 65536
  private static let smallestBytes = 512
  nonisolated(unsafe) private static let zeros = unsafe UnsafeRawBufferPointer(
    start: calloc(1, chunkBytes), count: chunkBytes)

  /// The lent pages of one chunk.
  @unsafe private final class Loans {
    var pages: [LentBytes?] = Array(
      repeating: nil, count: chunkBytes / pageBytes)
  }

  /// A part of the file; the memory is nil until something is written.
  @unsafe private struct Chunk {
    var memory: UnsafeMutableRawPointer?
    var loans: Loans?
    var capacityBytes = 0
    var chargedBytes = 0
    var pages: UInt16 = 0
    var written: UInt16 = 0
  }

  package private(set) var sizeBytes: UInt64 = 0
  /// Number of 4 KiB pages that count as allocated.
  package private(set) var pageCount: UInt64 = 0
  private let quota: MemoryQuota
  private var dense: [Chunk] = unsafe []
  private var far: [UInt64: Chunk] = unsafe [:]

  init(quota: MemoryQuota) { self.quota = quota }

  deinit { dropChunks(from: 0) }

  // MARK: Chunks

  private func chunk(_ index: UInt64) -> Chunk? {
    if index < Self.denseCount {
      return unsafe index < UInt64(dense.count) ? dense[Int(index)] : nil
    }
    return unsafe far[index]
  }

  private func setChunk(_ index: UInt64, _ chunk: Chunk) {
    guard index < Self.denseCount else {
      unsafe far[index] = chunk
      return
    }
    while unsafe UInt64(dense.count) <= index { unsafe dense.append(Chunk()) }
    unsafe dense[Int(index)] = chunk
  }

  /// Frees the chunks from an index on.
  private func dropChunks(from first: UInt64) {
    while unsafe UInt64(dense.count) > first, let last = unsafe dense.popLast() {
      unsafe discard(last)
    }
    let behind = unsafe far.keys.filter { $0 >= first }
    for index in behind {
      if let chunk = unsafe far.removeValue(forKey: index) { unsafe discard(chunk) }
    }
  }

  private func discard(_ chunk: Chunk) {
    unsafe free(chunk.memory)
    unsafe quota.release(chunk.chargedBytes)
    unsafe changePageCount(by: -chunk.pages.nonzeroBitCount)
  }

  /// Reserves memory for a chunk's first `endBytes` bytes; false when the quota is exhausted.
  private func charge(_ chunk: inout Chunk, to endBytes: Int) -> Bool {
    if unsafe endBytes <= chunk.chargedBytes { return true }
    let wanted = Self.capacity(endBytes)
    guard unsafe quota.reserve(wanted - chunk.chargedBytes) else { return false }
    unsafe chunk.chargedBytes = wanted
    return true
  }

  /// The memory size of a chunk that holds this many bytes.
  private static func capacity(_ endBytes: Int) -> Int {
    var capacity = smallestBytes
    while capacity < endBytes { capacity *= 2 }
    return capacity
  }

  /// Gives a chunk memory for its first `endBytes` bytes; false when the quota is exhausted.
  private func grow(_ chunk: inout Chunk, to endBytes: Int) -> Bool {
    if unsafe endBytes <= chunk.capacityBytes { return true }
    guard unsafe charge(&chunk, to: endBytes) else { return false }
    let wanted = Self.capacity(endBytes)
    guard let memory = unsafe realloc(chunk.memory, wanted) else { return false }
    unsafe memset(memory + chunk.capacityBytes, 0, wanted - chunk.capacityBytes)
    unsafe chunk.memory = unsafe memory
    unsafe chunk.capacityBytes = wanted
    return true
  }

  /// The bits of the pages that `range` (inside one chunk) touches.
  private static func pageBits(_ range: Range<Int>) -> UInt16 {
    if range.isEmpty { return 0 }
    let first = range.lowerBound / pageBytes
    let last = (range.upperBound - 1) / pageBytes
    return (UInt16.max >> UInt16(15 - (last - first))) << UInt16(first)
  }

  private func changePageCount(by change: Int) {
    pageCount = UInt64(Int64(pageCount) + Int64(change))
    quota.pageCount = UInt64(Int64(quota.pageCount) + Int64(change))
  }

  private func mark(_ bits: UInt16, in chunk: inout Chunk) {
    unsafe changePageCount(by: (bits & ~chunk.pages).nonzeroBitCount)
    unsafe chunk.pages |= bits
  }

  private func unmark(_ bits: UInt16, in chunk: inout Chunk) {
    unsafe changePageCount(by: -(bits & chunk.pages).nonzeroBitCount)
    unsafe chunk.pages &= ~bits
    unsafe chunk.written &= ~bits
  }

  /// Calls `body` with each chunk index and the part of the range inside that chunk, until false.
  private static func forEachPart(
    _ offset: UInt64, _ count: UInt64, _ body: (UInt64, Range<Int>) -> Bool
  ) {
    var position = offset
    let end = offset + count
    while position < end {
      let index = position / UInt64(chunkBytes)
      let start = Int(position % UInt64(chunkBytes))
      let length = Int(min(UInt64(chunkBytes - start), end - position))
      if !body(index, start..<start + length) { return }
      position += UInt64(length)
    }
  }

  /// The end of a range, or `EFBIG` when it exceeds the file size limit.
  private static func end(_ offset: UInt64, _ count: UInt64) throws(ErrorNumber) -> UInt64 {
    let (end, overflow) = offset.addingReportingOverflow(count)
    if overflow || end > limitBytes { throw ErrorNumber(EFBIG) }
    return end
  }

  // MARK: Changes

  /// Writes as many bytes as there is space for, and grows the file to hold them; changes nothing
  /// when it throws.
  ///
  /// `loan` is where the same bytes stay; nil when only a copy of them is safe.
  /// - Returns: The number of bytes written, from the start.
  /// - Throws: `ENOSPC` when there is space for none.
  func writePart(
    _ bytes: RawSpan, at offset: UInt64, lent loan: LentBytes? = nil
  ) throws(ErrorNumber) -> Int {
    _ = try Self.end(offset, UInt64(bytes.byteCount))
    if bytes.byteCount == 0 { return 0 }
    let isWhole = (offset | UInt64(bytes.byteCount)) % UInt64(Self.pageBytes) == 0
    let loan = isWhole ? loan : nil
    let count = UInt64(prepare(offset, UInt64(bytes.byteCount), isLoan: loan != nil))
    if count == 0 { throw ErrorNumber(ENOSPC) }
    let end = offset + count
    unsafe bytes.withUnsafeBytes { source in
      var taken = 0
      Self.forEachPart(offset, count) { index, range in
        // Safety: prepare gave this chunk memory up to range.upperBound, or loans.
        unsafe change(index) { chunk in
          if let loan {
            unsafe Self.lend(loan, from: taken, to: &chunk, range)
          } else {
            unsafe memcpy(
              chunk.memory.unsafelyUnwrapped + range.lowerBound,
              source.baseAddress.unsafelyUnwrapped + taken, range.count)
          }
          let pages = Self.pageBits(range)
          unsafe mark(pages, in: &chunk)
          unsafe chunk.written |= pages
        }
        taken += range.count
        return true
      }
    }
    sizeBytes = max(sizeBytes, end)
    return Int(count)
  }

  /// Writes all bytes; changes nothing when it throws.
  func write(_ bytes: [UInt8], at offset: UInt64) throws(ErrorNumber) {
    _ = try Self.end(offset, UInt64(bytes.count))
    guard prepare(offset, UInt64(bytes.count), isLoan: false) == bytes.count else {
      giveBack(offset, UInt64(bytes.count))
      throw ErrorNumber(ENOSPC)
    }
    _ = try unsafe writePart(bytes.span.bytes, at: offset)
  }

  /// Releases chunks of a range that were prepared and hold nothing.
  private func giveBack(_ offset: UInt64, _ count: UInt64) {
    Self.forEachPart(offset, count) { index, _ in
      if let chunk = unsafe chunk(index), unsafe chunk.pages == 0 {
        unsafe discard(chunk)
        unsafe setChunk(index, Chunk())
      }
      return true
    }
  }

  /// Prepares a range for writing or lending.
  /// - Returns: The number of bytes prepared from its start: all, or whole pages.
  private func prepare(_ offset: UInt64, _ count: UInt64, isLoan: Bool) -> Int {
    var prepared = 0
    Self.forEachPart(offset, count) { index, range in
      if prepare(index, range, isLoan: isLoan) {
        prepared += range.count
        return true
      }
      // Some pages of the last chunk may still fit.
      var end = (range.lowerBound / Self.pageBytes + 1) * Self.pageBytes
      var fitting = range.lowerBound
      while end < range.upperBound, prepare(index, range.lowerBound..<end, isLoan: isLoan) {
        fitting = end
        end += Self.pageBytes
      }
      prepared += fitting - range.lowerBound
      return false
    }
    return prepared
  }

  /// Changes a chunk in place.
  private func change<Result>(_ index: UInt64, _ body: (inout Chunk) -> Result) -> Result {
    if index < Self.denseCount, unsafe index < UInt64(dense.count) {
      return unsafe body(&dense[Int(index)])
    }
    var chunk = unsafe chunk(index) ?? Chunk()
    defer { unsafe setChunk(index, chunk) }
    return unsafe body(&chunk)
  }

  /// Prepares a range of a chunk for writing or lending.
  private func prepare(_ index: UInt64, _ range: Range<Int>, isLoan: Bool) -> Bool {
    unsafe change(index) { chunk in
      if isLoan {
        if unsafe chunk.loans == nil { unsafe chunk.loans = unsafe Loans() }
        return unsafe charge(&chunk, to: range.upperBound)
      }
      unsafe settle(&chunk)
      return unsafe grow(&chunk, to: range.upperBound)
    }
  }

  /// Notes the location of the bytes of whole pages.
  private static func lend(
    _ loan: LentBytes, from first: Int, to chunk: inout Chunk, _ range: Range<Int>
  ) {
    guard let loans = unsafe chunk.loans else { return }
    for start in stride(from: range.lowerBound, to: range.upperBound, by: pageBytes) {
      unsafe loans.pages[start / pageBytes] = LentBytes(
        piece: loan.piece, start: loan.start + first + (start - range.lowerBound))
    }
  }

  /// Copies lent pages into a chunk's own memory.
  private func settle(_ chunk: inout Chunk) {
    guard let loans = unsafe chunk.loans else { return }
    unsafe chunk.loans = nil
    guard let last = unsafe loans.pages.lastIndex(where: { $0 != nil }) else { return }
    // The quota includes it; without memory there is nothing that the file could show.
    guard unsafe grow(&chunk, to: (last + 1) * Self.pageBytes),
      let memory = unsafe chunk.memory
    else { preconditionFailure("no memory for \(Self.chunkBytes) bytes of a file") }
    for page in unsafe loans.pages.indices {
      guard let loan = unsafe loans.pages[page] else { continue }
      unsafe memcpy(memory + page * Self.pageBytes, loan.start, Self.pageBytes)
    }
  }

  /// Copies all lent bytes, so that no recording has to keep them.
  /// - Complexity: O(chunks), and a copy of lent pages.
  func settle() {
    for index in unsafe dense.indices { unsafe settle(&dense[index]) }
    for index in unsafe Array(far.keys) { settle(index) }
  }

  private func settle(_ index: UInt64) {
    if unsafe chunk(index)?.loans != nil { unsafe change(index) { unsafe settle(&$0) } }
  }

  /// Cuts the file, or extends it with a hole.
  func truncate(to newSizeBytes: UInt64) throws(ErrorNumber) {
    if newSizeBytes > Self.limitBytes { throw ErrorNumber(EFBIG) }
    if newSizeBytes < sizeBytes {
      let chunkBytes = UInt64(Self.chunkBytes)
      dropChunks(from: (newSizeBytes + chunkBytes - 1) / chunkBytes)
      let start = Int(newSizeBytes % chunkBytes)
      if start > 0 { clear(newSizeBytes / chunkBytes, start..<Self.chunkBytes) }
    }
    sizeBytes = newSizeBytes
  }

  /// Makes a range read as zeros and frees its whole pages; the size stays.
  func punch(_ offset: UInt64, _ count: UInt64) {
    let (sum, overflow) = offset.addingReportingOverflow(count)
    let end = overflow ? Self.limitBytes : min(sum, Self.limitBytes)
    let chunkBytes = UInt64(Self.chunkBytes)
    guard offset < end else { return }
    for index in unsafe dense.indices {
      let base = UInt64(index) * chunkBytes
      if base + chunkBytes <= offset || base >= end { continue }
      clear(UInt64(index), Self.part(from: offset, to: end, of: base))
    }
    for index in unsafe Array(far.keys) {
      let base = index * chunkBytes
      if base + chunkBytes <= offset || base >= end { continue }
      clear(index, Self.part(from: offset, to: end, of: base))
    }
  }

  private static func part(from offset: UInt64, to end: UInt64, of base: UInt64) -> Range<Int> {
    let lower = offset > base ? Int(offset - base) : 0
    return lower..<Int(min(end - base, UInt64(chunkBytes)))
  }

  /// Zeroes a part of a chunk; pages that it covers completely no longer count as allocated.
  private func clear(_ index: UInt64, _ range: Range<Int>) {
    settle(index)
    guard var chunk = unsafe chunk(index) else { return }
    let end = unsafe min(range.upperBound, chunk.capacityBytes)
    if range.lowerBound < end, let memory = unsafe chunk.memory {
      unsafe memset(memory + range.lowerBound, 0, end - range.lowerBound)
    }
    let firstWhole = (range.lowerBound + Self.pageBytes - 1) / Self.pageBytes * Self.pageBytes
    let lastWhole = range.upperBound / Self.pageBytes * Self.pageBytes
    if firstWhole < lastWhole { unsafe unmark(Self.pageBits(firstWhole..<lastWhole), in: &chunk) }
    if unsafe chunk.pages == 0 {
      unsafe discard(chunk)
      unsafe chunk = unsafe Chunk()
    }
    unsafe setChunk(index, chunk)
  }

  /// Reserves a range, so that writing to it cannot fail for lack of space; the size stays.
  func allocate(_ offset: UInt64, _ count: UInt64) throws(ErrorNumber) {
    _ = try Self.end(offset, count)
    if count > quota.limitBytes { throw ErrorNumber(ENOSPC) }
    var missing = 0
    Self.forEachPart(offset, count) { index, _ in
      missing += unsafe Self.chunkBytes - (chunk(index)?.chargedBytes ?? 0)
      return true
    }
    // All or nothing: a range that does not fit leaves nothing reserved.
    guard quota.reserve(missing) else { throw ErrorNumber(ENOSPC) }
    Self.forEachPart(offset, count) { index, range in
      var chunk = unsafe chunk(index) ?? Chunk()
      unsafe chunk.chargedBytes = Self.chunkBytes
      unsafe mark(Self.pageBits(range), in: &chunk)
      unsafe setChunk(index, chunk)
      return true
    }
  }

  // MARK: Reading

  /// Calls `body` with the memory of a range, piece by piece, cut at the file's end.
  ///
  /// Safety: the memory is valid only during the call, and as long as the content does not change.
  @unsafe package func forEachPiece(
    at offset: UInt64, count: UInt64, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    guard offset < sizeBytes else { return }
    Self.forEachPart(offset, min(count, sizeBytes - offset)) { index, range in
      settle(index)
      let chunk = unsafe chunk(index)
      let held = unsafe min(range.upperBound, chunk?.capacityBytes ?? 0)
      var rest = range.count
      if held > range.lowerBound, let memory = unsafe chunk?.memory {
        let bytes = unsafe UnsafeRawBufferPointer(
          start: memory + range.lowerBound, count: held - range.lowerBound)
        unsafe body(bytes)
        rest -= bytes.count
      }
      if rest > 0 { unsafe body(UnsafeRawBufferPointer(rebasing: Self.zeros[0..<rest])) }
      return true
    }
  }

  /// The memory of a range, cut at the file's end, if it is contiguous.
  ///
  /// Safety: as for `forEachPiece`.
  @unsafe package func piece(at offset: UInt64, count: Int) -> UnsafeRawBufferPointer? {
    guard offset < sizeBytes, count > 0 else { return nil }
    let wanted = Int(min(UInt64(count), sizeBytes - offset))
    let start = Int(offset % UInt64(Self.chunkBytes))
    settle(offset / UInt64(Self.chunkBytes))
    guard let chunk = unsafe chunk(offset / UInt64(Self.chunkBytes)),
      let memory = unsafe chunk.memory, wanted <= Self.chunkBytes,
      unsafe start + wanted <= chunk.capacityBytes
    else { return nil }
    return unsafe UnsafeRawBufferPointer(start: memory + start, count: wanted)
  }

  /// The bytes of a range, cut at the file's end.
  package func read(at offset: UInt64, count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    unsafe forEachPiece(at: offset, count: UInt64(max(0, count))) { piece in
      unsafe bytes.append(contentsOf: piece)
    }
    return bytes
  }

  /// Numbers of the chunks with content, in order.
  func chunkIndices() -> [UInt64] {
    let held = unsafe dense.indices.filter {
      unsafe dense[$0].memory != nil || dense[$0].loans != nil
    }.map(UInt64.init)
    return unsafe held + far.keys.sorted()
  }

  /// The next position from `offset` on that was written (or, if not `isData`, was not).
  ///
  /// Allocated but unwritten space is a hole, like unwritten extents in ext4, XFS and Btrfs.
  package func seek(from offset: UInt64, isData: Bool) throws(ErrorNumber) -> UInt64 {
    guard offset < sizeBytes else { throw ErrorNumber(ENXIO) }
    var position = offset
    while position < sizeBytes {
      let index = position / UInt64(Self.chunkBytes)
      let written = unsafe chunk(index)?.written ?? 0
      let page = Int(position % UInt64(Self.chunkBytes)) / Self.pageBytes
      if (written >> UInt16(page)) & 1 == (isData ? 1 : 0) { return position }
      if written == 0 {
        guard let next = nextChunk(from: index + 1) else { break }
        position = next * UInt64(Self.chunkBytes)
      } else {
        position = (position / UInt64(Self.pageBytes) + 1) * UInt64(Self.pageBytes)
      }
    }
    if isData { throw ErrorNumber(ENXIO) }
    return sizeBytes
  }

  /// Number of pages that a range touches and the file does not occupy.
  /// - Complexity: O(chunks of the file), not of the range.
  package func missingPages(in range: Range<UInt64>) -> UInt64 {
    if range.isEmpty { return 0 }
    let pageBytes = UInt64(Self.pageBytes)
    let first = range.lowerBound / pageBytes
    let last = (range.upperBound - 1) / pageBytes
    var held: UInt64 = 0
    let perChunk = UInt64(Self.chunkBytes / Self.pageBytes)
    func count(_ index: UInt64, _ pages: UInt16) {
      for bit in 0..<perChunk where (pages >> UInt16(bit)) & 1 == 1 {
        let page = index * perChunk + bit
        if page >= first, page <= last { held += 1 }
      }
    }
    for index in unsafe dense.indices where unsafe dense[index].pages != 0 {
      let base = UInt64(index) * perChunk
      if base <= last, base + perChunk > first { count(UInt64(index), unsafe dense[index].pages) }
    }
    for index in unsafe Array(far.keys) { count(index, unsafe far[index]?.pages ?? 0) }
    return last - first + 1 - held
  }

  /// The first chunk from an index on that was written.
  private func nextChunk(from first: UInt64) -> UInt64? {
    var index = first
    while unsafe index < UInt64(dense.count) {
      if unsafe dense[Int(index)].written != 0 { return index }
      index += 1
    }
    return unsafe far.filter { unsafe $0.key >= first && $0.value.written != 0 }.keys.min()
  }
}

extension Payload {
  /// Copies bytes, once.
  package convenience init(copying bytes: RawSpan) {
    self.init(unsafe bytes.withUnsafeBytes { unsafe Array($0) })
  }
}
