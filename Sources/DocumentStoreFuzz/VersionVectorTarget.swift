// VersionVectorTarget.swift: any bytes as a version vector, and as the text of one. Invariants
// checked: a vector that was read is written, as bytes and as text, and reads the same again; a
// later change makes it newer, and the previous one older; each vector compares as equal to itself.

import DocumentStore
import Fuzz

enum VersionVectorTarget {
  static let target = FuzzTarget(
    name: "version-vectors", judges: "version vectors: bytes and texts there and back, order",
    smokeCount: 1500, seeds: { samples }, run: { run($0) }
  ).with {
    $0.dictionary = ["@*", "@?", ", ", "; ", ";", "1770000000000001@", "AAAAAAAAAAAAAAAAAAAAAA"]
  }

  private static let samples: [[UInt8]] = [
    [0, 0x83, 0x80, 0x08, 0x80], [0, 2, 0, 2, 2, 0x01, 0x1e],
    [0, 0x80, 0x80, 0x04, 0x90] + [UInt8](1...16) + [3, 0, 5, 0x10] + [UInt8](17...32),
    Array("10001@*, 5@AQEBAQEBAQEBAQEBAQEBAQ".utf8),

    Array("3@*, 2@?; 1@AgICAgICAgICAgICAgICAg".utf8),
    Array("7@*;".utf8),
  ]

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    let text = String(decoding: input, as: UTF8.self)
    let found = (try? VersionVector(stored: input)) ?? (try? VersionVector(text))
    guard let found else { return .refused }
    do {
      // A time of 0 has no text, and times too far from each other have no bytes.
      if found.versions.allSatisfy({ $0.time > 0 }) {
        guard try VersionVector(found.description) == found else {
          return .finding("its text reads otherwise: \(found)")
        }
      }
      if let bytes = try? found.stored(), try VersionVector(stored: bytes) != found {
        return .finding("its bytes read otherwise: \(found)")
      }
      guard found.order(to: found) == .same else { return .finding("it is not the same as itself") }
      guard let last = found.versions.map(\.time).max(), last < .max else { return .accepted }
      var next = found
      try next.add(Version(time: last + 1, source: found.current.source))
      guard next.order(to: found) == .newer, found.order(to: next) == .older else {
        return .finding("a later change is not newer: \(next) after \(found)")
      }
      return .accepted
    } catch { return .finding("taken, and then \(error): \(found)") }
  }
}
