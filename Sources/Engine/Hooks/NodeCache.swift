// NodeCache.swift [U]: a cache of results computed from node bytes, for a lab that opens thousands
// of images of one file, each of which differs from the previous one in a few sectors. Invariants:
// everything kept is a function of the bytes of the sectors that the key names, so it is valid
// whenever the same bytes are at that place again; only results that passed their checks are kept,
// so that each error is found again each time, with the same message; a sector of unknown content
// is never part of a key. The cache is not used for files that a user opens.

/// The content of each sector as a number that differs when the bytes do; the lab keeps it up to
/// date.
@safe package final class SectorIdentities: @unchecked Sendable {
  // Safety: used by the one thread that uses the backend, as `StorageBackend` promises for the
  // rest.

  /// Marks unknown content.
  package static let unknown: UInt64 = 0

  package let cache: NodeCache
  // Plain memory: `count` numbers, freed in deinit, every access checked against `count`. They are
  // read for every page and node of every state.
  private let values: UnsafeMutablePointer<UInt64>
  private let count: Int

  /// Begins with no sector known.
  package init(sectorCount: Int, cache: NodeCache) {
    self.cache = cache
    count = sectorCount
    unsafe values = .allocate(capacity: max(1, sectorCount))
    unsafe values.initialize(repeating: Self.unknown, count: sectorCount)
  }

  /// The same sectors, of memory that was copied.
  package convenience init(copying other: SectorIdentities, sectorCount: Int) {
    self.init(sectorCount: sectorCount, cache: other.cache)
    for sector in 0..<min(count, other.count) { self[sector] = other[sector] }
  }

  deinit { unsafe values.deallocate() }

  /// The identity of a sector's content.
  package subscript(sector: Int) -> UInt64 {
    get {
      precondition(sector >= 0 && sector < count)
      return unsafe values[sector]
    }
    set {
      precondition(sector >= 0 && sector < count)
      unsafe values[sector] = newValue
    }
  }

  /// Marks the content of these sectors as unknown.
  package func forget(_ sectors: Range<Int>) {
    for sector in sectors.clamped(to: 0..<count) { self[sector] = Self.unknown }
  }

  /// The key of a node; nil when the content of one of its sectors is unknown.
  @inline(__always)
  func key(sector: UInt64, sizeBytes: Int) -> NodeCache.Key? {
    let first = Int(truncatingIfNeeded: sector)
    let length = Int(Layout.sectors(sizeBytes))
    guard first >= 0, length > 0, first < count, length <= count - first else { return nil }
    var content = self[first]
    if content == Self.unknown { return nil }
    for sector in first + 1..<first + length {
      let next = self[sector]
      if next == Self.unknown { return nil }
      let mixed = content ^ 0x9e37_79b9_7f4a_7c15
      let product = mixed.multipliedFullWidth(by: 0xd6e8_feb8_6659_fd93)
      content = product.high ^ product.low ^ (next << 1 | next >> 63)
    }
    return NodeCache.Key(sector: UInt64(first), sizeBytes: sizeBytes, content: content)
  }
}

/// Results computed from nodes, by their place and content.
@safe package final class NodeCache: @unchecked Sendable {
  // Safety: used by one thread at a time, like the identities that lead to it.

  /// A node's place and the identity of its sectors.
  struct Key: Hashable {
    let sector: UInt64
    let sizeBytes: Int
    let content: UInt64
  }

  /// A leaf without long strings whose every byte was verified.
  struct Leaf {
    let rowCount: Int
    let firstKey: Int64
    let lastKey: Int64
  }

  private struct Entry {
    var key: Key
    var checksum: UInt64
    var leafShape: UInt64 = 0
    var leaf = Leaf(rowCount: 0, firstKey: 0, lastKey: 0)
    var sumShape: UInt64 = 0
    var sumSeed: UInt64 = 0
    var rowSum: UInt64 = 0
    var rowCount: UInt64 = 0
  }

  /// One entry per hash: a new result replaces the old one, which is computed again when needed.
  // Plain memory: `mask` + 1 entries, and `slot` gives none beyond; freed in deinit.
  private let entries: UnsafeMutablePointer<Entry>
  private let mask: Int

  /// Makes an empty cache.
  /// - Parameter slotCountBits: Logarithm of the number of nodes kept at most.
  package init(slotCountBits: Int = 14) {
    mask = 1 << slotCountBits - 1
    unsafe entries = .allocate(capacity: 1 << slotCountBits)
    unsafe entries.initialize(
      repeating: Entry(key: Key(sector: 0, sizeBytes: 0, content: 0), checksum: 0),
      count: 1 << slotCountBits)
  }

  deinit { unsafe entries.deallocate() }

  @inline(__always)
  private func slot(_ key: Key) -> Int {
    Int(truncatingIfNeeded: (key.content ^ key.sector &* 0x9e37_79b9_7f4a_7c15) >> 20) & mask
  }

  /// The checksum of a node's bytes, computed when it is not known.
  @inline(__always)
  func checksum(_ key: Key, _ compute: () -> UInt64) -> UInt64 {
    let slot = slot(key)
    if unsafe entries[slot].key == key { return unsafe entries[slot].checksum }
    let computed = compute()
    unsafe entries[slot] = Entry(key: key, checksum: computed)
    return computed
  }

  /// The cached result for a leaf with this checksum and these column types; 0 means types without
  /// a number.
  @inline(__always)
  func leaf(_ key: Key, checksum: UInt64, shape: UInt64) -> Leaf? {
    let slot = slot(key)
    guard unsafe entries[slot].key == key, unsafe entries[slot].checksum == checksum,
      unsafe entries[slot].leafShape == shape, shape != 0
    else { return nil }
    return unsafe entries[slot].leaf
  }

  /// Caches a leaf's result; its checksum was looked up before.
  func keep(_ leaf: Leaf, _ key: Key, shape: UInt64) {
    let slot = slot(key)
    guard unsafe entries[slot].key == key else { return }
    unsafe entries[slot].leafShape = shape
    unsafe entries[slot].leaf = leaf
  }

  /// The sum of the row hashes of a leaf with this checksum, and the number of rows.
  @inline(__always)
  func rowSum(
    _ key: Key, checksum: UInt64, shape: UInt64, seed: UInt64
  ) -> (sum: UInt64, count: UInt64)? {
    let slot = slot(key)
    guard unsafe entries[slot].key == key, unsafe entries[slot].checksum == checksum,
      unsafe entries[slot].sumShape == shape, shape != 0, unsafe entries[slot].sumSeed == seed
    else { return nil }
    return unsafe (entries[slot].rowSum, entries[slot].rowCount)
  }

  /// Keeps the sum of a leaf's row hashes; its checksum was looked up before.
  func keep(rowSum: UInt64, rowCount: UInt64, _ key: Key, shape: UInt64, seed: UInt64) {
    let slot = slot(key)
    guard unsafe entries[slot].key == key else { return }
    unsafe entries[slot].sumShape = shape
    unsafe entries[slot].sumSeed = seed
    unsafe entries[slot].rowSum = rowSum
    unsafe entries[slot].rowCount = rowCount
  }
}
