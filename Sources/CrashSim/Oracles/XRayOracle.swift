// XRayOracle.swift: a second opinion on the structure: the X-ray, which shares no decoder with the
// engine, must find the file valid when the engine does, and see the same version and content. The
// engine's content hash is not part of the format, so the hasher is shared; the values that it gets
// here come from the X-ray.

import Engine
import Findings

/// The X-ray's view of a database, in the engine's terms.
struct XRaySight {
  let xray: XRay
  /// The content's hash, if the file could be read to the end.
  let contentHash: UInt64?

  init(_ bytes: [UInt8]) {
    let content = XRayContentHash()
    xray = XRay(bytes) { table, key, row in content.combine(table, key, row) }
    content.finishTables(xray.tables)
    contentHash = xray.isSound && !xray.isEncrypted ? content.hasher.finalize() : nil
  }
}

enum XRayOracle {
  /// Compares what the X-ray saw before the engine opened the file with the engine's results.
  static func judge(_ sight: XRaySight, _ seen: RecoveredState) -> Violation? {
    let xray = sight.xray
    let engineFault = seen.openError ?? seen.damage
    if seen.wasCreated {
      guard let slot = xray.chosen, xray.isSound else { return nil }
      return violation("the X-ray finds version \(slot.version)", "open made a new database")
    }
    if xray.isEncrypted {
      if let fault = xray.repeatedNonce {
        return Violation(
          .structure, promised: "no nonce seals two nodes", got: "a nonce was used twice: \(fault)")
      }
      guard engineFault == nil, let version = seen.version,
        !possibleVersions(xray).contains(version)
      else { return nil }
      let found = xray.chosen.map { "version \($0.version)" } ?? "\(xray.faults)"
      return violation("the engine finds version \(version)", "the X-ray finds \(found)")
    }
    if let engineFault {
      guard xray.isSound else { return nil }
      return violation("the X-ray finds the file sound", "the engine says \(engineFault)")
    }
    guard let version = seen.version else { return nil }
    if let fault = xray.faults.first {
      return violation("the engine finds version \(version) sound", "the X-ray says \(fault)")
    }
    guard xray.chosen?.version == version else {
      let found = xray.chosen.map { "\($0.version)" } ?? "none"
      return violation("the engine finds version \(version)", "the X-ray finds version \(found)")
    }
    guard let hash = seen.contentHash, hash != sight.contentHash else { return nil }
    let other = sight.contentHash.map { String($0, radix: 16) } ?? "none"
    return violation(
      "version \(version) has the content \(String(hash, radix: 16))", "the X-ray reads \(other)")
  }

  /// Versions that recovery may choose in an encrypted file, where nobody without the key sees
  /// which nodes have arrived: a version of one sync, and then those that it falls back to.
  private static func possibleVersions(_ xray: XRay) -> [UInt64] {
    guard let chosen = xray.chosen else { return [] }
    guard chosen.isOneSync else { return [chosen.version] }
    return xray.slots.compactMap { found in
      if case .valid(let slot) = found { slot.version } else { nil }
    }
  }

  private static func violation(_ promised: String, _ got: String) -> Violation {
    Violation(.structure, promised: "the X-ray agrees with the engine: \(promised)", got: got)
  }
}

/// Feeds the engine's hasher with the values of the X-ray.
private final class XRayContentHash {
  var hasher = ContentHasher()
  private var begun: UInt32 = 0

  func combine(_ table: XRayTable, _ key: Int64, _ row: [XRayValue]) {
    if begun != table.id { begin(table) }
    hasher.combine(key: key, row.map(\.engineValue))
  }

  /// Adds the tables without rows.
  func finishTables(_ tables: [XRayTable]) {
    for table in tables where table.tree.count == 0 { begin(table) }
  }

  private func begin(_ table: XRayTable) {
    begun = table.id
    hasher.beginTable(
      TableSchema(
        name: table.name,
        columns: table.columns.map { column in
          ColumnSchema(
            name: column.name, type: ColumnType(rawValue: column.type.rawValue) ?? .mixed,
            isOptional: column.isOptional,
            collection: CollectionKind(rawValue: column.collection.rawValue) ?? .none,
            target: column.targetName, isIndexed: column.isIndexed, isUnique: column.isUnique,
            isFullText: column.isFullText)
        }))
  }
}

extension XRayValue {
  /// The same value as an engine value.
  var engineValue: Value {
    switch self {
    case .null: .null
    case .int(let number): .int(number)
    case .bool(let isTrue): .bool(isTrue)
    case .float(let bits): .float(Float(bitPattern: bits))
    case .double(let bits): .double(Double(bitPattern: bits))
    case .string(let text): .string(text)
    case .binary(let bytes): .binary(bytes)
    case .date(let seconds, let rest): .date(seconds: seconds, nanoseconds: rest)
    case .objectId(let bytes): ObjectId(bytes: bytes).map { .objectId($0) } ?? .null
    case .uuid(let bytes): UUIDBytes(bytes: bytes).map { .uuid($0) } ?? .null
    case .decimal128(let bytes):
      .decimal128(
        Decimal128(high: Self.number(bytes.prefix(8)), low: Self.number(bytes.dropFirst(8))))
    case .link(let key): .link(key)
    case .typedLink(let table, let key): .typedLink(table: table, key: key)
    case .list(let values): .list(values.map(\.engineValue))
    case .set(let values): .set(values.map(\.engineValue))
    case .dictionary(let entries):
      .dictionary(entries.map { DictionaryEntry(key: $0.key, value: $0.value.engineValue) })
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
