// ReferenceDigest.swift: the digest of docs/reference/sync-merge.md, section 11, with its own hash
// and encodings, written from docs/reference/sync-format.md: all bytes of a part first, then their
// hash.

import SyncCore

/// Digests recomputed from scratch.
public enum ReferenceDigest {
  /// The digest of some objects.
  /// - Complexity: O(bytes).
  public static func digest(_ objects: [SyncObject: ReferenceNode]) -> UInt128 {
    var digest: UInt128 = 0
    for (object, node) in objects {
      digest &+= hash([5] + text(object.type) + key(object.key) + fixed(sum(node), count: 16))
    }
    return digest
  }

  private static func sum(_ node: ReferenceNode) -> UInt128 {
    var sum: UInt128 = 0
    for (name, content) in node.fields {
      let name = text(name)
      if let value = content.value { sum &+= hash([1] + name + slot(value)) }
      let none = [UInt8](repeating: 0, count: 16)
      let slots = [none] + content.list.map { slot($0) } + [none]
      for (left, right) in zip(slots, slots.dropFirst()) where !content.list.isEmpty {
        sum &+= hash([2] + name + left + right)
      }
      for member in content.set { sum &+= hash([3] + name + slot(.value(member))) }
      for (key, value) in content.dictionary {
        sum &+= hash([4] + name + text(key) + slot(value))
      }
    }
    return sum
  }

  private static func slot(_ slot: ReferenceNode.Slot) -> [UInt8] {
    switch slot {
    case .value(let value): fixed(hash(bytes(value)), count: 16)
    case .node(let node): fixed(hash([0] + fixed(sum(node), count: 16)), count: 16)
    }
  }

  /// The hash of sync-format.md, section 5.
  static func hash(_ bytes: [UInt8]) -> UInt128 {
    var words: [UInt64] = []
    for start in stride(from: 0, through: bytes.count, by: 8) {
      var word: UInt64 = 0
      for index in start..<min(start + 8, bytes.count) {
        word += UInt64(bytes[index]) << UInt64(8 * (index - start))
      }
      words.append(word)
    }
    var (low, high) = (0x9e37_79b9_7f4a_7c15 as UInt64, 0xc2b2_ae3d_27d4_eb4f as UInt64)
    for word in words + [UInt64(bytes.count), 0] {
      low = (low ^ word) &* 0xff51_afd7_ed55_8ccd
      low ^= low / (1 << 32)
      high = (high &+ low) &* 0xc4ce_b9fe_1a85_ec53
      high ^= high / (1 << 29)
    }
    return UInt128(high) * (1 << 64) + UInt128(low)
  }

  private static func fixed(_ number: UInt128, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(number / (1 << UInt128(8 * $0)) % 256) }
  }

  private static func number(_ number: UInt64) -> [UInt8] {
    number < 128 ? [UInt8(number)] : [UInt8(number % 128) + 128] + Self.number(number / 128)
  }

  private static func signed(_ number: Int64) -> [UInt8] {
    Self.number(number < 0 ? ~UInt64(bitPattern: number) * 2 + 1 : UInt64(number) * 2)
  }

  private static func text(_ text: SyncText) -> [UInt8] {
    number(UInt64(text.utf8.count)) + text.utf8
  }

  private static func key(_ key: SyncKey) -> [UInt8] {
    switch key {
    case .null: [0]
    case .int(let number): [1] + signed(number)
    case .text(let text): [2] + Self.text(text)
    case .objectId(let high, let low):
      [3] + fixed(UInt128(high), count: 8) + fixed(UInt128(low), count: 4)
    case .uuid(let id): [4] + fixed(id, count: 16)
    }
  }

  private static func bytes(_ value: SyncValue) -> [UInt8] {
    switch value {
    case .null: [0]
    case .bool(let isTrue): [isTrue ? 2 : 1]
    case .int(let number): [3] + signed(number)
    case .float(let bits): [4] + fixed(UInt128(bits), count: 4)
    case .double(let bits): [5] + fixed(UInt128(bits), count: 8)
    case .text(let text): [6] + Self.text(text)
    case .binary(let bytes): [7] + number(UInt64(bytes.count)) + bytes
    case .date(let seconds, let nanoseconds):
      [8] + signed(seconds) + number(UInt64(nanoseconds))
    case .objectId(let high, let low):
      [9] + fixed(UInt128(high), count: 8) + fixed(UInt128(low), count: 4)
    case .uuid(let id): [10] + fixed(id, count: 16)
    case .decimal(let number): [11] + fixed(number, count: 16)
    case .link(let object): [12] + text(object.type) + key(object.key)
    case .embedded: [13]
    }
  }
}
