// PlainText.swift: values of the second reader of Fleece as JSON and as values of scenarios, and
// digests.

import Cryptography
import FleeceReference
import Workload

/// Texts of values.
enum PlainText {
  /// Canonical JSON; nil where a key is unknown or a value has another kind.
  static func canonical(_ value: ReferenceValue, _ keys: [String]) -> String? {
    self.value(value, keys)?.canonical
  }

  /// A value of scenarios.
  static func value(_ value: ReferenceValue, _ keys: [String]) -> DocumentValue? {
    switch value {
    case .null: return .null
    case .boolean(let flag): return .boolean(flag)
    case .signed(let number): return .integer(number)
    case .unsigned(let number): return Int64(exactly: number).map { .integer($0) }
    case .text(let bytes): return .text(String(decoding: bytes, as: UTF8.self))
    case .array(let items):
      let values = items.compactMap { self.value($0, keys) }
      return values.count == items.count ? .array(values) : nil
    case .dict(let pairs):
      let read = pairs.compactMap { pair -> DocumentValue.Pair? in
        guard let name = name(pair.key, keys), let value = self.value(pair.value, keys) else {
          return nil
        }
        return DocumentValue.Pair(name, value)
      }
      return read.count == pairs.count ? .dict(read) : nil
    case .undefined, .float, .double, .data: return nil
    }
  }

  private static func name(_ key: ReferenceValue.Key, _ keys: [String]) -> String? {
    switch key {
    case .shared(let number): keys.indices.contains(number) ? keys[number] : nil
    case .text(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }

  /// The keys of all dicts in a value.
  static func keys(in value: ReferenceValue) -> [ReferenceValue.Key] {
    switch value {
    case .array(let items): items.flatMap { keys(in: $0) }
    case .dict(let pairs): pairs.flatMap { [$0.key] + keys(in: $0.value) }
    default: []
    }
  }

  /// The digests of blobs in a value.
  static func digests(in value: DocumentValue) -> [String] {
    switch value {
    case .array(let items): return items.flatMap { digests(in: $0) }
    case .dict(let pairs):
      var found = pairs.flatMap { digests(in: $0.value) }
      if value["@type"] == .text("blob"), case .text(let digest)? = value["digest"] {
        found.append(digest)
      }
      return found
    default: return []
    }
  }

  /// The words of a text: runs of letters and digits, in lower case.
  static func words(_ text: String) -> [String] {
    text.lowercased().split { !($0.isLetter || $0.isNumber) }.map(String.init)
  }
}

/// SHA-1 by another library than the store's own.
enum PlainDigest {
  static func sha1(_ bytes: [UInt8]) -> [UInt8] { Digest.sha1(bytes) }

  static func sha1Hex(_ bytes: [UInt8]) -> String { hex(sha1(bytes)) }

  static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let text = String(byte, radix: 16)
      return text.count == 1 ? "0" + text : text
    }.joined()
  }
}
