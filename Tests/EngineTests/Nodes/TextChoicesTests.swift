// TextChoicesTests.swift: a set of texts finds the strings that a set of the standard library
// finds, by its table and, when somebody has chosen texts with equal hashes, by search.

import Testing

@testable import Engine

@Suite("Sets of texts")
struct TextChoicesTests {
  private static func drawn(_ random: inout TestRandom) -> String {
    let size = [0, 1, 3, 7, 8, 9, 15, 16, 17, 62, 63, 64, 200][random.below(13)]
    return String((0..<size).map { _ in ["a", "b", "\0"][random.below(3)] as Character })
  }

  private static func contains(_ choices: TextChoices, _ text: String) -> Bool {
    RawBytes.over(Array(text.utf8)) { choices.contains($0) }
  }

  @Test("find what is in them and nothing else", arguments: [0, 1, 2, 17, 1_000])
  func members(count: Int) {
    var random = TestRandom(UInt64(count + 1))
    // Some are there twice.
    let texts = (0..<count).map { _ in Self.drawn(&random) }
    let choices = TextChoices(texts)
    #expect(!choices.isSearched)
    let expected = Set(texts)
    for _ in 0..<2_000 {
      let text = Self.drawn(&random)
      #expect(Self.contains(choices, text) == expected.contains(text), "\(text.debugDescription)")
    }
    for text in texts { #expect(Self.contains(choices, text)) }
  }

  @Test("are searched when too many texts have equal hashes")
  func collisions() {
    var (texts, others): ([String], [String]) = ([], [])
    var number = 0
    while texts.count < 60 || others.count < 60 {
      let text = "text \(number)"
      let hash = RawBytes.over(Array(text.utf8)) { TextChoices.hash($0) }
      if hash & 127 == 5, texts.count < 60 { texts.append(text) } else { others.append(text) }
      number += 1
    }
    let choices = TextChoices(texts)
    #expect(choices.isSearched)
    for text in texts { #expect(Self.contains(choices, text)) }
    for text in others { #expect(!Self.contains(choices, text)) }
  }
}
