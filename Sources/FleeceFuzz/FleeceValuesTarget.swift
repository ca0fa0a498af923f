// FleeceValuesTarget.swift: choices → a value → bytes → both readers, and the same bytes with
// damage. Invariants checked: written values are read back, key by key and item by item; keys
// became numbers exactly where the rule requires it; damaged bytes are checked like any others.

import Fleece
import FleeceReference
import Fuzz

enum FleeceValuesTarget {
  static let target = FuzzTarget(
    name: "fleece-values",
    judges:
      "drawn values, written and read by two readers, then with damage; tables of shared keys",
    smokeCount: 400, seeds: { FuzzTarget.choiceSeeds("fleece-values") }, run: { run($0) })

  private static func run(_ input: [UInt8]) -> FuzzOutcome {
    var generator = ValueGenerator(
      FuzzRandom(bytes: input), sharedCount: FleeceJudgement.keyTexts.count)
    let value = generator.value(depth: 8)
    let (bytes, keys): ([UInt8], FleeceSharedKeys)
    do throws(FleeceError) {
      var encoder = FleeceEncoder(sharedKeys: FleeceJudgement.keys)
      try value.write(to: &encoder)
      bytes = try encoder.finish()
      keys = encoder.sharedKeys ?? FleeceSharedKeys()
    } catch { return .finding("written with \(error)") }
    let texts = keys.keys
    let expected = value.sharing(texts).normalized
    guard case .success(let read) = NaiveReader.read(bytes) else {
      return .finding("the second reader refuses what was written")
    }
    guard read == expected else { return .finding("the second reader finds another value") }
    if let wrong = wrongKeys(expected, texts) { return .finding(wrong) }
    if case .finding(let text) = FleeceJudgement.run(bytes, keys) { return .finding(text) }
    if let wrong = wrongLookup(bytes, keys, expected) { return .finding(wrong) }
    for _ in 0..<3 {
      var damaged = bytes
      for _ in 0...generator.below(3) where !damaged.isEmpty {
        damaged[generator.below(damaged.count)] = UInt8(generator.below(256))
      }
      if case .finding(let text) = FleeceJudgement.run(damaged, keys) {
        return .finding("damaged: \(text)")
      }
    }
    return .accepted
  }

  /// An error in the table, or in keys that are missing from it.
  private static func wrongKeys(_ value: ReferenceValue, _ texts: [String]) -> String? {
    guard texts.starts(with: FleeceJudgement.keyTexts) else { return "the table lost keys" }
    guard Set(texts).count == texts.count else { return "a key is in the table twice" }
    for text in texts where !isEligible(Array(text.utf8)) { return "\(text) is in the table" }
    for key in value.keyTexts where isEligible(key) {
      return "\(String(decoding: key, as: UTF8.self)) is written as a text"
    }
    var table = FleeceSharedKeys()
    for text in texts { _ = table.numberAdding(text) }
    guard let bytes = try? table.encoded(), (try? FleeceSharedKeys(reading: bytes)) == table else {
      return "the table does not come back"
    }
    table.removeAll(from: FleeceJudgement.keyTexts.count)
    guard table == FleeceJudgement.keys,
      texts.allSatisfy({ text in
        table.number(of: text) == FleeceJudgement.keyTexts.firstIndex(of: text)
      })
    else { return "the table that was rolled back is another" }
    return nil
  }

  private static func isEligible(_ key: [UInt8]) -> Bool {
    let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
    return key.count <= 16 && key.allSatisfy { letters.utf8.contains($0) }
  }

  /// Whether every key of the outermost dict leads to its value.
  private static func wrongLookup(
    _ bytes: [UInt8], _ keys: FleeceSharedKeys, _ expected: ReferenceValue
  ) -> String? {
    guard case .dict(let pairs) = expected else { return nil }
    do throws(FleeceError) {
      return try FleeceDocument(bytes).withRoot { (root) throws(FleeceError) -> String? in
        for pair in pairs {
          let text: String
          switch pair.key {
          case .shared(let number): text = keys.key(of: number) ?? ""
          case .text(let bytes): text = String(decoding: bytes, as: UTF8.self)
          }
          guard let found = try root.dict?.value(for: text, in: keys) else {
            return "\(text) is not found"
          }
          let value = try ReferenceValue(reading: found)
          guard pairs.contains(ReferenceValue.Pair(pair.key, value)) else {
            return "\(text) leads to another value"
          }
        }
        return try root.dict?.value(for: "no such key", in: keys) == nil ? nil : "a key too many"
      }
    } catch { return "looked up with \(error)" }
  }
}

/// The bytes of an input one after the other, then numbers that follow from how many there were.
private struct FuzzRandom: RandomNumberGenerator {
  private var choices: MutantChoices
  private var rest: MutantChoices

  init(bytes: [UInt8]) {
    choices = MutantChoices(bytes: bytes)
    rest = MutantChoices(seed: UInt64(bytes.count))
  }

  mutating func next() -> UInt64 {
    choices.isAtEnd ? rest.number(8) : choices.number(2)
  }
}
