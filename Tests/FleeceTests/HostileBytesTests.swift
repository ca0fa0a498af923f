// HostileBytesTests.swift: the in-place reader beside a second reader that shares no code with it,
// on drawn values and on bodies of real documents, whole and with damage.

import Fleece
import FleeceReference
import Requirements
import TestFiles
import Testing

@Suite("Two readers")
struct HostileBytesTests {
  /// Where the two differ, in words.
  private func difference(_ bytes: [UInt8], keys: FleeceSharedKeys) -> String? {
    let naive = NaiveReader.read(bytes)
    let error = Short.error { () throws(FleeceError) in _ = try FleeceDocument(validating: bytes) }
    guard case .success(let tree) = naive else {
      // Whatever the bytes are, reading them ends.
      _ = try? Short.json(bytes, keys)
      return error == nil ? "taken, and \(naive)" : nil
    }
    if let error { return "refused: \(error)" }
    guard tree.count(most: 10_000) < 10_000 else { return nil }
    do {
      let isSame = try Short.reading(bytes) { (root) throws(FleeceError) in
        try ReferenceValue(reading: root) == tree
      }
      guard isSame else { return "other values" }
      let text = try? tree.json(keys: keys.keys, sizeMax: 64 * bytes.count + 1024)
      return (try? Short.json(bytes, keys)) == text ? nil : "other JSON"
    } catch { return "\(error)" }
  }

  @Test("find the same in drawn values, and what was drawn")
  func values() throws {
    let keys = Short.keys(["name", "age", "b"])
    for seed in 0..<(FullSize.isOn ? 50_000 : 1_000) as Range<UInt64> {
      let sizeMax = seed % 50 == 0 ? 5_000 : 300
      var generator = ValueGenerator(
        SeededNumbers(seed: seed), sharedCount: keys.count, sizeMax: sizeMax)
      let value = generator.value(depth: Int(seed % 7))
      var encoder = FleeceEncoder(sharedKeys: keys)
      try value.write(to: &encoder)
      let bytes = try encoder.finish()
      let grown = encoder.sharedKeys ?? keys
      try #require(difference(bytes, keys: grown) == nil, "seed \(seed)")
      let expected = value.sharing(grown.keys).normalized
      try Short.reading(bytes) { (root) throws(FleeceError) in
        #expect(try ReferenceValue(reading: root) == expected, "seed \(seed)")
      }
    }
  }

  @Test("take and refuse the same damaged bodies, and find the same in them")
  func damage() throws {
    var (keys, taken, bodies) = (FleeceSharedKeys(), 0, [([UInt8], FleeceSharedKeys)]())
    for row in try GoldenFile.rows("bodies.tsv.gz") {
      let bytes = try #require([UInt8](hex: row[2]))
      if row[1] == "SharedKeys" {
        keys = bytes.isEmpty ? FleeceSharedKeys() : try FleeceSharedKeys(reading: bytes)
      } else {
        bodies.append((bytes, keys))
      }
    }
    var numbers = SeededNumbers(seed: 34)
    for _ in 0..<(FullSize.isOn ? 200_000 : 5_000) {
      let (body, keys) = bodies[numbers.below(bodies.count)]
      var bytes = body
      for _ in 0...numbers.below(3) {
        let place = numbers.below(bytes.count)
        switch numbers.below(3) {
        case 0: bytes[place] = UInt8(numbers.below(256))
        case 1: bytes[place] ^= 1 << UInt8(numbers.below(8))
        default: bytes[place & ~1] = [0x60, 0x70, 0x68, 0x80, 0x4f, 0x00][numbers.below(6)]
        }
      }
      let difference = difference(bytes, keys: keys)
      try #require(difference == nil, "\(bytes.hex)")
      if (try? FleeceDocument(validating: bytes)) != nil { taken += 1 }
    }
    #expect(taken > 500, "most damage is refused, and the rest shows more: \(taken)")
  }
}
