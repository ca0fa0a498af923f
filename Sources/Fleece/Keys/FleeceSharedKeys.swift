// FleeceSharedKeys.swift: the table of keys that documents of one database write as numbers.
// Invariants: the table grows only at its end, and is truncated by `removeAll(from:)`; keys are
// unique; `slots` is the result of adding the keys in order. It is a value: a caller that may have
// to roll back keeps a copy, or the old count.

/// A table of shared keys: a key's index in it is the key's number.
public struct FleeceSharedKeys: Sendable, Hashable {
  /// How many keys a table can have.
  public static let countMax = 2048
  /// How many bytes a key may have to be added.
  public static let keySizeMaxBytes = 16

  /// The keys' bytes, one after the other.
  var bytes: [UInt8] = []
  /// Where each key ends in them.
  var ends: [Int32] = []
  /// Open addressing: place + 1 of a key, or 0; a power of two, at most half full.
  private var slots: [UInt16] = []

  /// An empty table.
  public init() {}

  /// Whether two tables have the same keys at the same numbers.
  public static func == (first: FleeceSharedKeys, second: FleeceSharedKeys) -> Bool {
    first.ends == second.ends && first.bytes == second.bytes
  }

  /// Hashes the keys.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ends)
    hasher.combine(bytes)
  }

  /// How many keys there are.
  public var count: Int { ends.count }

  /// Whether a key may be added: at most 16 bytes, all of them letters, digits, `_` and `-` of
  /// ASCII.
  /// - Parameter key: The key's bytes.
  /// - Returns: Whether it may. An empty one may, as in the real library.
  public static func isEligible(_ key: FleeceBytes) -> Bool {
    guard key.count <= keySizeMaxBytes else { return false }
    for index in 0..<key.count {
      switch key.uint8(index) {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: continue
      default: return false
      }
    }
    return true
  }

  /// The number of a key.
  /// - Parameter key: The key's bytes of UTF-8.
  /// - Returns: Its place; nil when it is not in the table.
  /// - Complexity: O(1).
  public func number(of key: FleeceBytes) -> Int? {
    guard !slots.isEmpty else { return nil }
    let found = slots[slot(of: key)]
    return found == 0 ? nil : Int(found) - 1
  }

  /// The number of a key.
  /// - Parameter key: The key.
  /// - Returns: Its place; nil when it is not in the table.
  /// - Complexity: O(1).
  public func number(of key: String) -> Int? {
    FleeceBytes.over(key) { (view: FleeceBytes) in number(of: view) }
  }

  /// The key of a number.
  /// - Parameter number: The number.
  /// - Returns: The key; nil when the table has no such number.
  /// - Complexity: O(1).
  public func key(of number: Int) -> String? {
    guard number >= 0, number < count else { return nil }
    return String(decoding: bytes[range(of: number)], as: UTF8.self)
  }

  /// All keys, in the order of their numbers.
  public var keys: [String] {
    (0..<count).map { String(decoding: bytes[range(of: $0)], as: UTF8.self) }
  }

  /// The number of a key, which is added if it is missing, allowed, and there is room.
  /// - Parameter key: The key's bytes of UTF-8.
  /// - Returns: Its number; nil when the key is to be written as a text.
  /// - Complexity: O(1), now and then O(count).
  public mutating func numberAdding(_ key: FleeceBytes) -> Int? {
    if let number = number(of: key) { return number }
    guard count < Self.countMax, Self.isEligible(key) else { return nil }
    append(key)
    return count - 1
  }

  /// The number of a key, which is added if it is missing, allowed, and there is room.
  /// - Parameter key: The key.
  /// - Returns: Its number; nil when the key is to be written as a text.
  public mutating func numberAdding(_ key: String) -> Int? {
    FleeceBytes.over(key) { (view: FleeceBytes) in numberAdding(view) }
  }

  /// Removes the keys from a number on: those of a transaction that is rolled back.
  /// - Parameter newCount: The number of keys to keep; traps when there are fewer.
  /// - Complexity: O(removed keys).
  public mutating func removeAll(from newCount: Int) {
    precondition(newCount >= 0 && newCount <= count)
    while count > newCount {
      // The last one added is at the end of its chain of slots, so removing it loses no other.
      slots[slot(ofNumber: count - 1)] = 0
      ends.removeLast()
      bytes.removeLast(bytes.count - Int(ends.last ?? 0))
    }
  }

  /// Adds a missing key without checking whether it may be shared.
  mutating func append(_ key: FleeceBytes) {
    if 2 * (count + 1) > slots.count { grow() }
    slots[slot(of: key)] = UInt16(count + 1)
    for index in 0..<key.count { bytes.append(key.uint8(index)) }
    ends.append(Int32(bytes.count))
  }

  func range(of number: Int) -> Range<Int> {
    (number == 0 ? 0 : Int(ends[number - 1]))..<Int(ends[number])
  }

  private mutating func grow() {
    slots = [UInt16](repeating: 0, count: max(16, 2 * slots.count))
    for number in 0..<count {
      slots[slot(ofNumber: number)] = UInt16(number + 1)
    }
  }

  private func slot(ofNumber number: Int) -> Int {
    FleeceBytes.over(Array(bytes[range(of: number)])) { (key: FleeceBytes) in slot(of: key) }
  }

  /// Where a key is, or where it would be.
  @inline(__always)
  private func slot(of key: FleeceBytes) -> Int {
    var hash: UInt64 = 0x9e37_79b9_7f4a_7c15 ^ UInt64(key.count)
    for index in 0..<key.count {
      hash = (hash ^ UInt64(key.uint8(index))) &* 0x0000_0100_0000_01b3
    }
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: (hash ^ (hash >> 32)) & UInt64(mask))
    while slots[slot] != 0, !isEqual(Int(slots[slot]) - 1, key) { slot = (slot + 1) & mask }
    return slot
  }

  @inline(__always)
  private func isEqual(_ number: Int, _ key: FleeceBytes) -> Bool {
    let range = range(of: number)
    guard range.count == key.count else { return false }
    for index in 0..<key.count where bytes[range.lowerBound + index] != key.uint8(index) {
      return false
    }
    return true
  }
}
