// WrittenTexts.swift [U]: where the short texts of a document were last written, so that pointers
// can reuse them. A text of 2 to 15 bytes fits, with its length, into two words, which are the key:
// only these are compared.

/// Where texts of 2 to 15 bytes were written.
@safe struct WrittenTexts: ~Copyable {
  /// The bytes of a text, low ones first, and its length in the last byte.
  struct Key: Equatable {
    /// The key of no text.
    static let none = Key(low: 0, high: 0)

    var low: UInt64
    var high: UInt64

    private init(low: UInt64, high: UInt64) {
      self.low = low
      self.high = high
    }

    /// The key of 2 to 15 bytes.
    @inline(__always)
    init(_ text: FleeceBytes) {
      let count = text.count
      if count >= 8 {
        low = text.littleEndian(at: 0, count: 8)
        // The last eight bytes overlap the first; the common ones are shifted out.
        let rest = UInt64(count - 8)
        let last = text.littleEndian(at: count - 8, count: 8)
        high = rest == 0 ? 0 : last >> (64 - 8 * rest)
      } else {
        low = text.littleEndian(at: 0, count: count)
        high = 0
      }
      high |= UInt64(count) << 56
    }

    @inline(__always)
    var hash: UInt64 {
      var z = (low ^ high &* 0x9e37_79b9_7f4a_7c15) &* 0xff51_afd7_ed55_8ccd
      z ^= z >> 32
      return z &* 0xc4ce_b9fe_1a85_ec53
    }
  }

  private struct Slot {
    var key: Key
    /// Place in the output, plus 1; 0 where there is none.
    var place: UInt32
  }

  // Safety: allocated here with `capacity` entries, all initialized; freed by `deinit`.
  private var slots: UnsafeMutablePointer<Slot>
  /// A power of two, of which half are used at most.
  private var capacity: Int
  private var count = 0

  private static let firstCapacity = 64
  private static let keptCapacityMax = 256

  init() {
    capacity = Self.firstCapacity
    unsafe slots = Self.empty(capacity)
  }

  deinit { unsafe slots.deallocate() }

  @unsafe private static func empty(_ capacity: Int) -> UnsafeMutablePointer<Slot> {
    let slots = UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
    unsafe slots.initialize(repeating: Slot(key: Key.none, place: 0), count: capacity)
    return unsafe slots
  }

  /// Removes all texts.
  mutating func removeAll() {
    guard count > 0 else { return }
    if capacity > Self.keptCapacityMax {
      // Clearing the slots of a long document would take longer than a short one.
      unsafe slots.deallocate()
      capacity = Self.firstCapacity
      unsafe slots = Self.empty(capacity)
    } else {
      unsafe slots.update(repeating: Slot(key: Key.none, place: 0), count: capacity)
    }
    count = 0
  }

  /// The slot where a key is, or would be.
  @inline(__always)
  private func slot(of key: Key) -> Int {
    var index = Int(truncatingIfNeeded: key.hash >> 32) & (capacity - 1)
    // Safety: the index is below the capacity, a power of two.
    while unsafe slots[index].place != 0, unsafe slots[index].key != key {
      index = (index + 1) & (capacity - 1)
    }
    return index
  }

  /// Where a text was written last.
  @inline(__always)
  func place(of key: Key) -> Int? {
    let place = unsafe slots[slot(of: key)].place
    return place == 0 ? nil : Int(place - 1)
  }

  /// Notes where a text is written now.
  @inline(__always)
  mutating func note(_ key: Key, at place: Int) {
    let index = slot(of: key)
    if unsafe slots[index].place == 0 {
      guard 2 * (count + 1) <= capacity else {
        grow()
        return note(key, at: place)
      }
      count += 1
    }
    unsafe slots[index] = Slot(key: key, place: UInt32(place + 1))
  }

  @inline(never)
  private mutating func grow() {
    let (old, oldCapacity) = unsafe (slots, capacity)
    capacity *= 2
    unsafe slots = Self.empty(capacity)
    for index in 0..<oldCapacity where unsafe old[index].place != 0 {
      let moved = unsafe old[index]
      unsafe slots[slot(of: moved.key)] = moved
    }
    unsafe old.deallocate()
  }
}
