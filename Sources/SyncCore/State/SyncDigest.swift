// SyncDigest.swift: hashes of the parts of a state (docs/reference/sync-merge.md, section 11).

enum SyncDigest {
  /// The neighbour before the first and after the last element of a list.
  static let listEnd: UInt128 = 0

  static func slot(_ slot: SyncSlot) -> UInt128 {
    guard let embedded = slot.embedded else { return value(slot.value) }
    var hash = SyncHash()
    hash.append(0 as UInt8)
    hash.append(embedded.sum)
    return hash.finish()
  }

  static func value(_ value: SyncValue) -> UInt128 {
    var hash = SyncHash()
    var writer = ByteWriter()
    writer.append(value: value, names: nil)
    hash.append(writer.bytes)
    return hash.finish()
  }

  /// A part of a field; `kind` is 1 for its value, 2 for a pair of elements, 3 for a member.
  static func part(
    _ kind: UInt8, _ name: SyncText, _ slot: UInt128, _ second: UInt128? = nil
  ) -> UInt128 {
    var hash = begin(kind, name)
    hash.append(slot)
    if let second { hash.append(second) }
    return hash.finish()
  }

  static func entry(_ name: SyncText, key: SyncText, _ slot: UInt128) -> UInt128 {
    var hash = begin(4, name)
    var writer = ByteWriter()
    writer.append(text: key)
    hash.append(writer.bytes)
    hash.append(slot)
    return hash.finish()
  }

  static func object(_ object: SyncObject, sum: UInt128) -> UInt128 {
    var hash = begin(5, object.type)
    var writer = ByteWriter()
    writer.append(key: object.key)
    hash.append(writer.bytes)
    hash.append(sum)
    return hash.finish()
  }

  private static func begin(_ kind: UInt8, _ name: SyncText) -> SyncHash {
    var hash = SyncHash()
    hash.append(kind)
    var writer = ByteWriter()
    writer.append(text: name)
    hash.append(writer.bytes)
    return hash
  }
}
