// PendingItems.swift [U]: the items of an encoder's open arrays and dicts, in one stack for all. An
// item is the later content of a slot of four bytes: a small value in its high bytes, or a pointer,
// which holds the place of its value in the output until its own place is known.

/// An item of an open collection.
struct PendingItem {
  /// Bit 31 marks a pointer, as it does in the format.
  let bits: UInt32

  /// A small value of two bytes.
  @inline(__always)
  init(small: UInt16) { bits = UInt32(small) << 16 }

  /// A small value of up to four bytes.
  @inline(__always)
  init(wide: UInt32) { bits = wide }

  /// A pointer to an even place below 2 GiB.
  @inline(__always)
  init(place: Int) { bits = 0x8000_0000 | UInt32(truncatingIfNeeded: place / 2) }

  /// The place that a pointer leads to; nil for a small value.
  @inline(__always)
  var place: Int? { bits >> 31 == 1 ? Int(bits & 0x7fff_ffff) * 2 : nil }
}

/// Items of all open collections, the innermost last.
@safe struct PendingItems: ~Copyable {
  // Safety: allocated here with `capacity` entries, of which `count` are initialized; freed by
  // `deinit`. Entries are trivial.
  private var base: UnsafeMutablePointer<PendingItem>
  private var capacity = 64
  private(set) var count = 0

  init() { unsafe base = .allocate(capacity: 64) }

  deinit { unsafe base.deallocate() }

  @inline(__always)
  mutating func append(_ item: PendingItem) {
    if count == capacity { grow() }
    unsafe (base + count).initialize(to: item)
    count += 1
  }

  @inline(never)
  private mutating func grow() {
    capacity *= 2
    let larger = UnsafeMutablePointer<PendingItem>.allocate(capacity: capacity)
    unsafe larger.initialize(from: base, count: count)
    unsafe base.deallocate()
    unsafe base = larger
  }

  @inline(__always)
  subscript(index: Int) -> PendingItem {
    get {
      precondition(index >= 0 && index < count)
      return unsafe base[index]
    }
    set {
      precondition(index >= 0 && index < count)
      unsafe base[index] = newValue
    }
  }

  mutating func cut(to newCount: Int) {
    precondition(newCount >= 0 && newCount <= count)
    count = newCount
  }
}
